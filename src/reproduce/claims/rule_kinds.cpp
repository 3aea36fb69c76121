#include <fmt/format.h>

#include <iterator>

#include "reproduce/claims/rule.h"

namespace throughtime {
namespace {

/// What a rule of a kind asks, and which keys it reads.
struct KindHelp {
  RuleKind kind;
  const char* keys;
  const char* asks;
};
constexpr KindHelp kind_helps[] = {
    {RuleKind::below, "high, share", "Each arm is below `high`."},
    {RuleKind::above, "low, share", "Each arm is above `low`."},
    {RuleKind::between, "low, high, share", "Each arm is between `low` and `high`."},
    {RuleKind::within, "margin", "Each arm differs from the paper's value by at most `margin`."},
    {RuleKind::less, "than, margin, p",
     "Each of `arms` is less than each of `than`. With a positive `margin` it must be less by at least that much. With "
     "a negative one it may be larger by at most that much."},
    {RuleKind::greater, "than, margin, p", "The same the other way round: each of `arms` is greater."},
    {RuleKind::near, "than, margin", "Each of `arms` differs from each of `than` by at most `margin`."},
    {RuleKind::falling, "margin",
     "The arms fall in the order of the list, and the last one is below the first. With a `margin` a step may go up by "
     "at most that much."},
    {RuleKind::rising, "margin", "The same the other way round: they rise."},
    {RuleKind::lowest, "than", "The lowest of all is one of `arms` and none of `than`."},
    {RuleKind::highest, "than", "The highest of all is one of `arms` and none of `than`."},
    {RuleKind::spread, "margin", "The largest and the smallest of the arms differ by at most `margin`."},
    {RuleKind::ratio, "than, low, high", "Each of `arms` over each of `than` is between `low` and `high`."},
    {RuleKind::widening, "than, margin",
     "`than` has a partner for each arm. The differences, arm minus partner, rise in the order of the "
     "list; with a `margin` a step may go back by at most that much."},
    {RuleKind::narrowing, "than, margin",
     "The same differences get smaller in that order, and keep the sign that they have in the paper."},
};
static_assert(std::size(kind_helps) == names_of(RuleKind()).size());

}  // namespace

std::string rule_kinds_markdown() {
  std::string text = "| kind | reads | asks |\n| --- | --- | --- |\n";
  for (const KindHelp& help : kind_helps)
    text += fmt::format("| `{}` | {} | {} |\n", name_of(help.kind), help.keys, help.asks);
  return text;
}

}  // namespace throughtime
