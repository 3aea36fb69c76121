// Streams whose rows arrive at different times: FPP and sliding T-BPTT with steps at which a row is held.
#include <gtest/gtest.h>

#include <algorithm>

#include "learners/state_editor.h"
#include "support/numeric.h"
#include "support/random_problem.h"
#include "throughtime/index.h"
#include "throughtime/learner.h"

namespace throughtime::testing {
namespace {

constexpr int inputs = 2, hidden = 3;

/// Steps of streams laid out in rounds: entry -1 holds its row, others are the stream's steps in order.
struct Rounds {
  Rounds(const std::vector<std::vector<int>>& rows, bool last_only) {
    const int steps = static_cast<int>(rows[0].size()), batch = static_cast<int>(rows.size());
    window.steps = steps;
    window.batch = batch;
    window.weight.assign(elements(steps, batch), 0.0f);
    window.flags.assign(window.weight.size(), StepFlag::go_on);
    values.resize(rows.size());
    targets.resize(rows.size());
    for (int row = 0; row < batch; ++row) {
      for (int step = 0; step < steps; ++step) {
        const int own = rows[row][step];
        const int at = step * batch + row;
        for (int i = 0; i < inputs; ++i) values[row].push_back(own < 0 ? 77.0f : number(row, own, i));  // never read
        targets[row].push_back(own < 0 ? 88.0f : number(row, own, 5));
        if (own < 0) window.flags[at] = StepFlag::hold;
        if (own >= 0 && (!last_only || step + 1 == steps)) window.weight[at] = 1;
      }
      window.source.push_back(row);
      window.start.push_back(0);
    }
    for (std::size_t row = 0; row < rows.size(); ++row)
      sources.push_back({.steps = rows[0].size(),
                         .reals = inputs,
                         .target_width = 1,
                         .values = values[row],
                         .target_values = targets[row]});
    window.sources = sources;
    if (std::ranges::count(window.flags, StepFlag::hold) == 0) window.flags.clear();
  }
  static float number(int row, int step, int which) {
    return static_cast<float>((37 * row + 11 * step + 5 * which) % 17 - 8) / 8.0f;
  }

  Window window;
  std::vector<std::vector<float>> values, targets;
  std::vector<Source> sources;
};

/// What a learner knows after the rounds: weights, and the buffers that it would save.
struct Outcome {
  std::vector<double> weights;
  std::map<std::string, std::vector<double>> kept;
  std::int64_t updates;
};

Outcome learn(const std::string& engine_name, const LearnerConfig& config, const Rounds& rounds, double rate) {
  const Model model(with_head(stack_of("lstm", {hidden}, inputs), "regression", 1));
  const auto engine = make_engine(model, {.name = engine_name, .threads = 1, .communicator = nullptr});
  OptimizerConfig sgd;
  sgd.name = "sgd";
  Trainee trainee = make_trainee(*engine, initialise(model, {}, 3), sgd, {});
  const auto learner = make_learner(config, trainee, {.steps = rounds.window.steps, .batch = rounds.window.batch});
  learner->learn(rounds.window, [&](std::int64_t) { return rate; });
  StateEditor editor;
  learner->archive(editor);
  return {engine->Engine::read(trainee.parameters), editor.buffers, learner->updates()};
}

LearnerConfig config_of(const std::string& name, int steps, int buffer) {
  LearnerConfig config;
  config.name = name;
  config.fpp.steps = steps;
  config.fpp.buffer = buffer;
  config.fpp.state_rate = 0.2;
  config.sliding_tbptt.steps = steps;
  return config;
}

std::vector<double> row_of(const std::vector<double>& states, int row) {
  const auto first = states.begin() + row * 2 * hidden;
  return {first, first + 2 * hidden};
}

void expect_close(const std::vector<double>& got, const std::vector<double>& wanted, const std::string& engine) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], engine == "cpu" ? 1e-6 : 1e-14) << i;
}

class HeldRows : public ::testing::TestWithParam<std::string> {};

TEST_P(HeldRows, HaveTheStatesOfTheirStreamAlone) {
  const std::string engine = GetParam();
  const Rounds mixed({{0, -1, 1, 2, -1, -1, 3, 4}, {-1, 0, 1, -1, 2, 3, 4, -1}}, false);
  const Rounds first({{0, 1, 2, 3, 4}}, false);
  for (const char* name : {"fpp", "sliding_tbptt"}) {
    LearnerConfig config = config_of(name, 3, 5);
    config.fpp.state_rate = 0;
    const Outcome together = learn(engine, config, mixed, 0), alone = learn(engine, config, first, 0);
    expect_close(row_of(together.kept.at("state"), 0), alone.kept.at("state"), engine);
    // The second row is another stream of the same length: its own numbers, one row.
    Rounds second({{0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}}, false);
    const Outcome both = learn(engine, config, second, 0);
    expect_close(row_of(together.kept.at("state"), 1), row_of(both.kept.at("state"), 1), engine);
  }
}

/// One loss, at the end: the gradient through four steps and two held ones is that through the four.
TEST_P(HeldRows, PassGradientsAsTheyAre) {
  const std::string engine = GetParam();
  const Rounds held({{0, -1, 1, 2, -1, 3}}, true), plain({{0, 1, 2, 3}}, true);
  for (const char* name : {"fpp", "sliding_tbptt"}) {
    const Outcome with = learn(engine, config_of(name, 6, 6), held, 0.5);
    const Outcome without = learn(engine, config_of(name, 4, 4), plain, 0.5);
    EXPECT_EQ(with.updates, 1);
    EXPECT_EQ(without.updates, 1);
    expect_close(with.weights, without.weights, engine);
    EXPECT_NE(with.weights, learn(engine, config_of(name, 3, 3), plain, 0.5).weights);
    // Cells [2, N + 1, S]: the start of the sequence and the end of the trajectory have moved alike.
    const auto &a = with.kept.at("cells.states"), &b = without.kept.at("cells.states");
    const auto cell = [](const std::vector<double>& cells, int index) { return row_of(cells, index); };
    expect_close(cell(a, 7 + 0), cell(b, 5 + 0), engine);
    expect_close(cell(a, 5), cell(b, 3), engine);
    EXPECT_EQ(cell(a, 1), cell(a, 0)) << "a held step repeats the state before it";
  }
}

/// Nothing is learned at a step where everybody sleeps, and a row that never speaks changes nothing for the other.
TEST_P(HeldRows, TakeNoPartInUpdates) {
  const std::string engine = GetParam();
  const Rounds one({{0, 1, 2, 3, 4, 5, 6, 7}}, false);
  const Rounds two({{0, 1, 2, 3, 4, 5, 6, 7}, {-1, -1, -1, -1, -1, -1, -1, -1}}, false);
  const Rounds asleep({{-1, -1, -1, -1}}, false);
  for (const char* name : {"fpp", "sliding_tbptt"}) {
    const LearnerConfig config = config_of(name, 3, 5);
    const Outcome alone = learn(engine, config, one, 0.1), beside = learn(engine, config, two, 0.1);
    EXPECT_EQ(alone.updates, beside.updates);
    expect_close(beside.weights, alone.weights, engine);
    EXPECT_EQ(learn(engine, config, asleep, 0.1).updates, 0);
    EXPECT_EQ(learn(engine, config, Rounds({{0, 1, 2, -1, -1}}, false), 0.1).updates,
              std::string(name) == "fpp" ? 3 : 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, HeldRows, ::testing::Values("cpu", "reference"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace throughtime::testing
