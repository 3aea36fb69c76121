#pragma once

#include <cstdint>
#include <vector>

#include "learners/adaptive_tbptt/estimator.h"
#include "learners/fptt/sequence_cut.h"
#include "throughtime/learner.h"

namespace throughtime {

/// Refuses settings of window = adaptive that cannot work, and settings of estimates where windows are fixed.
void check_window_choice(const FpttConfig& config, const Model& model, const StretchShape& shape);
/// How sequences are cut; with window = adaptive before the first estimate, and between which bounds.
CutRule cut_rule(const FpttConfig& config, const StretchShape& shape);

/// window = adaptive: omega, the steps of a window, is the truncation kappa-hat(delta) of adaptive truncated BPTT. So
/// the gradient that a window leaves out is small beside the one that it has. The decay is measured
///   - at random places of the training data, where losses are at every step,
///   - on the stretch at hand, where a sequence has one target at its end: lags count from there.
class WindowChoice {
 public:
  WindowChoice(Engine& engine, const FpttConfig& config, const StretchShape& shape);

  /// Before `stretch` is cut: sets the length of `cut` anew if an estimate is due and there is enough to look at.
  void look_at(const Window& stretch, std::int64_t updates, Buffer parameters, SequenceCut& cut);
  void end_epoch() { clock_.end_epoch(); }

  std::vector<Diagnostic> diagnostics(int window_length) const { return estimator_.diagnostics(window_length, rows_); }
  std::size_t activation_bytes() const { return estimator_.activation_bytes(); }
  void archive(Archive& archive, SequenceCut& cut);

 private:
  /// The last `steps` steps of the stretch at hand; none where it is shorter.
  const Window& end_of_stretch(int steps);
  static StretchShape with_places(StretchShape shape, WindowChoice& choice);

  const Window* stretch_ = nullptr;  // at hand, during an estimate
  Window place_, none_;
  EstimateClock clock_;
  TruncationEstimator estimator_;
  std::int64_t rows_ = 0;  // steps learned from, in a row of the data
};

}  // namespace throughtime
