#include "train/trainer.h"

#include <chrono>
#include <cmath>

#include "throughtime/error.h"

namespace throughtime {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string cell_text(const Model& model) {
  std::string text = model.layers().front().cell->name;
  bool same = true;
  for (const Layer& layer : model.layers()) same = same && layer.cell->name == text;
  if (same) return text;
  for (std::size_t layer = 1; layer < model.layers().size(); ++layer) text += " + " + model.layers()[layer].cell->name;
  return text;
}

double weight_sum(const Window& window) {
  double sum = 0;
  for (const float weight : window.weight) sum += weight;
  return sum;
}

}  // namespace

Trainer::Trainer(const RunConfig& config)
    : config_(config),
      task_(make_task(config.task, config.train.seed)),
      model_(make_model_config(config.model, *task_)),
      engine_(make_engine(model_, make_engine_config(config.run))),
      trainee_(make_trainee(*engine_, initialise(model_, config.model.initialise, config.train.seed),
                            config.optimizer.rule, config.optimizer.clip)),
      learner_(make_learner(config.learner, trainee_, {.steps = task_->steps(), .batch = config.train.batch})),
      evaluation_tape_(
          engine_->make_tape({.steps = task_->steps(), .batch = config.train.batch, .keep = Keep::nothing})),
      evaluation_loss_(engine_->allocate(1)),
      schedule_(config.optimizer.schedule, config.optimizer.rate),
      rate_([this](std::int64_t update) {
        return schedule_.rate(update, static_cast<double>(iteration_) / config_.train.iterations_per_epoch);
      }),
      plan_(make_plan()) {}

RunPlan Trainer::make_plan() const {
  const TaskType& type = find_task(config_.task.name);
  return {.name = config_.run.name,
          .task = type.name,
          .metric = type.metric,
          .learner = std::string(learner_->name()),
          .cell = cell_text(model_),
          .engine = std::string(engine_->name()),
          .threads = engine_->threads(),
          .steps = task_->steps(),
          .batch = config_.train.batch,
          .iterations = config_.train.iterations,
          .seed = config_.train.seed,
          .parameters = model_.parameters().size(),
          .activation_bytes = learner_->activation_bytes(),
          .evaluation_bytes = evaluation_tape_->bytes(),
          .baseline = task_->baseline()};
}

RunResult Trainer::run(Observer& observer) {
  const TrainOptions& train = config_.train;
  observer.on_start(plan_);
  RunResult result{.plan = plan_};
  while (iteration_ < train.iterations) {
    learn_from_batch();
    if (iteration_ % train.report_every == 0 || iteration_ == train.iterations) {
      const Progress progress = report();
      result.train_loss = progress.train_loss;
      observer.on_progress(progress);
    }
    if (train.evaluate_every > 0 && iteration_ % train.evaluate_every == 0) validate(observer);
  }
  result.seconds = seconds_;
  result.updates = learner_->updates();
  result.test = evaluate(Split::test, 0);
  result.best_validation = best_validation_;
  observer.on_end(result);
  return result;
}

void Trainer::learn_from_batch() {
  const Clock::time_point start = Clock::now();
  learner_->learn(task_->make_batch(Split::train, static_cast<std::uint64_t>(iteration_), config_.train.batch), rate_);
  ++iteration_;
  seconds_ += seconds_since(start);
}

Progress Trainer::report() {
  const Progress progress{.iteration = iteration_, .train_loss = learner_->take_mean_loss(), .seconds = seconds_};
  if (!std::isfinite(progress.train_loss))
    fail("train", "the loss of {} is {} at iteration {}; try a lower optimizer.rate (now {}) or clipping (optimizer.clip, now {})",
         plan_.name, progress.train_loss, iteration_, config_.optimizer.rate, config_.optimizer.clip.norm);
  return progress;
}

void Trainer::validate(Observer& observer) {
  const std::uint64_t number = static_cast<std::uint64_t>(iteration_ / config_.train.evaluate_every - 1);
  const Evaluation evaluation =
      evaluate(Split::validation, number * static_cast<std::uint64_t>(config_.train.evaluate_batches));
  schedule_.observe_validation(evaluation.loss);
  if (!best_validation_ || evaluation.loss < best_validation_->loss) best_validation_ = evaluation;
  observer.on_validation(evaluation);
}

Evaluation Trainer::evaluate(Split split, std::uint64_t first) {
  double weight = 0;
  engine_->fill(evaluation_loss_, 0);
  for (int batch = 0; batch < config_.train.evaluate_batches; ++batch) {
    const Window& window = task_->make_batch(split, first + static_cast<std::uint64_t>(batch), config_.train.batch);
    engine_->unroll({.window = window,
                     .parameters = trainee_.parameters,
                     .tape = *evaluation_tape_,
                     .training = false,
                     .loss_sum = evaluation_loss_});
    weight += weight_sum(window);
  }
  const double loss = engine_->read(evaluation_loss_).front() / weight;
  if (!std::isfinite(loss))
    fail("train", "the evaluation loss of {} is {} after iteration {}; try a lower optimizer.rate (now {})", plan_.name,
         loss, iteration_, config_.optimizer.rate);
  return {.iteration = iteration_, .loss = loss, .metric = task_->metric(loss)};
}

}  // namespace throughtime
