#pragma once

#include "throughtime/learners/estimate.h"
#include "throughtime/learners/method.h"
#include "throughtime/learners/terminal_losses.h"

namespace throughtime {

/// The running estimate lambda, Algorithm 2 to the letter, or no regulariser.
enum class FpttForm { lambda, gradient, ogd };
constexpr auto names_of(FpttForm) { return choice_names("lambda", "gradient", "ogd"); }

/// Where inner iterations on a window start: at its first state, or at the last state of the one before.
enum class InnerState { restart, go_on };
constexpr auto names_of(InnerState) { return choice_names("restart", "continue"); }

/// The state of a stretch that continues: that of the windows, or of a rerun with the weights after the last update.
enum class FpttCarry { windows, rerun };
constexpr auto names_of(FpttCarry) { return choice_names("windows", "rerun"); }

/// Whether windows have the length that was given, or one that follows the measured decay of gradients.
enum class WindowRule { fixed, adaptive };
constexpr auto names_of(WindowRule) { return choice_names("fixed", "adaptive"); }

/// For what locked dropout masks are drawn.
enum class MaskSpan { window, sequence };
constexpr auto names_of(MaskSpan) { return choice_names("window", "sequence"); }

/// Forward propagation through time (FPTT-K).
struct FpttConfig {
  int windows = 0;        // K, windows of a sequence; or window_length
  int window_length = 0;  // steps of a window, instead of K
  Remainder remainder = Remainder::automatic;
  WindowRule window = WindowRule::fixed;
  FpttForm form = FpttForm::lambda;
  double alpha = 0.1;        // strength of the regulariser
  double alpha_growth = 1;   // alpha is multiplied by it after each epoch
  double alpha_most = 0;     // and never exceeds this; 0: no bound
  double averaging = 0.5;    // b, the weight of W in W-bar
  double penalty = 1;        // m, multiple of alpha in the gradient (lambda form)
  double kappa = 1;          // weight of the last gradient (gradient form): 1, or 0.5 as printed
  int inner_iterations = 1;  // steps of W on each window
  InnerState inner_state = InnerState::restart;
  bool take_average = false;      // W <- W-bar at the end of an epoch
  bool reset_multiplier = false;  // lambda <- 0 at the end of an epoch
  FpttCarry carry = FpttCarry::windows;
  MaskSpan masks = MaskSpan::window;
  bool rate_by_windows = false;  // the rate is divided by 2 K'
  bool rate_by_length = false;   // the rate is multiplied by the stretch's share of the longest one
  TerminalConfig terminal = {};
  EstimateConfig estimate = {};  // window = adaptive: of the decay
};

/// Refuses settings that cannot work on stretches of that shape.
void check_learner(const FpttConfig& config, const Model& model, const StretchShape& shape);
std::unique_ptr<Learner> make_learner(const FpttConfig& config, Trainee& trainee, const StretchShape& shape);
StreamNeeds stream_needs(const FpttConfig& config);
void describe(FpttConfig& config, OptionList& list);
/// An alpha that is large for the optimizer; windows that are long where the target comes at the end.
std::vector<std::string> learner_notes(const FpttConfig& config, const StretchShape& shape,
                                       const OptimizerConfig& optimizer);

}  // namespace throughtime
