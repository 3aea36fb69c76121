#include "throughtime/learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/scan.h"
#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {

Trainee make_trainee(Engine& engine, const std::vector<double>& parameters, const OptimizerConfig& optimizer,
                     Clip clip) {
  const std::size_t size = engine.model().parameters().size();
  if (parameters.size() != size)
    refuse("learner", "the model has {} parameters, got {} first values", size, parameters.size());
  for (std::size_t i = 0; i < size; ++i)
    if (!std::isfinite(parameters[i])) refuse("learner", "parameter {} must be finite, got {}", i, parameters[i]);
  if (!(clip.value >= 0) || !(clip.norm >= 0))
    refuse("learner", "clip bounds must be 0 (off) or positive, got value {} and norm {}", clip.value, clip.norm);
  validate(optimizer);
  const Buffer target = engine.allocate(size);
  const Buffer gradient = engine.allocate(size);
  engine.write(target, parameters);
  return {engine, target, gradient, engine.make_optimizer(optimizer, target), clip, {engine, optimizer, size}};
}

Buffer evaluated_parameters(const Trainee& trainee, const OptimizerConfig& optimizer) {
  const std::int64_t step = trainee.optimizer->step;
  if (const Buffer mean = trainee.average.mean(step)) return mean;
  const int moment = evaluated_moment(optimizer, step);
  return moment < 0 ? trainee.parameters : trainee.optimizer->moments[moment];
}

void check_shape(const StretchShape& shape) {
  if (shape.steps < 1) refuse("learner", "a stretch must have at least 1 step, got {}", shape.steps);
  if (shape.batch < 1) refuse("learner", "a stretch must have at least 1 row, got {}", shape.batch);
}

Learner::Learner(Trainee& trainee, const StretchShape& shape) : trainee_(trainee), shape_(shape) {
  check_shape(shape);
  loss_sum_ = trainee.engine.allocate(1);
  if (shape.accuracy) count_correct();
  if (trainee.engine.model().config().penalties.any()) penalties_ = trainee.engine.allocate(2);
}

TrainingMeans Learner::take_means() {
  const auto take = [&](Buffer buffer) {
    if (!buffer || loss_weight_ <= 0) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    trainee_.engine.read(buffer, {&sum, 1});
    trainee_.engine.fill(buffer, 0);
    return sum / loss_weight_;
  };
  TrainingMeans means{.loss = take(loss_sum_), .accuracy = take(correct_sum_), .weight = loss_weight_};
  loss_weight_ = 0;
  if (!penalties_ || penalty_weight_ <= 0) return means;
  const std::vector<double> sums = trainee_.engine.read(penalties_);
  trainee_.engine.fill(penalties_, 0);
  means.activation_penalty = sums[0] / penalty_weight_;
  means.slowness_penalty = sums[1] / penalty_weight_;
  penalty_weight_ = 0;
  return means;
}

Buffer Learner::count_penalties(const Window& window) {
  if (penalties_) penalty_weight_ += sum_of_weights("learner", window.weight);
  return penalties_;
}

void Learner::count_correct() {
  if (!correct_sum_) correct_sum_ = trainee_.engine.allocate(1);
}

void Learner::archive_memory(Archive& archive) { archive.integer("updates", updates_); }

void Learner::archive(Archive& archive) {
  archive_memory(archive);
  archive.number("loss_weight", loss_weight_, at_least(0));
  archive.buffer("loss_sum", trainee_.engine, loss_sum_);
  if (correct_sum_) archive.buffer("correct_sum", trainee_.engine, correct_sum_);
  if (!penalties_) return;
  archive.number("penalty_weight", penalty_weight_, at_least(0));
  archive.buffer("penalties", trainee_.engine, penalties_);
}

void Learner::update(double divisor, const RateFunction& rate, const DynamicRegulariser* regulariser, Buffer norm) {
  trainee_.engine.apply_update({.target = trainee_.parameters,
                                .gradient = trainee_.gradient,
                                .optimizer = *trainee_.optimizer,
                                .rate = rate(++updates_),
                                .gradient_scale = 1 / divisor,
                                .clip = trainee_.clip,
                                .norm = norm,
                                .regulariser = regulariser});
  trainee_.average.follow(trainee_.parameters, trainee_.optimizer->step);
}

void check_stretch(std::string_view speaker, const StretchShape& shape, const Window& stretch) {
  validate(stretch);
  if (!shape.lengths_vary && stretch.steps != shape.steps)
    refuse(speaker,
           "a stretch must have {} steps, as promised when the learner was made (lengths_vary allows fewer), got {}",
           shape.steps, stretch.steps);
  if (stretch.steps > shape.steps)
    refuse(speaker, "a stretch may have {} steps at most, as promised when the learner was made, got {}", shape.steps,
           stretch.steps);
  if (stretch.batch != shape.batch)
    refuse(speaker, "a stretch must have {} rows, as promised when the learner was made, got {}", shape.batch,
           stretch.batch);
}

double sum_of_weights(std::string_view speaker, std::span<const float> weights) {
  constexpr std::size_t block = 64;  // most windows have a loss at few steps: where all weights are 0 there is no sum
  double sum = 0;
  bool any = false;
  for (; !weights.empty(); weights = weights.subspan(std::min(block, weights.size()))) {
    const std::span<const float> part = weights.first(std::min(block, weights.size()));
    if (!has_nonzero(part)) continue;
    for (const float weight : part) sum += weight;
    any = true;
  }
  if (any && !(sum > 0)) refuse(speaker, "the loss weights of a window must sum to a positive number, got {}", sum);
  return sum;
}

void reserve(Window& window, int steps, int batch) {
  const std::size_t rows = elements(batch), entries = elements(steps, batch);
  window.source.reserve(rows);
  window.start.reserve(rows);
  window.example.reserve(rows);
  window.weight.reserve(entries);
  window.flags.reserve(entries);
}

}  // namespace throughtime
