#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "learners/fptt/intermediate_losses.h"
#include "learners/fptt/window_choice.h"
#include "learners/support.h"

namespace throughtime {
namespace {

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
  Fptt(const FpttConfig& config, Trainee& trainee, const StretchShape& shape)
      : Learner(trainee, shape),
        config_(config),
        cut_("fptt", cut_rule(config, shape), shape),
        intermediate_("fptt", losses_of(config), LossSpan::window, trainee.engine, shape, cut_),
        alpha_(config.alpha) {
    Engine& engine = trainee.engine;
    if (intermediate_.mixes_labels()) correct_sum_ = Buffer();
    const int longest = cut_.longest();
    const bool one_loss = shape.terminal && config.terminal.intermediate != IntermediateLoss::every_step;
    tape_ = engine.make_tape({.steps = longest,
                              .batch = shape.batch,
                              .keep = Keep::gradient,
                              .losses = one_loss ? 1 : 0});  // of a window, at its last step
    const std::size_t state = elements(shape.batch, engine.model().state_size());
    state_ = engine.allocate(state);
    next_ = engine.allocate(state);
    if (config.carry == FpttCarry::rerun) {
      rerun_state_ = engine.allocate(state);
      scout_ = engine.make_tape({.steps = longest, .batch = shape.batch, .keep = Keep::nothing});
    }
    make_regulariser();
    if (config.window == WindowRule::adaptive) choice_.emplace(engine, config, shape);
    reserve(part_, longest, shape.batch);
  }

  std::string_view name() const override { return "fptt"; }
  std::size_t activation_bytes() const override {
    return tape_->activation_bytes() + (scout_ ? scout_->activation_bytes() : 0) +
           (choice_ ? choice_->activation_bytes() : 0);
  }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    if (!stretch.continues) {
      trainee_.engine.fill(state_, 0);
      if (rerun_state_) trainee_.engine.fill(rerun_state_, 0);
    }
    if (choice_) choice_->look_at(stretch, updates_, trainee_.parameters, cut_);
    const bool terminal = intermediate_.begin(stretch);
    const double factor = rate_factor(stretch);
    const RateFunction scaled = [&rate, factor](std::int64_t update) { return factor * rate(update); };
    for (int window = 0; window < cut_.count(stretch.steps); ++window) {
      if (terminal && intermediate_.skips(stretch, window)) break;
      const int first = cut_.begin(stretch.steps, window);
      slice(stretch, first, cut_.end(stretch.steps, window) - first, part_);
      if (terminal) intermediate_.write(stretch, window, first, part_);
      if (config_.masks == MaskSpan::window) part_.mask_key = stretch.mask_key * 0x9e3779b97f4a7c15u + window + 1;
      predictions_ = terminal ? intermediate_.predictions() : Buffer();
      learn_window(terminal ? intermediate_.divisor(stretch) : sum_of_weights(name(), part_.weight), scaled);
      if (terminal) intermediate_.keep(stretch, window, part_.steps - 1);
    }
    if (rerun_state_) rerun(stretch);
  }

  void end_epoch() override {
    intermediate_.end_epoch();
    if (choice_) choice_->end_epoch();
    alpha_ *= config_.alpha_growth;
    if (config_.alpha_most > 0) alpha_ = std::min(alpha_, config_.alpha_most);
    if (config_.take_average && average_) trainee_.engine.copy(average_, trainee_.parameters);
    if (config_.reset_multiplier && multiplier_) trainee_.engine.fill(multiplier_, 0);
  }

  std::vector<Diagnostic> diagnostics() const override {
    std::vector<Diagnostic> numbers = update_diagnostics();
    if (!choice_) return numbers;
    for (Diagnostic& number : choice_->diagnostics(cut_.window_length())) numbers.push_back(std::move(number));
    return numbers;
  }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    intermediate_.archive(archive);
    if (choice_) choice_->archive(archive, cut_);
    archive.buffer("state", trainee_.engine, state_);
    if (rerun_state_) archive.buffer("rerun_state", trainee_.engine, rerun_state_);
  }

  void archive_memory(Archive& archive) override {
    Learner::archive_memory(archive);
    archive.number("alpha", alpha_, at_least(0));
    if (average_) archive.buffer("average", trainee_.engine, average_);
    if (multiplier_) archive.buffer("multiplier", trainee_.engine, multiplier_);
  }

 private:
  /// With windows that change, Q has nothing to remember: the uniform one.
  static TerminalConfig losses_of(const FpttConfig& config) {
    TerminalConfig losses = config.terminal;
    if (config.window == WindowRule::adaptive && losses.q == PriorKind::automatic) losses.q = PriorKind::uniform;
    return losses;
  }

  std::vector<Diagnostic> update_diagnostics() const {
    std::vector<double> norms = trainee_.engine.read(norms_);
    if (config_.form == FpttForm::ogd) return {{"loss_gradient_norm", norms[0]}};
    const auto norm = [this](Buffer square) { return std::sqrt(trainee_.engine.read(square)[0]); };
    if (config_.form == FpttForm::gradient) norms = {norm(loss_square_), norm(terms_square_), norm(distance_square_)};
    return {{"loss_gradient_norm", norms[0]},
            {"regulariser_gradient_norm", norms[1]},
            {"regulariser_share", norms[0] > 0 ? norms[1] / norms[0] : 0.0},
            {"distance_to_average", norms[2]}};
  }

  void make_regulariser() {
    Engine& engine = trainee_.engine;
    const std::size_t size = trainee_.parameters.size;
    if (config_.form != FpttForm::ogd) {
      average_ = engine.allocate(size);
      engine.copy(trainee_.parameters, average_);
      multiplier_ = engine.allocate(size);
    }
    norms_ = engine.allocate(config_.form == FpttForm::lambda ? 3 : 1);
    if (config_.form == FpttForm::gradient) {
      terms_ = engine.allocate(size);
      for (Buffer* square : {&loss_square_, &terms_square_, &distance_square_}) *square = engine.allocate(1);
    }
  }

  /// What the released code multiplies the rate with on language: the sequence's share of the longest one, 1 / (2 K').
  double rate_factor(const Window& stretch) const {
    const int usual = shape_.usual_steps > 0 ? shape_.usual_steps : shape_.steps;
    const double length = config_.rate_by_length ? static_cast<double>(stretch.steps) / usual : 1.0;
    return config_.rate_by_windows ? length / (2.0 * cut_.count(stretch.steps)) : length;
  }

  /// One window: `part_`, whose loss is its weighted sum divided by `divisor`.
  void learn_window(double divisor, const RateFunction& rate) {
    for (int inner = 0; inner < config_.inner_iterations; ++inner) {
      unroll(inner > 0 && config_.inner_state == InnerState::go_on ? next_ : state_, inner == 0);
      if (divisor == 0) break;  // a window without a loss only moves the state
      pull_back();
      step(divisor, rate, inner + 1 == config_.inner_iterations);
    }
    if (config_.form == FpttForm::gradient && divisor > 0) look_at_new_weights(divisor);
    std::swap(state_, next_);
  }

  /// W' = optimizer(W, G); in the lambda form also lambda' and W-bar', with the last step on a window.
  void step(double divisor, const RateFunction& rate, bool last) {
    switch (config_.form) {
      case FpttForm::lambda: {
        const DynamicRegulariser terms{average_, multiplier_, alpha_, config_.penalty, config_.averaging, last, norms_};
        update(divisor, rate, &terms);
        break;
      }
      case FpttForm::gradient:
        add_gradient_terms(divisor);
        update(1, rate);
        break;
      case FpttForm::ogd:
        update(divisor, rate, nullptr, norms_);
        break;
    }
  }

  void unroll(Buffer from, bool counted) {
    trainee_.engine.unroll({.window = part_,
                            .parameters = trainee_.parameters,
                            .tape = *tape_,
                            .initial_state = from,
                            .final_state = next_,
                            .loss_sum = counted ? loss_sum_ : Buffer(),
                            .correct_sum = counted ? correct_sum_ : Buffer(),
                            .penalties = counted ? count_penalties(part_) : Buffer(),
                            .predictions = counted ? predictions_ : Buffer()});
    if (counted) loss_weight_ += sum_of_weights(name(), part_.weight);
  }

  void pull_back() {
    trainee_.engine.pull_back(
        {.tape = *tape_, .window = part_, .parameters = trainee_.parameters, .gradient = trainee_.gradient});
  }

  /// gradient <- g(W) + [alpha (W - W-bar) - kappa g_before].
  void add_gradient_terms(double divisor) {
    Engine& engine = trainee_.engine;
    engine.scale(trainee_.gradient, 1 / divisor);
    engine.dot(trainee_.gradient, trainee_.gradient, loss_square_);
    engine.copy(trainee_.parameters, terms_);
    engine.axpy(-1, average_, terms_);
    engine.scale(terms_, alpha_);
    engine.axpy(-config_.kappa, multiplier_, terms_);
    engine.dot(terms_, terms_, terms_square_);
    engine.axpy(1, terms_, trainee_.gradient);
  }

  /// The second gradient of the gradient form, at W', and W-bar' from it. The carried state stays the one that the
  /// weights before the update made.
  void look_at_new_weights(double divisor) {
    Engine& engine = trainee_.engine;
    engine.unroll({.window = part_, .parameters = trainee_.parameters, .tape = *tape_, .initial_state = state_});
    engine.pull_back({.tape = *tape_, .window = part_, .parameters = trainee_.parameters, .gradient = multiplier_});
    engine.scale(multiplier_, 1 / divisor);
    engine.scale(average_, 0.5);
    engine.axpy(0.5, trainee_.parameters, average_);
    engine.axpy(-0.5 / alpha_, multiplier_, average_);
    engine.copy(trainee_.parameters, terms_);
    engine.axpy(-1, average_, terms_);
    engine.dot(terms_, terms_, distance_square_);
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

  FpttConfig config_;
  SequenceCut cut_;
  IntermediateLosses intermediate_;
  std::optional<WindowChoice> choice_;  // window = adaptive
  double alpha_;
  std::unique_ptr<Tape> tape_, scout_;
  Buffer state_, next_;  // [B, S]: before the window and after it
  Buffer rerun_state_;   // [B, S]: where the next rerun starts
  Buffer average_;       // W-bar
  Buffer multiplier_;    // lambda; in the gradient form the last window's gradient
  Buffer predictions_;   // of the window's unroll, where Q wants them
  // What diagnostics() tells of the last update.
  Buffer norms_;  // lambda form: DynamicRegulariser's diagnostics; ogd: [1], the gradient's
  Buffer terms_;  // gradient form: the regulariser's gradient, then W - W-bar
  Buffer loss_square_, terms_square_, distance_square_;  // gradient form: squares of the norms
  Window part_;
};

}  // namespace

std::unique_ptr<Learner> make_learner(const FpttConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_learner(config, trainee.engine.model(), shape);
  return std::make_unique<Fptt>(config, trainee, shape);
}

}  // namespace throughtime
