// What `train` says at the start of a run about settings that work, but that our runs found to be poor.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "throughtime/learner.h"
#include "throughtime/optimizer.h"

namespace throughtime {
namespace {

const StretchShape at_the_end = {.steps = 200, .batch = 2, .terminal = true};
constexpr const char* scale_free[] = {"adam", "rmsprop", "rmsprop_tf1", "adagrad", "adadelta"};
constexpr const char* scaled[] = {"sgd", "momentum", "asgd"};

std::vector<std::string> notes_of(const LearnerConfig& config, const char* optimizer,
                                  const StretchShape& shape = at_the_end) {
  OptimizerConfig rule;
  rule.name = optimizer;
  return learner_notes(config, shape, rule);
}

bool says(const std::vector<std::string>& notes, std::string_view text) {
  return std::ranges::any_of(notes, [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

LearnerConfig fptt(FpttForm form, double alpha, int windows = 20) {
  return {.name = "fptt", .fptt = {.windows = windows, .form = form, .alpha = alpha}};
}

TEST(LearnerNotes, AdviseAgainstALargeAlphaWhereStepsDoNotGrowWithTheGradient) {
  constexpr char text[] = "advice: learner.fptt.alpha = 0.5 is large for ";
  for (const FpttForm form : {FpttForm::lambda, FpttForm::gradient}) {
    for (const char* optimizer : scale_free) {
      EXPECT_TRUE(says(notes_of(fptt(form, 0.5), optimizer), std::string(text) + optimizer + ";")) << optimizer;
      EXPECT_TRUE(notes_of(fptt(form, 0.499), optimizer).empty()) << optimizer;
    }
    for (const char* optimizer : scaled) EXPECT_TRUE(notes_of(fptt(form, 0.5), optimizer).empty()) << optimizer;
  }
  EXPECT_TRUE(notes_of(fptt(FpttForm::ogd, 0.5), "adam").empty()) << "it has no alpha";
}

TEST(LearnerNotes, AdviseAgainstLongWindowsWhereTheTargetComesAtTheEnd) {
  const auto long_windows = [](int windows, const StretchShape& shape) {
    return says(notes_of(fptt(FpttForm::ogd, 0.1, windows), "sgd", shape), "steps are long where the target");
  };
  StretchShape shape = at_the_end;
  EXPECT_TRUE(long_windows(4, shape)) << "50 steps";
  EXPECT_TRUE(long_windows(1, shape)) << "the whole sequence";
  EXPECT_FALSE(long_windows(5, shape)) << "40 steps";
  shape.steps = 49;
  EXPECT_FALSE(long_windows(1, shape));
  shape.steps = 50;
  EXPECT_TRUE(long_windows(1, shape));
  shape.terminal = false;
  EXPECT_FALSE(long_windows(1, shape)) << "there are targets on the way";
}

TEST(LearnerNotes, AdviseAgainstARateThatGrowsWithKWhereStepsDoNotGrowWithTheGradient) {
  for (const RateScaling scaling : {RateScaling::none, RateScaling::sqrt, RateScaling::linear})
    for (const bool adaptive : {false, true}) {
      LearnerConfig config{.name = adaptive ? "adaptive_tbptt" : "tbptt"};
      config.tbptt.truncation = 10;
      config.tbptt.rate_scaling = config.adaptive_tbptt.rate_scaling = scaling;
      const std::string text = "advice: learner." + config.name + ".rate_scaling = ";
      for (const char* optimizer : scale_free)
        EXPECT_EQ(says(notes_of(config, optimizer), text), scaling != RateScaling::none) << text << optimizer;
      for (const char* optimizer : scaled) EXPECT_TRUE(notes_of(config, optimizer).empty()) << text << optimizer;
    }
}

/// A rule whose steps do not grow with the gradient: twice the gradient, the same first step.
TEST(ScaleFree, IsSaidOfTheRulesThatAre) {
  for (const OptimizerType* type : all_optimizers()) {
    OptimizerConfig config;
    config.name = type->name;
    const auto step = [&](double gradient) {
      double weight = 0;
      std::vector<double> moments(type->moments, type->first_moment == 0 ? 0 : 1e-12);
      std::vector<double*> pointers;
      for (double& moment : moments) pointers.push_back(&moment);
      config.epsilon = 1e-12;
      type->reference(type->coefficients(config, 1, 0.1), 1, 1, 0, &gradient, &weight, pointers.data());
      return -weight;
    };
    const double ratio = step(2000) / step(1000);
    EXPECT_NEAR(ratio, type->scale_free ? 1 : 2, 1e-3) << type->name;
  }
}

}  // namespace
}  // namespace throughtime
