#include "learners/adaptive_tbptt/estimator.h"
#include "learners/adaptive_tbptt/options.h"
#include "learners/support.h"
#include "learners/tbptt/truncated_gradient.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

/// Algorithm 1 of Aicher, Foti and Fox (2019):
///
///   K = K_0
///   for n = 0, 1, ...                  once per epoch, or every so many updates
///     phi_k at random places, beta, Delta, K = kappa(delta)      lines 3-7
///     for m = 1 ... T / K              until the next estimate is due
///       G = BPTT(2K, K) on window m                              lines 8-12
///       W = W - gamma_n sqrt(K) G
///
/// A ring of states lets the first window with a new K begin where its lengths ask for.
class AdaptiveTbptt final : public Learner {
 public:
  AdaptiveTbptt(const AdaptiveTbpttConfig& config, Trainee& trainee, const StretchShape& shape)
      : Learner(trainee, shape),
        config_(config),
        truncation_(first_truncation(config)),
        clip_(trainee.clip),
        gradient_(name(), trainee, shape, longest_lengths(config),
                  config.estimate.every > 0 ? StateKeeper::Ring::everywhere : StateKeeper::Ring::stretch_ends),
        clock_(config.estimate.every, config.estimate.first),
        estimator_(trainee.engine, config.estimate, shape) {}

  std::string_view name() const override { return "adaptive_tbptt"; }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    gradient_.begin(stretch);
    for (int begin = 0; begin < stretch.steps;) {
      if (clock_.is_due(updates_) && estimator_.ready()) choose_truncation();
      begin = learn_window(stretch, begin, rate);
    }
    gradient_.finish(stretch, plan(stretch));
  }

  void end_epoch() override { clock_.end_epoch(); }

  std::vector<Diagnostic> diagnostics() const override {
    return estimator_.diagnostics(truncation_, gradient_.states().rows());
  }

  std::size_t activation_bytes() const override { return gradient_.activation_bytes() + estimator_.activation_bytes(); }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    gradient_.states().archive(archive);
    archive.integer("truncation", truncation_, between(1, largest_truncation(config_)));
    clock_.archive(archive);
    gradient_.states().archive_place(archive);
    estimator_.archive(archive);
    gradient_.states().archive_ring(archive);
  }

 private:
  /// Lines 3-7.
  void choose_truncation() {
    truncation_ = estimator_.choose(trainee_.parameters);
    estimator_.log(trainee_.parameters, truncation_);
    clock_.restart(updates_);
  }

  /// The windows of the stretch with this K.
  WindowPlan plan(const Window& stretch) const {
    return gradient_.plan(stretch, preset_lengths(config_.preset, truncation_), {config_.chunk, config_.ref_stream});
  }

  /// Lines 8-12 for the window after step `begin`, no update where it has no loss; returns its end.
  int learn_window(const Window& stretch, int begin, const RateFunction& rate) {
    const WindowPlan windows = plan(stretch);
    const TruncatedWindow window = windows.window(begin);
    const LossWeights weights = gradient_.compute(stretch, windows, window, {loss_sum_, correct_sum_, penalties_});
    if (weights.own == 0) return window.end;
    loss_weight_ += weights.all;
    penalty_weight_ += weights.all;
    if (config_.clip_by_losses) trainee_.clip.norm = clip_.norm / window.losses;
    const double factor = rate_factor(config_.rate_scaling, truncation_);
    update(weights.own, [&](std::int64_t number) { return factor * rate(number); });
    return window.end;
  }

  AdaptiveTbpttConfig config_;
  int truncation_;  // K
  Clip clip_;       // as it was before windows divided it
  TruncatedGradient gradient_;
  EstimateClock clock_;
  TruncationEstimator estimator_;
};

}  // namespace

std::unique_ptr<Learner> make_learner(const AdaptiveTbpttConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_learner(config, trainee.engine.model(), shape);
  return std::make_unique<AdaptiveTbptt>(config, trainee, shape);
}

}  // namespace throughtime
