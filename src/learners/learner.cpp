#include "throughtime/learner.h"

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
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {{"bptt", "back-propagation through the whole stretch; memory = full or recompute"}, make_bptt},
      {{"tbptt", "truncated: windows of `steps`, a loss on the last `losses`, moved by `stride`"}, make_tbptt},
      {{"adaptive_tbptt", "truncated, K chosen so that the relative bias of the gradient stays below `delta`"},
       make_adaptive_tbptt},
      {{"fptt", "forward propagation: K windows, an update after each, held near their average"}, make_fptt},
  };
  return table;
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

double Learner::take_mean_loss() {
  double sum = 0;
  trainee_.engine.read(loss_sum_, {&sum, 1});
  const double mean = loss_weight_ > 0 ? sum / loss_weight_ : std::numeric_limits<double>::quiet_NaN();
  trainee_.engine.fill(loss_sum_, 0);
  loss_weight_ = 0;
  return mean;
}

void Learner::archive(Archive& archive) {
  archive.integer("updates", updates_);
  archive.number("loss_weight", loss_weight_);
  archive.buffer("loss_sum", trainee_.engine, loss_sum_);
}

void Learner::update(double divisor, const RateFunction& rate, const DynamicRegulariser* regulariser) {
  trainee_.engine.apply_update({.target = trainee_.parameters,
                                .gradient = trainee_.gradient,
                                .optimizer = *trainee_.optimizer,
                                .rate = rate(++updates_),
                                .gradient_scale = 1 / divisor,
                                .clip = trainee_.clip,
                                .regulariser = regulariser});
}

std::unique_ptr<Learner> make_learner(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  if (shape.steps < 1) refuse("learner", "a stretch must have at least 1 step, got {}", shape.steps);
  if (shape.batch < 1) refuse("learner", "a stretch must have at least 1 row, got {}", shape.batch);
  for (const Row& row : rows())
    if (row.info.name == config.name) return row.make(config, trainee, shape);
  std::vector<std::string> names;
  for (const Row& row : rows()) names.push_back(row.info.name);
  refuse_unknown("learner", "learner", config.name, names);
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

void reserve(Window& window, int steps, int batch) {
  const auto rows = static_cast<std::size_t>(batch);
  const std::size_t entries = static_cast<std::size_t>(steps) * rows;
  window.source.reserve(rows);
  window.start.reserve(rows);
  window.weight.reserve(entries);
  window.reset.reserve(entries);
}

}  // namespace throughtime
