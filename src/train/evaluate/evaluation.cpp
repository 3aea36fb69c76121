#include "train/evaluate/evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "core/scan.h"
#include "engine/targets.h"
#include "learners/support.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr int part_steps = 128;       // the longest part of a window that is unrolled at once
constexpr int published_chunk = 100;  // Metric::published_perplexity: steps that count together or not at all

std::int32_t most_probable(const double* predictions, int outputs) {
  return static_cast<std::int32_t>(std::max_element(predictions, predictions + outputs) - predictions);
}

}  // namespace

std::vector<Metric> measured_metrics(const Task& task, const Model& model) {
  std::vector<Metric> metrics = task.metrics();
  if (task.forecast() && ForecastBand(model).any()) metrics.insert(metrics.end(), {Metric::pinball, Metric::coverage});
  return metrics;
}

double balanced_accuracy(const std::vector<double>& counts) {
  const auto classes = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(counts.size()))));
  double sum = 0, present = 0;
  for (std::size_t label = 0; label < classes; ++label) {
    const auto row = std::span(counts).subspan(label * classes, classes);
    const double all = std::accumulate(row.begin(), row.end(), 0.0);
    if (all == 0) continue;
    sum += row[label] / all;
    ++present;
  }
  return present > 0 ? sum / present : 0;
}

Evaluator::Evaluator(Engine& engine, Task& task, int batch, const LearnerConfig& learner)
    : Evaluator(engine, task, task.evaluation_batch(batch),
                find_learner(learner.name).make_refiner(learner, engine, task.steps(), task.evaluation_batch(batch)),
                nullptr) {}

Evaluator::Evaluator(Engine& engine, Task& task, PartLearner& learner)
    : Evaluator(engine, task, 1, nullptr, &learner) {}

Evaluator::Evaluator(Engine& engine, Task& task, int rows, std::unique_ptr<StateRefiner> refiner, PartLearner* learner)
    : engine_(engine),
      task_(task),
      batch_(rows),
      refiner_(std::move(refiner)),
      learner_(learner),
      metrics_(measured_metrics(task, engine.model())),
      band_(engine.model()),
      said_(band_.numbers()) {
  forecast_ = task.forecast();
  bool by_entry = forecast_ != nullptr;
  for (const Metric metric : task.metrics()) {
    confusions_ = confusions_ || metric == Metric::balanced_accuracy;
    by_entry = by_entry || confusions_ || metric == Metric::published_perplexity || PointScores::knows(metric);
    accuracy_ = accuracy_ || metric == Metric::accuracy;
    points_ = points_ || PointScores::knows(metric);
    published_points_ = published_points_ || metric == Metric::published_time_rmse;
  }
  const int steps = learner_ ? learner_->steps() : refiner_ ? refiner_->steps() : std::min(task.steps(), part_steps);
  tape_ =
      engine.make_tape({.steps = steps, .batch = batch_, .keep = learner_ != nullptr ? Keep::gradient : Keep::nothing});
  reserve(part_, steps, batch_);
  state_ = engine.allocate(elements(batch_, engine.model().state_size()));
  if (refiner_) start_ = engine.allocate(state_.size);
  if (!by_entry) {
    batch_loss_ = engine.allocate(1);
    if (accuracy_) batch_correct_ = engine.allocate(1);
    batch_sums_ = engine.allocate(2);
    return;
  }
  loss_values_.resize(elements(steps, batch_));
  losses_ = engine.allocate(loss_values_.size());
  if (!accuracy_ && !points_ && !forecast_) return;
  prediction_values_.resize(elements(steps, batch_, engine.model().outputs()));
  predictions_ = engine.allocate(prediction_values_.size());
}

Evaluation Evaluator::evaluate(Buffer parameters, Split split, std::int64_t batches, std::uint64_t first) {
  const std::int64_t pass = task_.batches(split, batch_);
  const std::uint64_t begin = pass > 0 ? 0 : first;
  const auto count = static_cast<std::uint64_t>(pass > 0 ? pass : batches);
  loss_sum_ = weight_sum_ = correct_sum_ = chunk_sum_ = whole_chunks_sum_ = 0;
  chunk_step_ = 0;
  if (confusions_) confusion_counts_.assign(elements(engine_.model().outputs(), engine_.model().outputs()), 0.0);
  split_ = split;
  if (forecast_) forecast_scores_.emplace(forecast_->targets(), forecast_->pre_emphasis());
  if (points_)
    point_scores_.emplace(engine_.model().classes(), published_points_ ? longest_interval(split, count) : 0.0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Window& window = task_.make_batch(split, begin + i, batch_);
    add_window(window, parameters, i > 0 && window.continues);
  }
  if (!(weight_sum_ > 0)) refuse("evaluate", "no step of the {} batches of {} has a loss", count, split_name(split));
  Evaluation result{.loss = loss_sum_ / weight_sum_, .weight = weight_sum_};
  for (const Metric metric : metrics_) result.scores.push_back({metric_name(metric), score(metric)});
  result.metric = result.scores.front().value;
  if (confusions_) result.confusion = {task_.classes(), confusion_counts_};
  return result;
}

double Evaluator::score(Metric metric) const {
  if (metric == Metric::accuracy) return correct_sum_ / weight_sum_;
  if (metric == Metric::balanced_accuracy) return balanced_accuracy(confusion_counts_);
  if (PointScores::knows(metric)) return point_scores_->score(metric);
  if (forecast_ && ForecastScores::knows(metric)) return forecast_scores_->score(metric);
  const double sum = metric == Metric::published_perplexity ? whole_chunks_sum_ : loss_sum_;
  return metric_of_loss(metric, sum / weight_sum_);
}

/// Of the events of one pass.
double Evaluator::longest_interval(Split split, std::uint64_t count) {
  double longest = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Window& window = task_.make_batch(split, i, batch_);
    for (int step = 0; step < window.steps; ++step)
      for (int row = 0; row < window.batch; ++row)
        if (window.weight_at(step, row) != 0)
          longest = std::max<double>(longest, row_target(engine_.model(), window, step, row).values[0]);
  }
  return longest;
}

void Evaluator::add_window(const Window& window, Buffer parameters, bool continues) {
  const int most = tape_->shape().steps;
  if (!continues) step_ = 0;
  for (const Buffer sum : {batch_loss_, batch_correct_})
    if (sum) engine_.fill(sum, 0);
  for (int first = 0; first < window.steps; first += most) {
    const int length = std::min(most, window.steps - first);
    const bool whole = length == window.steps;
    if (!whole) slice(window, first, length, part_);
    const Window& part = whole ? window : part_;
    if (!continues && first == 0) engine_.fill(state_, 0);
    if (refiner_) engine_.copy(state_, start_);
    engine_.unroll({.window = part,
                    .parameters = parameters,
                    .tape = *tape_,
                    .training = false,
                    .initial_state = state_,
                    .final_state = state_,
                    .losses = losses_,
                    .loss_sum = batch_loss_,
                    .correct_sum = batch_correct_,
                    .predictions = predictions_});
    // Most parts of sequences that are asked for one class at their end have nothing to read.
    if (losses_ && (!confusions_ || has_nonzero(part.weight))) add_part(part);
    if (refiner_) refiner_->refine(part, parameters, start_, state_);
    if (learner_ != nullptr) learner_->learn(part, *tape_, parameters);
    step_ += part.steps;
  }
  if (batch_sums_) add_sums(window);
}

/// Takes what the engine has summed over the parts of a window, in one read.
void Evaluator::add_sums(const Window& window) {
  const std::array<std::int64_t, 2> places = {0, 1};
  engine_.scatter_rows(batch_loss_, 1, std::span(places).first(1), batch_sums_);
  if (batch_correct_) engine_.scatter_rows(batch_correct_, 1, std::span(places).last(1), batch_sums_);
  std::array<double, 2> sums = {};
  engine_.read(batch_sums_, sums);
  weight_sum_ += sum_of_weights("evaluate", window.weight);
  loss_sum_ += sums[0];
  correct_sum_ += sums[1];
}

/// Takes the forecasts of one row at one step, in levels.
void Evaluator::add_forecast(const Window& part, int step, int row, const double* predictions) {
  const std::int64_t place = part.start[row] + step;
  const double weight = part.weight_at(step, row);
  for (std::size_t i = 0; i < forecast_->targets().size(); ++i) {
    const double level = forecast_->level(split_, place, i);
    write_levels(*forecast_, band_, split_, place, i, predictions, said_);
    forecast_scores_->add(i, weight, level, said_[0], {.step = place, .row = elements(row)});
    if (band_.any()) forecast_scores_->add_band(i, weight, level, band_.levels(), std::span(said_).subspan(1));
  }
  if (listener_) listener_(place, predictions);
}

/// Takes the losses of the part that was unrolled last, and how good its predictions are.
void Evaluator::add_part(const Window& part) {
  const int outputs = engine_.model().outputs();
  engine_.read(losses_, loss_values_);
  if (predictions_) engine_.read(predictions_, prediction_values_);
  for (int step = 0; step < part.steps; ++step) {
    for (int row = 0; row < part.batch; ++row) {
      const double weight = part.weight_at(step, row);
      if (weight == 0) continue;
      const std::size_t entry = elements(step, part.batch) + elements(row);
      weight_sum_ += weight;
      loss_sum_ += weight * loss_values_[entry];
      chunk_sum_ += weight * loss_values_[entry];
      if (!predictions_) continue;
      const double* predictions = prediction_values_.data() + entry * elements(outputs);
      const RowTarget<float> target = row_target(engine_.model(), part, step, row);
      if (accuracy_ && most_probable(predictions, outputs) == target.label) correct_sum_ += weight;
      if (confusions_)
        confusion_counts_[elements(target.label, outputs) + most_probable(predictions, outputs)] += weight;
      if (points_)
        point_scores_->add(step_ + step, weight, loss_values_[entry], predictions, target.label, target.values[0]);
      if (forecast_) add_forecast(part, step, row, predictions);
    }
    if (++chunk_step_ < published_chunk) continue;
    whole_chunks_sum_ += chunk_sum_;
    chunk_sum_ = 0;
    chunk_step_ = 0;
  }
}

}  // namespace throughtime
