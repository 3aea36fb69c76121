#include "learners/tbptt/state_keeper.h"

#include <gtest/gtest.h>

#include "learners/recording_engine.h"
#include "learners/state_editor.h"
#include "support/errors.h"
#include "support/numeric.h"

namespace throughtime {
namespace {

constexpr int total = 80;

testing::Problem problem_of_keeper() {
  testing::ProblemSpec spec;
  spec.model = testing::stack_of("lstm", {2, 2});
  spec.steps = total;
  spec.batch = 2;
  spec.resets = 0.05;
  return random_problem(spec);
}

/// A keeper of windows of at most 40 cells, beside the states of one uninterrupted forward pass.
struct Keeping {
  explicit Keeping(StateKeeper::Ring ring)
      : engine(*problem.model),
        trainee(make_trainee(engine, problem.parameters, testing::Lesson::sgd(), {})),
        forward(problem),
        states(forward.unroll().states),
        keeper("tbptt", trainee, {.steps = total, .batch = 2}, {40, 20, 20}, ring) {}

  /// How far the kept state is from the one before that step.
  double error_at(int step) const {
    const std::size_t numbers = forward.state_numbers();
    return testing::relative_error(engine.Engine::read(keeper.state()),
                                   std::span(states).subspan(step * numbers, numbers));
  }
  int steps_run() {
    int steps = 0;
    for (const auto& unrolled : engine.unrolls) steps += unrolled.window.steps;
    engine.unrolls.clear();
    return steps;
  }

  const testing::Problem problem = problem_of_keeper();
  testing::RecordingEngine engine;
  Trainee trainee;
  testing::EngineRun forward;
  std::vector<double> states;  // [T + 1, B, S]
  StateKeeper keeper;
};

TEST(StateKeeper, RunsTheStepsToAnyState) {
  Keeping keeping(StateKeeper::Ring::none);
  keeping.keeper.begin(keeping.problem.window);
  for (const int step : {0, 1, 33, 50, 80}) {
    EXPECT_EQ(keeping.keeper.reach(step), step);
    keeping.keeper.move_to(keeping.problem.window, step);
    EXPECT_LT(keeping.error_at(step), 1e-13) << step;
  }
  EXPECT_EQ(keeping.steps_run(), 80);  // none twice
}

TEST(StateKeeper, GoesBackToTheRingsLastStateAndRunsTheGap) {
  Keeping keeping(StateKeeper::Ring::everywhere);
  keeping.keeper.begin(keeping.problem.window);
  keeping.keeper.move_to(keeping.problem.window, 70);
  keeping.steps_run();
  for (const int step : {69, 51, 35, 32}) {
    EXPECT_EQ(keeping.keeper.reach(step), step);
    keeping.keeper.move_to(keeping.problem.window, step);
    EXPECT_LT(keeping.error_at(step), 1e-13) << step;
    EXPECT_EQ(keeping.steps_run(), step % StateRing::spacing) << step;
  }
}

TEST(StateKeeper, BeginsLaterWhereNoStateIsLeft) {
  Keeping keeping(StateKeeper::Ring::none);
  keeping.keeper.begin(keeping.problem.window);
  keeping.keeper.move_to(keeping.problem.window, 50);
  EXPECT_EQ(keeping.keeper.reach(20), 50);
  EXPECT_EQ(keeping.keeper.reach(60), 60);
}

TEST(StateKeeper, KeepsOnlyTheEndOfAStretchWhereLengthsStayTillThen) {
  Keeping keeping(StateKeeper::Ring::stretch_ends);
  Window first, second;
  slice(keeping.problem.window, 0, 78, first);
  slice(keeping.problem.window, 78, 2, second);
  keeping.keeper.begin(first);
  keeping.keeper.move_to(first, 60);
  testing::StateEditor saved;
  keeping.keeper.archive_ring(saved);
  EXPECT_EQ(saved.lists["ring.positions"], (std::vector<std::int64_t>{0, -1, 32, 48}));  // not step 16
  keeping.keeper.finish(first, 70);
  keeping.keeper.begin(second);
  EXPECT_EQ(keeping.keeper.history(), 40 + StateRing::spacing);
  EXPECT_EQ(keeping.keeper.reach(-40), -40);
  keeping.keeper.move_to(second, -40);
  EXPECT_LT(keeping.error_at(38), 1e-13);
  EXPECT_EQ(keeping.keeper.rows(), 78);
}

/// Puts a number in the place of a saved one.
class Forger final : public Archive {
 public:
  Forger(std::string name, std::int64_t value) : name_(std::move(name)), value_(value) {}
  void buffer(std::string_view, Engine&, Buffer) override {}
  void parameters(Engine&, Buffer) override {}
  void integers(std::string_view name, std::vector<std::int64_t>& values) override {
    if (scoped(name) == name_) values = {value_};
  }
  void numbers(std::string_view, std::vector<double>&) override {}

 private:
  std::string name_;
  std::int64_t value_;
};

TEST(StateKeeper, RefusesSavedStatesThatCannotBe) {
  const auto refusal = [](const std::string& name, std::int64_t value) {
    Keeping keeping(StateKeeper::Ring::none);
    Forger forger(name, value);
    return testing::refusal_of([&] { keeping.keeper.archive(forger); });
  };
  EXPECT_EQ(refusal("nothing", 0), "");
  const auto text = [](const std::string& name, const std::string& range, int value) {
    return fmt::format("[checkpoint] '{}' must be {}, got {}: it is damaged, or was written for another configuration",
                       name, range, value);
  };
  for (const char* name : {"kept_first", "kept_second"}) {  // no step is known yet
    EXPECT_EQ(refusal(name, 1), text(name, "between 0 and 0", 1));
    EXPECT_EQ(refusal(name, -1), text(name, "between 0 and 0", -1));
  }
  EXPECT_EQ(refusal("kept_count", 3), text("kept_count", "between 1 and 2", 3));
  EXPECT_EQ(refusal("kept_second_slot", 2), text("kept_second_slot", "between -1 and 1", 2));
}

}  // namespace
}  // namespace throughtime
