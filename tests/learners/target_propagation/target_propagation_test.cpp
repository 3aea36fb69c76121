// Target propagation as a learner: it learns with every cell, carries its state, and works on the whole data in shards.
#include <gtest/gtest.h>

#include "learners/target_propagation/support.h"

namespace throughtime::testing {
namespace {

class EveryCell : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryCell, Learns) {
  for (const PropagationSolver solver : {PropagationSolver::admm, PropagationSolver::alm, PropagationSolver::pm}) {
    const Problem problem = block_problem(GetParam(), 12, 4, 0.3);
    const auto engine = make_engine(*problem.model, {.name = "cpu", .threads = 2, .communicator = nullptr});
    OptimizerConfig adagrad;
    adagrad.name = "adagrad";
    Trainee trainee = make_trainee(*engine, problem.parameters, adagrad, {});
    TargetPropagationConfig config = propagation(3, 0.1).target_propagation;
    config.state_optimizer = "adagrad";
    config.state_rate = 0.01;
    config.solver = solver;
    const auto learner = make_learner(config, trainee, {.steps = 12, .batch = 4, .accuracy = true});
    const auto learn = [&] {
      learner->learn(problem.window, [](std::int64_t) { return 0.1; });
      return learner->take_means();
    };
    const TrainingMeans first = learn();
    for (int i = 0; i < 100; ++i) learn();
    const TrainingMeans last = learn();
    EXPECT_LT(last.loss, 0.9 * first.loss) << name_of(solver);
    EXPECT_GT(last.accuracy, first.accuracy) << name_of(solver);
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, EveryCell, ::testing::ValuesIn(cell_names()),
                         [](const auto& info) { return info.param; });

/// The training loss is the one before anything was fitted to the stretch: that of the plain model.
TEST(TargetPropagation, CountsTheLossThatItFinds) {
  const Problem problem = block_problem("lstm", 12, 2);
  EngineRun run(problem);
  Lesson lesson(problem, propagation(3, 0.5, 2), 12, 0.1);
  lesson.learn(problem.window);
  double weights = 0;
  for (const float weight : problem.window.weight) weights += weight;
  EXPECT_NEAR(lesson.learner->take_mean_loss(), run.unroll().loss_sum / weights, 1e-12);
}

TEST(TargetPropagation, GoesOnFromTheEndOfTheLastBlock) {
  const Problem problem = block_problem("lstm", 12, 2);
  EngineRun run(problem);
  const Unrolled whole = run.unroll();
  const std::size_t state = run.state_numbers();
  const std::vector<double> sixth(whole.states.begin() + 6 * state, whole.states.begin() + 7 * state);
  for (const bool carry : {false, true}) {
    LearnerConfig config = propagation(3, 0.5, 0);
    config.target_propagation.carry_epochs = carry;
    Lesson lesson(problem, config, 6);
    lesson.learn_in_stretches(problem.window, {6});
    const std::size_t seen = lesson.engine.unrolls.size();
    Window again;
    slice(problem.window, 6, 6, again);
    lesson.learn(again);
    EXPECT_EQ(lesson.engine.unrolls[seen].initial_state, sixth) << "a stretch that continues";
    lesson.learn_in_stretches(problem.window, {6});  // a new epoch
    const std::vector<double> first = lesson.engine.unrolls[2 * seen].initial_state;
    EXPECT_EQ(norm(first) > 0, carry);
  }
}

TEST(TargetPropagation, AStretchWithoutALossMovesTheStateAlone) {
  Problem problem = block_problem("gru", 12, 2);
  std::fill_n(problem.window.weight.begin(), 12, 0.0f);
  Lesson lesson(problem, propagation(3, 0.5), 6, 0.1);
  lesson.learn_in_stretches(problem.window, {6});
  EXPECT_EQ(lesson.engine.updates.size(), 0u);
  EXPECT_EQ(lesson.learner->updates(), 0);
  EngineRun run(problem);
  const Unrolled whole = run.unroll();
  const std::size_t state = run.state_numbers();
  Window rest;
  slice(problem.window, 6, 6, rest);
  const std::size_t seen = lesson.engine.unrolls.size();
  lesson.learn(rest);
  EXPECT_EQ(lesson.engine.unrolls[seen].initial_state,
            std::vector<double>(whole.states.begin() + 6 * state, whole.states.begin() + 7 * state));
}

/// Each row of a stretch is a chain of its own: two rows together have the gradient of both alone.
TEST(TargetPropagation, RowsAreChainsOfTheirOwn) {
  const Problem problem = block_problem("gru", 6, 2);
  TargetPropagationConfig config = propagation(2, 0.5).target_propagation;
  config.state_rate = 0.3;
  const auto gradient_of = [&](const Window& window) {
    RecordingEngine engine(*problem.model);
    Trainee trainee = make_trainee(engine, problem.parameters, Lesson::sgd(), {});
    make_learner(config, trainee, {.steps = 6, .batch = window.batch})->learn(window, [](std::int64_t) { return 0.0; });
    return engine.updates.back().gradient;
  };
  std::vector<double> sum(problem.parameters.size());
  for (std::size_t row = 0; row < 2; ++row) {
    Window one = problem.window;
    one.batch = 1;
    one.start = {problem.window.start[row]};
    if (!one.source.empty()) one.source = {problem.window.source[row]};
    one.flags.clear();
    one.weight.clear();
    for (int step = 0; step < 6; ++step) one.weight.push_back(problem.window.weight_at(step, static_cast<int>(row)));
    const std::vector<double> gradient = gradient_of(one);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += gradient[k];
  }
  EXPECT_LT(relative_error(gradient_of(problem.window), sum), 1e-13);
}

/// Batch mode: tables live from epoch to epoch, and the size of a shard changes nothing but rounding.
TEST(TargetPropagation, ABatchInShardsIsTheBatch) {
  const Problem problem = block_problem("gru", 20, 2);
  const auto parameters_with = [&](int shard, const std::string& engine_name) {
    const auto engine = make_engine(*problem.model, {.name = engine_name, .threads = 2, .communicator = nullptr});
    Trainee trainee = make_trainee(*engine, problem.parameters, Lesson::sgd(), {});
    TargetPropagationConfig config = propagation(2, 0.5, 2).target_propagation;
    config.init = StateInit::persist;
    config.shard = shard;
    StretchShape shape{.steps = 20, .batch = 2};
    shape.stretches = 1;
    const auto learner = make_learner(config, trainee, shape);
    for (int epoch = 0; epoch < 4; ++epoch) {
      learner->learn(problem.window, [](std::int64_t) { return 0.05; });
      learner->end_epoch();
    }
    return engine->read(trainee.parameters);
  };
  const std::vector<double> whole = parameters_with(0, "reference");
  EXPECT_GT(distance(whole, problem.parameters), 0.1);
  for (const int shard : {1, 3, 4})
    EXPECT_LT(relative_error(parameters_with(shard, "reference"), whole), 1e-12) << shard;
  EXPECT_LT(relative_error(parameters_with(3, "cpu"), whole), 1e-4);
}

TEST(TargetPropagation, BitsDoNotDependOnThreads) {
  const Problem problem = block_problem("lstm", 12, 40);
  const auto parameters_with = [&](int threads) {
    const auto engine = make_engine(*problem.model, {.name = "cpu", .threads = threads, .communicator = nullptr});
    Trainee trainee = make_trainee(*engine, problem.parameters, Lesson::sgd(), {});
    const auto learner = make_learner(propagation(3, 0.5, 2).target_propagation, trainee, {.steps = 12, .batch = 40});
    for (int i = 0; i < 3; ++i) learner->learn(problem.window, [](std::int64_t) { return 0.01; });
    return engine->read(trainee.parameters);
  };
  EXPECT_EQ(parameters_with(1), parameters_with(3));
}

}  // namespace
}  // namespace throughtime::testing
