// The buffer, its states and the loop of FPP (oracles O6-O9 and O11), and the sliding T-BPTT baseline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "learners/fpp_schedule.h"
#include "learners/recording_engine.h"
#include "learners/state_cells.h"
#include "learners/state_editor.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/random.h"

namespace throughtime::testing {
namespace {

LearnerConfig fpp(int steps, int buffer, double state_rate = 0.01) {
  LearnerConfig config;
  config.name = "fpp";
  config.fpp.steps = steps;
  config.fpp.buffer = buffer;
  config.fpp.state_rate = state_rate;
  return config;
}

Problem stream_problem(int steps, int batch, const std::string& cell = "rnn_tanh", std::uint64_t seed = 1) {
  ProblemSpec spec;
  spec.model = with_head(stack_of(cell, {3}, 2), "softmax", 3);
  spec.steps = steps;
  spec.batch = batch;
  spec.seed = seed;
  return random_problem(spec);
}

/// The windows that a learner pulled back, in order.
std::vector<const RecordingEngine::UnrollRecord*> trajectories(const Lesson& lesson) {
  std::vector<const RecordingEngine::UnrollRecord*> found;
  for (const auto& record : lesson.engine.unrolls)
    if (record.keep == Keep::gradient) found.push_back(&record);
  return found;
}

std::map<std::string, std::vector<double>> kept(Lesson& lesson) {
  StateEditor editor;
  lesson.learner->archive(editor);
  return editor.buffers;
}

// ---------------------------------------------------------------- the buffer

TEST(FppBuffer, DrawsEveryTrajectoryOfTheBufferEquallyOftenTheNewestIncluded) {
  constexpr int T = 3, N = 10;
  const Problem problem = stream_problem(1200, 1);
  Lesson lesson(problem, fpp(T, N), 1200);
  lesson.learn(problem.window);
  const auto drawn = trajectories(lesson);
  ASSERT_EQ(drawn.size(), 1200u - T + 1);  // as soon as T transitions are stored
  std::map<std::int64_t, int> ages;        // of the end, once the buffer is full
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    const std::int64_t newest = static_cast<std::int64_t>(k) + T - 1, end = drawn[k]->window.start[0] + T - 1;
    EXPECT_LE(end, newest);
    EXPECT_GE(end - T + 1, std::max<std::int64_t>(0, newest - N + 1)) << "a step that was dropped";
    if (newest >= N - 1) ++ages[newest - end];
  }
  const int choices = N - T + 1, draws = std::accumulate(ages.begin(), ages.end(), 0, [](int sum, const auto& age) { return sum + age.second; });
  double chi_square = 0;
  for (int age = 0; age < choices; ++age)
    chi_square += std::pow(ages[age] - draws / static_cast<double>(choices), 2) * choices / draws;
  EXPECT_EQ(ages.size(), static_cast<std::size_t>(choices));
  EXPECT_LT(chi_square, 24.3);  // 7 degrees of freedom, p = 0.001
}

TEST(FppBuffer, LeavesTheNewestOutWhereAskedTo) {
  const Problem problem = stream_problem(40, 1);
  LearnerConfig config = fpp(2, 5);
  config.fpp.newest = false;
  Lesson lesson(problem, config, 40);
  lesson.learn(problem.window);
  const auto drawn = trajectories(lesson);
  ASSERT_EQ(drawn.size(), 38u);
  for (std::size_t k = 0; k < drawn.size(); ++k) EXPECT_LE(drawn[k]->window.start[0] + 1, static_cast<std::int64_t>(k) + 1);
}

TEST(FppBuffer, ShowsTheInputsAndTargetsThatTheStreamHad) {
  const Problem problem = stream_problem(30, 2, "lstm");
  Lesson lesson(problem, fpp(4, 7), 30);
  // A recorded window points into the buffer, which moves on: look at each one right away.
  for (int step = 0; step < 30; ++step) {
    Window one;
    slice(problem.window, step, 1, one);
    lesson.learn(one);
    const auto drawn = trajectories(lesson);
    if (step < 3) continue;
    ASSERT_FALSE(drawn.empty());
    const Window& window = drawn.back()->window;
    for (int row = 0; row < 2; ++row) {
      const Source& ours = window.sources[static_cast<std::size_t>(row)];
      const std::size_t source = problem.window.source.empty() ? 0 : static_cast<std::size_t>(problem.window.source[row]);
      const Source& theirs = problem.sources[source];
      for (int l = 0; l < 4; ++l) {
        const auto at = static_cast<std::size_t>(window.start[row] + l - ours.first);
        const auto from = static_cast<std::size_t>(problem.window.start[row] + window.start[row] + l);
        EXPECT_EQ(ours.values[at * 2], theirs.values[from * 2]);
        EXPECT_EQ(ours.values[at * 2 + 1], theirs.values[from * 2 + 1]);
        EXPECT_EQ(ours.labels[at], theirs.labels[from]);
      }
      EXPECT_EQ(window.weight_at(0, row), 0.0f);
      EXPECT_NE(window.weight_at(3, row), 0.0f);
    }
  }
}

TEST(FppBuffer, StartsATrajectoryFromTheCellThatTheTransitionBeforeItEndsIn) {
  const Problem problem = stream_problem(6, 1, "lstm");
  LearnerConfig config = fpp(2, 5, 0.5);
  config.fpp.fixed = true;
  Lesson lesson(problem, config, 6);
  Window stretch;
  slice(problem.window, 0, 5, stretch);
  lesson.learn(stretch);
  const auto S = static_cast<std::size_t>(problem.model->state_size());
  int changed = 0;
  for (int k = 0; k < 50; ++k) {
    const std::vector<double> before = kept(lesson)["cells.states"];
    Window one;
    slice(problem.window, 5, 1, one);
    lesson.learn(one);
    const auto* drawn = trajectories(lesson).back();
    const std::int64_t first = drawn->window.start[0];
    const std::size_t cell = first == 0 ? 6 : static_cast<std::size_t>(first - 1);  // of the second ring: the start
    const std::size_t end = static_cast<std::size_t>(first + 1);
    EXPECT_EQ(drawn->initial_state, std::vector<double>(before.begin() + cell * S, before.begin() + (cell + 1) * S));
    const std::vector<double> after = kept(lesson)["cells.states"];
    for (std::size_t i = 0; i < before.size(); ++i) {
      const bool touched = i / S == cell || i / S == end;
      if (!touched) {
        EXPECT_EQ(before[i], after[i]) << "cell " << i / S;
      }
      changed += touched && before[i] != after[i];
    }
  }
  EXPECT_GT(changed, 500);
}

TEST(FppBuffer, FeedsTheNextStepFromTheUpdatedCellOrFromARunningState) {
  for (const std::string& feed : {std::string("buffer"), std::string("running")}) {
    const Problem problem = stream_problem(30, 1);
    LearnerConfig config = fpp(1, 3, 0.5);
    config.fpp.feed = feed;
    config.fpp.updates = 4;  // one alone finds the newest state where its own weights have just put it
    Lesson lesson(problem, config, 30, 0.1);
    int moved = 0;
    std::vector<double> running;
    for (int step = 0; step < 30; ++step) {
      const std::vector<double> table = kept(lesson)["cells.states"];
      const std::size_t records = lesson.engine.unrolls.size();
      Window one;
      slice(problem.window, step, 1, one);
      lesson.learn(one);
      const std::vector<double>& used = lesson.engine.unrolls[records].initial_state;
      if (step > 0) {
        const std::size_t cell = static_cast<std::size_t>(step - 1) % 4;
        const std::vector<double> stored(table.begin() + cell * 3, table.begin() + (cell + 1) * 3);
        EXPECT_EQ(used, feed == "buffer" ? stored : running);
        moved += stored != running;
      }
      running = kept(lesson)["state"];
    }
    EXPECT_GT(moved, 5) << "no update ever touched the newest state";
  }
}

TEST(FppBuffer, NoTrajectoryCrossesAReset) {
  constexpr int T = 3;
  Problem problem = stream_problem(200, 3);
  problem.window.reset.assign(600, 0);
  const Random random(3, Purpose::task);
  for (std::size_t i = 3; i < 600; ++i) problem.window.reset[i] = random.uniform(0, 0, i) < 0.2;
  Lesson lesson(problem, fpp(T, 20), 200);
  lesson.learn(problem.window);
  const auto drawn = trajectories(lesson);
  EXPECT_GT(drawn.size(), 150u);
  int from_start = 0;
  for (const auto* record : drawn) {
    int active = 0;
    for (int row = 0; row < 3; ++row) {
      if (record->window.weight_at(T - 1, row) == 0) continue;
      ++active;
      const std::int64_t first = record->window.start[static_cast<std::size_t>(row)];
      for (int l = 1; l < T; ++l) EXPECT_FALSE(problem.window.resets_at(static_cast<int>(first) + l, row));
      from_start += problem.window.resets_at(static_cast<int>(first), row);
    }
    EXPECT_GT(active, 0);
  }
  EXPECT_GT(from_start, 20);  // a sequence's own start is a good one
}

TEST(FppBuffer, EndsOnlyWhereThereIsATargetUnlessToldOtherwise) {
  Problem problem = stream_problem(120, 1);
  for (int step = 0; step < 120; ++step) problem.window.weight[step] = step % 6 == 5 ? 1.0f : 0.0f;
  for (const std::string& ends : {std::string("weighted"), std::string("all")}) {
    LearnerConfig config = fpp(2, 24);
    config.fpp.ends = ends;
    Lesson lesson(problem, config, 120);
    lesson.learn(problem.window);
    int elsewhere = 0;
    for (const auto* record : trajectories(lesson)) elsewhere += (record->window.start[0] + 1) % 6 != 5;
    EXPECT_EQ(elsewhere > 0, ends == "all");
    EXPECT_GT(trajectories(lesson).size(), 100u);
  }
}

TEST(FppStreams, AreIndependentWhereTheWeightsStay) {
  Problem many = stream_problem(40, 3, "lstm");
  Lesson all(many, fpp(3, 10, 0.3), 40);
  all.learn(many.window);
  const std::vector<double> table = kept(all)["cells.states"];
  const auto S = static_cast<std::size_t>(many.model->state_size());
  for (std::size_t row = 0; row < 3; ++row) {
    Problem one = stream_problem(40, 3, "lstm");
    Window& window = one.window;
    std::vector<float> weight;
    for (int step = 0; step < 40; ++step) weight.push_back(window.weight_at(step, static_cast<int>(row)));
    window.batch = 1;
    window.weight = weight;
    window.start = {window.start[row]};
    if (!window.source.empty()) window.source = {window.source[row]};
    window.reset.clear();
    Lesson alone(one, fpp(3, 10, 0.3), 40);
    alone.learn(window);
    const std::vector<double> single = kept(alone)["cells.states"];
    for (std::size_t cell = 0; cell < 11; ++cell)
      for (std::size_t k = 0; k < S; ++k) EXPECT_EQ(single[cell * S + k], table[(cell * 3 + row) * S + k]);
  }
}

// ---------------------------------------------------------------- the states as variables

TEST(FppPenalty, AloneDrivesTheStatesToATrajectory) {
  // f = w s, no loss anywhere: every residual s_i - w s_{i-1} goes to zero.
  constexpr double w = 0.6;
  Problem problem = stream_problem(5, 1, "rnn_linear");
  std::fill(problem.window.weight.begin(), problem.window.weight.end(), 0.0f);
  std::fill(problem.parameters.begin(), problem.parameters.end(), 0.0);
  const std::size_t hidden = 3, at = problem.model->parameters().find("rnn.weight_hh_l0").offset;
  for (std::size_t unit = 0; unit < hidden; ++unit) problem.parameters[at + unit * (hidden + 1)] = w;
  LearnerConfig config = fpp(1, 5, 1 / (1 + w * w));
  config.fpp.fixed = true;
  config.fpp.ends = "all";
  Lesson lesson(problem, config, 5);
  lesson.learn(problem.window);
  StateEditor put;
  put.edits["cells.states"] = random_numbers(12 * hidden + hidden, 3);
  lesson.learner->archive(put);
  const auto residual = [&] {
    const std::vector<double> table = kept(lesson)["cells.states"];
    double sum = 0;
    for (std::size_t t = 0; t < 5; ++t)
      for (std::size_t k = 0; k < hidden; ++k) {
        const double before = table[(t == 0 ? 6 : t - 1) * hidden + k];
        sum += std::pow(table[t * hidden + k] - w * before, 2);
      }
    return std::sqrt(sum);
  };
  EXPECT_GT(residual(), 0.5);
  for (int sweep = 0; sweep < 60; ++sweep) lesson.learn(problem.window);
  EXPECT_LT(residual(), 1e-6);
}

TEST(FppPenalty, NeverRisesUnderFullGradientSteps) {
  constexpr double w = 0.9, lambda = 2;
  const Problem problem = stream_problem(2, 1, "rnn_linear");
  const auto engine = make_engine(*problem.model, EngineRun::reference());
  const int S = problem.model->state_size(), cells = 6;
  FppConfig config;
  config.buffer = cells - 1;
  config.state_rate = 1.99 / (lambda * (1 + w) * (1 + w));
  StateCells table(*engine, config, 1, cells);
  const Buffer values = engine->allocate(static_cast<std::size_t>(cells * S)), gradient = engine->allocate(values.size);
  std::vector<std::int64_t> all(cells);
  for (int t = 0; t < cells; ++t) {
    all[static_cast<std::size_t>(t)] = table.after(t, 0);
    const Buffer state = engine->allocate(static_cast<std::size_t>(S));
    engine->write(state, random_numbers(static_cast<std::size_t>(S), 10 + static_cast<std::uint64_t>(t)));
    table.append(t, std::vector<std::uint8_t>{0}, state);
  }
  double last = 1e30;
  for (int sweep = 0; sweep < 40; ++sweep) {
    table.gather(all, values);
    const std::vector<double> s = engine->read(values);
    std::vector<double> d(s.size(), 0.0);
    double penalty = 0;
    for (std::size_t k = static_cast<std::size_t>(S); k < s.size(); ++k) {
      const double r = s[k] - w * s[k - static_cast<std::size_t>(S)];
      penalty += lambda / 2 * r * r;
      d[k] += lambda * r;
      d[k - static_cast<std::size_t>(S)] -= lambda * w * r;
    }
    EXPECT_LE(penalty, last);
    last = penalty;
    engine->write(gradient, d);
    table.descend(all, values, gradient, 1);
  }
}

TEST(FppPenalty, LeavesResidualsThatFallAsOneOverLambda) {
  // A consistent trajectory is not stationary: the loss of the next step pulls at a state. Five linear steps, W fixed.
  std::vector<double> log_lambda, log_residual;
  for (const double lambda : {10.0, 100.0, 1000.0}) {
    ProblemSpec spec;
    spec.model = with_head(stack_of("rnn_linear", {1}, 1), "regression", 1);
    spec.steps = 5;
    spec.batch = 1;
    Problem problem = random_problem(spec);
    std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
    const ParameterLayout& layout = problem.model->parameters();
    std::fill(problem.parameters.begin(), problem.parameters.end(), 0.0);
    problem.parameters[layout.find("rnn.weight_hh_l0").offset] = 0.5;
    problem.parameters[layout.find("rnn.weight_ih_l0").offset] = 0.7;
    problem.parameters[layout.find("head.weight").offset] = 0.8;
    problem.parameters[layout.find("head.bias").offset] = 0.3;
    LearnerConfig config = fpp(1, 5, 1.5 / lambda);
    config.fpp.lambda = lambda;
    config.fpp.fixed = true;
    config.fpp.batch = "blocks";
    config.fpp.blocks = 300;  // about the full gradient, a fifth of it
    config.fpp.state_gradient = "batch_mean";
    Lesson lesson(problem, config, 5);
    // The first loss gradient moves the start along the trajectory only slowly: take as many steps as it needs.
    for (int pass = 0; pass < static_cast<int>(40 * std::sqrt(lambda)); ++pass) {
      lesson.learn(problem.window);
      lesson.engine.unrolls.clear();
      lesson.engine.updates.clear();
    }
    const std::vector<double> s = kept(lesson)["cells.states"];
    double sum = 0;
    for (std::size_t t = 1; t < 4; ++t) {
      const double input = problem.sources[problem.window.source.empty() ? 0 : problem.window.source[0]]
                               .values[static_cast<std::size_t>(problem.window.start[0]) + t];
      sum += std::pow(s[t] - 0.5 * s[t - 1] - 0.7 * input, 2);
    }
    log_lambda.push_back(std::log(lambda));
    log_residual.push_back(std::log(std::sqrt(sum)));
  }
  EXPECT_NEAR((log_residual[2] - log_residual[0]) / (log_lambda[2] - log_lambda[0]), -1, 0.05);
}

TEST(FppStates, FollowRmspropWithAMeanSquareOfTheirOwn) {
  const Problem problem = stream_problem(4, 1);
  LearnerConfig config = fpp(4, 4, 0.1);
  config.fpp.fixed = true;
  config.fpp.state_optimizer = "rmsprop";
  Lesson lesson(problem, config, 4);
  lesson.learn(problem.window);
  // One update has happened: |change| = rate |g| / (sqrt(0.01 g^2) + 1e-8) = 10 rate, whatever g.
  const auto buffers = kept(lesson);
  const std::vector<double>& states = buffers.at("cells.states");
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(std::abs(states[5 * 3 + k]), 1.0, 1e-3);
  const std::vector<double>& moments = buffers.at("cells.moments");
  for (std::size_t cell = 0; cell < 10; ++cell)
    EXPECT_EQ(moments[cell * 3] != 0, cell == 5) << cell;  // s_i = shat_i here: its gradient is zero
}

TEST(FppStates, DoNotChangeWhereTheirRateIsZero) {
  const Problem problem = stream_problem(30, 2, "gru");
  LearnerConfig config = fpp(3, 10, 0);
  config.fpp.penalise = "none";
  Lesson plain(problem, config, 30, 0.1);
  config.fpp.penalise = "both";
  config.fpp.lambda = 0;
  Lesson without(problem, config, 30, 0.1);
  plain.learn(problem.window);
  without.learn(problem.window);
  EXPECT_EQ(plain.parameters(), without.parameters());  // both are back-propagation from a buffer, bit for bit
  EXPECT_EQ(kept(plain)["cells.states"], kept(without)["cells.states"]);
}

// ---------------------------------------------------------------- the loop

TEST(FppSchedule, DecaysByHalvesAtConstantCost) {
  const auto plans = [](int T) {
    FppConfig config;
    config.steps = T;
    config.variant = "decay";
    config.phase_steps = 100;
    std::vector<std::pair<int, int>> found;
    for (int phase = 0; phase < 5; ++phase) {
      const FppPlan plan = FppSchedule(config).plan(phase * 100 + 99, 0);
      found.emplace_back(plan.steps, plan.updates);
    }
    return found;
  };
  using Plans = std::vector<std::pair<int, int>>;
  EXPECT_EQ(plans(8), (Plans{{8, 1}, {4, 2}, {2, 4}, {1, 8}, {1, 8}}));
  EXPECT_EQ(plans(10), (Plans{{10, 1}, {5, 2}, {2, 4}, {1, 8}, {1, 10}}));
}

TEST(FppSchedule, LowersTheChanceOfALongTrajectoryByAFifth) {
  FppConfig config;
  config.steps = 7;
  config.variant = "random";
  config.phase_steps = 10;
  const FppSchedule schedule(config);
  for (int phase = 0; phase < 5; ++phase) {
    const double p = 1 - 0.2 * phase;
    EXPECT_DOUBLE_EQ(schedule.chance(phase), p);
    EXPECT_EQ(schedule.plan(phase * 10, p - 1e-9).steps, 7);
    EXPECT_EQ(schedule.plan(phase * 10, p - 1e-9).updates, 1);
    if (phase == 0) continue;
    EXPECT_EQ(schedule.plan(phase * 10, p + 1e-9).steps, 1);
    EXPECT_EQ(schedule.plan(phase * 10, p + 1e-9).updates, 7);
  }
  config.chance = "multiplicative";
  EXPECT_DOUBLE_EQ(FppSchedule(config).chance(2), 0.64);
}

TEST(FppSchedule, LambdaGrowsToItsBound) {
  FppConfig config;
  config.lambda = 0.5;
  EXPECT_EQ(FppSchedule(config).lambda(123456), 0.5);
  config.lambda_growth = 2;
  config.lambda_most = 3;
  EXPECT_DOUBLE_EQ(FppSchedule(config).lambda(2000), 2);
  EXPECT_DOUBLE_EQ(FppSchedule(config).lambda(9000), 3);
}

TEST(FppVariants, DoWhatTheirScheduleSays) {
  const Problem problem = stream_problem(50, 1);
  LearnerConfig config = fpp(4, 20);
  config.fpp.variant = "decay";
  config.fpp.phase_steps = 10;
  Lesson lesson(problem, config, 50);
  lesson.learn(problem.window);
  std::map<int, int> lengths;
  for (const auto* record : trajectories(lesson)) ++lengths[record->window.steps];
  EXPECT_EQ(lengths, (std::map<int, int>{{4, 7}, {2, 20}, {1, 120}}));

  config.fpp.variant = "random";
  Lesson random(problem, config, 50);
  random.learn(problem.window);
  int long_ones = 0, short_ones = 0;
  for (const auto* record : trajectories(random)) (record->window.steps == 4 ? long_ones : short_ones) += 1;
  EXPECT_EQ(short_ones % 4, 0);
  EXPECT_GT(short_ones, 20);
  EXPECT_GT(long_ones, 10);
}

TEST(FppUpdates, ManyPerStepSeeEachOtherOrNot) {
  const Problem problem = stream_problem(30, 1);
  std::map<std::string, std::vector<double>> results;
  for (const std::string& order : {std::string("sequential"), std::string("parallel")}) {
    LearnerConfig config = fpp(2, 10, 0.1);
    config.fpp.updates = 4;
    config.fpp.order = order;
    Lesson lesson(problem, config, 30, 0.01);
    lesson.learn(problem.window);
    EXPECT_EQ(lesson.learner->updates(), 4 * 29);
    results[order] = lesson.parameters();
  }
  EXPECT_GT(relative_error(results["parallel"], results["sequential"]), 1e-6);
  EXPECT_LT(relative_error(results["parallel"], results["sequential"]), 0.1);

  // One update is one update in either order.
  std::map<std::string, std::vector<double>> single;
  for (const std::string& order : {std::string("sequential"), std::string("parallel")}) {
    LearnerConfig config = fpp(2, 10, 0.1);
    config.fpp.order = order;
    Lesson lesson(problem, config, 30, 0.1);
    lesson.learn(problem.window);
    single[order] = lesson.parameters();
  }
  EXPECT_EQ(single["parallel"], single["sequential"]);
}

TEST(FppUpdates, ChangeStatesInTheLastOneAloneWhereTheReleasedCodeDid) {
  const Problem problem = stream_problem(3, 1);
  std::map<std::string, int> moves;
  for (const std::string& when : {std::string("each"), std::string("last")}) {
    LearnerConfig config = fpp(3, 3, 0.1);
    config.fpp.updates = 3;
    config.fpp.write_back = when;
    Lesson lesson(problem, config, 3);
    lesson.learn(problem.window);
    const auto drawn = trajectories(lesson);
    ASSERT_EQ(drawn.size(), 3u);
    moves[when] = (drawn[1]->initial_state != drawn[0]->initial_state) + (drawn[2]->initial_state != drawn[1]->initial_state);
  }
  EXPECT_EQ(moves["each"], 2);
  EXPECT_EQ(moves["last"], 0);
}

TEST(FppOnline, RecordsTheLossBeforeTheUpdate) {
  const Problem problem = stream_problem(1, 2);
  EngineRun untouched(problem);
  const Unrolled wanted = untouched.unroll();
  Lesson lesson(problem, fpp(1, 5), 1, 0.5);  // T = 1: the first step is learned from at once
  lesson.learn(problem.window);
  EXPECT_EQ(lesson.learner->updates(), 1);
  const double weights = problem.window.weight[0] + problem.window.weight[1];
  EXPECT_DOUBLE_EQ(lesson.learner->take_mean_loss(), wanted.loss_sum / weights);
}

TEST(FppOnline, TheSameSeedGivesTheSameBitsAndAnotherOneOtherDraws) {
  const Problem problem = stream_problem(60, 2, "lstm");
  const auto run = [&](std::uint64_t seed, const std::string& name) {
    const auto engine = make_engine(*problem.model, {.name = name, .threads = 1, .communicator = nullptr});
    Trainee trainee = make_trainee(*engine, problem.parameters, Lesson::sgd(), {});
    const auto learner = make_learner(fpp(3, 20), trainee, {.steps = 60, .batch = 2, .seed = seed});
    learner->learn(problem.window, [](std::int64_t) { return 0.1; });
    return engine->read(trainee.parameters);
  };
  EXPECT_EQ(run(1, "cpu"), run(1, "cpu"));
  EXPECT_NE(run(1, "cpu"), run(2, "cpu"));
  EXPECT_LT(relative_error(run(1, "cpu"), run(1, "reference")), 1e-4);
}

TEST(FppOnline, AStretchMayBeCutAnywhere) {
  const Problem problem = stream_problem(30, 2, "gru");
  Lesson whole(problem, fpp(3, 10), 30, 0.1), cut(problem, fpp(3, 10), 30, 0.1);
  whole.learn(problem.window);
  cut.learn_in_stretches(problem.window, {1, 7, 2, 20});
  EXPECT_EQ(whole.parameters(), cut.parameters());
}

TEST(FppFixedBuffer, LearnsFromItsFirstTransitionsAlone) {
  const Problem problem = stream_problem(60, 2);
  LearnerConfig config = fpp(2, 10);
  config.fpp.fixed = true;
  Lesson lesson(problem, config, 60, 0.2);
  lesson.learn(problem.window);
  const auto drawn = trajectories(lesson);
  EXPECT_EQ(drawn.size(), 51u);
  for (const auto* record : drawn) EXPECT_LE(record->window.start[0], 8);
  const double first = lesson.learner->diagnostics().front().value;
  for (int pass = 0; pass < 10; ++pass) lesson.learn(problem.window);
  EXPECT_EQ(lesson.learner->diagnostics().front().name, "buffer_loss");
  EXPECT_LT(lesson.learner->diagnostics().front().value, first);
}

// ---------------------------------------------------------------- the baseline

TEST(SlidingTbptt, MovesLikeAHandWrittenOne) {
  constexpr int T = 3, steps = 12;
  constexpr double rate = 0.3;
  const Problem problem = stream_problem(steps, 1);
  for (const std::string& start : {std::string("stored"), std::string("shifted")}) {
    LearnerConfig config;
    config.name = "sliding_tbptt";
    config.fpp.steps = T;
    config.fpp.start = start;
    Lesson lesson(problem, config, steps, rate);
    lesson.learn(problem.window);

    std::vector<double> parameters = problem.parameters;
    std::vector<std::vector<double>> stored = {std::vector<double>(3, 0.0)};
    std::vector<double> last;
    for (int t = 0; t < steps; ++t) {
      EngineRun run(problem);
      run.set_parameters(parameters);
      Window one, window;
      slice(problem.window, t, 1, one);
      run.set_window(one);
      stored.push_back(run.unroll(stored.back()).final_state);
      if (t + 1 < T) continue;
      slice(problem.window, t + 1 - T, T, window);
      std::fill(window.weight.begin(), window.weight.end() - 1, 0.0f);
      run.set_window(window);
      const bool shifted = start == "shifted" && !last.empty();
      last = run.unroll(shifted ? last : stored[static_cast<std::size_t>(t + 1 - T)]).final_state;
      const std::vector<double> gradient = run.pull_back().gradient;
      for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] -= rate * gradient[k];
    }
    EXPECT_LT(relative_error(lesson.parameters(), parameters), 1e-12) << start;
  }
}

TEST(SlidingTbptt, DiffersFromFreshStatesOnlyByTheWeightsThatMadeThem) {
  Problem problem = stream_problem(20, 1);
  std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
  LearnerConfig stored, fresh;
  stored.name = "sliding_tbptt";
  stored.fpp.steps = 4;
  fresh.name = "tbptt";
  fresh.steps = 4;
  fresh.losses = fresh.stride = 1;
  const auto difference = [&](double rate) {
    Lesson a(problem, stored, 20, rate), b(problem, fresh, 20, rate);
    a.learn(problem.window);
    b.learn(problem.window);
    return relative_error(a.engine.updates.back().gradient, b.engine.updates.back().gradient);
  };
  EXPECT_LT(difference(0), 1e-12);
  EXPECT_GT(difference(0.3), 1e-4);
}

// ---------------------------------------------------------------- refusals

TEST(FppConfig, RefusesWhatCannotWork) {
  const Problem problem = stream_problem(10, 1);
  const auto made = [&](const LearnerConfig& config) { Lesson(problem, config, 10); };
  EXPECT_REFUSED(made(fpp(0, 10)), "[fpp] fpp_steps (T) must be between 1 and the buffer's transitions (10), got 0");
  EXPECT_REFUSED(made(fpp(11, 10)), "between 1 and the buffer's transitions (10), got 11");
  LearnerConfig config = fpp(2, 10);
  config.fpp.lambda = -1;
  EXPECT_REFUSED(made(config), "[fpp] lambda must be 0 or positive, got -1");
  config = fpp(2, 10);
  config.fpp.variant = "decay";
  EXPECT_REFUSED(made(config), "needs phase_steps");
  config = fpp(2, 10);
  config.fpp.batch = "blocks";
  config.fpp.state_optimizer = "rmsprop";
  EXPECT_REFUSED(made(config), "collisions = overwrite");
  config = fpp(2, 10);
  config.fpp.penalise = "weigths";
  EXPECT_REFUSED(made(config), "weights");
  config = fpp(2, 10);
  config.fpp.start = "shifted";
  EXPECT_REFUSED(made(config), "sliding_tbptt");
}

}  // namespace
}  // namespace throughtime::testing
