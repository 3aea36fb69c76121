#include <algorithm>
#include <cmath>
#include <utility>

#include "core/names.h"
#include "learners/intermediate_losses.h"
#include "learners/registry.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

void check(const LearnerConfig& config, const StretchShape& shape) {
  const auto known = [](const char* what, const std::string& value, const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), value) == names.end()) refuse_unknown("fptt", what, value, names);
  };
  known("form", config.form, {"lambda", "gradient", "ogd"});
  known("remainder", config.remainder, {"extra", "absorb"});
  known("inner_state", config.inner_state, {"restart", "continue"});
  known("carry", config.carry, {"windows", "rerun"});
  known("masks", config.masks, {"window", "sequence"});
  if ((config.windows == 0) == (config.window_length == 0))
    refuse("fptt", "give either windows (K) or window_length, got {} and {}", config.windows, config.window_length);
  if (config.windows != 0 && (config.windows < 1 || config.windows > shape.steps))
    refuse("fptt", "windows must be between 1 and the sequence length ({}), got {}", shape.steps, config.windows);
  if (config.window_length != 0 && (config.window_length < 1 || config.window_length > shape.steps))
    refuse("fptt", "window_length must be between 1 and the sequence length ({}), got {}", shape.steps,
           config.window_length);
  if (config.form != "ogd" && !(config.alpha > 0)) refuse("fptt", "alpha must be positive, for it divides, got {}", config.alpha);
  if (!(config.alpha_growth > 0)) refuse("fptt", "alpha_growth must be positive, got {}", config.alpha_growth);
  if (!(config.alpha_most >= 0)) refuse("fptt", "alpha_most must be 0 (no bound) or positive, got {}", config.alpha_most);
  require_range("fptt", "averaging", config.averaging, 0.0, 1.0);
  require_range("fptt", "inner_iterations", config.inner_iterations, 1, 1'000'000);
}

/// How a sequence of T steps is cut: K windows of omega = floor(T / K) steps; what is left over is one more window, or
/// belongs to the last.
class Cut {
 public:
  explicit Cut(const LearnerConfig& config)
      : windows_(config.windows), length_(config.window_length), absorb_(config.remainder == "absorb") {}

  int omega(int steps) const { return length_ > 0 ? std::min(length_, steps) : std::max(1, steps / windows_); }
  int count(int steps) const {
    const int whole = steps / omega(steps), left = steps % omega(steps);
    const int most = windows_ > 0 ? std::min(windows_, whole) : whole;
    return absorb_ ? most : most + (whole > most || left > 0 ? 1 : 0);
  }
  int begin(int steps, int window) const { return window * omega(steps); }
  int end(int steps, int window) const { return window + 1 == count(steps) ? steps : begin(steps, window + 1); }

  /// The longest window of any stretch of at most `steps` steps.
  int longest(int steps) const {
    int longest = 0;
    for (int t = std::max(1, steps - std::max(windows_, length_)); t <= steps; ++t)
      longest = std::max(longest, end(t, count(t) - 1) - begin(t, count(t) - 1));
    return std::max(longest, omega(steps));
  }

 private:
  int windows_, length_;
  bool absorb_;
};

/// Forward propagation through time (FPTT-K): one update after each window on its own loss and a regulariser that holds
/// W near its running average W-bar. The state enters a window as a constant and leaves it as the weights before the
/// update made it.
///   lambda form    G = g(W) - lambda + m alpha (W - W-bar);  W' = optimizer(W, G)
///                  lambda' = lambda - alpha (W' - W-bar);  W-bar' = (1 - b) W-bar + b W' - (b / alpha) lambda'
///   gradient form  G = g(W) + alpha (W - W-bar) - kappa g_before;  W-bar' = (W-bar + W') / 2 - g(W') / (2 alpha)
///                  with the gradient g(W') of the same window, which is g_before of the next one
///   ogd            G = g(W)
class Fptt final : public Learner {
 public:
  Fptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape)
      : Learner(trainee),
        config_(config),
        shape_(shape),
        cut_(config),
        intermediate_(config.intermediate, trainee.engine.model(), cut_.longest(shape.steps), shape.batch),
        alpha_(config.alpha) {
    Engine& engine = trainee.engine;
    const int longest = cut_.longest(shape.steps);
    tape_ = engine.make_tape({.steps = longest, .batch = shape.batch, .keep = Keep::gradient});
    const std::size_t state = static_cast<std::size_t>(shape.batch) * engine.model().state_size();
    state_ = engine.allocate(state);
    next_ = engine.allocate(state);
    if (config.carry == "rerun") {
      rerun_state_ = engine.allocate(state);
      scout_ = engine.make_tape({.steps = longest, .batch = shape.batch, .keep = Keep::nothing});
    }
    if (config.form != "ogd") {
      average_ = engine.allocate(trainee.parameters.size);
      engine.copy(trainee.parameters, average_);
      multiplier_ = engine.allocate(trainee.parameters.size);  // lambda, or the gradient before (gradient form)
      diagnostics_ = engine.allocate(3);
    }
    reserve(part_, longest, shape.batch);
  }

  std::string_view name() const override { return "fptt"; }
  std::size_t activation_bytes() const override {
    return tape_->activation_bytes() + (scout_ ? scout_->activation_bytes() : 0);
  }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    if (!stretch.continues) {
      trainee_.engine.fill(state_, 0);
      if (rerun_state_) trainee_.engine.fill(rerun_state_, 0);
    }
    const bool terminal = intermediate_.apply_to(stretch);
    for (int window = 0; window < cut_.count(stretch.steps); ++window) {
      const int first = cut_.begin(stretch.steps, window);
      slice(stretch, first, cut_.end(stretch.steps, window) - first, part_);
      if (terminal) intermediate_.write(stretch, first, part_);
      if (config_.masks == "window") part_.mask_key = stretch.mask_key * 0x9e3779b97f4a7c15u + window + 1;
      learn_window(terminal ? final_weights(stretch) : sum_of_weights(name(), part_.weight), rate);
    }
    if (rerun_state_) rerun(stretch);
  }

  void end_epoch() override {
    alpha_ *= config_.alpha_growth;
    if (config_.alpha_most > 0) alpha_ = std::min(alpha_, config_.alpha_most);
    if (config_.take_average && average_) trainee_.engine.copy(average_, trainee_.parameters);
    if (config_.reset_multiplier && multiplier_) trainee_.engine.fill(multiplier_, 0);
  }

  std::vector<Diagnostic> diagnostics() const override {
    if (config_.form != "lambda") return {};
    const std::vector<double> norms = trainee_.engine.read(diagnostics_);
    return {{"loss_gradient_norm", norms[0]},
            {"regulariser_gradient_norm", norms[1]},
            {"regulariser_share", norms[0] > 0 ? norms[1] / norms[0] : 0.0},
            {"distance_to_average", norms[2]}};
  }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    archive.number("alpha", alpha_);
    archive.buffer("state", trainee_.engine, state_);
    if (rerun_state_) archive.buffer("rerun_state", trainee_.engine, rerun_state_);
    if (average_) archive.buffer("average", trainee_.engine, average_);
    if (multiplier_) archive.buffer("multiplier", trainee_.engine, multiplier_);
  }

 private:
  /// What a terminal loss is divided by: the mean is over rows, beta stays a factor.
  double final_weights(const Window& stretch) const {
    const auto rows = static_cast<std::size_t>(stretch.batch);
    return sum_of_weights(name(), std::span(stretch.weight).last(rows));
  }

  /// One window: `part_`, whose loss is its weighted sum divided by `divisor`.
  void learn_window(double divisor, const RateFunction& rate) {
    for (int inner = 0; inner < config_.inner_iterations; ++inner) {
      const bool last = inner + 1 == config_.inner_iterations;
      unroll(inner > 0 && config_.inner_state == "continue" ? next_ : state_, inner == 0);
      if (divisor == 0) break;  // a window without a loss only moves the state
      pull_back();
      if (config_.form == "lambda") {
        const DynamicRegulariser terms{average_, multiplier_,           alpha_,       config_.penalty,
                                       config_.averaging, last, diagnostics_};
        update(divisor, rate, &terms);
      } else {
        if (config_.form == "gradient") add_gradient_terms(divisor);
        update(config_.form == "gradient" ? 1 : divisor, rate);
      }
    }
    if (config_.form == "gradient" && divisor > 0) look_at_new_weights(divisor);
    std::swap(state_, next_);
  }

  void unroll(Buffer from, bool counted) {
    trainee_.engine.unroll({.window = part_,
                            .parameters = trainee_.parameters,
                            .tape = *tape_,
                            .initial_state = from,
                            .final_state = next_,
                            .loss_sum = counted ? loss_sum_ : Buffer()});
    if (counted) loss_weight_ += sum_of_weights(name(), part_.weight);
  }

  void pull_back() {
    trainee_.engine.pull_back(
        {.tape = *tape_, .window = part_, .parameters = trainee_.parameters, .gradient = trainee_.gradient});
  }

  /// gradient <- g(W) + alpha (W - W-bar) - kappa g_before.
  void add_gradient_terms(double divisor) {
    Engine& engine = trainee_.engine;
    engine.scale(trainee_.gradient, 1 / divisor);
    engine.axpy(alpha_, trainee_.parameters, trainee_.gradient);
    engine.axpy(-alpha_, average_, trainee_.gradient);
    engine.axpy(-config_.kappa, multiplier_, trainee_.gradient);
  }

  /// The second gradient of the gradient form, at W', and W-bar' from it. The carried state stays the one that the
  /// weights before the update made.
  void look_at_new_weights(double divisor) {
    Engine& engine = trainee_.engine;
    engine.unroll({.window = part_, .parameters = trainee_.parameters, .tape = *tape_, .initial_state = state_});
    engine.pull_back(
        {.tape = *tape_, .window = part_, .parameters = trainee_.parameters, .gradient = multiplier_});
    engine.scale(multiplier_, 1 / divisor);
    engine.scale(average_, 0.5);
    engine.axpy(0.5, trainee_.parameters, average_);
    engine.axpy(-0.5 / alpha_, multiplier_, average_);
  }

  /// The released code's carry: the whole stretch once more with the weights after its last update.
  void rerun(const Window& stretch) {
    const int length = scout_->shape().steps;
    for (int first = 0; first < stretch.steps; first += length) {
      slice(stretch, first, std::min(length, stretch.steps - first), part_);
      std::fill(part_.weight.begin(), part_.weight.end(), 0.0f);
      trainee_.engine.unroll({.window = part_,
                              .parameters = trainee_.parameters,
                              .tape = *scout_,
                              .initial_state = rerun_state_,
                              .final_state = rerun_state_});
    }
    trainee_.engine.copy(rerun_state_, state_);
  }

  LearnerConfig config_;
  StretchShape shape_;
  Cut cut_;
  IntermediateLosses intermediate_;
  double alpha_;
  std::unique_ptr<Tape> tape_, scout_;
  Buffer state_, next_;   // [B, S]: before the window and after it
  Buffer rerun_state_;    // [B, S]: where the next rerun starts
  Buffer average_;        // W-bar
  Buffer multiplier_;     // lambda; in the gradient form the last window's gradient
  Buffer diagnostics_;
  Window part_;
};

}  // namespace

StreamNeeds fptt_stream(const LearnerConfig& config) {
  if (config.window_length < 1)
    refuse("fptt", "a stream has no length that windows (K) could divide; give window_length instead");
  return {config.window_length, 0};
}

std::unique_ptr<Learner> make_fptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  check(config, shape);
  return std::make_unique<Fptt>(config, trainee, shape);
}

}  // namespace throughtime
