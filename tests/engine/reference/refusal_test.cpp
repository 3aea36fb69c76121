#include <gtest/gtest.h>

#include <limits>

#include "support/engine_run.h"
#include "support/errors.h"

// What unroll and pull_back refuse, and how they say it.
namespace throughtime::testing {
namespace {

ModelConfig token_model() {
  ModelConfig config = with_head(stack_of("lstm", {3}, 2), "softmax", 4);
  config.input.vocabulary = 5;
  return config;
}

/// A problem whose data a test spoils, with one engine on it.
struct Spoilt {
  explicit Spoilt(const ProblemSpec& spec = {.model = token_model(), .sources = 1})
      : problem(random_problem(spec)), run(problem) {}

  /// Storage index of what row `row` reads at step `step`.
  std::size_t position(int step, int row) const {
    return static_cast<std::size_t>(problem.window.start[static_cast<std::size_t>(row)] + step);
  }
  UnrollCall unroll_call() { return {.window = problem.window, .parameters = run.parameters(), .tape = run.tape()}; }
  PullBackCall pull_back_call() {
    return {.tape = run.tape(), .window = problem.window, .parameters = run.parameters()};
  }
  Buffer buffer(std::size_t size) { return run.engine().allocate(size); }

  Problem problem;
  EngineRun run;
};

TEST(UnrollRefusal, NamesAReal) {
  Spoilt spoilt;
  spoilt.problem.window.start = {0, 5, 1};
  spoilt.problem.storage[0].values[8 * 2 + 1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_REFUSED(spoilt.run.unroll(),
                 "[window] input 1 at step 3, row 1 (source 0, position 8) must be a finite number");
  spoilt.problem.storage[0].values[8 * 2 + 1] = -std::numeric_limits<float>::infinity();
  EXPECT_REFUSED(spoilt.run.unroll(), "got -inf");
  spoilt.problem.storage[0].values[8 * 2 + 1] = std::numeric_limits<float>::max();
  EXPECT_NO_THROW(spoilt.run.unroll());
}

TEST(UnrollRefusal, NamesWhatIsMissingOrWrongOfAnEvent) {
  const ProblemSpec spec{.model = with_head(stack_of("lstm", {3}), "point_process", 4), .sources = 1};
  Spoilt interval(spec);
  EXPECT_NO_THROW(interval.run.unroll());
  interval.problem.storage[0].target_values[interval.position(1, 0)] = -0.5f;
  EXPECT_REFUSED(interval.run.unroll(), "must be a finite number of at least 0, got -0.5");
  Spoilt label(spec);
  label.problem.storage[0].labels[label.position(1, 0)] = 2;  // a and w are no marks
  EXPECT_REFUSED(label.run.unroll(), "must be between 0 and 1, got 2");
  for (const bool labels : {true, false}) {
    Spoilt missing(spec);
    Source& source = missing.problem.sources[0];
    if (labels) source.labels = {};
    if (!labels) source.target_values = {}, source.target_width = 0;
    EXPECT_REFUSED(missing.run.unroll(), "the point_process head needs labels and target values");
  }
  Spoilt wide(spec);
  wide.problem.window.targets = {.layout = TargetLayout::per_row, .width = 2};
  const std::vector<std::int32_t> marks(3);
  const std::vector<float> intervals(6);
  wide.problem.window.targets.labels = marks;
  wide.problem.window.targets.values = intervals;
  EXPECT_REFUSED(wide.run.unroll(), "targets must have 1 number, the time until the label, got 2");
}

TEST(UnrollRefusal, NamesAToken) {
  Spoilt spoilt;
  for (const int token : {-1, 5}) {
    spoilt.problem.storage[0].tokens[spoilt.position(3, 0)] = token;
    EXPECT_REFUSED(spoilt.run.unroll(), "must be between 0 and 4, got " + std::to_string(token));
  }
}

TEST(UnrollRefusal, NamesALabelOnlyWhereItIsUsed) {
  Spoilt spoilt;
  const std::size_t last = spoilt.problem.sources[0].steps - 1;
  spoilt.problem.window.start = {static_cast<std::int64_t>(last) - 4, 0, 0};
  spoilt.problem.storage[0].labels[last] = 4;
  EXPECT_REFUSED(spoilt.run.unroll(), "[window] label at step 4, row 0");
  EXPECT_REFUSED(spoilt.run.unroll(), "must be between 0 and 3, got 4");
  spoilt.problem.window.weight[4 * 3] = 0;
  EXPECT_NO_THROW(spoilt.run.unroll());
}

TEST(UnrollRefusal, NamesTargetsThatDoNotFitTheHead) {
  Spoilt soft({.model = token_model(), .targets = TargetLayout::per_step, .soft = true});
  soft.problem.target_values[5 * 4 + 2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_REFUSED(soft.run.unroll(), "target 2 at step 1, row 2");
  soft.problem.window.targets.width = 3;
  soft.problem.window.targets.values = std::span(soft.problem.target_values).first(15 * 3);
  EXPECT_REFUSED(soft.run.unroll(), "targets must have 4 numbers, one per output of the softmax head, got 3");

  Spoilt labelled({.model = stack_of("lstm", {3}), .targets = TargetLayout::per_row});
  labelled.problem.labels.assign(3, 0);
  labelled.problem.window.targets = {
      .layout = TargetLayout::per_row, .width = 0, .labels = labelled.problem.labels, .values = {}};
  EXPECT_REFUSED(labelled.run.unroll(), "the regression head needs target values");
}

TEST(UnrollRefusal, NamesAProbabilityOutOfRangeOnBothEngines) {
  for (const char* engine : {"reference", "cpu"}) {
    Problem problem =
        random_problem({.model = with_head(stack_of("lstm", {3}), "bernoulli", 2), .targets = TargetLayout::per_step});
    EngineRun run(problem, {.name = engine, .threads = 1, .communicator = nullptr});
    for (const float edge : {0.0f, 1.0f}) {
      problem.target_values[4 * 2 + 1] = edge;
      EXPECT_NO_THROW(run.unroll()) << engine;
    }
    for (const float outside : {-0.25f, 1.5f}) {
      problem.target_values[4 * 2 + 1] = outside;
      EXPECT_REFUSED(run.unroll(), "target 1 at step 1, row 1");
      EXPECT_REFUSED(run.unroll(), "must be between 0 and 1 for the bernoulli head");
    }
  }
}

TEST(UnrollRefusal, WantsTargetsForALoss) {
  Spoilt spoilt;
  spoilt.problem.window.targets.layout = TargetLayout::none;
  UnrollCall call = spoilt.unroll_call();
  call.loss_sum = spoilt.buffer(1);
  EXPECT_REFUSED(spoilt.run.engine().unroll(call), "no target at step 0, row 0");
  call.loss_sum = {};
  EXPECT_NO_THROW(spoilt.run.engine().unroll(call));
  EXPECT_REFUSED(spoilt.run.engine().pull_back(spoilt.pull_back_call()), "no target at step 0, row 0");
}

TEST(UnrollRefusal, NamesASourceOfAnotherShape) {
  Spoilt spoilt;
  spoilt.problem.sources[0].tokens = {};
  EXPECT_REFUSED(spoilt.run.unroll(), "source 0 has no tokens");
  Spoilt wide;
  wide.problem.sources[0].reals = 1;
  wide.problem.sources[0].values = wide.problem.sources[0].values.first(wide.problem.sources[0].steps);
  EXPECT_REFUSED(wide.run.unroll(), "source 0 has 1 reals per step, the model takes 2");
}

TEST(UnrollRefusal, NamesBuffersOfTheWrongSize) {
  Spoilt spoilt;
  const std::size_t state = spoilt.run.state_numbers();
  const auto refusal = [&](auto change) {
    UnrollCall call = spoilt.unroll_call();
    change(call);
    return refusal_of([&] { spoilt.run.engine().unroll(call); });
  };
  EXPECT_EQ(refusal([&](UnrollCall& call) { call.initial_state = spoilt.buffer(state - 1); }),
            fmt::format("[unroll] initial_state must have {} numbers, got {}", state, state - 1));
  EXPECT_NE(refusal([&](UnrollCall& call) { call.final_state = spoilt.buffer(state + 1); }), "");
  EXPECT_NE(refusal([&](UnrollCall& call) { call.parameters = spoilt.buffer(3); }), "");
  EXPECT_NE(refusal([&](UnrollCall& call) { call.parameters = {}; }), "");
  EXPECT_NE(refusal([&](UnrollCall& call) { call.losses = spoilt.buffer(14); }), "");
  EXPECT_NE(refusal([&](UnrollCall& call) { call.loss_sum = spoilt.buffer(2); }), "");
  EXPECT_NE(refusal([&](UnrollCall& call) { call.predictions = spoilt.buffer(59); }), "");
  EXPECT_EQ(refusal([&](UnrollCall& call) { call.predictions = spoilt.buffer(60); }), "");
  const std::vector<int> late = {6}, twice = {2, 2}, good = {0, 5};
  EXPECT_NE(refusal([&](UnrollCall& call) { call.states = spoilt.buffer(state), call.state_steps = late; }), "");
  EXPECT_NE(refusal([&](UnrollCall& call) { call.states = spoilt.buffer(2 * state), call.state_steps = twice; }), "");
  EXPECT_NE(refusal([&](UnrollCall& call) { call.states = spoilt.buffer(state), call.state_steps = good; }), "");
  EXPECT_NE(refusal([&](UnrollCall& call) { call.state_steps = good; }), "");
  EXPECT_EQ(refusal([&](UnrollCall& call) { call.states = spoilt.buffer(2 * state), call.state_steps = good; }), "");
}

TEST(UnrollRefusal, NamesATapeThatDoesNotFit) {
  Spoilt spoilt;
  Engine& engine = spoilt.run.engine();
  const auto narrow = engine.make_tape({5, 2}), brief = engine.make_tape({4, 3});
  EXPECT_REFUSED(
      engine.unroll({.window = spoilt.problem.window, .parameters = spoilt.run.parameters(), .tape = *narrow}),
      "[unroll] the window has 3 rows, its tape was made for 2");
  EXPECT_REFUSED(
      engine.unroll({.window = spoilt.problem.window, .parameters = spoilt.run.parameters(), .tape = *brief}),
      "[unroll] the window has 5 steps, its tape holds at most 4");
  Spoilt other;
  EXPECT_REFUSED(
      engine.unroll({.window = spoilt.problem.window, .parameters = spoilt.run.parameters(), .tape = other.run.tape()}),
      "another engine");
  EXPECT_REFUSED(engine.make_tape({0, 3}), "steps must be at least 1");
  EXPECT_REFUSED(engine.make_tape({3, 0}), "batch must be at least 1");
}

TEST(UnrollRefusal, LeavesEveryBufferAsItWas) {
  Spoilt spoilt;
  spoilt.problem.storage[0].tokens.assign(spoilt.problem.sources[0].steps, 99);
  UnrollCall call = spoilt.unroll_call();
  call.loss_sum = spoilt.buffer(1);
  call.final_state = spoilt.buffer(spoilt.run.state_numbers());
  spoilt.run.engine().fill(call.final_state, 7);
  EXPECT_REFUSED(spoilt.run.engine().unroll(call), "token");
  for (const double x : spoilt.run.engine().read(call.final_state)) EXPECT_EQ(x, 7);
  EXPECT_EQ(spoilt.run.engine().read(call.loss_sum)[0], 0);
}

TEST(PullBackRefusal, WantsAnUnrollOnATapeThatKeptEnough) {
  Spoilt spoilt;
  Engine& engine = spoilt.run.engine();
  EXPECT_REFUSED(engine.pull_back(spoilt.pull_back_call()), "nothing has been unrolled");
  spoilt.run.unroll();
  EXPECT_NO_THROW(engine.pull_back(spoilt.pull_back_call()));

  const Buffer gradient = spoilt.buffer(spoilt.problem.parameters.size());
  for (const Keep keep : {Keep::nothing, Keep::state}) {
    const auto tape = engine.make_tape({5, 3, keep});
    engine.unroll({.window = spoilt.problem.window, .parameters = spoilt.run.parameters(), .tape = *tape});
    PullBackCall call{.tape = *tape, .window = spoilt.problem.window, .parameters = spoilt.run.parameters()};
    call.gradient = gradient;
    EXPECT_REFUSED(engine.pull_back(call), keep == Keep::nothing ? "keeps nothing" : "keeps states only");
  }
}

TEST(PullBackRefusal, NamesPartsAndBuffersThatDoNotFit) {
  Spoilt spoilt;
  spoilt.run.unroll();
  const std::size_t state = spoilt.run.state_numbers();
  const auto refusal = [&](auto change) {
    PullBackCall call = spoilt.pull_back_call();
    change(call);
    return refusal_of([&] { spoilt.run.engine().pull_back(call); });
  };
  EXPECT_EQ(refusal([&](PullBackCall& call) { call.last = 6; }), "[pull_back] last must be between 1 and 5, got 6");
  EXPECT_EQ(refusal([&](PullBackCall& call) { call.first = 2, call.last = 2; }),
            "[pull_back] first must be between 0 and 1, got 2");
  EXPECT_NE(refusal([&](PullBackCall& call) { call.first = -1; }), "");
  EXPECT_NE(refusal([&](PullBackCall& call) { call.gradient = spoilt.buffer(1); }), "");
  EXPECT_NE(refusal([&](PullBackCall& call) { call.end_cotangent = spoilt.buffer(state - 1); }), "");
  EXPECT_NE(refusal([&](PullBackCall& call) { call.initial_cotangent = spoilt.buffer(state + 1); }), "");
  EXPECT_NE(refusal([&](PullBackCall& call) { call.step_cotangents = spoilt.buffer(5 * state - 1); }), "");
  EXPECT_NE(refusal([&](PullBackCall& call) { call.tap_norms = spoilt.buffer(17); }), "");
  EXPECT_NE(refusal([&](PullBackCall& call) { call.tap_vectors = spoilt.buffer(6 * state - 1); }), "");
  EXPECT_EQ(refusal([&](PullBackCall& call) { call.first = 2, call.last = 4, call.tap_norms = spoilt.buffer(9); }), "");

  Window shorter;
  slice(spoilt.problem.window, 0, 3, shorter);
  PullBackCall call{.tape = spoilt.run.tape(), .window = shorter, .parameters = spoilt.run.parameters()};
  EXPECT_REFUSED(spoilt.run.engine().pull_back(call), "the window has 3 steps, the one unrolled on this tape had 5");
}

}  // namespace
}  // namespace throughtime::testing
