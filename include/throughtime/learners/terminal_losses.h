#pragma once

#include "throughtime/choice.h"

namespace throughtime {

/// Steps that K windows do not divide: a window of their own behind the others, part of the last window, or spread so
/// that lengths differ by at most one. automatic: their own, spread where that window would be longer than the others;
/// decided for each sequence by its length.
enum class Remainder { automatic, extra, absorb, spread };
constexpr auto names_of(Remainder) { return choice_names("auto", "extra", "absorb", "spread"); }

/// Where losses before the end are: at the last step of each window, at every step, or nowhere. automatic: window_end
/// where a task asks for one target at the end of a sequence.
enum class IntermediateLoss { automatic, window_end, every_step, none };
constexpr auto names_of(IntermediateLoss) { return choice_names("auto", "window_end", "every_step", "none"); }

/// Q of a class: the last epoch's prediction for the example; that for a wrongly or rightly classified example of the
/// class in the batch before; uniform. automatic: examples where they are finite, else uniform.
enum class PriorKind { automatic, examples, class_wrong, class_right, uniform };
constexpr auto names_of(PriorKind) { return choice_names("auto", "examples", "class_wrong", "class_right", "uniform"); }

/// Share of the target in a loss before the end: t / T, p / K', or p - 1 + 1 / K.
enum class TargetShare { time, window, ref_index };
constexpr auto names_of(TargetShare) { return choice_names("time", "window", "ref_index"); }

/// Div over the classes.
enum class Divergence { sum, mean };
constexpr auto names_of(Divergence) { return choice_names("sum", "mean"); }

/// Losses before the end of a sequence that has one target, there: fptt, and bptt with aux_losses.
struct TerminalConfig {
  IntermediateLoss intermediate = IntermediateLoss::automatic;
  PriorKind q = PriorKind::automatic;
  int q_epoch = 20;  // class_wrong, class_right: uniform before this epoch
  TargetShare beta = TargetShare::time;
  Divergence divergence = Divergence::sum;
  int one_hot_from = 0;    // Q is the label itself in windows p >= this; 0: in none
  bool skip_last = false;  // the last window is left out
};

}  // namespace throughtime
