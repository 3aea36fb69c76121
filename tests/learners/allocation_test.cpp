#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>

#include "allocations/counted_new.h"
#include "engine/cuda/cuda_engine.h"
#include "support/bytes_in_use.h"
#include "support/random_problem.h"
#include "support/thread_ranks.h"
#include "support/usable_engine.h"
#include "throughtime/learner.h"
#include "throughtime/online.h"

namespace throughtime::testing {
namespace {

struct Arm {
  std::string learner, memory, engine, optimizer, cell;  // memory: of fptt, its form; of target_propagation, its init
  bool continues;
  std::string head = "softmax";

  friend void PrintTo(const Arm& arm, std::ostream* out) {
    *out << arm.learner << " " << arm.memory << " on " << arm.engine << " with " << arm.head;
  }
};

LearnerConfig config_of(const Arm& arm) {
  LearnerConfig config{.name = arm.learner,
                       .tbptt = {.steps = 9, .losses = 4, .stride = 6},
                       .fptt = {.windows = 7},
                       .fpp = {.steps = 3, .buffer = 5},
                       .sliding_tbptt = {.steps = 3}};
  if (arm.learner == "bptt") config.bptt.memory = choice_of<BpttMemory>(arm.memory, "test", "memory");
  if (arm.learner == "fptt") config.fptt.form = choice_of<FpttForm>(arm.memory, "test", "form");
  if (arm.learner == "fpp") config.fpp.state_optimizer = choice_of<FppStateRule>(arm.memory, "test", "rule");
  if (arm.learner == "target_propagation") {
    TargetPropagationConfig& target = config.target_propagation;
    target.block = 4;
    target.init = choice_of<StateInit>(arm.memory, "test", "init");
    target.dual_before_theta = true;
    target.h_solver = arm.cell == "gru" ? StateSolver::backward_sweep : StateSolver::gradient;
    if (target.init == StateInit::persist) target.shard = 3;
  }
  return config;
}

/// A learner on a stack of two layers, and stretches for it: the whole window again and again, or its eighths one after
/// the other.
class SteadyLesson {
 public:
  explicit SteadyLesson(const Arm& arm, std::shared_ptr<Communicator> ranks = nullptr, bool alike = false)
      : problem_(random_problem({.model = model_of(arm),
                                 .steps = 40,
                                 .batch = 20,
                                 .zero_weights = alike ? 0 : 0.2,
                                 .resets = alike ? 0 : 0.05})),
        stretches_(8, problem_.window),
        engine_(make_engine(*problem_.model, {.name = arm.engine, .threads = 2, .communicator = std::move(ranks)})) {
    if (arm.continues)
      for (int i = 0; i < 8; ++i) slice(problem_.window, 5 * i, 5, stretches_[static_cast<std::size_t>(i)]);
    OptimizerConfig optimizer;
    optimizer.name = arm.optimizer;
    trainee_.emplace(make_trainee(*engine_, problem_.parameters, optimizer, {.value = 0, .norm = 1}));
    learner_ = make_learner(config_of(arm), *trainee_,
                            {.steps = 40, .batch = 20, .lengths_vary = arm.continues, .stretches = 1});
  }

  void learn(std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) learner_->learn(stretches_[i], rate_);
  }

 private:
  static ModelConfig model_of(const Arm& arm) {
    ModelConfig model = with_head(stack_of(arm.cell, {20, 9}, 3), arm.head, 5);
    model.dropout = {0.1, 0.1, 0.1, false};
    if (model.head.name != "softmax") {
      model.dropout.latent = 0.1;
      model.penalties = {.activation = 1, .slowness = 1};
    }
    return model;
  }

  Problem problem_;
  std::vector<Window> stretches_;
  std::unique_ptr<Engine> engine_;
  std::optional<Trainee> trainee_;
  std::unique_ptr<Learner> learner_;
  RateFunction rate_ = [](std::int64_t) { return 1e-3; };
};

class SteadyState : public ::testing::TestWithParam<Arm> {};

TEST_P(SteadyState, AllocatesNothing) {
  SteadyLesson lesson(GetParam());
  lesson.learn(0, 3);
  const std::int64_t before = allocations();
  const std::size_t bytes = bytes_in_use();
  lesson.learn(3, 8);
  EXPECT_EQ(allocations() - before, 0);
  EXPECT_EQ(bytes_in_use(), bytes);
}

/// The same on two ranks, both counted. Lists of rows that travel find room once one as long has been sent.
TEST_P(SteadyState, AllocatesNothingOnRanks) {
  ThreadRanks::run(2, [&](std::shared_ptr<Communicator> ranks) {
    const auto meet = [&] { on_any_rank(ranks.get(), false); };
    SteadyLesson lesson(GetParam(), ranks);
    lesson.learn(0, 8);
    meet();
    const std::int64_t before = allocations();
    meet();
    lesson.learn(0, 8);
    meet();
    EXPECT_EQ(allocations() - before, 0);
    meet();
  });
}

INSTANTIATE_TEST_SUITE_P(Learners, SteadyState,
                         ::testing::Values(Arm{"bptt", "full", "cpu", "adam", "lstm", false},
                                           Arm{"bptt", "recompute", "cpu", "sgd", "gru", false},
                                           Arm{"tbptt", "full", "cpu", "rmsprop", "lstm", false},
                                           Arm{"tbptt", "full", "cpu", "adam", "gru_reset_before", true},
                                           Arm{"bptt", "full", "cpu", "adagrad", "antisymmetric_gated", false},
                                           Arm{"fpp", "sgd", "cpu", "rmsprop", "lstm", true},
                                           Arm{"fpp", "rmsprop", "cpu", "adam", "gru", false},
                                           Arm{"sliding_tbptt", "full", "cpu", "rmsprop_tf1", "rnn_tanh", true},
                                           Arm{"bptt", "full", "cpu", "sgd", "gru", false, "mixture_of_softmaxes"},
                                           Arm{"bptt", "full", "reference", "adam", "lstm", false},
                                           Arm{"tbptt", "full", "reference", "momentum", "rnn_tanh", true},
                                           Arm{"fptt", "lambda", "cpu", "adam", "lstm", false},
                                           Arm{"fptt", "gradient", "cpu", "sgd", "gru", true},
                                           Arm{"fptt", "ogd", "cpu", "momentum", "lstm", false},
                                           Arm{"fptt", "lambda", "reference", "adam", "lstm", true},
                                           Arm{"target_propagation", "chain", "cpu", "adagrad", "lstm", true},
                                           Arm{"target_propagation", "chain", "cpu", "adagrad", "gru", false},
                                           Arm{"target_propagation", "zero_start", "cpu", "adam", "rnn_tanh", true},
                                           Arm{"target_propagation", "persist", "cpu", "adagrad", "lstm", false},
                                           Arm{"target_propagation", "persist", "reference", "adagrad", "lstm", false}),
                         [](const auto& info) {
                           return fmt::format("{}_{}_{}_{}", info.param.learner, info.param.memory, info.param.engine,
                                              info.param.cell);
                         });

/// On a GPU, stretches that have all come before: no memory of the host, of the device, or between them, and no wait
/// for the device. (It may have to catch up: then there is no room for another upload, and the host waits for one.)
class CudaSteadyState : public ::testing::TestWithParam<Arm> {
 protected:
  void SetUp() override { skip_without("cuda"); }
};

TEST_P(CudaSteadyState, AllocatesNothingAndWaitsForNothing) {
  SteadyLesson lesson(GetParam(), nullptr, true);
  for (int round = 0; round < 3; ++round) lesson.learn(0, 8);  // the second time graphs are made
  const DeviceCounts before = cuda_counts();
  const std::int64_t made = allocations();
  lesson.learn(0, 8);
  const std::int64_t made_after = allocations();
  const DeviceCounts after = cuda_counts();
  EXPECT_EQ(made_after - made, 0);
  EXPECT_EQ(after.arrays - before.arrays, 0);
  EXPECT_EQ(after.pinned - before.pinned, 0);
  EXPECT_EQ(after.waits - before.waits, 0);
  EXPECT_GT(before.arrays, 0) << "they are counted";
  EXPECT_GT(before.pinned, 0);
  EXPECT_GT(before.waits, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Learners, CudaSteadyState,
    ::testing::Values(
        Arm{"bptt", "full", "cuda", "adam", "lstm", false}, Arm{"bptt", "recompute", "cuda", "momentum", "gru", false},
        Arm{"bptt", "full", "cuda", "sgd", "gru_reset_before", false},
        Arm{"bptt", "full", "cuda", "sgd", "gru", false, "mixture_of_softmaxes"},
        Arm{"fptt", "lambda", "cuda", "sgd", "rnn_tanh", true, "mixture_of_softmaxes"},
        Arm{"tbptt", "full", "cuda", "adam", "lstm", true}, Arm{"fptt", "lambda", "cuda", "adam", "lstm", false},
        Arm{"fptt", "gradient", "cuda", "sgd", "gru", true}, Arm{"fpp", "sgd", "cuda", "adam", "rnn_tanh", true},
        Arm{"sliding_tbptt", "full", "cuda", "adam", "rnn_tanh", true},
        Arm{"target_propagation", "chain", "cuda", "adagrad", "lstm", true},
        Arm{"target_propagation", "persist", "cuda", "adagrad", "lstm", false}),
    [](const auto& info) {
      return fmt::format("{}_{}_{}_{}", info.param.learner, info.param.memory, info.param.engine, info.param.cell);
    });

/// Sequences with one class each, whose losses before the end look at earlier predictions.
class SteadyTerminal : public ::testing::TestWithParam<std::string> {};

TEST_P(SteadyTerminal, AllocatesNothing) {
  for (const std::string engine_name : {"cpu", "reference"})
    for (const bool aux : {false, true}) {
      Problem problem = random_problem({.model = with_head(stack_of("lstm", {9}, 3), "softmax", 5),
                                        .steps = 40,
                                        .batch = 20,
                                        .targets = TargetLayout::per_row});
      std::fill(problem.window.weight.begin(), problem.window.weight.end() - 20, 0.0f);
      for (std::int64_t row = 0; row < 20; ++row) problem.window.example.push_back(row);
      const auto engine = make_engine(*problem.model, {.name = engine_name, .threads = 2, .communicator = nullptr});
      Trainee trainee = make_trainee(*engine, problem.parameters, {}, {.value = 0, .norm = 1});
      const TerminalConfig terminal{.q = choice_of<PriorKind>(GetParam(), "test", "q"), .q_epoch = 1};
      const LearnerConfig config{.name = aux ? "bptt" : "fptt",
                                 .bptt = {.aux_losses = true, .windows = 7, .terminal = terminal},
                                 .fptt = {.windows = 7, .terminal = terminal}};
      const auto learner = make_learner(config, trainee, {.steps = 40, .batch = 20, .terminal = true, .examples = 20});
      const RateFunction rate = [](std::int64_t) { return 1e-3; };
      const auto learn = [&] {
        learner->learn(problem.window, rate);
        learner->end_epoch();
      };
      for (int i = 0; i < 3; ++i) learn();
      const std::int64_t before = allocations();
      const std::size_t bytes = bytes_in_use();
      for (int i = 0; i < 3; ++i) learn();
      EXPECT_EQ(allocations() - before, 0) << engine_name << aux;
      EXPECT_EQ(bytes_in_use(), bytes) << engine_name << aux;
    }
}

INSTANTIATE_TEST_SUITE_P(Tables, SteadyTerminal, ::testing::Values("uniform", "examples", "class_wrong", "class_right"),
                         [](const auto& info) { return info.param; });

class OnlineSteadyState : public ::testing::TestWithParam<LearnerConfig> {};

TEST_P(OnlineSteadyState, AllocatesNothing) {
  const Model model(with_head(stack_of("lstm", {20}, 2), "regression", 1));
  const auto engine = make_engine(model, {.name = "cpu", .threads = 1, .communicator = nullptr});
  OnlineLearner online(*engine, initialise(model, {}, 1), {.learner = GetParam(), .slots = 3});
  std::int64_t before = 0;
  std::size_t bytes = 0;
  for (int t = 0; t < 300; ++t) {
    if (t == 100) before = allocations(), bytes = bytes_in_use();
    const float step[2] = {0.1f * static_cast<float>(t % 7), 0.5f}, target[1] = {0.3f};
    online.observe(t % 5 % 3, {.reals = step}, t % 4 == 0 ? StepTarget{} : StepTarget{.values = target});
    if (t % 50 == 0) online.reset(1);
  }
  EXPECT_EQ(allocations() - before, 0);
  EXPECT_EQ(bytes_in_use(), bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Learners, OnlineSteadyState,
    ::testing::Values(LearnerConfig{.name = "tbptt", .tbptt = {.preset = TbpttPreset::original, .truncation = 10}},
                      LearnerConfig{.name = "tbptt", .tbptt = {.steps = 9, .losses = 4, .stride = 3}},
                      LearnerConfig{.name = "fptt", .fptt = {.window_length = 6}},
                      LearnerConfig{.name = "fpp", .fpp = {.steps = 4, .buffer = 20}},
                      LearnerConfig{.name = "sliding_tbptt", .sliding_tbptt = {.steps = 4}}),
    [](const auto& info) { return fmt::format("{}_{}", info.param.name, info.index); });

/// Steps with an estimate, the first one included: its room is made with the learner.
class OnlineEstimates : public ::testing::TestWithParam<LearnerConfig> {};

TEST_P(OnlineEstimates, AllocateNothing) {
  const Model model(with_head(stack_of("lstm", {20}, 2), "regression", 1));
  const auto engine = make_engine(model, {.name = "cpu", .threads = 1, .communicator = nullptr});
  LearnerConfig config = GetParam();
  for (EstimateConfig* estimate : {&config.tbptt.estimate, &config.adaptive_tbptt.estimate, &config.fptt.estimate}) {
    estimate->longest = 10, estimate->lags = 12, estimate->tail = 6;
    estimate->positions = 4, estimate->burn_in = 3, estimate->every = config.name == "fptt" ? 4 : 30;
  }
  OnlineLearner online(*engine, initialise(model, {}, 1), {.learner = config, .slots = 2});
  const auto beta = [&] {
    const auto known = online.diagnostics();
    return std::ranges::find(known, "beta", &Diagnostic::name)->value;
  };
  const int stretch = stream_needs(config).steps;
  int estimates = 0;
  for (int t = 0; t < 200; ++t) {
    const double known = beta();
    const float step[2] = {0.1f * static_cast<float>(t % 7), 0.5f}, target[1] = {0.3f};
    const std::int64_t before = allocations();
    const std::size_t bytes = bytes_in_use();
    online.observe(t % 3 % 2, {.reals = step}, t % 4 == 0 ? StepTarget{} : StepTarget{.values = target});
    const std::int64_t made = allocations() - before;
    const std::size_t grown = bytes_in_use() - bytes;
    estimates += beta() == known || std::isnan(beta()) ? 0 : 1;
    if (t < std::max(12, 2 * stretch)) continue;  // the first windows
    EXPECT_EQ(made, 0) << t;
    EXPECT_EQ(grown, 0u) << t;
  }
  EXPECT_GE(estimates, 4);
}

LearnerConfig estimating(PhiNorm norm, GradientSize gradient_size, DecayRule decay) {
  return {.name = "adaptive_tbptt",
          .adaptive_tbptt = {.preset = TbpttPreset::original,
                             .truncation = 4,
                             .estimate = {.repeats = 2, .decay = decay, .norm = norm, .gradient_size = gradient_size}}};
}

INSTANTIATE_TEST_SUITE_P(
    Learners, OnlineEstimates,
    ::testing::Values(
        estimating(PhiNorm::euclidean, GradientSize::norms, DecayRule::regression),
        estimating(PhiNorm::per_layer, GradientSize::vectors, DecayRule::max),
        estimating(PhiNorm::weighted, GradientSize::exact, DecayRule::quantile),
        LearnerConfig{.name = "tbptt",
                      .tbptt = {.preset = TbpttPreset::original, .truncation = 10, .estimate = {.logged = 3}}},
        LearnerConfig{.name = "fptt",
                      .fptt = {.window_length = 5, .window = WindowRule::adaptive, .estimate = {.first = false}}}),
    [](const auto& info) { return fmt::format("{}_{}", info.param.name, info.index); });

}  // namespace
}  // namespace throughtime::testing
