#include <gtest/gtest.h>

#include "support/engine_run.h"
#include "support/numeric.h"
#include "support/random_problem.h"
#include "support/thread_ranks.h"
#include "throughtime/learner.h"

namespace throughtime::testing {
namespace {

/// Batch target propagation, whose blocks ranks share: one recording of 24 steps in 12 blocks, all of it one stretch.
struct BatchMode {
  BatchMode() : problem(random_problem({.model = stack_of("gru", {3}), .steps = 24, .batch = 1, .sources = 1})) {
    config.block = 2;
    config.init = StateInit::persist;
    config.state_steps = 2;
    config.state_clip = 0.5;
    config.dual_clip = 0.5;
    shape = {.steps = 24, .batch = 1};
    shape.stretches = 1;
    shape.row_steps = 24;
  }

  /// Parameters after some passes over the recording, and the means on the way.
  std::vector<double> train(int passes, std::shared_ptr<Communicator> ranks) const {
    const auto engine =
        make_engine(*problem.model, {.name = "reference", .threads = 1, .communicator = std::move(ranks)});
    Trainee trainee = make_trainee(*engine, problem.parameters, {.name = "adam"}, {.value = 0, .norm = 1});
    const auto learner = make_learner(config, trainee, shape);
    std::vector<double> seen;
    for (int pass = 0; pass < passes; ++pass) {
      learner->learn(problem.window, [](std::int64_t) { return 0.01; });
      learner->end_epoch();
    }
    if (passes > 0) seen.push_back(learner->take_mean_loss());
    for (const double number : engine->read(trainee.parameters)) seen.push_back(number);
    return seen;
  }

  Problem problem;
  TargetPropagationConfig config;
  StretchShape shape;
};

TEST(PropagationRanks, ShareTheBlocksOfOneRecording) {
  for (const PropagationSolver solver : {PropagationSolver::admm, PropagationSolver::alm, PropagationSolver::pm})
    for (const int shard : {12, 5}) {
      BatchMode mode;
      mode.config.solver = solver;
      mode.config.shard = shard;
      const std::vector<double> alone = mode.train(4, nullptr);
      for (const int ranks : {2, 3, 4})
        ThreadRanks::run(ranks, [&](std::shared_ptr<Communicator> communicator) {
          EXPECT_LT(relative_error(mode.train(4, communicator), alone), 1e-9)
              << name_of(solver) << " " << shard << " " << ranks;
        });
    }
}

/// Each rank has consecutive blocks. From the second pass on, an evaluation moves the states at the ends of its stretch
/// and no others: of 12 states of 3 numbers each, those of 3 borders (one of them from the last rank to the first).
TEST(PropagationRanks, ExchangeOnlyTheStatesBetweenThem) {
  BatchMode mode;
  mode.config.shard = 12;
  const auto gathered = [&](int passes) {
    return ThreadRanks::count_gathered(3, [&](std::shared_ptr<Communicator> ranks) { mode.train(passes, ranks); });
  };
  const std::size_t of_a_pass = gathered(4) - gathered(3);
  EXPECT_EQ(of_a_pass, gathered(3) - gathered(2));
  // Two steps on H: targets of the springs, and their pull; one on theta: targets and the last state; the duals:
  // targets.
  const std::size_t border = 3 * 3, last_state = 3;
  EXPECT_LE(of_a_pass, 6 * border + 2 * last_state);
  EXPECT_GT(of_a_pass, 0u);
}

}  // namespace
}  // namespace throughtime::testing
