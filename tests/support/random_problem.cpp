#include "support/random_problem.h"

#include <algorithm>
#include <cmath>

#include "throughtime/engine.h"
#include "throughtime/random.h"

namespace throughtime::testing {
namespace {

/// Numbers one after the other.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed, Purpose::task) {}
  double uniform() { return random_.uniform(0, 0, next_++); }
  double symmetric(double range) { return range * (2.0 * uniform() - 1.0); }
  std::int32_t below(int bound) {
    return static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(bound), 0, 0, next_++));
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

bool wants_labels(const ProblemSpec& spec, const Model& model) {
  const TargetKind target = model.head().target;
  return target == TargetKind::label_and_interval || (target == TargetKind::label_or_distribution && !spec.soft);
}

bool wants_values(const ProblemSpec& spec, const Model& model) {
  return model.head().target == TargetKind::label_and_interval || !wants_labels(spec, model);
}

std::vector<std::int32_t> draw_labels(Draws& draws, std::size_t count, int bound) {
  std::vector<std::int32_t> labels(count);
  for (std::int32_t& label : labels) label = draws.below(bound);
  return labels;
}

/// Target values in (0, 1), normalised to a distribution per entry for heads that want one: fit for every head.
std::vector<float> draw_target_values(Draws& draws, std::size_t count, const Model& model) {
  const auto width = static_cast<std::size_t>(model.target_width());
  std::vector<float> values(count * width);
  for (std::size_t entry = 0; entry < count; ++entry) {
    float sum = 0;
    for (std::size_t i = 0; i < width; ++i)
      sum += values[entry * width + i] = static_cast<float>(0.05 + 0.9 * draws.uniform());
    if (model.head().target == TargetKind::label_or_distribution)
      for (std::size_t i = 0; i < width; ++i) values[entry * width + i] /= sum;
  }
  return values;
}

void fill_sources(const ProblemSpec& spec, Draws& draws, Problem& problem) {
  const InputConfig& input = spec.model.input;
  problem.storage.resize(static_cast<std::size_t>(spec.sources));
  for (Problem::Storage& storage : problem.storage) {
    Source source;
    source.steps = static_cast<std::size_t>(2 * spec.steps + draws.below(spec.steps + 1));
    source.reals = input.reals;
    storage.values.resize(source.steps * static_cast<std::size_t>(input.reals));
    for (float& value : storage.values) value = static_cast<float>(draws.symmetric(1.0));
    if (input.vocabulary > 0) storage.tokens = draw_labels(draws, source.steps, input.vocabulary);
    if (spec.targets == TargetLayout::source) {
      if (wants_labels(spec, *problem.model))
        storage.labels = draw_labels(draws, source.steps, problem.model->classes());
      if (wants_values(spec, *problem.model)) {
        storage.target_values = draw_target_values(draws, source.steps, *problem.model);
        source.target_width = problem.model->target_width();
      }
    }
    source.values = storage.values;
    source.tokens = storage.tokens;
    source.labels = storage.labels;
    source.target_values = storage.target_values;
    problem.sources.push_back(source);
  }
}

void fill_targets(const ProblemSpec& spec, Draws& draws, Problem& problem) {
  Targets& targets = problem.window.targets;
  targets.layout = spec.targets;
  if (spec.targets != TargetLayout::per_step && spec.targets != TargetLayout::per_row) return;
  const auto count =
      static_cast<std::size_t>(spec.targets == TargetLayout::per_step ? spec.steps * spec.batch : spec.batch);
  if (wants_labels(spec, *problem.model)) {
    problem.labels = draw_labels(draws, count, problem.model->classes());
    targets.labels = problem.labels;
  }
  if (wants_values(spec, *problem.model)) {
    problem.target_values = draw_target_values(draws, count, *problem.model);
    targets.values = problem.target_values;
    targets.width = problem.model->target_width();
  }
}

void pad_rows(Window& window) {
  for (int row = 1; row < window.batch; ++row) {
    const int padding = std::min(row, window.steps - 1);
    window.start[static_cast<std::size_t>(row)] = -padding;
    for (int step = 0; step < padding; ++step) window.weight[static_cast<std::size_t>(step * window.batch + row)] = 0;
    window.flags[static_cast<std::size_t>(padding * window.batch + row)] = StepFlag::reset;
  }
}

}  // namespace

Problem random_problem(const ProblemSpec& spec) {
  Problem problem;
  Draws draws(spec.seed);
  problem.model = std::make_unique<Model>(spec.model);
  fill_sources(spec, draws, problem);
  Window& window = problem.window;
  window.steps = spec.steps;
  window.batch = spec.batch;
  window.sources = problem.sources;
  for (int row = 0; row < spec.batch; ++row) {
    window.source.push_back(draws.below(spec.sources));
    const Source& source = problem.sources[static_cast<std::size_t>(window.source.back())];
    window.start.push_back(draws.below(static_cast<int>(source.steps) - spec.steps + 1));
  }
  fill_targets(spec, draws, problem);
  for (int entry = 0; entry < spec.steps * spec.batch; ++entry) {
    const double weight = 0.5 + draws.uniform();
    window.weight.push_back(draws.uniform() < spec.zero_weights ? 0.0f : static_cast<float>(weight));
    window.flags.push_back(draws.uniform() < spec.resets ? StepFlag::reset : StepFlag::go_on);
  }
  if (spec.ragged) pad_rows(window);
  window.mask_key = spec.seed * 977 + 5;
  window.mask_step = 3;
  problem.parameters = random_numbers(problem.model->parameters().size(), spec.seed + 1000, spec.parameter_range);
  return problem;
}

std::vector<double> random_numbers(std::size_t size, std::uint64_t seed, double range) {
  Draws draws(seed);
  std::vector<double> numbers(size);
  for (double& number : numbers) number = draws.symmetric(range);
  return numbers;
}

ModelConfig stack_of(const std::string& cell, const std::vector<int>& widths, int reals) {
  ModelConfig config;
  config.input.reals = reals;
  for (const int width : widths) {
    LayerConfig layer;
    layer.cell = cell;
    layer.hidden = width;
    layer.options.step = 0.3;
    layer.options.diffusion = 0.2;
    config.layers.push_back(layer);
  }
  return with_head(config, "regression", 2);
}

ModelConfig with_head(ModelConfig config, const std::string& head, int outputs, int hidden) {
  config.head.name = head;
  const int each = find_head(head).outputs_per_target(config.head.levels.size());
  config.head.outputs = (outputs + each - 1) / each * each;  // whole targets
  config.head.hidden = find_head(head).layers ? 0 : hidden;  // such a head has layers of its own
  config.head.experts = 3;
  return config;
}

std::vector<std::string> cell_names() {
  std::vector<std::string> names;
  for (const CellType* cell : all_cells()) names.push_back(cell->name);
  return names;
}

std::vector<std::string> head_names() {
  // Asked for before the first test runs, where suites are made of it: what a test registers is not among them.
  static const std::vector<std::string> built_in = [] {
    std::vector<std::string> names;
    for (const HeadType* head : all_heads()) names.push_back(head->name);
    return names;
  }();
  return built_in;
}

std::vector<std::string> engines_here() {
  std::vector<std::string> names;
  for (const EngineType* engine : usable_engines()) names.push_back(engine->name);
  return names;
}

}  // namespace throughtime::testing
