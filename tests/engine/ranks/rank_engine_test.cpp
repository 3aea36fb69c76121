#include <gtest/gtest.h>

#include <numeric>

#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "support/thread_ranks.h"

namespace throughtime::testing {
namespace {

EngineConfig config_of(const std::string& engine, std::shared_ptr<Communicator> ranks) {
  return {.name = engine, .threads = 1, .communicator = std::move(ranks)};
}

void expect_close(const std::vector<double>& seen, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], expected[i], tolerance) << "entry " << i;
}

TEST(RowShare, CoversEveryRowOnceAndKnowsItsOwner) {
  for (int ranks = 1; ranks <= 7; ++ranks)
    for (int rows = 1; rows <= 20; ++rows) {
      int next = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const RowShare share = share_of(rows, rank, ranks);
        EXPECT_EQ(share.first, next);
        EXPECT_LE(share.count, (rows + ranks - 1) / ranks);
        EXPECT_GE(share.count, rows / ranks);
        for (int row = share.first; row < share.first + share.count; ++row) EXPECT_EQ(owner_of(row, rows, ranks), rank);
        next += share.count;
      }
      EXPECT_EQ(next, rows);
    }
}

/// Windows of every kind: what each rank reads is what one process computes.
TEST(RankEngine, ComputesWhatOneProcessDoes) {
  for (const std::string engine : {"reference", "cpu"})
    for (const TargetLayout layout : {TargetLayout::source, TargetLayout::per_step, TargetLayout::per_row}) {
      ProblemSpec spec{.model = with_head(stack_of("gru", {5, 4}), "softmax", 3), .steps = 6, .batch = 5};
      spec.model.dropout.input = 0.3;
      spec.model.dropout.output = 0.3;
      spec.targets = layout;
      spec.soft = layout == TargetLayout::per_step;
      spec.zero_weights = 0.3;
      spec.resets = 0.2;
      const Problem problem = random_problem(spec);
      EngineRun alone(problem, config_of(engine, nullptr));
      const std::vector<double> state = random_numbers(alone.state_numbers(), 5);
      PullBackSpec pull{.first = 1, .last = 5, .add_to = random_numbers(problem.parameters.size(), 6)};
      pull.end_cotangent = random_numbers(alone.state_numbers(), 7);
      pull.step_cotangents = random_numbers(6 * alone.state_numbers(), 8);
      const Unrolled u = alone.unroll(state);
      const PulledBack p = alone.pull_back(pull);
      const double tolerance = engine == "cpu" ? 2e-5 : 1e-12;
      for (const int ranks : {2, 3, 4, 7})
        ThreadRanks::run(ranks, [&](std::shared_ptr<Communicator> communicator) {
          EngineRun shared(problem, config_of(engine, communicator));
          const Unrolled unrolled = shared.unroll(state);
          EXPECT_NEAR(unrolled.loss_sum, u.loss_sum, 10 * tolerance);
          expect_close(unrolled.losses, u.losses, tolerance);
          expect_close(unrolled.final_state, u.final_state, tolerance);
          expect_close(unrolled.predictions, u.predictions, tolerance);
          expect_close(unrolled.states, u.states, tolerance);
          const PulledBack pulled = shared.pull_back(pull);
          expect_close(pulled.gradient, p.gradient, tolerance);
          expect_close(pulled.initial_cotangent, p.initial_cotangent, tolerance);
          expect_close(pulled.tap_norms, p.tap_norms, tolerance);
          expect_close(pulled.tap_vectors, p.tap_vectors, tolerance);
        });
    }
}

/// Buffers whose numbers lie with different ranks, mixed in every operation, against one process.
class MixedPlaces : public ::testing::TestWithParam<int> {
 protected:
  MixedPlaces() : problem_(random_problem({.model = stack_of("lstm", {3}), .steps = 2, .batch = 4})) {}

  /// Does the same on one process and on all ranks; `work` returns what it read.
  void expect_same(const std::function<std::vector<double>(Engine&, Buffer states, Buffer gradient)>& work) {
    const std::vector<double> expected = read(nullptr, work);
    ThreadRanks::run(GetParam(),
                     [&](std::shared_ptr<Communicator> ranks) { expect_close(read(ranks, work), expected, 1e-12); });
  }

  static constexpr int width = 6;  // numbers of a state

 private:
  std::vector<double> read(std::shared_ptr<Communicator> ranks,
                           const std::function<std::vector<double>(Engine&, Buffer, Buffer)>& work) const {
    EngineRun run(problem_, config_of("reference", std::move(ranks)));
    Engine& engine = run.engine();
    const Buffer states = engine.allocate(4 * width), gradient = engine.allocate(problem_.parameters.size());
    engine.unroll(
        {.window = problem_.window, .parameters = run.parameters(), .tape = run.tape(), .final_state = states});
    engine.pull_back(
        {.tape = run.tape(), .window = problem_.window, .parameters = run.parameters(), .gradient = gradient});
    return work(engine, states, gradient);
  }

  Problem problem_;
};

INSTANTIATE_TEST_SUITE_P(Ranks, MixedPlaces, ::testing::Values(2, 3, 4));

TEST_P(MixedPlaces, TakePartInSumsAndProducts) {
  expect_same([](Engine& engine, Buffer states, Buffer gradient) {
    const Buffer x = engine.allocate(gradient.size), result = engine.allocate(1), s = engine.allocate(states.size);
    engine.fill(x, 0.5);
    engine.axpy(2, gradient, x);  // whole += parts
    engine.dot(x, gradient, result);
    std::vector<double> seen = engine.read(result);
    engine.fill(s, 1);
    engine.axpy(-1, states, s);  // whole += rows
    engine.scale(s, 3);
    engine.axpy(1, s, states);  // rows += rows
    for (const double value : engine.read(states)) seen.push_back(value);
    engine.dot(s, states, result);
    seen.push_back(engine.read(result)[0]);
    return seen;
  });
}

TEST_P(MixedPlaces, MoveBetweenTables) {
  expect_same([](Engine& engine, Buffer states, Buffer) {
    const Buffer table = engine.allocate(9 * width), picked = engine.allocate(4 * width),
                 added = engine.allocate(9 * width);
    const std::vector<std::int64_t> in_place = {4, 5, 6, 7}, elsewhere = {7, 2, 2, 8}, some = {3, 1};
    engine.scatter_rows(states, width, in_place, table);  // by rows now
    engine.gather_rows(table, width, elsewhere, picked);  // rows of other ranks
    engine.scatter_add_rows(picked, width, elsewhere, table);
    engine.scatter_add_rows(states, width, elsewhere, table);
    engine.scatter_add_rows(states, width, elsewhere, added);  // in parts
    engine.scatter_add_rows(picked, width, in_place, added);
    engine.gather_rows(states, width, some, picked);  // the rest of `picked` stays
    std::vector<double> seen;
    for (const Buffer buffer : {table, picked, added})
      for (const double value : engine.read(buffer)) seen.push_back(value);
    engine.scatter_rows(states, width, some, added);
    for (const double value : engine.read(added)) seen.push_back(value);
    return seen;
  });
}

TEST_P(MixedPlaces, AreUpdatedByAnOptimizer) {
  expect_same([](Engine& engine, Buffer states, Buffer gradient) {
    const Buffer target = engine.allocate(states.size), weights = engine.allocate(gradient.size),
                 norm = engine.allocate(1);
    engine.fill(target, 1);
    const auto rows = engine.make_optimizer({.name = "rmsprop"}, target);
    for (int step = 0; step < 2; ++step)
      engine.apply_update({.target = target, .gradient = states, .optimizer = *rows, .rate = 0.1});
    const auto parts = engine.make_optimizer({.name = "adam"}, weights);
    engine.apply_update({.target = weights,
                         .gradient = gradient,
                         .optimizer = *parts,
                         .rate = 0.1,
                         .clip = {.value = 0, .norm = 0.01},
                         .norm = norm});
    // A common norm of something that lies by rows.
    const auto clipped = engine.make_optimizer({.name = "sgd"}, target);
    engine.apply_update(
        {.target = target, .gradient = states, .optimizer = *clipped, .rate = 0.1, .clip = {.value = 0, .norm = 0.01}});
    std::vector<double> seen;
    for (const Buffer buffer : {target, rows->moments.front(), weights, norm})
      for (const double value : engine.read(buffer)) seen.push_back(value);
    return seen;
  });
}

TEST(Ranks, ThrowWhatTheFirstOneDoes) {
  const auto together = [](const std::function<void()>& action) {
    std::vector<std::string> seen(3);
    ThreadRanks::run(3, [&](std::shared_ptr<Communicator> ranks) {
      try {
        on_first_rank(ranks.get(), action);
      } catch (const InvalidInput& error) {
        seen[static_cast<std::size_t>(ranks->rank())] = std::string("refused ") + error.what();
      } catch (const RunFailure& error) {
        seen[static_cast<std::size_t>(ranks->rank())] = std::string("failed ") + error.what();
      }
    });
    return seen;
  };
  EXPECT_EQ(together([] {}), std::vector<std::string>(3));
  EXPECT_EQ(together([] { refuse("disk", "full"); }), std::vector<std::string>(3, "refused [disk] full"));
  EXPECT_EQ(together([] { fail("disk", "gone"); }), std::vector<std::string>(3, "failed [disk] gone"));
}

TEST(Ranks, AgreeOnWhatAnyOfThemWants) {
  for (const int wanting : {-1, 0, 2})
    ThreadRanks::run(3, [&](std::shared_ptr<Communicator> ranks) {
      EXPECT_EQ(on_any_rank(ranks.get(), ranks->rank() == wanting), wanting >= 0);
    });
  EXPECT_TRUE(on_any_rank(nullptr, true));
}

TEST(Ranks, RefuseDifferentFingerprintsEverywhere) {
  ThreadRanks::run(3, [](std::shared_ptr<Communicator> ranks) {
    require_same(ranks.get(), "configuration", 7);
    EXPECT_REFUSED(require_same(ranks.get(), "configuration", ranks->rank() == 2 ? 8 : 7),
                   "[ranks] the configuration of rank 2 is not that of rank 0");
  });
}

}  // namespace
}  // namespace throughtime::testing
