#include <gtest/gtest.h>

#include <span>
#include <tuple>

#include "engine/dropout.h"
#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/thread_ranks.h"
#include "support/usable_engine.h"

// Masks on recurrent weights (model.dropout_recurrent): in every cell and every engine.
namespace throughtime::testing {
namespace {

constexpr double share = 0.4;

EngineConfig engine_of(const std::string& name, int threads = 1) {
  return {.name = name, .threads = threads, .communicator = nullptr};
}

ModelConfig dropped_stack(const std::string& cell, const std::vector<int>& widths) {
  ModelConfig config = stack_of(cell, widths, 3);
  config.dropout.recurrent = share;
  return config;
}

/// 1 for every parameter, but the masks of a key for those of the recurrent blocks.
std::vector<double> masks_of(const Model& model, std::uint64_t key) {
  std::vector<double> masks(model.parameters().size(), 1.0);
  for (std::size_t k = 0; k < model.layers().size(); ++k) {
    const int block = model.layers()[k].weight_hh;
    if (block < 0) continue;
    const ParameterBlock& place = model.parameters().block(block);
    write_recurrent_mask(model.config().dropout, static_cast<int>(k), key,
                         std::span(masks).subspan(place.offset, place.size()));
  }
  return masks;
}

std::vector<double> times(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  return a;
}

PullBackSpec everything(const EngineRun& run, int steps, std::uint64_t seed) {
  PullBackSpec pull;
  pull.end_cotangent = random_numbers(run.state_numbers(), seed + 2);
  pull.step_cotangents = random_numbers(static_cast<std::size_t>(steps) * run.state_numbers(), seed + 3);
  return pull;
}

/// An engine and a cell.
class WeightDrop : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override { skip_without(engine()); }
  static const std::string& engine() { return std::get<0>(GetParam()); }
  static const std::string& cell() { return std::get<1>(GetParam()); }
  static double tolerance() { return engine() == "reference" ? 1e-12 : 1e-5; }
};

TEST_P(WeightDrop, IsTheSameModelWithMaskedWeightsAndItsGradientMasked) {
  // One unit and one step; widths that are packed, and widths whose weights are read or written where they are.
  for (const auto& [widths, steps, batch] : std::vector<std::tuple<std::vector<int>, int, int>>{
           {{1}, 1, 1}, {{5}, 4, 1}, {{16}, 3, 1}, {{6, 5}, 4, 3}, {{33, 32}, 9, 20}}) {
    ProblemSpec spec{.model = dropped_stack(cell(), widths), .steps = steps, .batch = batch, .parameter_range = 0.3};
    spec.resets = 0.1;
    Problem problem = random_problem(spec);
    problem.window.mask_key = 77;
    const std::vector<double> masks = masks_of(*problem.model, 77);
    spec.model.dropout.recurrent = 0;
    Problem plain = random_problem(spec);
    plain.parameters = times(problem.parameters, masks);

    EngineRun ours(problem, engine_of(engine())), masked(plain, engine_of(engine()));
    const auto initial = random_numbers(ours.state_numbers(), 9, 0.5);
    PullBackSpec pull = everything(ours, steps, 4);
    const Unrolled a = ours.unroll(initial), b = masked.unroll(initial);
    EXPECT_LT(relative_error(a.states, b.states), tolerance());
    EXPECT_NEAR(a.loss_sum, b.loss_sum, tolerance() * (1 + b.loss_sum));
    const PulledBack c = ours.pull_back(pull), d = masked.pull_back(pull);
    EXPECT_LT(relative_error(c.gradient, times(d.gradient, masks)), tolerance());
    EXPECT_LT(relative_error(c.initial_cotangent, d.initial_cotangent), tolerance());

    // Added to a gradient, which keeps what it had.
    const auto before = random_numbers(problem.parameters.size(), 11);
    pull.add_to = before;
    std::vector<double> sum = times(d.gradient, masks);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += before[i];
    EXPECT_LT(relative_error(ours.pull_back(pull).gradient, sum), tolerance());
  }
}

TEST_P(WeightDrop, GradientIsThatOfCentralDifferences) {
  ProblemSpec spec{.model = dropped_stack(cell(), {4, 3}), .steps = 4, .batch = 2, .seed = 5};
  spec.model.dropout.between = 0.3;
  spec.model.dropout.per_sequence = true;
  const Problem problem = random_problem(spec);
  const bool exact = engine() == "reference";
  EngineRun run(problem, engine_of(engine()));
  const PullBackSpec pull = everything(run, 4, 6);
  const auto initial = random_numbers(run.state_numbers(), 8);
  run.unroll(initial);
  const std::vector<double> ours = run.pull_back(pull).gradient;
  const auto differences = central_differences(
      [&](std::span<const double> at) {
        run.set_parameters({at.begin(), at.end()});
        return objective(run.unroll(initial), pull);
      },
      problem.parameters, exact ? 1e-4 : 1e-2);
  EXPECT_LT(relative_error(ours, differences), exact ? 1e-7 : 1e-2);
}

TEST_P(WeightDrop, SeesTheSameMasksTwiceAndNoneInEvaluations) {
  ProblemSpec spec{.model = dropped_stack(cell(), {6, 5}), .seed = 3};
  const Problem problem = random_problem(spec);
  spec.model.dropout.recurrent = 0;
  const Problem plain = random_problem(spec);
  EngineRun run(problem, engine_of(engine())), undropped(plain, engine_of(engine()));
  undropped.set_training(false);
  const auto first = run.unroll().states;
  const auto gradient = run.pull_back().gradient;
  EXPECT_EQ(run.pull_back().gradient, gradient);

  // Another tape evaluates with the same parameters in between.
  const auto tape = run.engine().make_tape({.steps = 5, .batch = 3, .keep = Keep::nothing});
  const Buffer state = run.engine().allocate(run.state_numbers());
  run.engine().unroll({.window = problem.window,
                       .parameters = run.parameters(),
                       .tape = *tape,
                       .training = false,
                       .final_state = state});
  EXPECT_EQ(run.engine().read(state), undropped.unroll().final_state);
  EXPECT_EQ(run.pull_back().gradient, gradient);
  EXPECT_EQ(run.unroll().states, first);

  Window other = problem.window;
  ++other.mask_key;
  run.set_window(other);
  const bool recurrent = problem.model->layers().front().weight_hh >= 0;
  EXPECT_EQ(run.unroll().states != first, recurrent) << "another key, other masks";
}

TEST_P(WeightDrop, HasTheSameBitsForAnyNumberOfThreads) {
  const Problem problem = random_problem({.model = dropped_stack(cell(), {20, 17}), .steps = 6, .batch = 70});
  EngineRun one(problem, engine_of(engine()));
  const Unrolled a = one.unroll();
  const PulledBack b = one.pull_back();
  for (const int threads : {2, 5}) {
    EngineRun many(problem, engine_of(engine(), threads));
    EXPECT_EQ(many.unroll().states, a.states);
    EXPECT_EQ(many.pull_back().gradient, b.gradient);
  }
}

TEST_P(WeightDrop, IsTheSameOnSeveralRanks) {
  const Problem problem = random_problem({.model = dropped_stack(cell(), {5, 4}), .steps = 4, .batch = 5});
  EngineRun alone(problem, engine_of(engine()));
  const Unrolled a = alone.unroll();
  const PulledBack b = alone.pull_back();
  for (const int ranks : {2, 5})
    ThreadRanks::run(ranks, [&](std::shared_ptr<Communicator> communicator) {
      EngineConfig config = engine_of(engine());
      config.communicator = communicator;
      EngineRun shared(problem, config);
      EXPECT_LT(relative_error(shared.unroll().states, a.states), tolerance());
      EXPECT_LT(relative_error(shared.pull_back().gradient, b.gradient), tolerance());
    });
}

INSTANTIATE_TEST_SUITE_P(EveryCell, WeightDrop,
                         ::testing::Combine(::testing::ValuesIn(engine_names()), ::testing::ValuesIn(cell_names())),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

TEST(WeightDropMasks, DifferBetweenKeysAndLayersOnly) {
  const DropoutConfig config{.recurrent = 0.5};
  const auto mask = [&](int layer, std::uint64_t key) {
    std::vector<double> numbers(200);
    write_recurrent_mask(config, layer, key, std::span(numbers));
    return numbers;
  };
  EXPECT_EQ(mask(0, 1), mask(0, 1));
  EXPECT_NE(mask(0, 1), mask(0, 2));
  EXPECT_NE(mask(0, 1), mask(1, 1));
}

TEST(WeightDropModel, RefusesSharesThatAreNone) {
  for (const double bad : {-0.1, 1.0, 2.0}) {
    ModelConfig config = stack_of("lstm", {3});
    config.dropout.recurrent = bad;
    EXPECT_REFUSED(Model{config}, "dropout.recurrent must be at least 0 and below 1");
  }
}

}  // namespace
}  // namespace throughtime::testing
