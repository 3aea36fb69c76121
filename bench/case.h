#pragma once

#include <string>
#include <vector>

namespace throughtime::bench {

/// What one run of a case does.
enum class Kind {
  bptt,     // one window of T steps, loss on the last, one gradient
  windows,  // K windows with the state carried; at the end of each a loss, clipping and an Adam update
  fptt,     // the learner fptt: the same windows, each with its share of the loss, the regulariser, W-bar and lambda
  phi,    // state-only pull-back of the loss of the last of T steps, with norms at every lag; its floor: without norms
  lm,     // language model: embedding of width H, softmax over V words at every step, one gradient
  tprop,  // target propagation: one step on H and one on theta from B consecutive blocks of T steps of a text, as lm;
          // its floor: truncated back-propagation with K = T of B rows, an update too
  awd,    // AWD-LSTM on characters, as FPTT's Table 5 has it: three LSTMs of H, H and H / 5 units, the last as wide as
          // the embedding of 50 characters, tied, with every mask and Adam; the learner bptt, or fptt with K windows
  mos,    // its words: three LSTMs of H units and E softmaxes over V words through an embedding of 280 numbers, with
          // every mask, both penalties and SGD; likewise
  fpp,    // fixed point propagation: S steps of an endless stream of bits, an update over T steps at each of them
};

/// A benchmark case, spelled out by its name: `windows-lstm-b128-h128-t200-k10`.
struct Case {
  std::string name;
  Kind kind = Kind::bptt;
  std::string cell;    // the library's name of the cell
  int batch = 0;       // B
  int hidden = 0;      // H
  int steps = 0;       // T
  int windows = 1;     // K
  int vocabulary = 0;  // V
  int inputs = 0;      // D: width that the first layer sees
  int layers = 1;      // of H units each
  int experts = 1;     // E
  int stream = 1000;   // S

  /// Whether it is a recipe of Table 5, its model and its learner.
  bool recipe() const { return kind == Kind::awd || kind == Kind::mos; }
  /// Units of each layer.
  std::vector<int> widths() const;
  int embedding() const { return kind == Kind::awd ? widths().back() : kind == Kind::mos ? 280 : inputs; }
};

/// Takes a name apart; refuses names that are not one of
/// `bptt-CELL-bB-hH-tT`, `phi-CELL-bB-hH-tT`, `windows-CELL-bB-hH-tT-kK`, `fptt-CELL-bB-hH-tT-kK`,
/// `lm-CELL-bB-hH-tT-vV`, `tprop-CELL-bB-hH-tT-vV`, `fpp-CELL-bB-hH-tT`, `awd-char-bB-hH-tT`, `mos-bB-hH-eE-vV-tT`. The
/// cell `rnn` is `rnn_tanh`. Behind the sizes of `bptt`, `windows`, `fptt` and `lm` may stand `-lLAYERS`, behind those
/// of `fpp` `-sS`, behind those of `awd` and `mos` `-kK`.
Case parse_case(const std::string& name);

/// The cases that every report of the project shows.
std::vector<std::string> default_cases();
/// Those whose times by numbers of threads say how cores are used: many rows, few rows of wide layers, short windows, a
/// large vocabulary.
std::vector<std::string> thread_cases();

/// Whether the cpu engine may have a way of its own for so many rows of layers with so many units (SingleRows).
bool may_have_short_way(int rows, int units);

}  // namespace throughtime::bench
