#include <optional>
#include <vector>

#include "learners/adaptive_tbptt/estimator.h"
#include "learners/support.h"
#include "learners/tbptt/truncated_gradient.h"

namespace throughtime {
namespace {

/// Truncated back-propagation: windows of `steps` cells that end `stride` apart, each with one update of the mean of
/// its last `losses` losses. A loss belongs to the stretch of its step.
class Tbptt final : public Learner {
 public:
  Tbptt(const TbpttConfig& config, Trainee& trainee, const StretchShape& shape)
      : Learner(trainee, shape),
        config_(config),
        lengths_(window_lengths(config)),
        truncation_(config.preset == TbpttPreset::custom ? lengths_.losses : config.truncation),
        clip_(trainee.clip),
        gradient_(name(), trainee, shape, lengths_, StateKeeper::Ring::none),
        clock_(config.estimate.every, true) {
    if (config.estimate.logged > 0) estimator_.emplace(trainee.engine, config.estimate, shape);
  }

  std::string_view name() const override { return "tbptt"; }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    gradient_.begin(stretch);
    const WindowPlan plan = gradient_.plan(stretch, lengths_, {config_.chunk, config_.ref_stream});
    for (int begin = 0; begin < stretch.steps;) {
      if (estimator_ && clock_.is_due(updates_) && estimator_->ready()) log_estimate();
      const TruncatedWindow window = plan.window(begin);
      learn_window(stretch, plan, window, rate);
      begin = window.end;
    }
    gradient_.finish(stretch, plan);
  }

  void end_epoch() override { clock_.end_epoch(); }

  std::vector<Diagnostic> diagnostics() const override {
    if (!estimator_) return {};
    return estimator_->diagnostics(truncation_, gradient_.states().rows());
  }

  std::size_t activation_bytes() const override {
    return gradient_.activation_bytes() + (estimator_ ? estimator_->activation_bytes() : 0);
  }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    gradient_.states().archive(archive);
    if (!estimator_) return;
    archive.integer("truncation", truncation_, between(1, lengths_.steps));
    clock_.archive(archive);
    gradient_.states().archive_place(archive);
    estimator_->archive(archive);
  }

 private:
  /// One update with the mean gradient of the window's losses; none where it has no loss.
  void learn_window(const Window& stretch, const WindowPlan& plan, const TruncatedWindow& window,
                    const RateFunction& rate) {
    const LossWeights weights = gradient_.compute(stretch, plan, window, {loss_sum_, correct_sum_, penalties_});
    if (weights.own == 0) return;
    loss_weight_ += weights.all;
    penalty_weight_ += weights.all;
    if (config_.clip_by_losses) trainee_.clip.norm = clip_.norm / window.losses;
    const double factor = rate_factor(config_.rate_scaling, truncation_);
    update(weights.own, [&](std::int64_t number) { return factor * rate(number); });
  }

  void log_estimate() {
    estimator_->log(trainee_.parameters, truncation_);
    clock_.restart(updates_);
  }

  TbpttConfig config_;
  Lengths lengths_;
  int truncation_;  // K; of custom lengths: the losses of a window
  Clip clip_;       // as it was before windows divided it
  TruncatedGradient gradient_;
  EstimateClock clock_;
  std::optional<TruncationEstimator> estimator_;  // where estimates are logged
};

}  // namespace

std::unique_ptr<Learner> make_learner(const TbpttConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_learner(config, trainee.engine.model(), shape);
  return std::make_unique<Tbptt>(config, trainee, shape);
}

}  // namespace throughtime
