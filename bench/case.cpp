#include "bench/case.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "throughtime/cell.h"
#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

constexpr const char* forms =
    "bptt-CELL-bB-hH-tT, phi-CELL-bB-hH-tT, windows-CELL-bB-hH-tT-kK, fptt-CELL-bB-hH-tT-kK, lm-CELL-bB-hH-tT-vV, "
    "tprop-CELL-bB-hH-tT-vV, fpp-CELL-bB-hH-tT, awd-char-bB-hH-tT or mos-bB-hH-eE-vV-tT with sizes from 1 to 1000000; "
    "the first, third, fourth and fifth may end with -lLAYERS, fpp with -sSTEPS, the last two with -kWINDOWS";
constexpr int largest_size = 1'000'000;

std::vector<std::string_view> split_at_dashes(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t dash = text.find('-'); dash != std::string_view::npos; dash = text.find('-')) {
    parts.push_back(text.substr(0, dash));
    text.remove_prefix(dash + 1);
  }
  parts.push_back(text);
  return parts;
}

/// The number after the letter of `b128`; refuses what is no size.
int parse_size(const std::string& name, std::string_view part) {
  int value = 0;
  const char* end = part.data() + part.size();
  const auto result = std::from_chars(part.data() + 1, end, value);
  if (result.ec != std::errc() || result.ptr != end || value < 1 || value > largest_size)
    refuse("bench", "case {}: {} is no size; expected {}", name, part, forms);
  return value;
}

}  // namespace

std::vector<int> Case::widths() const {
  if (kind == Kind::awd) return {hidden, hidden, std::max(1, hidden / 5)};
  return std::vector<int>(static_cast<std::size_t>(kind == Kind::mos ? 3 : layers), hidden);
}

Case parse_case(const std::string& name) {
  struct Form {
    Kind kind;
    std::string_view sizes;  // the letters of the last `optional` ones may be left out
    std::size_t optional = 0;
    std::string_view model = {};  // what stands in the place of a cell, which is then an LSTM
    bool bare = false;            // nothing stands there
  };
  const std::map<std::string_view, Form> kinds = {{"bptt", {Kind::bptt, "bhtl", 1}},
                                                  {"windows", {Kind::windows, "bhtkl", 1}},
                                                  {"fptt", {Kind::fptt, "bhtkl", 1}},
                                                  {"lm", {Kind::lm, "bhtvl", 1}},
                                                  {"tprop", {Kind::tprop, "bhtv"}},
                                                  {"fpp", {Kind::fpp, "bhts", 1}},
                                                  {"phi", {Kind::phi, "bht"}},
                                                  {"awd", {Kind::awd, "bhtk", 1, "char"}},
                                                  {"mos", {Kind::mos, "bhevtk", 1, "", true}}};
  const std::vector<std::string_view> parts = split_at_dashes(name);
  const auto kind = kinds.find(parts[0]);
  if (kind == kinds.end()) refuse("bench", "unknown case {}; expected {}", name, forms);
  const Form& form = kind->second;
  const std::size_t first = form.bare ? 1 : 2;
  if (parts.size() > form.sizes.size() + first || parts.size() + form.optional < form.sizes.size() + first ||
      (!form.model.empty() && parts[1] != form.model))
    refuse("bench", "unknown case {}; expected {}", name, forms);

  Case parsed;
  parsed.name = name;
  parsed.kind = form.kind;
  const bool names_cell = !form.bare && form.model.empty();
  parsed.cell = find_cell(!names_cell ? "lstm" : parts[1] == "rnn" ? "rnn_tanh" : std::string(parts[1])).name;
  const std::map<char, int*> sizes = {{'b', &parsed.batch},   {'h', &parsed.hidden},     {'t', &parsed.steps},
                                      {'k', &parsed.windows}, {'v', &parsed.vocabulary}, {'l', &parsed.layers},
                                      {'s', &parsed.stream},  {'e', &parsed.experts}};
  for (std::size_t i = first; i < parts.size(); ++i) {
    const char letter = form.sizes[i - first];
    if (parts[i].empty() || parts[i][0] != letter)
      refuse("bench", "case {}: {} stands where a size {} should; expected {}", name, parts[i], letter, forms);
    *sizes.at(letter) = parse_size(name, parts[i]);
  }
  if (parsed.windows > parsed.steps)
    refuse("bench", "case {}: windows must be between 1 and the steps ({}), got {}", name, parsed.steps,
           parsed.windows);
  if (parsed.kind == Kind::awd) parsed.vocabulary = 50;
  parsed.inputs = parsed.kind == Kind::lm || parsed.kind == Kind::tprop ? parsed.hidden : 2;
  if (parsed.recipe()) parsed.inputs = parsed.embedding();
  return parsed;
}

std::vector<std::string> default_cases() {
  return {"bptt-lstm-b128-h128-t200",
          "bptt-gru-b128-h128-t200",
          "bptt-rnn-b128-h128-t200",
          "bptt-antisymmetric-b128-h128-t200",
          "windows-lstm-b128-h128-t200-k10",
          "bptt-lstm-b128-h64-t200",
          "windows-lstm-b128-h64-t200-k10",
          "windows-lstm-b1-h32-t100-k10",
          "windows-lstm-b16-h32-t100-k10",
          "fptt-lstm-b128-h128-t200-k10",
          "fptt-lstm-b1-h32-t100-k10",
          "lm-lstm-b20-h256-t300-v10000",
          "fpp-rnn-b1-h4-t10",
          "fpp-rnn-b16-h4-t10",
          "tprop-gru-b32-h100-t20-v10000"};
}

std::vector<std::string> thread_cases() {
  return {"bptt-lstm-b128-h128-t200",        "bptt-gru-b128-h128-t200",      "bptt-rnn-b128-h128-t200",
          "bptt-lstm-b512-h128-t200",        "bptt-lstm-b32-h256-t200",      "bptt-lstm-b32-h512-t200",
          "bptt-lstm-b32-h1024-t200",        "bptt-lstm-b8-h256-t200",       "bptt-lstm-b8-h512-t200",
          "bptt-gru-b8-h512-t200",           "bptt-rnn-b8-h512-t200",        "bptt-lstm-b1-h512-t200",
          "windows-lstm-b128-h128-t200-k10", "fptt-lstm-b128-h128-t200-k10", "lm-lstm-b20-h256-t300-v10000"};
}

bool may_have_short_way(int rows, int units) { return rows <= 32 || units <= kAcrossUnits; }

}  // namespace throughtime::bench
