#include "train/evaluate/dynamic_evaluation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "learners/support.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/files/run_directory.h"
#include "train/run/session.h"
#include "train/run/trained_model.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "evaluate";
constexpr int window_steps = 100;  // about so many are made at once: a few segments

OptimizerConfig step_rule(const DynamicConfig& config) { return {.name = "anchored", .epsilon = config.epsilon}; }

/// With a rate of 0 its moment is the sum of the squares, and nothing else changes.
OptimizerConfig squares_rule() { return {.name = "adagrad"}; }

const DynamicConfig& checked(const Task& task, const DynamicConfig& config) {
  if (task.examples() > 0)
    refuse(
        speaker,
        "--dynamic learns from the target of each step of a long recording; this task has separate sequences: choose "
        "one such as text or series");
  if (task.batches(Split::train, 1) == 0)
    refuse(speaker,
           "--dynamic reads all training data first; this task is generated and never ends: choose one that reads "
           "files, such as text or series");
  return config;
}

/// As many columns as asked for, or fewer where they would be shorter than a segment.
int columns_of(const Task& task, const DynamicConfig& config) {
  int columns = config.columns;
  while (columns > 1 && task.row_steps(columns) < config.segment) columns /= 2;
  return columns;
}

double mean_of_means(const ParameterLayout& layout, const std::vector<double>& sizes) {
  double sum = 0;
  for (const ParameterBlock& block : layout.blocks()) {
    double of_block = 0;
    for (std::size_t i = 0; i < block.size(); ++i) of_block += sizes[block.offset + i];
    sum += of_block / static_cast<double>(block.size());
  }
  return sum / static_cast<double>(layout.blocks().size());
}

}  // namespace

void require_pace(const char* what, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    refuse(speaker, "{} must be a finite number, 0 or more, got {}", what, value);
}

DynamicConfig settled(DynamicConfig config) {
  const bool sums = config.scaling == GradientScaling::sum;
  const auto settle = [](double& value, double own) {
    if (value == -1) value = own;
  };
  settle(config.rate, sums ? 2e-3 : 5e-5);
  settle(config.decay, sums ? 2e-2 : 2e-3);
  settle(config.epsilon, sums ? 1e-3 : 2e-5);
  require_pace("--rate", config.rate);
  require_pace("--decay", config.decay);
  if (!(config.epsilon >= 1e-30) || !std::isfinite(config.epsilon))
    refuse(speaker, "--epsilon must be at least 1e-30, got {}", config.epsilon);
  require_range(speaker, "--segment", config.segment, 1, 100'000);
  require_range(speaker, "--columns", config.columns, 1, 65536);
  return config;
}

DynamicConfig in_means(const DynamicConfig& config, const GradientStatistics& statistics) {
  if (config.scaling == GradientScaling::mean) return config;
  DynamicConfig mapped = config;
  mapped.scaling = GradientScaling::mean;
  const double root = std::sqrt(static_cast<double>(statistics.segments));
  mapped.rate /= root;
  mapped.epsilon /= root;
  mapped.decay /= static_cast<double>(statistics.tensors);
  return mapped;
}

DynamicEvaluation::DynamicEvaluation(Engine& engine, Task& task, Buffer trained, const DynamicConfig& config)
    : engine_(engine),
      task_(task),
      config_(settled(checked(task, config))),
      trained_(trained),
      weights_(engine.allocate(trained.size)),
      gradient_(engine.allocate(trained.size)),
      evaluator_(engine, task, *this) {}

const GradientStatistics& DynamicEvaluation::collect() {
  GradientStatistics found{.tensors = static_cast<std::int64_t>(engine_.model().parameters().blocks().size()),
                           .columns = columns_of(task_, config_)};
  const auto tape = engine_.make_tape({.steps = config_.segment, .batch = found.columns, .keep = Keep::gradient});
  const auto squares = engine_.make_optimizer(squares_rule(), weights_);
  const Buffer state = engine_.allocate(elements(found.columns, engine_.model().state_size()));
  Window part;
  reserve(part, config_.segment, found.columns);
  for (std::int64_t i = 0; i < task_.batches(Split::train, found.columns); ++i) {
    const Window& window = task_.make_batch(Split::train, static_cast<std::uint64_t>(i), found.columns);
    if (i == 0 || !window.continues) engine_.fill(state, 0);
    for (int first = 0; first < window.steps; first += config_.segment) {
      slice(window, first, std::min(config_.segment, window.steps - first), part);
      engine_.unroll({.window = part,
                      .parameters = trained_,
                      .tape = *tape,
                      .training = false,
                      .initial_state = state,
                      .final_state = state});
      add_squares(part, *tape, *squares);
    }
  }
  found.segments = squares->step;
  if (found.segments == 0) refuse(speaker, "the training data has no loss, so --dynamic has nothing to learn from");
  found.sizes = engine_.read(squares->moments.front());
  for (double& size : found.sizes) size = std::sqrt(size / static_cast<double>(found.segments));
  found.mean = mean_of_means(engine_.model().parameters(), found.sizes);
  use(std::move(found));
  return statistics_;
}

void DynamicEvaluation::add_squares(const Window& part, Tape& tape, OptimizerState& squares) {
  const double weight = sum_of_weights(speaker, part.weight);
  if (weight == 0) return;
  engine_.pull_back({.tape = tape, .window = part, .parameters = trained_, .gradient = gradient_});
  engine_.apply_update(
      {.target = weights_, .gradient = gradient_, .optimizer = squares, .rate = 0, .gradient_scale = 1 / weight});
}

void DynamicEvaluation::use(GradientStatistics statistics) {
  if (!std::isfinite(statistics.mean) || !(statistics.mean > 0))
    fail(speaker, "the mean size of the gradients of the training data is {}, so --dynamic cannot scale by it",
         statistics.mean);
  statistics_ = std::move(statistics);
  step_ = engine_.make_optimizer(step_rule(in_means(config_, statistics_)), weights_);
  engine_.write(step_->moments[0], statistics_.sizes);
  engine_.copy(trained_, step_->moments[1]);
}

Evaluation DynamicEvaluation::evaluate(Split split, double rate, double decay) {
  if (!step_) collect();
  DynamicConfig given = config_;
  given.rate = rate;
  given.decay = decay;
  const DynamicConfig now = in_means(settled(given), statistics_);
  rate_ = now.rate;
  way_back_ = now.decay / statistics_.mean;
  learns_ = true;
  engine_.copy(trained_, weights_);
  const Evaluation evaluation = evaluator_.evaluate(weights_, split, 0);
  if (!std::isfinite(evaluation.loss))
    fail(speaker, "the loss became {}; try a lower --rate (now {}) or a higher --decay (now {})", evaluation.loss, rate,
         decay);
  return evaluation;
}

Evaluation DynamicEvaluation::evaluate_static(Split split) {
  learns_ = false;
  return evaluator_.evaluate(trained_, split, 0);
}

void DynamicEvaluation::learn(const Window& part, Tape& tape, Buffer parameters) {
  if (!learns_) return;
  const double weight = sum_of_weights(speaker, part.weight);
  if (weight == 0) return;
  engine_.pull_back({.tape = tape, .window = part, .parameters = parameters, .gradient = gradient_});
  engine_.apply_update({.target = parameters,
                        .gradient = gradient_,
                        .optimizer = *step_,
                        .rate = way_back_,
                        .gradient_scale = rate_ / weight});
}

std::vector<DynamicTrial> tune(DynamicEvaluation& evaluation, const std::vector<double>& rates,
                               const std::vector<double>& decays,
                               const std::function<void(const DynamicTrial&)>& tell) {
  std::vector<DynamicTrial> trials;
  for (const double rate : rates)
    for (const double decay : decays) {
      DynamicTrial& trial = trials.emplace_back(DynamicTrial{.rate = rate, .decay = decay});
      try {
        trial.validation = evaluation.evaluate(Split::validation, rate, decay);
      } catch (const RunFailure&) {
        trial.failed = true;
      }
      if (tell) tell(trial);
    }
  return trials;
}

const DynamicTrial& best_of(const std::vector<DynamicTrial>& trials) {
  const DynamicTrial* best = nullptr;
  for (const DynamicTrial& trial : trials)
    if (!trial.failed && (best == nullptr || trial.validation.loss < best->validation.loss)) best = &trial;
  if (best == nullptr) fail(speaker, "the weights ran away with every pair of settings; try lower values of --rate");
  return *best;
}

namespace {

/// The other way to change a model on the way through an evaluation.
void refuse_refiner(const RunConfig& config, Engine& engine, int steps) {
  if (find_learner(config.learner.name).make_refiner(config.learner, engine, steps, 1) != nullptr)
    refuse(speaker, "--dynamic cannot be combined with states that the learner {} refines in evaluations",
           config.learner.name);
}

RunConfig config_of(const std::filesystem::path& run, const std::vector<std::string>& overrides,
                    const DynamicConfig& dynamic) {
  require_splits(run);
  RunConfig config = RunDirectory(run).load_config(overrides);
  // Only the last segment of a recording is shorter than the others.
  if (int* window = find_task(config.task.name).window(config.task))
    *window = dynamic.segment * std::max(1, window_steps / dynamic.segment);
  config.task.text.length_varies = false;
  return config;
}

std::unique_ptr<Task> saved_task(const RunConfig& config, const std::filesystem::path& run) {
  std::unique_ptr<Task> task = make_task(config.task, config.train.seed);
  task->load(RunDirectory(run).task().string());
  return task;
}

}  // namespace

DynamicRun::DynamicRun(const std::filesystem::path& run, bool best, const std::vector<std::string>& overrides,
                       const DynamicConfig& config)
    : config_(config_of(run, overrides, settled(config))),
      task_(saved_task(config_, run)),
      model_(make_model_config(config_.model, *task_)),
      engine_(make_engine(model_, make_engine_config(config_.run, config.columns))),
      parameters_(engine_->allocate(model_.parameters().size())) {
  refuse_refiner(config_, *engine_, task_->steps());
  load_evaluated(load_checkpoint(run, best), config_.optimizer.rule, *engine_, parameters_);
  evaluation_ = std::make_unique<DynamicEvaluation>(*engine_, *task_, parameters_, config);
}

}  // namespace throughtime
