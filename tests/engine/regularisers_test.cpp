#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "engine/dropout.h"
#include "engine/parts_of_a_tape.h"
#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/thread_ranks.h"
#include "support/usable_engine.h"

// Penalties on outputs (model.activation_penalty, slowness_penalty) with every mask on, in every cell and every
// engine.
namespace throughtime::testing {
namespace {

EngineConfig engine_of(const std::string& name, int threads = 1) {
  return {.name = name, .threads = threads, .communicator = nullptr};
}

/// Embedded tokens, softmax over them, tied where the last layer is as wide as the embedding.
ModelConfig language_model(const std::string& cell, const std::vector<int>& widths, int embedding, bool tied = false) {
  ModelConfig config = stack_of(cell, widths, 0);
  config.input = {.vocabulary = 7, .tokens = TokenInput::embedding, .embedding = embedding};
  config.head = {.name = "softmax", .outputs = 7, .tied = tied};
  return config;
}

/// Everything that can be dropped or penalised.
ModelConfig all_on(const std::string& cell, const std::vector<int>& widths, int embedding, bool tied = false) {
  ModelConfig config = language_model(cell, widths, embedding, tied);
  config.dropout = {.input = 0.2, .between = 0.25, .output = 0.3, .per_sequence = true};
  config.dropout.recurrent = 0.4;
  config.dropout.embedding = 0.3;
  config.penalties = {.activation = 2, .slowness = 1.5};
  return config;
}

PullBackSpec everything(const EngineRun& run, int steps, std::uint64_t seed) {
  PullBackSpec pull;
  pull.end_cotangent = random_numbers(run.state_numbers(), seed + 2);
  pull.step_cotangents = random_numbers(static_cast<std::size_t>(steps) * run.state_numbers(), seed + 3);
  return pull;
}

/// An engine and a cell.
class Regularisers : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override { skip_without(engine()); }
  static const std::string& engine() { return std::get<0>(GetParam()); }
  static const std::string& cell() { return std::get<1>(GetParam()); }
  static bool exact() { return engine() == "reference"; }
  static double tolerance() { return exact() ? 1e-12 : 1e-5; }
};

TEST_P(Regularisers, GradientIsThatOfCentralDifferences) {
  for (const bool tied : {false, true}) {
    ProblemSpec spec{.model = all_on(cell(), {4, 3}, tied ? 3 : 2, tied), .steps = 5, .batch = 2, .seed = 5};
    spec.zero_weights = 0.2;
    spec.resets = 0.15;
    const Problem problem = random_problem(spec);
    EngineRun run(problem, engine_of(engine()));
    const PullBackSpec pull = everything(run, 5, 6);
    const auto initial = random_numbers(run.state_numbers(), 8);
    const Unrolled unrolled = run.unroll(initial);
    EXPECT_GT(unrolled.penalties[0], 0);
    EXPECT_GT(unrolled.penalties[1], 0);
    const PulledBack ours = run.pull_back(pull);
    if (!exact()) {
      EngineRun oracle(problem, engine_of("reference"));
      oracle.unroll(initial);
      const PulledBack wanted = oracle.pull_back(pull);
      EXPECT_LT(relative_error(ours.gradient, wanted.gradient), tolerance());
      EXPECT_LT(relative_error(ours.initial_cotangent, wanted.initial_cotangent), tolerance());
    }
    if (!exact() && cell() == "rnn_relu") continue;  // steps that single precision can see go over its corner
    const auto differences = central_differences(
        [&](std::span<const double> at) {
          run.set_parameters({at.begin(), at.end()});
          return objective(run.unroll(initial), pull);
        },
        problem.parameters, exact() ? 1e-4 : 1e-2);
    EXPECT_LT(relative_error(ours.gradient, differences), exact() ? 1e-7 : 2e-2);
    run.set_parameters(problem.parameters);
    const auto by_state = central_differences(
        [&](std::span<const double> at) {
          return objective(run.unroll({at.begin(), at.end()}), pull);
        },
        initial, exact() ? 1e-4 : 1e-2);
    EXPECT_LT(relative_error(ours.initial_cotangent, by_state), exact() ? 1e-7 : 2e-2);
  }
}

/// Both penalties as their definition says, from the states; masks of the output are given.
std::vector<double> penalties_of(const Problem& problem, const std::vector<double>& states,
                                 const std::vector<double>& masks) {
  const Window& window = problem.window;
  const Model& model = *problem.model;
  const auto h = [&](int step, int row, int unit) {
    return states[(elements(step, window.batch) + elements(row)) * elements(model.state_size()) +
                  elements(model.layers().back().state_offset + unit)];
  };
  std::vector<double> sums = {0, 0};
  for (int row = 0; row < window.batch; ++row) {
    double losses = 0, differences = 0, squares = 0;
    for (int step = 0; step < window.steps; ++step) {
      const double weight = window.weight_at(step, row);
      losses += weight;
      const bool counts = weight != 0 && step > 0 && !window.resets_at(step, row) && !window.holds_at(step, row) &&
                          !window.holds_at(step - 1, row);
      if (counts) differences += weight;
      for (int unit = 0; unit < model.top_hidden(); ++unit) {
        const double masked = h(step + 1, row, unit) * masks[elements(row, model.top_hidden()) + elements(unit)];
        const double share = weight / model.top_hidden();
        sums[0] += model.config().penalties.activation * share * masked * masked;
        if (counts) squares += share * std::pow(h(step + 1, row, unit) - h(step, row, unit), 2);
      }
    }
    if (differences > 0) sums[1] += model.config().penalties.slowness * losses / differences * squares;
  }
  return sums;
}

TEST_P(Regularisers, PenaltiesAreMeansOverStepsWithALoss) {
  for (const auto& [hidden, steps, batch] : std::vector<std::tuple<int, int, int>>{{1, 1, 1}, {5, 4, 1}, {18, 9, 40}})
    for (const bool uneven : {false, true}) {
      ProblemSpec spec{.model = language_model(cell(), {3, hidden}, 2), .steps = steps, .batch = batch};
      spec.model.dropout.output = 0.4;
      spec.model.dropout.per_sequence = true;
      spec.model.penalties = {.activation = 2, .slowness = 1.5};
      spec.zero_weights = uneven ? 0.3 : 0;
      spec.resets = uneven ? 0.2 : 0;
      const Problem problem = random_problem(spec);
      EngineRun run(problem, engine_of(engine()));
      const Unrolled unrolled = run.unroll(random_numbers(run.state_numbers(), 3));
      std::vector<double> masks(elements(batch, hidden));
      for (int row = 0; row < batch; ++row)
        write_mask(output_dropout(spec.model.dropout), problem.window.mask_key, 0, row,
                   std::span(masks).subspan(elements(row, hidden), elements(hidden)));
      const std::vector<double> wanted = penalties_of(problem, unrolled.states, masks);
      EXPECT_NEAR(unrolled.penalties[0], wanted[0], tolerance() * (1 + wanted[0]));
      EXPECT_NEAR(unrolled.penalties[1], wanted[1], tolerance() * (1 + wanted[1]));
      if (steps == 1) {
        EXPECT_EQ(unrolled.penalties[1], 0) << "nothing to compare with";
      }

      // They are no part of the loss, and evaluations have none.
      spec.model.penalties = {};
      const Problem without = random_problem(spec);
      EngineRun plain(without, engine_of(engine()));
      EXPECT_EQ(plain.unroll(random_numbers(run.state_numbers(), 3)).loss_sum, unrolled.loss_sum);
      run.set_training(false);
      EXPECT_EQ(run.unroll().penalties, (std::vector<double>{0, 0}));
    }
}

TEST_P(Regularisers, SkipHeldSteps) {
  ProblemSpec spec{.model = language_model(cell(), {4}, 2), .steps = 6, .batch = 2};
  spec.model.penalties = {.activation = 1, .slowness = 3};
  Problem problem = random_problem(spec);
  problem.window.flags.assign(12, StepFlag::go_on);
  for (const int entry : {2, 5, 6}) {
    problem.window.flags[elements(entry)] = StepFlag::hold;
    problem.window.weight[elements(entry)] = 0;
  }
  EngineRun run(problem, engine_of(engine()));
  const Unrolled unrolled = run.unroll();
  const std::vector<double> wanted = penalties_of(problem, unrolled.states, std::vector<double>(8, 1.0));
  EXPECT_NEAR(unrolled.penalties[1], wanted[1], tolerance() * (1 + wanted[1]));
  const std::vector<double> ours = run.pull_back().gradient;
  const auto differences = central_differences(
      [&](std::span<const double> at) {
        run.set_parameters({at.begin(), at.end()});
        return objective(run.unroll(), {});
      },
      problem.parameters, exact() ? 1e-4 : 1e-2);
  EXPECT_LT(relative_error(ours, differences), exact() ? 1e-7 : 2e-2);
}

TEST_P(Regularisers, PartsOfATapeAddUp) {
  const Problem problem = random_problem({.model = all_on(cell(), {5, 4}, 3), .steps = 6, .batch = 3});
  expect_parts_add_up(problem, engine_of(engine()), {1, 3, 5}, tolerance());
}

TEST_P(Regularisers, SeeTheSameMasksTwiceAndWithAnyNumberOfThreads) {
  const Problem problem = random_problem({.model = all_on(cell(), {20, 17}, 5), .steps = 6, .batch = 70});
  EngineRun one(problem, engine_of(engine()));
  const Unrolled a = one.unroll();
  const PulledBack b = one.pull_back();
  EXPECT_EQ(one.pull_back().gradient, b.gradient);
  for (const int threads : {2, 5}) {
    EngineRun many(problem, engine_of(engine(), threads));
    const Unrolled c = many.unroll();
    EXPECT_EQ(c.states, a.states);
    EXPECT_EQ(c.penalties, a.penalties);
    EXPECT_EQ(many.pull_back().gradient, b.gradient);
  }
  Window other = problem.window;
  ++other.mask_key;
  one.set_window(other);
  EXPECT_NE(one.unroll().states, a.states) << "another key, other masks";
}

TEST_P(Regularisers, AreTheSameOnSeveralRanks) {
  ProblemSpec spec{.model = all_on(cell(), {5, 4}, 3), .steps = 4, .batch = 5};
  spec.zero_weights = 0.2;  // rows differ in how many differences they have
  const Problem problem = random_problem(spec);
  EngineRun alone(problem, engine_of(engine()));
  const Unrolled a = alone.unroll();
  const PulledBack b = alone.pull_back();
  for (const int ranks : {2, 5})
    ThreadRanks::run(ranks, [&](std::shared_ptr<Communicator> communicator) {
      EngineConfig config = engine_of(engine());
      config.communicator = communicator;
      EngineRun shared(problem, config);
      EXPECT_LT(relative_error(shared.unroll().penalties, a.penalties), tolerance());
      EXPECT_LT(relative_error(shared.pull_back().gradient, b.gradient), tolerance());
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCell, Regularisers,
                         ::testing::Combine(::testing::Values("reference", "cpu", "cuda"),
                                            ::testing::ValuesIn(cell_names())),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

TEST(RegularisedModel, RefusesWhatCannotBe) {
  ModelConfig config = language_model("lstm", {3}, 2);
  config.penalties.slowness = -1;
  EXPECT_REFUSED(Model{config}, "slowness_penalty must be 0 (off) or a positive number");
  config.penalties = {.activation = std::nan("")};
  EXPECT_REFUSED(Model{config}, "activation_penalty");
}

}  // namespace
}  // namespace throughtime::testing
