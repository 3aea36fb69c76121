#include "throughtime/learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/names.h"
#include "learners/registry.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

struct Row {
  LearnerInfo info;
  std::unique_ptr<Learner> (*make)(const LearnerConfig&, Trainee&, const StretchShape&);
  StreamNeeds (*stream)(const LearnerConfig&) = nullptr;  // null: one step at a time
};

[[noreturn]] StreamNeeds no_stream(const LearnerConfig& config) {
  refuse("learner", "{} needs the end of a sequence and a stream has none; take tbptt, or fptt with window_length",
         config.name);
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"bptt", "back-propagation through the whole stretch; memory = full or recompute"}, make_bptt, no_stream},
      {{"tbptt", "truncated: windows of `steps`, a loss on the last `losses`, moved by `stride`"},
       make_tbptt,
       tbptt_stream},
      {{"adaptive_tbptt", "truncated, K chosen so that the relative bias of the gradient stays below `delta`"},
       make_adaptive_tbptt,
       adaptive_tbptt_stream},
      {{"fptt", "forward propagation: K windows, an update after each, held near their average"},
       make_fptt,
       fptt_stream},
      {{"fpp", "fixed point propagation: T-step trajectories from a buffer whose states are variables too"}, make_fpp},
      {{"sliding_tbptt", "the last T steps at every step, one loss, from the state that was stored T steps ago"},
       make_sliding_tbptt},
      {{"target_propagation", "the states between blocks of B steps are variables, held together by springs and duals"},
       make_target_propagation,
       target_propagation_stream},
  };
  return table;
}

const Row& find_row(const std::string& name) {
  for (const Row& row : rows())
    if (row.info.name == name) return row;
  std::vector<std::string> names;
  for (const Row& row : rows()) names.push_back(row.info.name);
  refuse_unknown("learner", "learner", name, names);
}

}  // namespace

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
  return {engine, target, gradient, engine.make_optimizer(optimizer, target), clip};
}

Learner::Learner(Trainee& trainee) : trainee_(trainee), loss_sum_(trainee.engine.allocate(1)) {}

TrainingMeans Learner::take_means() {
  const auto take = [&](Buffer buffer) {
    if (!buffer || loss_weight_ <= 0) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    trainee_.engine.read(buffer, {&sum, 1});
    trainee_.engine.fill(buffer, 0);
    return sum / loss_weight_;
  };
  const TrainingMeans means{take(loss_sum_), take(correct_sum_), loss_weight_};
  loss_weight_ = 0;
  return means;
}

void Learner::count_correct() {
  if (!correct_sum_) correct_sum_ = trainee_.engine.allocate(1);
}

void Learner::archive(Archive& archive) {
  archive.integer("updates", updates_);
  archive.number("loss_weight", loss_weight_);
  archive.buffer("loss_sum", trainee_.engine, loss_sum_);
  if (correct_sum_) archive.buffer("correct_sum", trainee_.engine, correct_sum_);
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
}

std::unique_ptr<Learner> make_learner(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  if (shape.steps < 1) refuse("learner", "a stretch must have at least 1 step, got {}", shape.steps);
  if (shape.batch < 1) refuse("learner", "a stretch must have at least 1 row, got {}", shape.batch);
  std::unique_ptr<Learner> learner = find_row(config.name).make(config, trainee, shape);
  if (shape.accuracy) learner->count_correct();
  return learner;
}

StreamNeeds stream_needs(const LearnerConfig& config) {
  const Row& row = find_row(config.name);
  return row.stream == nullptr ? StreamNeeds{} : row.stream(config);
}

std::vector<LearnerInfo> all_learners() {
  std::vector<LearnerInfo> infos;
  for (const Row& row : rows()) infos.push_back(row.info);
  return infos;
}

void check_stretch(std::string_view speaker, const StretchShape& shape, const Window& stretch) {
  validate(stretch);
  if (stretch.steps > shape.steps)
    refuse(speaker, "a stretch may have {} steps at most, as promised when the learner was made, got {}", shape.steps,
           stretch.steps);
  if (stretch.batch != shape.batch)
    refuse(speaker, "a stretch must have {} rows, as promised when the learner was made, got {}", shape.batch,
           stretch.batch);
}

double sum_of_weights(std::string_view speaker, std::span<const float> weights) {
  double sum = 0;
  bool any = false;
  for (const float weight : weights) {
    sum += weight;
    any = any || weight != 0;
  }
  if (any && !(sum > 0)) refuse(speaker, "the loss weights of a window must sum to a positive number, got {}", sum);
  return sum;
}

void require_known(std::string_view speaker, std::string_view what, const std::string& value,
                   const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), value) == names.end()) refuse_unknown(speaker, what, value, names);
}

void reserve(Window& window, int steps, int batch) {
  const auto rows = static_cast<std::size_t>(batch);
  const std::size_t entries = static_cast<std::size_t>(steps) * rows;
  window.source.reserve(rows);
  window.start.reserve(rows);
  window.example.reserve(rows);
  window.weight.reserve(entries);
  window.reset.reserve(entries);
}

}  // namespace throughtime
