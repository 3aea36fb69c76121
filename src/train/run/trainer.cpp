#include "train/run/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/memory.h"
#include "learners/archive_training.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

using Clock = std::chrono::steady_clock;

std::string cell_text(const Model& model) {
  std::string text = model.layers().front().cell->name;
  bool same = true;
  for (const Layer& layer : model.layers()) same = same && layer.cell->name == text;
  if (same) return text;
  for (std::size_t layer = 1; layer < model.layers().size(); ++layer) text += " + " + model.layers()[layer].cell->name;
  return text;
}

double uniform_loss(const Model& model) {
  return model.head().target == TargetKind::label_or_distribution ? std::log(model.classes())
                                                                  : std::numeric_limits<double>::quiet_NaN();
}

bool judged_by_accuracy(const Task& task) {
  const std::vector<Metric> metrics = task.metrics();
  return std::find(metrics.begin(), metrics.end(), Metric::accuracy) != metrics.end();
}

/// NT-ASGD begins to average when validation stops improving, so there must be one.
void require_validations(const TrainOptions& train) {
  constexpr const char* waits = "optimizer.average = \"non_monotone\" waits for validations that stop improving, and";
  if (!train.validates())
    refuse("train", "{} there are none; set train.evaluate_every, or optimizer.average = \"always\"", waits);
  if (train.iterations > 0 && train.evaluate_every > train.iterations)
    refuse("train", "{} train.evaluate_every = {} comes after the last iteration ({}); it must be {} at most", waits,
           train.evaluate_every, train.iterations, train.iterations);
}

std::unique_ptr<Task> make_saved_task(const RunConfig& config, const std::string& directory) {
  std::unique_ptr<Task> task = make_task(config.task, config.train.seed);
  if (!directory.empty()) task->load(directory);
  if (const TrainOptions& train = config.train; train.validates() && !task->has(Split::validation)) {
    const bool by_epochs = train.evaluate_epochs > 0;
    const std::string why = task->why_empty(Split::validation);
    refuse("train", "there is no validation data for train.{} = {}{}; set it to 0, or give the task some",
           by_epochs ? "evaluate_epochs" : "evaluate_every", by_epochs ? train.evaluate_epochs : train.evaluate_every,
           why.empty() ? "" : ": " + why);
  }
  if (config.optimizer.rule.average == Averaging::non_monotone) require_validations(config.train);
  if (config.optimizer.rate_by_length && config.learner.name == "fptt" && config.learner.fptt.rate_by_length)
    refuse("train",
           "optimizer.rate_by_length and learner.fptt.rate_by_length would both scale the rate; set one of them");
  return task;
}

/// A rank that has nothing to do would only wait.
void require_work(const LearnerConfig& learner, const StretchShape& shape, int ranks) {
  const SharedWork work = find_learner(learner.name).shared_work(learner, shape);
  if (ranks > work.count)
    refuse("train", "{} ranks cannot share {} {} ({}); start {} at most", ranks, work.count, work.what, work.options,
           work.count);
}

/// What a learner is told about the batches of a task.
StretchShape shape_of(Task& task, const TrainOptions& train) {
  const std::int64_t row_steps = task.row_steps(train.batch);
  return {.steps = task.steps(),
          .batch = train.batch,
          .usual_steps = task.epochs_vary() ? task.usual_steps() : 0,
          .losses = task.loss_steps(),
          .lengths_vary = task.lengths_vary() || task.epochs_vary() ||
                          row_steps % task.steps() != 0,  // the last stretch of a row is shorter
          .terminal = task.terminal(),
          .examples = task.examples(),
          .accuracy = judged_by_accuracy(task),
          .seed = train.seed,
          .row_steps = row_steps,
          .stretches = task.batches(Split::train, train.batch),
          .positions = [&task, batch = train.batch](std::uint64_t draw, int rows, int steps) -> const Window& {
            return task.make_positions(draw, batch, rows, steps);
          }};
}

std::vector<double> first_parameters(const RunConfig& config, const Model& model, const FirstParameters& first) {
  std::vector<double> parameters = initialise(model, config.model.initialise, config.train.seed);
  if (first) first(model.parameters(), parameters);
  return parameters;
}

/// Of the splits that curves and results are of.
std::vector<std::pair<std::string, double>> named_baselines(const Task& task) {
  std::vector<std::pair<std::string, double>> named;
  const std::vector<Metric> metrics = task.metrics();
  for (const Split split : {Split::validation, Split::test}) {
    if (!task.has(split)) continue;
    const std::vector<double> values = task.baselines(split);
    for (std::size_t i = 0; i < values.size(); ++i)
      named.emplace_back(split_name(split) + "_" + metric_name(metrics[i]), values[i]);
  }
  return named;
}

/// Of epochs that differ in their number of batches: the whole ones, and the share of the next.
std::int64_t batches_of(const Task& task, const TrainOptions& train) {
  const auto whole = static_cast<std::int64_t>(train.epochs);
  const std::int64_t before = task.train_batches(whole, train.batch);
  const std::int64_t next = task.train_batches(whole + 1, train.batch) - before;
  return before + std::llround((train.epochs - static_cast<double>(whole)) * static_cast<double>(next));
}

RunExtent measure(const TrainOptions& train, const Task& task, const Model& model) {
  const std::int64_t pass = task.batches(Split::train, train.batch);
  const double per_epoch = static_cast<double>(pass > 0 ? pass : train.iterations_per_epoch);
  const std::int64_t of_epochs =
      std::max<std::int64_t>(1, task.epochs_vary() ? batches_of(task, train) : std::llround(train.epochs * per_epoch));
  return {.parameters = model.parameters().size(),
          .products = model.products_of_step(),
          .steps = task.usual_steps(),
          .batch = train.batch,
          .iterations = train.epochs > 0 ? of_epochs : train.iterations,
          .iterations_per_epoch = per_epoch};
}

}  // namespace

RunExtent extent_of(const RunConfig& config) {
  const std::unique_ptr<Task> task = make_saved_task(config, "");
  return measure(config.train, *task, Model(make_model_config(config.model, *task)));
}

void check_run(const RunConfig& config, int ranks) {
  const std::unique_ptr<Task> task = make_saved_task(config, "");
  const StretchShape shape = shape_of(*task, config.train);
  const Model model(make_model_config(config.model, *task));
  BestBy(config.train.best_by, measured_metrics(*task, model));
  require_usable(find_engine(choose_engine(config.run.engine, model, config.train.batch).name));
  validate(config.optimizer.rule);
  [[maybe_unused]] const Schedule schedule(config.optimizer.schedule, config.optimizer.rate);
  check_learner(config.learner, model, shape);
  require_work(config.learner, shape, ranks);
}

Trainer::Trainer(const RunConfig& config, const std::string& task_directory, std::shared_ptr<Communicator> ranks,
                 const FirstParameters& first)
    : config_(config),
      ranks_(std::move(ranks)),
      task_(make_saved_task(config, task_directory)),
      model_(make_model_config(config.model, *task_)),
      engine_(make_engine(model_, make_engine_config(config.run, config.train.batch, ranks_))),
      trainee_(make_trainee(*engine_, first_parameters(config, model_, first), config.optimizer.rule,
                            config.optimizer.clip)),
      learner_(make_learner(config.learner, trainee_, shape_of(*task_, config.train))),
      evaluator_(*engine_, *task_, config.train.batch, config.learner),
      best_by_(config.train.best_by, evaluator_.metrics()),
      schedule_(config.optimizer.schedule, config.optimizer.rate),
      rate_([this](std::int64_t update) {
        last_rate_ = schedule_.rate(update, epoch());
        return last_rate_ * length_factor_;
      }),
      plan_(make_plan()),
      last_rate_(config.optimizer.rate) {
  require_work(config.learner, shape_of(*task_, config.train), plan_.ranks);
  find_epoch();
  if (config.train.validates()) best_parameters_ = engine_->allocate(trainee_.parameters.size);
  // All that it will ever take, or it would have been refused.
  if (const std::uint64_t held = engine_->held_bytes(); held > 0)
    plan_.notes.push_back(
        fmt::format("memory of the GPU: {} taken, {} left", amount_text(held), amount_text(engine_->memory_bytes())));
}

std::vector<std::string> Trainer::notes() const {
  std::vector<std::string> notes = task_->notes();
  const int rows = config_.train.batch;
  const std::int64_t pass = task_->batches(Split::train, rows);
  if (pass > 0 && task_->examples() == 0)  // what a recording became
    notes.insert(notes.begin(), fmt::format("{} row{} of {} step{}, {} iteration{} per epoch", rows,
                                            rows == 1 ? "" : "s", task_->row_steps(rows),
                                            task_->row_steps(rows) == 1 ? "" : "s", pass, pass == 1 ? "" : "s"));
  const EngineChoice choice = choose_engine(config_.run.engine, model_, config_.train.batch);
  if (!choice.why.empty()) notes.push_back(choice.why);
  if (const std::int64_t row = task_->row_steps(config_.train.batch); row > 0 && row < task_->usual_steps())
    notes.push_back(
        fmt::format("task.{}.length = {} is longer than the {} step{} of a row (train.batch = {}): windows have {}",
                    config_.task.name, task_->usual_steps(), row, row == 1 ? "" : "s", config_.train.batch, row));
  for (std::string& note : learner_notes(config_.learner, shape_of(*task_, config_.train), config_.optimizer.rule))
    notes.push_back(std::move(note));
  int widest = 0;
  for (const Layer& layer : model_.layers()) widest = std::max(widest, layer.hidden);
  const bool narrow = config_.train.batch == 1 && widest <= 32;
  if (narrow && !find_engine(choice.name).on_host)
    notes.push_back("one row of at most 32 units: one core of a processor is faster (run.engine=cpu)");
  return notes;
}

RunPlan Trainer::make_plan() const {
  const RunExtent extent = measure(config_.train, *task_, model_);
  const Metric metric = task_->metrics().front();
  return {.name = config_.run.name,
          .task = config_.task.name,
          .metric = metric_name(metric),
          .learner = std::string(learner_->name()),
          .cell = cell_text(model_),
          .engine = std::string(engine_->name()),
          .threads = engine_->threads(),
          .ranks = ranks_ ? ranks_->ranks() : 1,
          .steps = extent.steps,
          .batch = extent.batch,
          .iterations = extent.iterations,
          .iterations_per_epoch = extent.iterations_per_epoch,
          .seed = config_.train.seed,
          .parameters = extent.parameters,
          .activation_bytes = learner_->activation_bytes(),
          .evaluation_bytes = evaluator_.bytes(),
          .baseline = task_->baseline(),
          .baseline_split = split_name(task_->judged_split()),
          .baselines = named_baselines(*task_),
          .baseline_text = task_->baseline_text(),
          .uniform_loss = uniform_loss(model_),
          .is_error = is_error(metric),
          .best_by = best_by_.name(),
          .notes = notes()};
}

bool Trainer::finished() const { return iteration_ >= plan_.iterations || out_of_patience(); }

RunResult Trainer::run(Observer& observer, bool test) {
  const TrainOptions& train = config_.train;
  observer.on_start(plan_, iteration_);
  while (!finished()) {
    learn_from_batch();
    if (iteration_ % train.report_every == 0 || iteration_ == plan_.iterations) observer.on_progress(report());
    const bool improved = validation_is_due() && validate(observer);
    const bool stop = !finished() && on_any_rank(ranks(), observer.wants_stop());
    observer.on_iteration({.iteration = iteration_, .improved = improved, .last = stop || finished()});
    if (stop) return result(RunEnd::interrupted);
  }
  RunResult done = result(iteration_ < plan_.iterations ? RunEnd::stopped_early : RunEnd::finished);
  if (test && task_->has(Split::test)) {
    done.test = evaluate(Split::test);
    if (best_validation_) done.best_test = evaluate(best_parameters_, Split::test, 0);
  }
  observer.on_end(done);
  return done;
}

RunResult Trainer::result(RunEnd end) {
  stop_clock();
  return {.plan = plan_,
          .end = end,
          .iteration = iteration_,
          .seconds = seconds_,
          .steps_per_second = steps_per_second(),
          .updates = learner_->updates(),
          .train_loss = train_loss_,
          .cumulative = cumulative(),
          .best_validation = best_validation_};
}

void Trainer::learn_from_batch() {
  // It runs on from batch to batch: waiting for the engine after each one would keep it idle while the next is made.
  if (!started_) started_ = Clock::now();
  const Window& window = task_->make_batch(Split::train, static_cast<std::uint64_t>(iteration_), config_.train.batch);
  if (config_.optimizer.rate_by_length)
    length_factor_ = static_cast<double>(window.steps) / static_cast<double>(task_->usual_steps());
  learner_->learn(window, rate_);
  ++iteration_;
  if (iteration_ == epoch_end_) learner_->end_epoch();
  find_epoch();
  steps_ += static_cast<std::int64_t>(window.steps) * window.batch;
}

bool Trainer::validation_is_due() const {
  const TrainOptions& train = config_.train;
  if (train.evaluate_every > 0) return iteration_ % train.evaluate_every == 0;
  return train.evaluate_epochs > 0 && iteration_ == epoch_begin_ && epoch_number_ % train.evaluate_epochs == 0;
}

double Trainer::epoch() const {
  if (!task_->epochs_vary()) return static_cast<double>(iteration_) / plan_.iterations_per_epoch;
  return static_cast<double>(epoch_number_) +
         static_cast<double>(iteration_ - epoch_begin_) / static_cast<double>(epoch_end_ - epoch_begin_);
}

void Trainer::find_epoch() {
  if (!task_->epochs_vary()) {
    const std::int64_t length = std::llround(plan_.iterations_per_epoch);
    epoch_number_ = iteration_ / length;
    epoch_begin_ = epoch_number_ * length;
    epoch_end_ = epoch_begin_ + length;
    return;
  }
  if (iteration_ > plan_.iterations) return;  // nothing is learned any more
  const int rows = config_.train.batch;
  if (task_->batches(Split::train, rows) == 0) {  // too little data for a batch: make_batch says so
    epoch_end_ = 1;
    return;
  }
  if (iteration_ < epoch_begin_) epoch_number_ = 0;
  while (task_->train_batches(epoch_number_ + 1, rows) <= iteration_) ++epoch_number_;
  epoch_begin_ = task_->train_batches(epoch_number_, rows);
  epoch_end_ = task_->train_batches(epoch_number_ + 1, rows);
}

void Trainer::stop_clock() {
  if (!started_) return;
  engine_->finish();
  seconds_ += std::chrono::duration<double>(Clock::now() - *started_).count();
  started_.reset();
}

Progress Trainer::report() {
  stop_clock();
  const bool looked = learner_->has_loss();  // a few batches of a stream may have none
  if (looked) take_means();
  if (looked && !std::isfinite(train_loss_))
    fail("train",
         "the loss of {} is {} at iteration {}; try a lower optimizer.rate (now {}) or clipping (optimizer.clip, now "
         "{})",
         plan_.name, train_loss_, iteration_, config_.optimizer.rate, config_.optimizer.clip.norm);
  const auto shown = [&](double accuracy) {
    return std::isfinite(accuracy) ? std::optional<double>(accuracy) : std::nullopt;
  };
  return {.iteration = iteration_,
          .epoch = epoch(),
          .train_loss = train_loss_,
          .cumulative_loss = cumulative().loss,
          .train_accuracy = shown(train_accuracy_),
          .cumulative_accuracy = shown(cumulative().accuracy),
          .rate = last_rate_,
          .seconds = seconds_,
          .steps_per_second = steps_per_second(),
          .diagnostics = diagnostics()};
}

std::vector<Diagnostic> Trainer::diagnostics() const {
  std::vector<Diagnostic> all = learner_->diagnostics();
  const PenaltyConfig& penalties = model_.config().penalties;
  if (penalties.activation > 0) all.push_back({"activation_penalty", activation_penalty_});
  if (penalties.slowness > 0) all.push_back({"slowness_penalty", slowness_penalty_});
  return all;
}

void Trainer::take_means() {
  const TrainingMeans means = learner_->take_means();
  train_loss_ = means.loss;
  train_accuracy_ = means.accuracy;
  activation_penalty_ = means.activation_penalty;
  slowness_penalty_ = means.slowness_penalty;
  cumulative_.loss += means.loss * means.weight;
  cumulative_.accuracy += means.accuracy * means.weight;
  cumulative_.weight += means.weight;
}

TrainingMeans Trainer::cumulative() const {
  return {cumulative_.loss / cumulative_.weight, cumulative_.accuracy / cumulative_.weight, cumulative_.weight};
}

bool Trainer::validate(Observer& observer) {
  const Evaluation evaluation = evaluate(Split::validation);  // always the same batches: only the weights differ
  schedule_.observe_validation(evaluation.loss);
  const bool improved =
      !best_validation_ || best_by_.better(best_by_.score(evaluation), best_by_.score(*best_validation_));
  if (improved) {
    best_validation_ = evaluation;
    engine_->copy(evaluated_parameters(), best_parameters_);
  }
  without_better_ = improved ? 0 : without_better_ + 1;
  observer.on_validation(evaluation);
  if (trainee_.average.observe_validation(evaluation.loss, trainee_.optimizer->step)) observer.on_averaging(iteration_);
  return improved;
}

Buffer Trainer::evaluated_parameters() const {
  return throughtime::evaluated_parameters(trainee_, config_.optimizer.rule);
}

Evaluation Trainer::evaluate(Split split, std::uint64_t first) {
  return evaluate(evaluated_parameters(), split, first);
}

Evaluation Trainer::evaluate(Buffer parameters, Split split, std::uint64_t first) {
  stop_clock();
  Evaluation evaluation = evaluator_.evaluate(parameters, split, config_.train.evaluate_batches, first);
  if (!std::isfinite(evaluation.loss))
    fail("train", "the {} loss of {} is {} after iteration {}; try a lower optimizer.rate (now {})", split_name(split),
         plan_.name, evaluation.loss, iteration_, config_.optimizer.rate);
  evaluation.iteration = iteration_;
  return evaluation;
}

void Trainer::archive(Archive& archive) {
  stop_clock();
  archive_training(archive, trainee_, *learner_, schedule_);
  archive_counts(archive);
}

void Trainer::archive_memory(Archive& archive, bool of_learner) {
  stop_clock();
  throughtime::archive_memory(archive, trainee_, of_learner ? learner_.get() : nullptr, schedule_);
}

void Trainer::archive_progress(Archive& archive) {
  stop_clock();
  {
    const Archive::Scope scope(archive, "learner");
    std::int64_t updates = learner_->updates();
    archive.integer("updates", updates);
    learner_->count_from(updates);
  }
  {
    const Archive::Scope scope(archive, "schedule");
    schedule_.archive(archive);
  }
  archive_counts(archive);
}

void Trainer::forget_best() {
  best_validation_.reset();
  without_better_ = 0;
}

void Trainer::archive_counts(Archive& archive) {
  const Archive::Scope scope(archive, "trainer");
  archive.integer("iteration", iteration_);
  find_epoch();
  archive.integer("steps", steps_);
  archive.number("seconds", seconds_, at_least(0));
  archive.any_number("train_loss", train_loss_);
  archive.any_number("train_accuracy", train_accuracy_);
  archive.any_number("cumulative_loss", cumulative_.loss);
  archive.any_number("cumulative_accuracy", cumulative_.accuracy);
  archive.number("cumulative_weight", cumulative_.weight, at_least(0));
  archive.number("rate", last_rate_);
  archive.integer("without_better", without_better_);
  if (model_.config().penalties.any()) {
    archive.any_number("activation_penalty", activation_penalty_);
    archive.any_number("slowness_penalty", slowness_penalty_);
  }
  archive_best(archive);
}

void Trainer::archive_best(Archive& archive) {
  std::vector<double> best;  // iteration, loss, weight, then the scores in the task's order; empty: none yet
  if (best_validation_) {
    best = {static_cast<double>(best_validation_->iteration), best_validation_->loss, best_validation_->weight};
    for (const Score& score : best_validation_->scores) best.push_back(score.value);
  }
  const std::vector<Metric>& metrics = evaluator_.metrics();
  // An older run may have measured fewer: then only the first is sure to be the same. The others are unknown.
  archive.any_number_list("best", best, {0, 3 + metrics.size()});
  if (best_parameters_) archive.buffer("best_parameters", *engine_, best_parameters_);
  best_validation_.reset();
  if (best.empty()) return;
  if (best.size() < 4 || !any_count().holds(best[0]) || !std::isfinite(best[1]))
    archive.refuse_together("the best validation is not one of this task");
  const bool whole = best.size() == 3 + metrics.size();
  if (!whole) best.resize(4);
  best.resize(3 + metrics.size(), std::numeric_limits<double>::quiet_NaN());
  Evaluation evaluation{.iteration = static_cast<std::int64_t>(best[0]), .loss = best[1], .weight = best[2]};
  for (std::size_t k = 0; k < metrics.size(); ++k) evaluation.scores.push_back({metric_name(metrics[k]), best[3 + k]});
  evaluation.metric = evaluation.scores.front().value;
  if (!whole && !std::isfinite(best_by_.score(evaluation)))
    archive.refuse_together(
        fmt::format("the best validation was measured by fewer metrics, without {} (train.best_by)", best_by_.name()));
  best_validation_ = evaluation;
}

}  // namespace throughtime
