// Learners of one stream, whose tapes keep plans of their windows, against the same learners on a new tape for every
// window.
#include <gtest/gtest.h>

#include <cmath>

#include "support/fresh_tapes.h"
#include "throughtime/online.h"

namespace throughtime::testing {
namespace {

struct StreamCase {
  const char* name;
  LearnerConfig learner;
};

/// The smallest sizes among them: K = 1, a whole stretch as one window, a buffer of one, T = N.
std::vector<StreamCase> stream_cases() {
  const auto tbptt = [](TbpttPreset preset, int truncation) {
    return LearnerConfig{.name = "tbptt", .tbptt = {.preset = preset, .truncation = truncation}};
  };
  const auto fpp = [](int steps, int buffer) {
    return LearnerConfig{.name = "fpp", .fpp = {.steps = steps, .buffer = buffer}};
  };
  return {{"tbptt, an update a step", tbptt(TbpttPreset::original, 5)},
          {"tbptt, K = 1", tbptt(TbpttPreset::original, 1)},
          {"tbptt, K = T", tbptt(TbpttPreset::plain, 5)},
          {"tbptt of the paper", tbptt(TbpttPreset::paper, 3)},
          {"fptt", {.name = "fptt", .fptt = {.window_length = 4}}},
          {"fpp", fpp(3, 20)},
          {"fpp, one step of one transition", fpp(1, 1)},
          {"fpp, a trajectory as long as the buffer", fpp(4, 4)},
          {"sliding_tbptt", {.name = "sliding_tbptt", .sliding_tbptt = {.steps = 3}}}};
}

/// Weights after 120 observations of a wave, begun anew in the middle.
std::vector<double> weights_after(const LearnerConfig& learner, const Model& model, Engine& engine) {
  OnlineConfig config;
  config.learner = learner;
  config.optimizer.name = "adam";
  config.rate = 0.01;
  config.clip.norm = 1;
  OnlineLearner online(engine, initialise(model, {}, 1), config);
  for (int t = 0; t < 120; ++t) {
    const float x = std::sin(0.3f * static_cast<float>(t)), y = std::sin(0.3f * static_cast<float>(t + 1));
    online.observe(0, {.reals = {&x, 1}}, {.values = {&y, 1}});
    if (t == 60) online.reset(0);
  }
  return engine.Engine::read(online.parameters());
}

TEST(RowPlan, ChangesNoBitOfWhatAStreamTeaches) {
  for (const int hidden : {1, 4, 20})
    for (const StreamCase& one : stream_cases()) {
      SCOPED_TRACE(std::string(one.name) + ", units: " + std::to_string(hidden));
      ModelConfig config;
      config.input.reals = 1;
      config.layers = {{.cell = "lstm", .hidden = hidden, .options = {}}, {.cell = "gru", .hidden = 3, .options = {}}};
      config.head = {.name = "regression", .outputs = 1};
      const Model model(config);
      const auto kept = make_engine(model, {.name = "cpu"});
      FreshTapes fresh(make_engine(model, {.name = "cpu"}));
      const std::vector<double> weights = weights_after(one.learner, model, *kept);
      EXPECT_NE(weights, initialise(model, {}, 1)) << "nothing was learned";
      EXPECT_EQ(weights, weights_after(one.learner, model, fresh));
    }
}

}  // namespace
}  // namespace throughtime::testing
