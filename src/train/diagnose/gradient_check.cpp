#include "throughtime/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "throughtime/engine.h"
#include "throughtime/index.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr double difference_step = 1e-5;
constexpr double smallest_share = 1e-3;  // a block is judged against at least this share of the whole gradient

double norm(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// Numbers drawn one after the other; the count is the counter.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed, Purpose::sampling) {}
  double between(double low, double high) { return low + (high - low) * random_.uniform(0, 0, count_++); }
  int integer(int low, int high) {
    return low + static_cast<int>(random_.below(static_cast<std::uint64_t>(high - low) + 1, 0, 0, count_++));
  }
  std::vector<double> vector(std::size_t size, double bound) {
    std::vector<double> values(size);
    for (double& value : values) value = between(-bound, bound);
    return values;
  }

 private:
  Random random_;
  std::uint64_t count_ = 0;
};

ModelConfig draw_model(const std::string& cell, const std::string& head, Draws& draws) {
  ModelConfig config;
  config.input.reals = draws.integer(1, 3);
  const int layers = draws.integer(1, 3);
  for (int layer = 0; layer < layers; ++layer) {
    config.layers.emplace_back();
    config.layers.back().cell = cell;
    config.layers.back().hidden = draws.integer(2, 5);
    config.layers.back().options = {.step = 0.3, .diffusion = 0.1};
  }
  config.head.name = head;
  const HeadType& type = find_head(head);
  if (type.layers) {
    config.head.experts = draws.integer(1, 3);
    config.head.latent = draws.integer(1, 4);
  }
  config.head.outputs = draws.integer(2, 4) * type.outputs_per_target(config.head.levels.size()) + type.beside;
  return config;
}

/// A model, a window and everything that enters it. Not copied: the window points into it.
class Problem {
 public:
  Problem(const std::string& cell, const std::string& head, std::uint64_t seed)
      : draws_(seed), model_(draw_model(cell, head, draws_)) {
    draw_window();
    draw_targets();
    parameters_ = draws_.vector(model_.parameters().size(), 0.7);
    const std::size_t states = elements(window_.batch, model_.state_size());
    initial_state_ = draws_.vector(states, 0.5);
    end_cotangent_ = draws_.vector(states, 1.0);
  }
  Problem(const Problem&) = delete;

  const Model& model() const { return model_; }
  const Window& window() const { return window_; }
  const std::vector<double>& parameters() const { return parameters_; }
  const std::vector<double>& initial_state() const { return initial_state_; }
  const std::vector<double>& end_cotangent() const { return end_cotangent_; }

 private:
  void draw_window() {
    window_.steps = draws_.integer(3, 6);
    window_.batch = draws_.integer(2, 3);
    const std::size_t entries = elements(window_.steps, window_.batch);
    for (int row = 0; row < window_.batch; ++row)
      window_.start.push_back(static_cast<std::int64_t>(row) * window_.steps);
    for (std::size_t i = 0; i < entries * model_.config().input.reals; ++i)
      values_.push_back(static_cast<float>(draws_.between(-1, 1)));
    source_.steps = entries;
    source_.reals = model_.config().input.reals;
    source_.values = values_;
    window_.sources = {&source_, 1};
    for (std::size_t i = 0; i < entries; ++i)
      window_.weight.push_back(i % 4 == 1 ? 0.0f : static_cast<float>(draws_.between(0.5, 1.5)));
    window_.flags.assign(entries, StepFlag::go_on);
    window_.flags[entries / 2] = StepFlag::reset;
  }

  /// Labels for one half of the seeds and distributions for the other, where a head takes both.
  void draw_targets() {
    const std::size_t entries = window_.weight.size();
    const int width = model_.target_width();
    window_.targets.layout = TargetLayout::per_step;
    const bool classes = model_.head().target == TargetKind::label_or_distribution;
    const bool intervals = model_.head().target == TargetKind::label_and_interval;
    if (intervals || (classes && draws_.integer(0, 1) == 0)) {
      for (std::size_t i = 0; i < entries; ++i) labels_.push_back(draws_.integer(0, model_.classes() - 1));
      window_.targets.labels = labels_;
      if (!intervals) return;
    }
    for (std::size_t i = 0; i < entries; ++i) {
      std::vector<double> target(elements(width));
      double sum = 0;
      for (double& value : target) sum += value = draws_.between(0.1, 0.9);
      for (const double value : target) targets_.push_back(static_cast<float>(classes ? value / sum : value));
    }
    window_.targets.width = width;
    window_.targets.values = targets_;
  }

  Draws draws_;
  Model model_;
  Source source_;
  Window window_;
  std::vector<float> values_;   // [B, L, D]
  std::vector<float> targets_;  // [L, B, target width]
  std::vector<std::int32_t> labels_;
  std::vector<double> parameters_, initial_state_, end_cotangent_;
};

/// One engine at work on a problem: the loss is sum(weight * loss) + <end cotangent, final state>.
class Worker {
 public:
  Worker(const Problem& problem, const std::string& engine)
      : problem_(problem),
        engine_(make_engine(problem.model(), {engine, 1, nullptr})),
        tape_(engine_->make_tape({.steps = problem.window().steps, .batch = problem.window().batch})),
        parameters_(engine_->allocate(problem.parameters().size())),
        gradient_(engine_->allocate(problem.parameters().size())),
        initial_state_(engine_->allocate(problem.initial_state().size())),
        final_state_(engine_->allocate(problem.initial_state().size())),
        cotangent_(engine_->allocate(problem.initial_state().size())),
        loss_(engine_->allocate(1)) {}

  double loss(const std::vector<double>& parameters, const std::vector<double>& initial_state) {
    engine_->write(parameters_, parameters);
    engine_->write(initial_state_, initial_state);
    engine_->fill(loss_, 0);
    engine_->unroll({.window = problem_.window(),
                     .parameters = parameters_,
                     .tape = *tape_,
                     .initial_state = initial_state_,
                     .final_state = final_state_,
                     .loss_sum = loss_});
    const std::vector<double> final_state = engine_->read(final_state_);
    double sum = engine_->read(loss_).front();
    for (std::size_t i = 0; i < final_state.size(); ++i) sum += final_state[i] * problem_.end_cotangent()[i];
    return sum;
  }

  /// The gradient with respect to the parameters, then to the initial state.
  std::vector<double> gradient() {
    loss(problem_.parameters(), problem_.initial_state());
    engine_->write(cotangent_, problem_.end_cotangent());
    engine_->pull_back({.tape = *tape_,
                        .window = problem_.window(),
                        .parameters = parameters_,
                        .gradient = gradient_,
                        .end_cotangent = cotangent_,
                        .initial_cotangent = cotangent_});
    std::vector<double> result = engine_->read(gradient_);
    const std::vector<double> initial = engine_->read(cotangent_);
    result.insert(result.end(), initial.begin(), initial.end());
    return result;
  }

  /// The same numbers by central differences.
  std::vector<double> differences() {
    std::vector<double> parameters = problem_.parameters();
    std::vector<double> initial_state = problem_.initial_state();
    std::vector<double> result;
    for (std::vector<double>* values : {&parameters, &initial_state}) {
      for (double& value : *values) {
        const double middle = value;
        value = middle + difference_step;
        const double above = loss(parameters, initial_state);
        value = middle - difference_step;
        const double below = loss(parameters, initial_state);
        value = middle;
        result.push_back((above - below) / (2 * difference_step));
      }
    }
    return result;
  }

 private:
  const Problem& problem_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tape> tape_;
  Buffer parameters_, gradient_, initial_state_, final_state_, cotangent_, loss_;
};

double worst_block_error(const Problem& problem, const std::vector<double>& analytic,
                         const std::vector<double>& numeric) {
  double worst = 0;
  const double floor = smallest_share * norm(analytic);
  const auto check = [&](std::size_t offset, std::size_t size) {
    const std::span<const double> a = std::span(analytic).subspan(offset, size);
    const std::span<const double> n = std::span(numeric).subspan(offset, size);
    const double error = distance(a, n) / std::max(norm(a), floor);
    // A NaN would lose every comparison: it counts as the worst error there is.
    worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
  };
  for (const ParameterBlock& block : problem.model().parameters().blocks()) check(block.offset, block.size());
  check(problem.parameters().size(), problem.initial_state().size());
  return worst;
}

}  // namespace

const EngineType& exact_engine() {
  const std::vector<const EngineType*> engines = all_engines();
  return **std::find_if(engines.begin(), engines.end(), [](const EngineType* engine) { return engine->exact; });
}

std::vector<GradientError> check_gradients(const std::string& cell, const std::string& head, std::uint64_t seed) {
  const Problem problem(cell, head, seed);
  Worker exact(problem, exact_engine().name);
  const std::vector<double> analytic = exact.gradient();
  std::vector<GradientError> errors;
  for (const EngineType* engine : usable_engines()) {
    const double error = engine->exact ? worst_block_error(problem, analytic, exact.differences())
                                       : distance(Worker(problem, engine->name).gradient(), analytic) / norm(analytic);
    errors.push_back({.engine = engine, .relative = std::isfinite(error) ? error : INFINITY});
  }
  return errors;
}

}  // namespace throughtime
