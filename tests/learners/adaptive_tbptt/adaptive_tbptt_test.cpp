#include <gtest/gtest.h>

#include <algorithm>

#include "learners/recording_engine.h"
#include "support/errors.h"
#include "support/numeric.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

using testing::Problem;

constexpr int places = 3;  // other rows than the problem's 2, so that a test can tell estimates from windows

testing::ProblemSpec spec_of(const std::string& cell, int steps, int batch) {
  testing::ProblemSpec spec;
  spec.model = testing::stack_of(cell, {2, 2});
  spec.steps = steps;
  spec.batch = batch;
  spec.resets = batch == places ? 0 : 0.05;
  spec.seed = 11;
  return spec;
}

/// Places whose rows are reset `distance(draw)` cells before their end, so that phi is exactly 0 from that lag on and
/// an estimate with a tiny delta finds that K: a test decides what is estimated.
class Places {
 public:
  explicit Places(const std::string& cell, std::vector<int> distances)
      : problem_(random_problem(spec_of(cell, 40, places))), distances_(std::move(distances)) {}

  PositionFunction function() {
    return [this](std::uint64_t draw, int rows, int steps) -> const Window& {
      EXPECT_EQ(rows, places);
      slice(problem_.window, problem_.window.steps - steps, steps, window_);
      window_.weight.assign(static_cast<std::size_t>(steps) * places, 0.0f);
      std::fill(window_.weight.end() - places, window_.weight.end(), 1.0f);
      window_.flags.assign(window_.weight.size(), StepFlag::go_on);
      const int distance = distances_[static_cast<std::size_t>(draw / 2) % distances_.size()];
      std::fill_n(window_.flags.begin() + (steps - distance) * places, places, StepFlag::reset);
      return window_;
    };
  }

 private:
  Problem problem_;
  std::vector<int> distances_;
  Window window_;
};

AdaptiveTbpttConfig config_of(int every) {
  AdaptiveTbpttConfig config;
  config.truncation = 2;
  config.estimate.delta = 1e-12;
  config.estimate.shortest = 1;
  config.estimate.longest = 9;
  config.estimate.lags = 20;
  config.estimate.burn_in = 5;
  config.estimate.positions = places;
  config.estimate.every = every;
  return config;
}

struct AdaptiveLesson {
  AdaptiveLesson(const Problem& problem, const AdaptiveTbpttConfig& config, int longest, PositionFunction positions,
                 double rate = 0)
      : engine(*problem.model),
        trainee(make_trainee(engine, problem.parameters, testing::Lesson::sgd(), {})),
        learner(make_learner(config, trainee,
                             {.steps = longest,
                              .batch = problem.window.batch,
                              .lengths_vary = true,
                              .positions = std::move(positions)})),
        rate(rate) {}
  void learn(const Window& stretch) {
    learner->learn(stretch, [this](std::int64_t) { return rate; });
  }
  int truncation() const { return static_cast<int>(learner->diagnostics().front().value); }

  testing::RecordingEngine engine;
  Trainee trainee;
  std::unique_ptr<Learner> learner;
  double rate;
};

TEST(AdaptiveTbptt, BeginsEveryWindowWithTheExactStateWhateverHappensToTheTruncation) {
  for (const char* cell : {"lstm", "gru"})
    for (const TbpttPreset preset : {TbpttPreset::paper, TbpttPreset::ref, TbpttPreset::plain, TbpttPreset::original,
                                     TbpttPreset::double_tf, TbpttPreset::buffer})
      for (const std::vector<int>& stretches : std::vector<std::vector<int>>{
               {10, 10, 10, 10, 10, 10, 10, 10}, {25, 3, 1, 7, 19, 2, 2, 11, 10}, {4, 4, 4, 4, 30, 17, 17}, {80}}) {
        int total = 0;
        for (const int length : stretches) total += length;
        const Problem problem = random_problem(spec_of(cell, total, 2));
        testing::EngineRun forward(problem);
        const std::vector<double> states = forward.unroll().states;
        Places estimates(cell, {3, 9, 2, 8, 8, 4});
        AdaptiveTbpttConfig config = config_of(1);
        config.preset = preset;
        AdaptiveLesson lesson(problem, config, *std::max_element(stretches.begin(), stretches.end()),
                              estimates.function());
        int first = 0;
        for (const int length : stretches) {
          Window stretch;
          slice(problem.window, first, length, stretch);
          lesson.learn(stretch);
          first += length;
        }
        std::vector<int> losses(static_cast<std::size_t>(total), 0);
        int estimated = 0;
        for (const auto& unrolled : lesson.engine.unrolls) {
          estimated += unrolled.window.batch == places && unrolled.window.steps == config.estimate.lags;
          if (unrolled.window.batch != 2) continue;
          const auto at = static_cast<std::size_t>(unrolled.window.start[0] - problem.window.start[0]);
          const std::span before = std::span(states).subspan(at * forward.state_numbers(), forward.state_numbers());
          EXPECT_LT(testing::relative_error(unrolled.initial_state, before), 1e-12)
              << name_of(preset) << " cell " << at;
          if (unrolled.keep != Keep::gradient) continue;
          for (int step = 0; step < unrolled.window.steps; ++step)
            if (unrolled.window.weight_at(step, 0) != 0) ++losses[at + static_cast<std::size_t>(step)];
        }
        const bool ahead = preset == TbpttPreset::buffer;  // where losses flow into windows before their own, too
        EXPECT_GE(estimated, 6) << name_of(preset);
        for (const int count : losses)
          EXPECT_TRUE(count == 1 || (ahead && count > 1)) << name_of(preset) << " " << count;
      }
}

TEST(AdaptiveTbptt, WindowsHaveTheLengthsOfTheChosenTruncation) {
  const Problem problem = random_problem(spec_of("lstm", 120, 2));
  Places estimates("lstm", {3, 9, 2, 7});
  AdaptiveLesson lesson(problem, config_of(0), 30, estimates.function());
  for (int i = 0; i < 4; ++i) {
    Window stretch;
    slice(problem.window, 30 * i, 30, stretch);
    const std::size_t before = lesson.engine.unrolls.size();
    lesson.learn(stretch);
    const int k = lesson.truncation();
    EXPECT_EQ(
        k, std::vector<int>({2, 8, 1, 6})[static_cast<std::size_t>(i)]);  // phi_3 = 0 where a reset lies 3 cells back
    bool full = false;
    for (std::size_t u = before; u < lesson.engine.unrolls.size(); ++u) {
      const auto& unrolled = lesson.engine.unrolls[u];
      if (unrolled.window.batch != 2 || unrolled.keep != Keep::gradient) continue;
      EXPECT_LE(unrolled.window.steps, 2 * k + 1);
      full = full || unrolled.window.steps == 2 * k + 1;
    }
    EXPECT_TRUE(full);
    lesson.learner->end_epoch();
  }
}

TEST(AdaptiveTbptt, ChoosesAgainAfterTheAskedNumberOfUpdatesInTheMiddleOfAStretch) {
  const Problem problem = random_problem(spec_of("lstm", 36, 2));
  Places estimates("lstm", {3, 9, 2});
  AdaptiveLesson lesson(problem, config_of(2), 36, estimates.function());
  lesson.learn(problem.window);
  std::vector<int> losses;  // of each window: its K
  for (const auto& unrolled : lesson.engine.unrolls) {
    if (unrolled.window.batch != 2 || unrolled.keep != Keep::gradient) continue;
    int count = 0;
    for (int step = 0; step < unrolled.window.steps; ++step) count += unrolled.window.weight_at(step, 0) != 0;
    losses.push_back(count);
  }
  EXPECT_EQ(losses, (std::vector<int>{2, 2, 8, 8, 1, 1, 2, 2, 8, 2}));  // K = 2, 8, 1, and what is left
}

TEST(AdaptiveTbptt, WithOneLengthItIsTbptt) {
  const Problem problem = random_problem(spec_of("gru", 60, 2));
  Places estimates("gru", {5});
  AdaptiveTbpttConfig adaptive = config_of(1);
  adaptive.estimate.shortest = adaptive.estimate.longest = adaptive.truncation = 4;
  const TbpttConfig fixed{.preset = TbpttPreset::paper, .truncation = 4, .rate_scaling = RateScaling::sqrt};
  AdaptiveLesson a(problem, adaptive, 20, estimates.function(), 0.1);
  testing::Lesson b(problem, fixed, 20, 0.1);
  for (int i = 0; i < 3; ++i) {
    Window stretch;
    slice(problem.window, 20 * i, 20, stretch);
    a.learn(stretch);
    b.learn(stretch);
  }
  EXPECT_EQ(a.engine.Engine::read(a.trainee.parameters), b.parameters());
  ASSERT_EQ(a.engine.updates.size(), b.engine.updates.size());
  EXPECT_EQ(a.engine.updates[0].rate, 0.1 * std::sqrt(4.0));
}

TEST(AdaptiveTbptt, CountsTheRowsOfItsChoicesApart) {
  const Problem problem = random_problem(spec_of("gru", 60, 2));
  Places estimates("gru", {5, 3});
  AdaptiveTbpttConfig config = config_of(0);
  config.estimate.repeats = 4;
  config.estimate.logged = 7;  // free
  AdaptiveLesson lesson(problem, config, 20, estimates.function());
  const auto rows = [&](const std::string& name) {
    for (const Diagnostic& diagnostic : lesson.learner->diagnostics())
      if (diagnostic.name == name) return diagnostic.value;
    return -1.0;
  };
  Window stretch;
  slice(problem.window, 0, 20, stretch);
  lesson.learn(stretch);
  EXPECT_EQ(lesson.truncation(), 3);  // the integer part of the mean of 4, 2, 4, 2
  EXPECT_EQ(rows("estimation_rows"), 4 * 25);
  EXPECT_EQ(rows("rows"), 20);
  slice(problem.window, 20, 20, stretch);
  lesson.learn(stretch);
  EXPECT_EQ(rows("estimation_rows"), 100);
  lesson.learner->end_epoch();
  stretch.continues = false;
  lesson.learn(stretch);
  EXPECT_EQ(rows("estimation_rows"), 200);
  EXPECT_EQ(rows("rows"), 60);
}

TEST(AdaptiveTbptt, CanBeginWithTheFirstTruncation) {
  const Problem problem = random_problem(spec_of("gru", 40, 2));
  Places estimates("gru", {6});
  AdaptiveTbpttConfig config = config_of(0);
  config.truncation = 2;
  config.estimate.first = false;
  AdaptiveLesson lesson(problem, config, 40, estimates.function());
  Window stretch;
  slice(problem.window, 0, 20, stretch);
  lesson.learn(stretch);
  EXPECT_EQ(lesson.truncation(), 2);
  lesson.learner->end_epoch();
  slice(problem.window, 20, 20, stretch);
  lesson.learn(stretch);
  EXPECT_EQ(lesson.truncation(), 5);
}

TEST(AdaptiveTbptt, ClipAndScaleBoundTheStep) {
  // |step| <= rate sqrt(K) clip / K
  const Problem problem = random_problem(spec_of("rnn_tanh", 40, 2));
  for (const int k : {1, 3, 8}) {
    const TbpttConfig config{
        .preset = TbpttPreset::paper, .truncation = k, .rate_scaling = RateScaling::sqrt, .clip_by_losses = true};
    testing::RecordingEngine engine(*problem.model);
    Trainee trainee = make_trainee(engine, problem.parameters, testing::Lesson::sgd(), {.norm = 1e-3});
    const std::unique_ptr<Learner> learner =
        make_learner(config, trainee, {.steps = 40, .batch = 2, .lengths_vary = true});
    Window stretch;
    slice(problem.window, 0, k, stretch);
    learner->learn(stretch, [](std::int64_t) { return 0.5; });
    const std::vector<double> after = engine.Engine::read(trainee.parameters);
    EXPECT_NEAR(testing::distance(after, problem.parameters), 0.5 * std::sqrt(k) * 1e-3 / k, 1e-9) << k;
  }
}

TEST(Tbptt, ChunksDoNotLookBackOverTheirStart) {
  const Problem problem = random_problem(spec_of("lstm", 24, 2));
  TbpttConfig config{.preset = TbpttPreset::ref, .truncation = 3, .chunk = 12};
  testing::EngineRun forward(problem);
  const std::vector<double> states = forward.unroll().states;
  testing::Lesson exact(problem, config, 24);
  exact.learn(problem.window);
  std::vector<int> firsts;
  for (const auto& unrolled : exact.engine.unrolls) {
    const auto at = static_cast<std::size_t>(unrolled.window.start[0] - problem.window.start[0]);
    firsts.push_back(static_cast<int>(at));
    EXPECT_LT(testing::relative_error(unrolled.initial_state,
                                      std::span(states).subspan(at * forward.state_numbers(), forward.state_numbers())),
              1e-12);
  }
  EXPECT_EQ(firsts, std::vector<int>({0, 1, 4, 7, 12, 13, 16, 19}));
  config.ref_stream = true;  // second window: the state of the first one's end; a chunk: K - 1 steps too old
  testing::Lesson stale(problem, config, 24);
  stale.learn(problem.window);
  const auto state_at = [&](std::size_t step) {
    return std::span(states).subspan(step * forward.state_numbers(), forward.state_numbers());
  };
  EXPECT_LT(testing::relative_error(stale.engine.unrolls[1].initial_state, state_at(3)), 1e-12);
  EXPECT_GT(testing::relative_error(stale.engine.unrolls[1].initial_state, state_at(1)), 1e-3);
  EXPECT_GT(testing::relative_error(stale.engine.unrolls[4].initial_state, state_at(12)), 1e-3);
}

TEST(AdaptiveTbpttConfig, SaysHowItTakesAStream) {
  AdaptiveTbpttConfig config = config_of(1);
  EXPECT_EQ(stream_needs(config).steps, 9);  // K_max
  EXPECT_EQ(stream_needs(config).look_back, 5 + 20 + 1000);
  config.estimate.longest = 1000;
  EXPECT_EQ(stream_needs(config).look_back, 2001 + 16);  // and what the ring may lie before it
  for (config.estimate.longest = 500'000'000; const TbpttPreset preset : {TbpttPreset::paper, TbpttPreset::double_tf}) {
    config.preset = preset;  // the longest that there is: window, stride and their sum can be counted
    EXPECT_GE(stream_needs(config).look_back, 999'999'999);
    EXPECT_LT(std::int64_t{stream_needs(config).look_back} + stream_needs(config).steps, 2'147'483'647);
  }
  config.estimate.longest = 2'147'483'647;
  EXPECT_REFUSED(stream_needs(config), "longest (K_max) must be between 1 and 500000000, got 2147483647");
  config.estimate.longest = 1000;
  config.preset = TbpttPreset::buffer;
  EXPECT_REFUSED(stream_needs(config), "[adaptive_tbptt] the preset 'buffer' looks ahead");
  config.preset = TbpttPreset::custom;
  EXPECT_REFUSED(stream_needs(config), "[adaptive_tbptt] the preset 'custom' has no K to choose");
  EXPECT_EQ(estimate_settings(config).truncation, 0);
}

TEST(AdaptiveTbpttConfig, ListsItsOptions) {
  AdaptiveTbpttConfig config;
  OptionList list;
  describe(config, list);
  std::vector<std::string> keys;
  for (const Option& option : list.options()) keys.push_back(option.key);
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "preset",         "truncation", "chunk",         "ref_stream",     "rate_scaling",
                      "clip_by_losses", "delta",      "shortest",      "longest",        "lags",
                      "tail",           "positions",  "burn_in",       "estimate_every", "logged_estimates",
                      "decay",          "quantile",   "norm",          "gradient_size",  "estimate_dropout",
                      "variants",       "repeats",    "estimate_first"}));
}

TEST(AdaptiveTbpttConfig, RefusesWhatCannotBe) {
  const Problem problem = random_problem(spec_of("lstm", 20, 2));
  Places estimates("lstm", {3});
  const auto refusal = [&](auto change) {
    AdaptiveTbpttConfig config = config_of(1);
    change(config);
    return testing::refusal_of([&] { AdaptiveLesson(problem, config, 20, estimates.function()); });
  };
  EXPECT_EQ(refusal([](AdaptiveTbpttConfig&) {}), "");
  EXPECT_NE(refusal([](AdaptiveTbpttConfig& c) { c.estimate.delta = 1; }).find("delta"), std::string::npos);
  EXPECT_NE(refusal([](AdaptiveTbpttConfig& c) { c.estimate.shortest = 10; }).find("K_min"), std::string::npos);
  EXPECT_EQ(refusal([](AdaptiveTbpttConfig& c) { c.preset = TbpttPreset::custom; }),
            "[adaptive_tbptt] the preset 'custom' has no K to choose; take paper, ref, plain, original, double-tf or "
            "buffer");
  EXPECT_NE(refusal([](AdaptiveTbpttConfig& c) { c.truncation = -1; }).find("truncation"), std::string::npos);
  EXPECT_NE(refusal([](AdaptiveTbpttConfig& c) { c.estimate.repeats = 0; }).find("repeats"), std::string::npos);
  EXPECT_NE(refusal([](AdaptiveTbpttConfig& c) { c.estimate.every = -1; }).find("estimate_every"), std::string::npos);
  EXPECT_REFUSED(choice_of<RateScaling>("squrt", "adaptive_tbptt", "rate_scaling"), "sqrt");
  EXPECT_NE(refusal([](AdaptiveTbpttConfig& c) { c.ref_stream = true; }).find("chunk"), std::string::npos);
  EXPECT_REFUSED(AdaptiveLesson(problem, config_of(1), 20, {}), "no training data");
  EXPECT_REFUSED(check_learner(config_of(1), *problem.model, {.steps = 20, .batch = 2}), "no training data");
}

}  // namespace
}  // namespace throughtime
