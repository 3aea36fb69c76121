#include "bench/case.h"

#include <charconv>
#include <map>
#include <string_view>

#include "throughtime/cell.h"
#include "throughtime/error.h"

namespace throughtime::bench {
namespace {

constexpr const char* forms =
    "bptt-CELL-bB-hH-tT, phi-CELL-bB-hH-tT, windows-CELL-bB-hH-tT-kK, fptt-CELL-bB-hH-tT-kK, lm-CELL-bB-hH-tT-vV, "
    "tprop-CELL-bB-hH-tT-vV or fpp-CELL-bB-hH-tT with sizes from 1 to 1000000; the first, third, fourth and fifth may "
    "end "
    "with -lLAYERS, the last with -sSTEPS";
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

Case parse_case(const std::string& name) {
  struct Form {
    Kind kind;
    std::string_view sizes;  // the letters of the last `optional` ones may be left out
    std::size_t optional = 0;
  };
  const std::map<std::string_view, Form> kinds = {
      {"bptt", {Kind::bptt, "bhtl", 1}}, {"windows", {Kind::windows, "bhtkl", 1}}, {"fptt", {Kind::fptt, "bhtkl", 1}},
      {"lm", {Kind::lm, "bhtvl", 1}},    {"tprop", {Kind::tprop, "bhtv"}},         {"fpp", {Kind::fpp, "bhts", 1}},
      {"phi", {Kind::phi, "bht"}}};
  const std::vector<std::string_view> parts = split_at_dashes(name);
  const auto kind = kinds.find(parts[0]);
  if (kind == kinds.end()) refuse("bench", "unknown case {}; expected {}", name, forms);
  const Form& form = kind->second;
  if (parts.size() > form.sizes.size() + 2 || parts.size() + form.optional < form.sizes.size() + 2)
    refuse("bench", "unknown case {}; expected {}", name, forms);

  Case parsed;
  parsed.name = name;
  parsed.kind = form.kind;
  parsed.cell = find_cell(parts[1] == "rnn" ? "rnn_tanh" : std::string(parts[1])).name;
  const std::map<char, int*> sizes = {{'b', &parsed.batch},   {'h', &parsed.hidden},     {'t', &parsed.steps},
                                      {'k', &parsed.windows}, {'v', &parsed.vocabulary}, {'l', &parsed.layers},
                                      {'s', &parsed.stream}};
  for (std::size_t i = 2; i < parts.size(); ++i) {
    const char letter = form.sizes[i - 2];
    if (parts[i].empty() || parts[i][0] != letter)
      refuse("bench", "case {}: {} stands where a size {} should; expected {}", name, parts[i], letter, forms);
    *sizes.at(letter) = parse_size(name, parts[i]);
  }
  if (parsed.windows > parsed.steps)
    refuse("bench", "case {}: windows must be between 1 and the steps ({}), got {}", name, parsed.steps,
           parsed.windows);
  parsed.inputs = parsed.kind == Kind::lm || parsed.kind == Kind::tprop ? parsed.hidden : 2;
  return parsed;
}

std::vector<std::string> default_cases() {
  return {"bptt-lstm-b128-h128-t200",          "bptt-gru-b128-h128-t200",         "bptt-rnn-b128-h128-t200",
          "bptt-antisymmetric-b128-h128-t200", "windows-lstm-b128-h128-t200-k10", "bptt-lstm-b128-h64-t200",
          "windows-lstm-b128-h64-t200-k10",    "windows-lstm-b1-h32-t100-k10",    "fptt-lstm-b128-h128-t200-k10",
          "fptt-lstm-b1-h32-t100-k10",         "lm-lstm-b20-h256-t300-v10000",    "fpp-rnn-b1-h4-t10",
          "tprop-gru-b32-h100-t20-v10000"};
}

}  // namespace throughtime::bench
