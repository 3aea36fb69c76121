#include "bench/workload.h"
#include "throughtime/index.h"

#include <algorithm>
#include <span>
#include <utility>

namespace throughtime::bench {
namespace {

constexpr std::uint64_t seed = 1;
constexpr double rate = 1e-3;

/// The models of FPTT's Table 5 with its released settings.
ModelConfig recipe_of(const Case& chosen, bool weight_drop) {
  ModelConfig config;
  for (const int width : chosen.widths())
    config.layers.push_back({.cell = chosen.cell, .hidden = width, .options = {}});
  config.input.vocabulary = chosen.vocabulary;
  config.input.tokens = TokenInput::embedding;
  config.input.embedding = chosen.embedding();
  config.head = {.name = "softmax", .outputs = chosen.vocabulary, .tied = true};
  config.dropout = {.input = 0.1, .between = 0.25, .output = 0.1, .per_sequence = true};
  if (chosen.kind == Kind::mos) {
    config.head.name = "mixture_of_softmaxes";
    config.head.experts = chosen.experts;
    config.dropout = {.input = 0.4, .between = 0.225, .output = 0.4, .per_sequence = true};
    config.dropout.embedding = 0.1;
    config.dropout.latent = 0.29;
    config.penalties = {.activation = 2, .slowness = 1};
  }
  config.dropout.recurrent = weight_drop ? 0.2 : 0;
  return config;
}

ModelConfig model_of(const Case& chosen, bool whole) {
  if (chosen.recipe()) return recipe_of(chosen, whole);
  ModelConfig config;
  config.layers.assign(elements(chosen.layers), {.cell = chosen.cell, .hidden = chosen.hidden, .options = {}});
  if (chosen.kind == Kind::lm || chosen.kind == Kind::tprop) {
    config.input.vocabulary = chosen.vocabulary;
    config.input.tokens = TokenInput::embedding;
    config.input.embedding = chosen.inputs;
    config.head = {.name = "softmax", .outputs = chosen.vocabulary};
  } else if (chosen.kind == Kind::fpp) {
    config.input.vocabulary = 2;
    config.head = {.name = "softmax", .outputs = 2};
  } else {
    config.input.reals = chosen.inputs;
    config.head = {.name = "regression", .outputs = 1};
  }
  return config;
}

/// Where part `index` of `parts` begins in `steps` steps.
int begin_of(int index, int parts, int steps) {
  return static_cast<int>(static_cast<std::int64_t>(index) * steps / parts);
}

int longest_part(int parts, int steps) { return (steps + parts - 1) / parts; }

}  // namespace

Workload::Workload(const Case& chosen, const EngineConfig& engine, bool whole)
    : case_(chosen),
      model_(model_of(chosen, whole)),
      engine_(std::make_unique<MeteredEngine>(make_engine(model_, engine))) {
  whole_.steps = case_.steps;
  whole_.batch = case_.batch;
  whole_.weight.assign(elements(case_.steps, case_.batch), 0.0f);
  if (case_.kind == Kind::fpp) {
    fill_stream();
    return;
  }
  if (case_.kind == Kind::lm || case_.kind == Kind::tprop || case_.recipe())
    fill_language();
  else
    fill_add_task();
  if (case_.kind == Kind::fptt)
    make_learner_of_case();
  else if (case_.kind == Kind::tprop)
    make_target_learner(whole);
  else if (case_.recipe())
    make_learner_of_recipe();
  else
    make_parts(whole);
}

/// BPTT, or FPTT where there are windows.
void Workload::make_learner_of_recipe() {
  std::fill(whole_.weight.begin(), whole_.weight.end(), 1.0f);
  const OptimizerConfig optimizer{.name = case_.kind == Kind::awd ? "adam" : "sgd", .weight_decay = 1.2e-6};
  trainee_ = std::make_unique<Trainee>(
      make_trainee(*engine_, initialise(model_, {}, seed), optimizer, {.value = 0, .norm = 0.25}));
  const LearnerConfig config{.name = case_.windows > 1 ? "fptt" : "bptt",
                             .fptt = {.windows = case_.windows, .alpha = 0.2, .penalty = 2}};
  learner_ = make_learner(config, *trainee_, {.steps = case_.steps, .batch = case_.batch});
}

/// The library's own learner, on sequences with one target at their end.
void Workload::make_learner_of_case() {
  std::fill(whole_.weight.begin(), whole_.weight.end() - case_.batch, 0.0f);
  std::fill(whole_.weight.end() - case_.batch, whole_.weight.end(), 1.0f);
  trainee_ = std::make_unique<Trainee>(
      make_trainee(*engine_, initialise(model_, {}, seed), {.name = "adam"}, {.value = 0, .norm = 1}));
  learner_ = make_learner(FpttConfig{.windows = case_.windows}, *trainee_,
                          {.steps = case_.steps, .batch = case_.batch, .terminal = true});
}

void Workload::make_parts(bool norms) {
  tape_ = engine_->make_tape({.steps = longest_part(case_.windows, case_.steps),
                              .batch = case_.batch,
                              .keep = case_.kind == Kind::phi ? Keep::state : Keep::gradient});
  parameters_ = engine_->allocate(model_.parameters().size());
  gradient_ = engine_->allocate(model_.parameters().size());
  state_ = engine_->allocate(elements(case_.batch, model_.state_size()));
  loss_sum_ = engine_->allocate(1);
  optimizer_ = engine_->make_optimizer({.name = "adam"}, parameters_);
  engine_->write(parameters_, initialise(model_, {}, seed));
  cut_into_windows();
  if (case_.kind != Kind::phi) return;
  if (norms) norms_ = engine_->allocate((elements(case_.steps) + 1) * case_.batch);
  engine_->unroll({.window = whole_, .parameters = parameters_, .tape = *tape_, .loss_sum = loss_sum_});
}

/// Uniform numbers and marks; the target is the sum of the marked numbers, asked for at the end of each window.
void Workload::fill_add_task() {
  const Random random(seed, Purpose::task);
  const std::size_t steps = elements(case_.steps);
  for (int row = 0; row < case_.batch; ++row) {
    const std::uint64_t first_mark = random.below(steps, 1, row, 0), second_mark = random.below(steps, 1, row, 1);
    float sum = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      const float value = static_cast<float>(random.uniform(0, row, step));
      const bool marked = step == first_mark || step == second_mark;
      inputs_.insert(inputs_.end(), {value, marked ? 1.0f : 0.0f});
      if (marked) sum += value;
    }
    sums_.push_back(sum);
    whole_.start.push_back(static_cast<std::int64_t>(row) * case_.steps);
  }
  Source& source = sources_.emplace_back();
  source.steps = steps * case_.batch;
  source.reals = case_.inputs;
  source.values = inputs_;
  whole_.sources = sources_;
  whole_.targets = {.layout = TargetLayout::per_row, .width = 1, .labels = {}, .values = sums_};
  for (int part = 1; part <= case_.windows; ++part) {
    const std::size_t last = elements(begin_of(part, case_.windows, case_.steps)) - 1;
    for (int row = 0; row < case_.batch; ++row) whole_.weight[last * case_.batch + row] = 1.0f / case_.batch;
  }
}

/// Random words; every step predicts the next one.
void Workload::fill_language() {
  const Random random(seed, Purpose::task);
  const std::size_t length = elements(case_.steps) + 1;
  for (int row = 0; row < case_.batch; ++row) {
    for (std::size_t step = 0; step < length; ++step)
      words_.push_back(static_cast<std::int32_t>(random.below(case_.vocabulary, 0, row, step)));
    whole_.start.push_back(static_cast<std::int64_t>(row * length));
  }
  const std::span<const std::int32_t> words = words_;
  Source& source = sources_.emplace_back();
  source.steps = words.size() - 1;
  source.tokens = words.first(source.steps);
  source.labels = words.subspan(1);
  whole_.sources = sources_;
  whole_.targets.layout = TargetLayout::source;
  whole_.weight.assign(whole_.weight.size(), 1.0f / static_cast<float>(whole_.weight.size()));
}

/// Random bits, each the target of the one before it, for a learner that updates at every step.
void Workload::fill_stream() {
  const Random random(seed, Purpose::task);
  for (int step = 0; step <= case_.stream * case_.batch; ++step)
    words_.push_back(static_cast<std::int32_t>(random.below(2, 0, 0, static_cast<std::uint64_t>(step))));
  const std::span<const std::int32_t> words = words_;
  Source& source = sources_.emplace_back();
  source.steps = words.size() - 1;
  source.tokens = words.first(source.steps);
  source.labels = words.subspan(1);
  for (int row = 0; row < case_.batch; ++row) whole_.start.push_back(static_cast<std::int64_t>(row) * case_.stream);
  whole_.steps = case_.stream;
  whole_.sources = sources_;
  whole_.weight.assign(elements(case_.stream, case_.batch), 1.0f);
  whole_.continues = true;
  trainee_ =
      std::make_unique<Trainee>(make_trainee(*engine_, initialise(model_, {}, seed), {.name = "rmsprop_tf1"}, {}));
  learner_ = make_learner(FppConfig{.steps = case_.steps}, *trainee_, {.steps = case_.stream, .batch = case_.batch});
}

/// B blocks that follow each other in one row, or as the rows of a batch for truncated back-propagation.
void Workload::make_target_learner(bool whole) {
  whole_.weight.assign(whole_.weight.size(), 1.0f);
  trainee_ = std::make_unique<Trainee>(
      make_trainee(*engine_, initialise(model_, {}, seed), {.name = "adagrad"}, {.value = 0, .norm = 1}));
  if (whole) {
    whole_.steps = case_.batch * case_.steps;
    whole_.batch = 1;
    whole_.start.resize(1);
  }
  const LearnerConfig config{.name = whole ? "target_propagation" : "tbptt",
                             .tbptt = {.preset = TbpttPreset::plain, .truncation = case_.steps},
                             .target_propagation = {.block = case_.steps}};
  learner_ = make_learner(config, *trainee_, {.steps = whole_.steps, .batch = whole_.batch});
}

int Workload::updates() const {
  if (case_.kind == Kind::fpp) return case_.stream;
  if (case_.kind == Kind::windows) return case_.windows;
  if (case_.kind == Kind::tprop) return 1;
  const int rest = case_.steps % case_.windows;  // one more window
  return case_.kind == Kind::fptt ? case_.windows + (rest > 0 ? 1 : 0) : 0;
}

std::size_t Workload::activation_bytes() const {
  return learner_ ? learner_->activation_bytes() : tape_->activation_bytes();
}

double Workload::loss_sum() const {
  if (learner_ && learner_->has_loss()) {
    const TrainingMeans means = learner_->take_means();
    learner_loss_ += means.loss * means.weight;
  }
  return learner_ ? learner_loss_ : engine_->read(loss_sum_)[0];
}

CaseNumbers Workload::numbers() const {
  return {.layout = model_.parameters(), .parameters = engine_->read(parameters_), .inputs = inputs_, .targets = sums_};
}

void Workload::cut_into_windows() {
  parts_.resize(elements(case_.windows));
  for (int part = 0; part < case_.windows; ++part) {
    const int first = begin_of(part, case_.windows, case_.steps);
    slice(whole_, first, begin_of(part + 1, case_.windows, case_.steps) - first, parts_[part]);
  }
}

void Workload::run() {
  if (case_.recipe()) ++whole_.mask_key;
  if (learner_) return learner_->learn(whole_, [](std::int64_t) { return rate; });
  if (case_.kind == Kind::phi)
    return engine_->pull_back({.tape = *tape_, .window = whole_, .parameters = parameters_, .tap_norms = norms_});
  bool carried = false;
  for (const Window& window : parts_) {
    UnrollCall unroll = {.window = window, .parameters = parameters_, .tape = *tape_, .loss_sum = loss_sum_};
    if (carried) unroll.initial_state = state_;
    if (case_.kind == Kind::windows) unroll.final_state = state_;
    engine_->unroll(unroll);
    engine_->pull_back({.tape = *tape_, .window = window, .parameters = parameters_, .gradient = gradient_});
    if (case_.kind == Kind::windows)
      engine_->apply_update(
          {.target = parameters_, .gradient = gradient_, .optimizer = *optimizer_, .rate = rate, .clip = {.norm = 1}});
    carried = true;
  }
  if (case_.kind != Kind::windows) engine_->sum_over_ranks(gradient_);
}

}  // namespace throughtime::bench
