#include <gtest/gtest.h>

#include "support/engine_run.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/random.h"

namespace throughtime::testing {
namespace {

/// Sources like those of `problem` with one more step, of numbers that matter to nobody, where each row is held.
struct Stretched {
  Stretched(const Problem& problem, const std::vector<int>& held_at) : window(problem.window), storage(held_at.size()) {
    const int batch = window.batch;
    const auto insert = [](auto& values, auto whole, int width, std::int64_t at) {
      values.assign(whole.begin(), whole.end());
      values.insert(values.begin() + at * width, static_cast<std::size_t>(width), 7);
    };
    window.steps += 1;
    window.weight.clear();
    window.flags.assign(static_cast<std::size_t>(window.steps * batch), StepFlag::go_on);
    for (int row = 0; row < batch; ++row) {
      const Source& old =
          problem.sources[static_cast<std::size_t>(problem.window.source[static_cast<std::size_t>(row)])];
      const std::int64_t at = window.start[static_cast<std::size_t>(row)] + held_at[static_cast<std::size_t>(row)];
      Problem::Storage& own = storage[static_cast<std::size_t>(row)];
      insert(own.values, old.values, old.reals, at);
      insert(own.target_values, old.target_values, old.target_width, at);
      sources.push_back({.steps = old.steps + 1, .reals = old.reals, .target_width = old.target_width});
      sources.back().values = own.values;
      sources.back().target_values = own.target_values;
      window.source[static_cast<std::size_t>(row)] = row;
    }
    window.sources = sources;
    for (int step = 0; step < window.steps; ++step)
      for (int row = 0; row < batch; ++row) {
        const int held = held_at[static_cast<std::size_t>(row)];
        const bool hold = step == held;
        window.weight.push_back(hold ? 0.0f : problem.window.weight_at(step > held ? step - 1 : step, row));
        if (hold) window.flags[static_cast<std::size_t>(step * batch + row)] = StepFlag::hold;
      }
  }

  Window window;
  std::vector<Problem::Storage> storage;
  std::vector<Source> sources;
};

class HeldRows : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(HeldRows, AreAsIfTheStepWereNotThere) {
  const auto& [engine, cell] = GetParam();
  ProblemSpec spec;
  spec.model = stack_of(cell, {5, 4});
  spec.steps = 6;
  spec.batch = 3;
  spec.zero_weights = 0.3;
  const Problem problem = random_problem(spec);
  const Stretched stretched(problem, {0, 3, 6});  // at the start, in the middle, at the end

  ProblemSpec longer = spec;
  longer.steps = spec.steps + 1;
  Problem room = random_problem(longer);
  room.parameters = problem.parameters;
  const EngineConfig config{.name = engine, .threads = 1, .communicator = nullptr};
  EngineRun plain(problem, config), held(room, config);
  held.set_window(stretched.window);
  const std::vector<double> start = random_numbers(plain.state_numbers(), 3);
  const Unrolled wanted = plain.unroll(start), got = held.unroll(start);
  EXPECT_NEAR(got.loss_sum, wanted.loss_sum, 1e-5);
  EXPECT_LT(relative_error(got.final_state, wanted.final_state), 1e-5);

  const PullBackSpec end{.end_cotangent = random_numbers(plain.state_numbers(), 4)};
  const PulledBack wanted_back = plain.pull_back(end), got_back = held.pull_back(end);
  EXPECT_LT(relative_error(got_back.gradient, wanted_back.gradient), 1e-5);
  EXPECT_LT(relative_error(got_back.initial_cotangent, wanted_back.initial_cotangent), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(All, HeldRows,
                         ::testing::Combine(::testing::ValuesIn(engines_here()), ::testing::ValuesIn(cell_names())),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

TEST(HoldFlags, AllEnginesAgreeAmongResets) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    ProblemSpec spec;
    spec.seed = seed;
    spec.model = stack_of("lstm", {17, 6});
    spec.steps = 30;
    spec.batch = 35;  // more than a slice
    spec.resets = 0.1;
    Problem problem = random_problem(spec);
    const Random random(seed, Purpose::sampling);
    for (std::size_t i = 0; i < problem.window.flags.size(); ++i)
      if (random.uniform(0, 0, i) < 0.3) problem.window.flags[i] = StepFlag::hold, problem.window.weight[i] = 0;
    EngineRun reference(problem);
    const std::vector<double> final_state = reference.unroll().final_state;
    const std::vector<double> gradient = reference.pull_back().gradient;
    for (const std::string& engine : engines_here()) {
      EngineRun run(problem, {.name = engine, .threads = 2, .communicator = nullptr});
      EXPECT_LT(relative_error(run.unroll().final_state, final_state), 1e-5) << engine;
      EXPECT_LT(relative_error(run.pull_back().gradient, gradient), 1e-4) << engine;
    }
  }
}

TEST(HoldFlags, HaveNoLoss) {
  ProblemSpec spec;
  spec.model = stack_of("gru", {3});
  Problem problem = random_problem(spec);
  problem.window.flags[4] = StepFlag::hold;
  EXPECT_REFUSED(validate(problem.window), "row 1 is held at step 1 and can have no loss there");
  problem.window.weight[4] = 0;
  EXPECT_NO_THROW(validate(problem.window));
  problem.window.flags[4] = static_cast<StepFlag>(3);
  EXPECT_REFUSED(validate(problem.window), "must be 0 (go on), 1 (reset) or 2 (hold), got 3");
}

}  // namespace
}  // namespace throughtime::testing
