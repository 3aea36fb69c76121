#include <gtest/gtest.h>

#include <cmath>

#include "learners/recording_engine.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

using testing::Lesson;
using testing::relative_error;

BpttConfig bptt(BpttMemory memory = BpttMemory::full) { return {.memory = memory}; }

testing::ProblemSpec problem_spec(int steps) {
  testing::ProblemSpec spec;
  spec.model = testing::stack_of("lstm", {3, 2});
  spec.steps = steps;
  spec.zero_weights = 0.3;
  spec.resets = 0.1;
  spec.seed = static_cast<std::uint64_t>(steps);
  return spec;
}

double sum_of(const std::vector<float>& weights) {
  double sum = 0;
  for (const float weight : weights) sum += weight;
  return sum;
}

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

TEST(Bptt, UpdatesOnceWithTheMeanGradientOfTheStretch) {
  const testing::Problem problem = random_problem(problem_spec(9));
  const double weights = sum_of(problem.window.weight);
  testing::EngineRun run(problem);
  const double loss = run.unroll().loss_sum / weights;
  const std::vector<double> mean = scaled(run.pull_back().gradient, 1 / weights);

  Lesson lesson(problem, bptt(), 9, 0.25);
  lesson.learn(problem.window);
  ASSERT_EQ(lesson.engine.updates.size(), 1u);
  EXPECT_EQ(lesson.learner->updates(), 1);
  EXPECT_LT(relative_error(lesson.engine.updates[0].gradient, mean), 1e-13);
  EXPECT_NEAR(lesson.learner->take_mean_loss(), loss, 1e-13);
  const std::vector<double> moved = lesson.parameters();
  for (std::size_t i = 0; i < moved.size(); ++i) EXPECT_NEAR(moved[i], problem.parameters[i] - 0.25 * mean[i], 1e-14);
}

TEST(Bptt, AsksForTheRateOfEachUpdateByItsNumber) {
  const testing::Problem problem = random_problem(problem_spec(4));
  Lesson lesson(problem, bptt(), 4);
  std::vector<std::int64_t> asked;
  const RateFunction rate = [&](std::int64_t update) { return asked.push_back(update), 0.5 * update; };
  lesson.learner->learn(problem.window, rate);
  lesson.learner->learn(problem.window, rate);
  EXPECT_EQ(asked, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(lesson.engine.updates[1].rate, 1.0);
}

TEST(Bptt, MeanLossCoversAllStretchesSinceTheLastCall) {
  const testing::Problem problem = random_problem(problem_spec(6));
  Lesson lesson(problem, bptt(), 6);
  EXPECT_TRUE(std::isnan(lesson.learner->take_mean_loss()));
  lesson.learn(problem.window);
  const double once = lesson.learner->take_mean_loss();
  lesson.learn(problem.window);
  lesson.learn(problem.window);
  EXPECT_NEAR(lesson.learner->take_mean_loss(), once, 1e-13);
}

class BpttWithMemory : public ::testing::TestWithParam<BpttMemory> {};
INSTANTIATE_TEST_SUITE_P(All, BpttWithMemory, ::testing::Values(BpttMemory::full, BpttMemory::recompute),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(BpttWithMemory, ContinuesFromTheStateOfTheLastStretch) {
  const testing::Problem problem = random_problem(problem_spec(12));
  testing::EngineRun run(problem);
  const std::vector<double> states = run.unroll().states;
  Lesson lesson(problem, bptt(GetParam()), 7);
  lesson.learn_in_stretches(problem.window, {5, 7});

  Window second;
  slice(problem.window, 5, 7, second);
  run.set_window(second);
  const auto from = states.begin() + 5 * static_cast<long>(run.state_numbers());
  run.unroll({from, from + static_cast<long>(run.state_numbers())});
  const std::vector<double> mean = scaled(run.pull_back().gradient, 1 / sum_of(second.weight));
  ASSERT_EQ(lesson.engine.updates.size(), 2u);
  EXPECT_LT(relative_error(lesson.engine.updates[1].gradient, mean), 1e-12);
}

TEST_P(BpttWithMemory, AStretchThatDoesNotContinueStartsFromZero) {
  testing::Problem problem = random_problem(problem_spec(6));
  Lesson lesson(problem, bptt(GetParam()), 6);
  lesson.learn(problem.window);
  lesson.learn(problem.window);
  EXPECT_EQ(lesson.engine.updates[0].gradient, lesson.engine.updates[1].gradient);
  problem.window.continues = true;
  lesson.learn(problem.window);
  EXPECT_NE(lesson.engine.updates[0].gradient, lesson.engine.updates[2].gradient);
}

TEST_P(BpttWithMemory, AStretchWithoutALossMovesTheStateOnly) {
  testing::Problem problem = random_problem(problem_spec(10));
  std::fill_n(problem.window.weight.begin(), 6 * problem.window.batch, 0.0f);
  Lesson lesson(problem, bptt(GetParam()), 6);
  lesson.learn_in_stretches(problem.window, {6, 4});
  EXPECT_EQ(lesson.learner->updates(), 1);

  testing::EngineRun run(problem);
  const std::vector<double> states = run.unroll().states;
  const std::vector<double>* seen = nullptr;  // the state that the second stretch starts from
  for (const auto& unrolled : lesson.engine.unrolls)
    if (unrolled.window.start[0] == problem.window.start[0] + 6) seen = &unrolled.initial_state;
  ASSERT_NE(seen, nullptr);
  const std::vector<double> wanted(states.begin() + 6 * static_cast<long>(run.state_numbers()),
                                   states.begin() + 7 * static_cast<long>(run.state_numbers()));
  EXPECT_LT(relative_error(*seen, wanted), 1e-13);
}

TEST_P(BpttWithMemory, RefusesStretchesThatWereNotPromised) {
  const testing::Problem problem = random_problem(problem_spec(6));
  Lesson too_short(problem, bptt(GetParam()), 5);
  EXPECT_REFUSED(too_short.learn(problem.window), "[bptt] a stretch may have 5 steps at most");
  Lesson lesson(problem, bptt(GetParam()), 6);
  testing::ProblemSpec other = problem_spec(6);
  other.batch = 4;
  EXPECT_REFUSED(lesson.learn(random_problem(other).window), "must have 3 rows");
  Window broken = problem.window;
  broken.weight.pop_back();
  EXPECT_REFUSED(lesson.learn(broken), "weight");
}

TEST_P(BpttWithMemory, RefusesAnotherLengthUnlessLengthsVary) {
  const testing::Problem problem = random_problem(problem_spec(6));
  testing::RecordingEngine engine(*problem.model);
  Trainee trainee = make_trainee(engine, problem.parameters, Lesson::sgd(), {});
  const RateFunction rate = [](std::int64_t) { return 0.0; };
  for (const int steps : {5, 7}) {
    const auto learner = make_learner(bptt(GetParam()), trainee, {.steps = steps, .batch = problem.window.batch});
    EXPECT_REFUSED(learner->learn(problem.window, rate), fmt::format("[bptt] a stretch must have {} steps", steps));
  }
  const auto varied =
      make_learner(bptt(GetParam()), trainee, {.steps = 7, .batch = problem.window.batch, .lengths_vary = true});
  EXPECT_NO_THROW(varied->learn(problem.window, rate));
}

TEST(BpttOptions, AreDescribedByTheirNames) {
  BpttConfig config;
  OptionList list;
  describe(config, list);
  std::vector<std::string> names;
  for (const Option& option : list.options()) names.push_back(option.key);
  EXPECT_EQ(names,
            (std::vector<std::string>{"memory", "aux_losses", "windows", "window_length", "remainder", "intermediate",
                                      "q", "q_epoch", "beta", "divergence", "one_hot_from", "skip_last"}));
  EXPECT_REFUSED(stream_needs(config), "[bptt] needs the end of a sequence");
}

/// Full and recomputing BPTT on the same stretches, one update each.
void expect_same_gradients(const testing::ProblemSpec& spec, int longest) {
  const testing::Problem problem = random_problem(spec);
  Lesson full(problem, bptt(BpttMemory::full), longest, 0.1),
      recompute(problem, bptt(BpttMemory::recompute), longest, 0.1);
  std::vector<int> stretches = {spec.steps};
  if (spec.steps > 3) stretches = {spec.steps / 3, spec.steps - spec.steps / 3};
  full.learn_in_stretches(problem.window, stretches);
  recompute.learn_in_stretches(problem.window, stretches);
  ASSERT_EQ(full.engine.updates.size(), recompute.engine.updates.size());
  for (std::size_t i = 0; i < full.engine.updates.size(); ++i)
    EXPECT_LT(relative_error(recompute.engine.updates[i].gradient, full.engine.updates[i].gradient), 1e-12)
        << "T = " << spec.steps;
  EXPECT_NEAR(full.learner->take_mean_loss(), recompute.learner->take_mean_loss(), 1e-12);
}

TEST(BpttRecompute, HasTheGradientOfFullBpttAtEveryLength) {
  for (int steps = 1; steps <= 20; ++steps) {
    expect_same_gradients(problem_spec(steps), steps);
    expect_same_gradients(problem_spec(steps), steps + 17);  // a stretch shorter than promised
  }
  expect_same_gradients(problem_spec(97), 97);
}

TEST(BpttRecompute, DrawsTheSameDropoutMasksTwice) {
  testing::ProblemSpec spec = problem_spec(13);
  spec.model.dropout = {.input = 0.3, .between = 0.4, .output = 0.2, .per_sequence = false};
  expect_same_gradients(spec, 13);
  spec.model.dropout.per_sequence = true;
  expect_same_gradients(spec, 13);
}

TEST(BpttRecompute, TakesRaggedBatches) {
  testing::ProblemSpec spec = problem_spec(11);
  spec.ragged = true;
  spec.batch = 9;
  expect_same_gradients(spec, 11);
}

TEST(BpttRecompute, TapeGrowsWithTheRootOfTheLength) {
  const testing::Problem problem = random_problem(problem_spec(2));
  const auto bytes = [&](BpttMemory memory, int steps) {
    return static_cast<double>(Lesson(problem, bptt(memory), steps).learner->activation_bytes());
  };
  EXPECT_NEAR(bytes(BpttMemory::full, 10000) / bytes(BpttMemory::full, 100), 100, 5);
  EXPECT_NEAR(bytes(BpttMemory::recompute, 10000) / bytes(BpttMemory::recompute, 100), 10, 2);
  EXPECT_LT(bytes(BpttMemory::recompute, 10000), bytes(BpttMemory::full, 10000) / 50);
}

TEST(Learners, AreListedAndRefusedByName) {
  const testing::Problem problem = random_problem(problem_spec(3));
  std::vector<std::string> names;
  for (const LearnerType* type : all_learners()) names.push_back(type->name);
  EXPECT_EQ(names, (std::vector<std::string>{"bptt", "tbptt", "adaptive_tbptt", "fptt", "fpp", "sliding_tbptt",
                                             "target_propagation"}));
  EXPECT_REFUSED(Lesson(problem, {.name = "bttp"}, 3), "bptt");
  EXPECT_REFUSED(choice_of<BpttMemory>("recompte", "bptt", "memory"), "recompute");
  EXPECT_REFUSED(Lesson(problem, bptt(), 0), "at least 1 step");
}

TEST(Trainee, RefusesParametersThatDoNotFit) {
  const testing::Problem problem = random_problem(problem_spec(3));
  testing::RecordingEngine engine(*problem.model);
  std::vector<double> parameters = problem.parameters;
  parameters.pop_back();
  EXPECT_REFUSED(make_trainee(engine, parameters, Lesson::sgd(), {}), "parameters, got");
  parameters.push_back(std::nan(""));
  EXPECT_REFUSED(make_trainee(engine, parameters, Lesson::sgd(), {}), "must be finite");
  EXPECT_REFUSED(make_trainee(engine, problem.parameters, Lesson::sgd(), {.norm = -1}), "clip");
  EXPECT_REFUSED(make_trainee(engine, problem.parameters, OptimizerConfig{.beta1 = 2}, {}), "beta1");
}

}  // namespace
}  // namespace throughtime
