#include "train/evaluation.h"

#include <algorithm>

#include "engine/targets.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr int part_steps = 128;  // the longest part of a window that is unrolled at once
constexpr int published_chunk = 100;  // Metric::published_perplexity: steps that count together or not at all

std::int32_t most_probable(const double* predictions, int outputs) {
  return static_cast<std::int32_t>(std::max_element(predictions, predictions + outputs) - predictions);
}

}  // namespace

Evaluator::Evaluator(Engine& engine, Task& task, int batch)
    : engine_(engine), task_(task), batch_(task.evaluation_batch(batch)) {
  const std::vector<Metric> metrics = task.metrics();
  accuracy_ = std::find(metrics.begin(), metrics.end(), Metric::accuracy) != metrics.end();
  const int steps = std::min(task.steps(), part_steps);
  const auto rows = static_cast<std::size_t>(batch_);
  const auto outputs = static_cast<std::size_t>(engine.model().outputs());
  tape_ = engine.make_tape({.steps = steps, .batch = batch_, .keep = Keep::nothing});
  state_ = engine.allocate(rows * static_cast<std::size_t>(engine.model().state_size()));
  loss_values_.resize(static_cast<std::size_t>(steps) * rows);
  losses_ = engine.allocate(loss_values_.size());
  if (!accuracy_) return;
  prediction_values_.resize(loss_values_.size() * outputs);
  predictions_ = engine.allocate(prediction_values_.size());
}

Evaluation Evaluator::evaluate(Buffer parameters, Split split, std::int64_t batches, std::uint64_t first) {
  const std::int64_t pass = task_.batches(split, batch_);
  const std::uint64_t begin = pass > 0 ? 0 : first;
  const auto count = static_cast<std::uint64_t>(pass > 0 ? pass : batches);
  loss_sum_ = weight_sum_ = correct_sum_ = chunk_sum_ = whole_chunks_sum_ = 0;
  chunk_step_ = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Window& window = task_.make_batch(split, begin + i, batch_);
    add_window(window, parameters, i > 0 && window.continues);
  }
  if (!(weight_sum_ > 0)) refuse("evaluate", "no step of the {} batches of {} has a loss", count, split_name(split));
  Evaluation result{.loss = loss_sum_ / weight_sum_, .weight = weight_sum_};
  for (const Metric metric : task_.metrics()) result.scores.push_back({metric_name(metric), score(metric)});
  result.metric = result.scores.front().value;
  return result;
}

double Evaluator::score(Metric metric) const {
  if (metric == Metric::accuracy) return correct_sum_ / weight_sum_;
  const double sum = metric == Metric::published_perplexity ? whole_chunks_sum_ : loss_sum_;
  return metric_of_loss(metric, sum / weight_sum_);
}

void Evaluator::add_window(const Window& window, Buffer parameters, bool continues) {
  const int most = tape_->shape().steps;
  for (int first = 0; first < window.steps; first += most) {
    const int length = std::min(most, window.steps - first);
    const bool whole = length == window.steps;
    if (!whole) slice(window, first, length, part_);
    const Window& part = whole ? window : part_;
    engine_.unroll({.window = part,
                    .parameters = parameters,
                    .tape = *tape_,
                    .training = false,
                    .initial_state = continues || first > 0 ? state_ : Buffer(),
                    .final_state = state_,
                    .losses = losses_,
                    .predictions = predictions_});
    add_part(part);
  }
}

/// Takes the losses of the part that was unrolled last, and how often its predictions are right.
void Evaluator::add_part(const Window& part) {
  const int outputs = engine_.model().outputs();
  engine_.read(losses_, loss_values_);
  if (accuracy_) engine_.read(predictions_, prediction_values_);
  for (int step = 0; step < part.steps; ++step) {
    for (int row = 0; row < part.batch; ++row) {
      const double weight = part.weight_at(step, row);
      if (weight == 0) continue;
      const auto entry = static_cast<std::size_t>(step) * static_cast<std::size_t>(part.batch) + row;
      weight_sum_ += weight;
      loss_sum_ += weight * loss_values_[entry];
      chunk_sum_ += weight * loss_values_[entry];
      if (!accuracy_) continue;
      const double* predictions = prediction_values_.data() + entry * static_cast<std::size_t>(outputs);
      const std::int32_t label = row_target(engine_.model(), part, step, row).label;
      if (most_probable(predictions, outputs) == label) correct_sum_ += weight;
    }
    if (++chunk_step_ < published_chunk) continue;
    whole_chunks_sum_ += chunk_sum_;
    chunk_sum_ = 0;
    chunk_step_ = 0;
  }
}

}  // namespace throughtime
