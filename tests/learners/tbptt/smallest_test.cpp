// Truncated BPTT, fixed and adaptive, and what streams make of it, at the smallest sizes: K = 1, K = T, T = 1, one
// unit, one row, stretches of one step, all against the definition written out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "learners/recording_engine.h"
#include "learners/tbptt/written_out.h"
#include "throughtime/online.h"

namespace throughtime::testing {
namespace {

constexpr double rate = 0.3;
constexpr auto presets = {TbpttPreset::paper,    TbpttPreset::ref,       TbpttPreset::plain,
                          TbpttPreset::original, TbpttPreset::double_tf, TbpttPreset::buffer};

std::vector<int> ones(int count) { return std::vector<int>(static_cast<std::size_t>(count), 1); }

int total(const std::vector<int>& stretches) { return std::accumulate(stretches.begin(), stretches.end(), 0); }

void expect_definition(const Problem& problem, const LearnerConfig& config, const Lengths& lengths,
                       const std::vector<int>& stretches) {
  Lesson lesson(problem, config, *std::max_element(stretches.begin(), stretches.end()), rate);
  lesson.learn_in_stretches(problem.window, stretches);
  WrittenOut written(problem, lengths, rate);
  written.learn(stretches);
  EXPECT_EQ(lesson.learner->updates(), written.updates());
  EXPECT_LT(relative_error(lesson.parameters(), written.parameters()), 1e-8);
  EXPECT_NEAR(lesson.learner->take_mean_loss(), written.mean_loss(), 1e-8);
}

void expect_preset(TbpttPreset preset, int k, const std::string& cell, int rows, double resets,
                   const std::vector<int>& stretches) {
  SCOPED_TRACE(fmt::format("{} K {} {} rows {} resets {} stretches {} of {}", name_of(preset), k, cell, rows, resets,
                           stretches.size(), stretches[0]));
  LearnerConfig config;
  config.name = "tbptt";
  config.tbptt = {.preset = preset, .truncation = k};
  expect_definition(smallest_problem(cell, total(stretches), rows, resets), config, preset_lengths(preset, k),
                    stretches);
}

TEST(TbpttSmallest, WithOneStepIsItsDefinitionHoweverAStreamIsCut) {
  for (const TbpttPreset preset : presets)
    for (const char* cell : {"rnn_tanh", "lstm"})
      for (const int rows : {1, 2})
        for (const double resets : {0.0, 0.3})
          for (const std::vector<int>& stretches : {ones(1), ones(6), {6}, {2, 1, 3}})
            expect_preset(preset, 1, cell, rows, resets, stretches);
}

TEST(TbpttSmallest, WithAllStepsOfAStretchIsItsDefinition) {
  for (const TbpttPreset preset : presets)
    for (int T = 1; T <= 4; ++T)
      for (const int stretches : {1, 3}) {
        if (preset == TbpttPreset::double_tf && T > 1 && stretches > 1) continue;  // its windows are longer than these
        expect_preset(preset, T, "rnn_tanh", 1, 0, std::vector<int>(static_cast<std::size_t>(stretches), T));
        expect_preset(preset, T, "lstm", 2, 0.2, std::vector<int>(static_cast<std::size_t>(stretches), T));
      }
}

TEST(TbpttSmallest, WindowsLongerThanTheDataAreAllOfIt) {
  for (const TbpttPreset preset : {TbpttPreset::paper, TbpttPreset::ref, TbpttPreset::plain, TbpttPreset::original})
    for (int T = 1; T <= 3; ++T) expect_preset(preset, 5, "rnn_tanh", 1, 0, {T});
}

/// Estimates of two lags from one place, before every window or once: they choose the only K there is.
TEST(AdaptiveSmallest, WithKOfOneIsTheDefinition) {
  for (const TbpttPreset preset : presets)
    for (const int every : {0, 1})
      for (const int rows : {1, 2})
        for (const std::vector<int>& stretches : {ones(5), {5}, {2, 1, 2}}) {
          SCOPED_TRACE(fmt::format("{} every {} rows {} stretches {}", name_of(preset), every, rows, stretches.size()));
          const Problem problem = smallest_problem("gru", total(stretches), rows);
          Window place;
          const PositionFunction positions = [&](std::uint64_t, int, int steps) -> const Window& {
            slice(problem.window, problem.window.steps - steps, steps, place);
            place.batch = 1;
            place.start.resize(1);
            place.source.resize(1);
            place.flags.clear();
            place.weight.assign(static_cast<std::size_t>(steps), 0.0f);
            place.weight.back() = 1;
            return place;
          };
          AdaptiveTbpttConfig config;
          config.preset = preset;
          config.truncation = 1;
          config.estimate = {.shortest = 1, .longest = 1, .lags = 2, .tail = 1, .positions = 1, .burn_in = 0};
          config.estimate.every = every;
          RecordingEngine engine(*problem.model);
          Trainee trainee = make_trainee(engine, problem.parameters, Lesson::sgd(), {});
          const auto learner = make_learner(
              config, trainee,
              {.steps = problem.window.steps, .batch = rows, .lengths_vary = true, .positions = positions});
          int first = 0;
          for (const int length : stretches) {
            Window stretch;
            slice(problem.window, first, length, stretch);
            learner->learn(stretch, [](std::int64_t) { return rate; });
            first += length;
          }
          WrittenOut written(problem, preset_lengths(preset, 1), rate);
          written.learn(stretches);
          EXPECT_LT(relative_error(engine.Engine::read(trainee.parameters), written.parameters()), 1e-8);
          EXPECT_NEAR(learner->take_mean_loss(), written.mean_loss(), 1e-8);
        }
}

/// One slot, stretches of one step, shown step by step: each prediction is made with the weights of that moment, each
/// update is the definition's.
TEST(OnlineSmallest, WithStretchesOfOneStepIsTheDefinition) {
  for (const TbpttPreset preset : {TbpttPreset::paper, TbpttPreset::ref, TbpttPreset::plain, TbpttPreset::original})
    for (const bool adaptive : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(preset), adaptive));
      Problem problem = smallest_problem("rnn_tanh", 12, 1);
      std::fill(problem.window.weight.begin(), problem.window.weight.end(), 1.0f);
      OnlineConfig config;
      config.learner.name = adaptive ? "adaptive_tbptt" : "tbptt";
      config.learner.tbptt = {.preset = preset, .truncation = 1};
      config.learner.adaptive_tbptt.preset = preset;
      config.learner.adaptive_tbptt.truncation = 1;
      config.learner.adaptive_tbptt.estimate = {.shortest = 1, .longest = 1, .lags = 2, .tail = 1, .burn_in = 0};
      config.learner.adaptive_tbptt.estimate.every = 1;
      config.optimizer = Lesson::sgd();
      config.rate = rate;
      const auto engine = make_engine(*problem.model, EngineRun::reference());
      OnlineLearner learner(*engine, problem.parameters, config);
      WrittenOut written(problem, preset_lengths(preset, 1), rate);
      written.learn(ones(12));

      const Source& source = problem.sources[static_cast<std::size_t>(problem.window.source[0])];
      std::vector<double> state(static_cast<std::size_t>(problem.model->state_size()), 0.0);
      EngineRun forward(problem);
      for (int t = 0; t < 12; ++t) {
        const auto at = static_cast<std::size_t>(problem.window.start[0] + t - source.first);
        Window one;
        slice(problem.window, t, 1, one);
        forward.set_parameters(engine->Engine::read(learner.parameters()));
        forward.set_window(one);
        const Unrolled wanted = forward.unroll(state);
        state = wanted.final_state;
        const auto shown = learner.observe(0, {.reals = source.values.subspan(at, 1)}, {.label = source.labels[at]});
        EXPECT_LT(relative_error(std::vector<double>(shown.begin(), shown.end()), wanted.predictions), 1e-12) << t;
      }
      EXPECT_EQ(learner.updates(), 12);
      EXPECT_LT(relative_error(engine->Engine::read(learner.parameters()), written.parameters()), 1e-8);
    }
}

}  // namespace
}  // namespace throughtime::testing
