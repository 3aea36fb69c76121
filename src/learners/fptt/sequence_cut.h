#pragma once

#include <string_view>

#include "throughtime/learner.h"

namespace throughtime {

/// What sequences are cut by: K windows, or windows of a length. The other one is 0. The length may change later,
/// within bounds (0: it stays).
struct CutRule {
  int windows = 0;
  int window_length = 0;
  Remainder remainder = Remainder::automatic;
  int shortest = 0, longest = 0;
};

/// How a sequence of T steps is cut: windows of omega = floor(T / K) steps, and a remainder that is one more window or
/// belongs to the last; or K windows of about as many steps each.
class SequenceCut {
 public:
  /// Refuses K and lengths that sequences of shape.steps steps do not have.
  SequenceCut(std::string_view speaker, const CutRule& rule, const StretchShape& shape);

  /// From now on windows have this length, within the bounds of the rule.
  void set_window_length(int length) { rule_.window_length = length; }
  int window_length() const { return rule_.window_length; }
  /// Of a length that may change.
  void archive(Archive& archive);

  /// K': windows of a sequence of `steps` steps, the remainder's included.
  int count(int steps) const;
  int begin(int steps, int window) const;
  int end(int steps, int window) const { return window + 1 == count(steps) ? steps : begin(steps, window + 1); }

  /// The longest window of any sequence of the shape. Where the length may change, no window is longer.
  int longest() const;
  /// No sequence of the shape has more windows, with any such length.
  int most() const;
  /// K as it was given, or K' of a sequence of `steps` steps.
  int windows(int steps) const { return rule_.windows > 0 ? rule_.windows : count(steps); }

 private:
  int omega(int steps) const;
  int whole_windows(int steps) const;
  int left_over(int steps) const { return steps - whole_windows(steps) * omega(steps); }
  bool is_spread(int steps) const;
  int longest_of(int steps) const;

  CutRule rule_;
  int steps_;          // T of the longest sequence
  bool lengths_vary_;  // a sequence may have fewer
};

/// The options of a cut, for the method's own table.
void describe_cut(int& windows, int& window_length, Remainder& remainder, OptionList& list);

}  // namespace throughtime
