#include "learners/fptt/sequence_cut.h"

#include <algorithm>

#include "throughtime/error.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

int divide_up(int steps, int by) { return steps / by + (steps % by > 0 ? 1 : 0); }

}  // namespace

SequenceCut::SequenceCut(std::string_view speaker, const CutRule& rule, const StretchShape& shape)
    : rule_(rule), steps_(shape.steps), lengths_vary_(shape.lengths_vary) {
  if ((rule.windows == 0) == (rule.window_length == 0))
    refuse(speaker, "give either windows (K) or window_length, got {} and {}", rule.windows, rule.window_length);
  const auto check = [&](std::string_view what, int value) {
    if (value != 0 && (value < 1 || value > shape.steps))
      refuse(speaker, "{} must be between 1 and the sequence length ({}), got {}", what, shape.steps, value);
  };
  check("windows", rule.windows);
  check("window_length", rule.window_length);
}

void SequenceCut::archive(Archive& archive) {
  archive.integer("length", rule_.window_length, between(rule_.shortest, rule_.longest));
}

int SequenceCut::omega(int steps) const {
  return rule_.windows > 0 ? std::max(1, steps / rule_.windows) : std::min(rule_.window_length, steps);
}

/// Windows of omega steps in front of the remainder: K, or fewer where a sequence has fewer than K steps.
int SequenceCut::whole_windows(int steps) const {
  const int fit = steps / omega(steps);
  return rule_.windows > 0 ? std::min(rule_.windows, fit) : fit;
}

bool SequenceCut::is_spread(int steps) const {
  return rule_.remainder == Remainder::spread ||
         (rule_.remainder == Remainder::automatic && left_over(steps) > omega(steps));
}

int SequenceCut::count(int steps) const {
  const int whole = whole_windows(steps);
  const bool fixed = rule_.remainder == Remainder::absorb || (rule_.windows > 0 && is_spread(steps));
  return fixed || left_over(steps) == 0 ? whole : whole + 1;
}

int SequenceCut::begin(int steps, int window) const {
  if (!is_spread(steps)) return window * omega(steps);
  return static_cast<int>(static_cast<std::int64_t>(window) * steps / count(steps));
}

int SequenceCut::longest_of(int steps) const {
  const int windows = count(steps);
  if (is_spread(steps)) return divide_up(steps, windows);
  return std::max(omega(steps), steps - begin(steps, windows - 1));
}

/// With K (or the length) steps more, the longest window is at least as long: the last ones of that many lengths hold
/// the maximum over all.
int SequenceCut::longest() const {
  if (rule_.longest > 0)  // the last window may have absorbed a remainder
    return std::min(steps_, rule_.remainder == Remainder::absorb ? 2 * rule_.longest - 1 : rule_.longest);
  const int shortest = lengths_vary_ ? std::max(1, steps_ - std::max(rule_.windows, rule_.window_length)) : steps_;
  int longest = 0;
  for (int steps = shortest; steps <= steps_; ++steps) longest = std::max(longest, longest_of(steps));
  return longest;
}

int SequenceCut::most() const {
  if (rule_.windows == 0) return divide_up(steps_, rule_.shortest > 0 ? rule_.shortest : rule_.window_length);
  const bool one_more = rule_.remainder == Remainder::extra || rule_.remainder == Remainder::automatic;
  return rule_.windows + (one_more ? 1 : 0);
}

void describe_cut(int& windows, int& window_length, Remainder& remainder, OptionList& list) {
  list.add("windows", windows,
           "K, how many windows a sequence is cut into, at most one for each step; 0: window_length is given instead",
           at_least(0));
  list.add("window_length", window_length, "steps of a window; 0: windows (K) is given instead", at_least(0));
  list.add("remainder", remainder,
           "where the steps go that are left over after equal windows. extra: into one more window. absorb: into the "
           "last window. spread: into all windows. auto: extra, but spread where the extra window would be longer than "
           "the others");
}

}  // namespace throughtime
