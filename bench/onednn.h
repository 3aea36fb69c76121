#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/case.h"
#include "throughtime/parameters.h"

namespace throughtime::bench {

/// The numbers that a case learns from. A peer takes them from ours, so that both compute the same.
struct CaseNumbers {
  const ParameterLayout& layout;
  std::vector<double> parameters;  // in that layout
  std::span<const float> inputs;   // [B, T, D]
  std::span<const float> targets;  // [B]
};

/// A case on oneDNN's recurrent primitives, in this process. The weights are reordered in every pass, because a trainer
/// has changed them since. Loops of our own do the head, which has one output, and the update.
class Onednn {
 public:
  virtual ~Onednn() = default;
  /// One run of the case: see Kind.
  virtual void run() = 0;
  /// Of the last window, in our layout.
  virtual std::vector<double> gradient() const = 0;
  /// Of all runs so far.
  virtual double loss_sum() const = 0;
};

/// "2.6.3"; none when built without it (no_onednn/).
std::optional<std::string> onednn_version();

/// Whether it has the case: `bptt` or `windows` with one layer of an lstm, gru, rnn_tanh, rnn_relu or rnn_logistic.
bool onednn_has(const Case& chosen);

/// Refuses cases that it does not have, and all of them when built without it.
std::unique_ptr<Onednn> make_onednn(const Case& chosen, const CaseNumbers& numbers, int threads);

}  // namespace throughtime::bench
