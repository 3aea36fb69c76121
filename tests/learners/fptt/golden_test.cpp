// FPTT against the benchmark's peer, which is the same algorithm in PyTorch: W, W-bar and lambda after two sequences.
#include <gtest/gtest.h>

#include "learners/fptt/support.h"
#include "learners/state_editor.h"
#include "support/golden.h"

namespace throughtime::testing {
namespace {

struct GoldenCase {
  std::string engine, cell;
};

class FpttAgainstPyTorch : public ::testing::TestWithParam<GoldenCase> {};

INSTANTIATE_TEST_SUITE_P(Golden, FpttAgainstPyTorch,
                         ::testing::Values(GoldenCase{"reference", "lstm"}, GoldenCase{"reference", "gru"},
                                           GoldenCase{"cpu", "lstm"}, GoldenCase{"cpu", "gru"}),
                         [](const auto& info) { return info.param.engine + "_" + info.param.cell; });

/// One sequence of the file: a target per row, at the last step.
struct GoldenSequence {
  explicit GoldenSequence(const nlohmann::json& file)
      : inputs(inputs_by_row(file["inputs"])), targets(flatten<float>(file["target"])) {
    set_rows(file, inputs, source, window);
    window.weight.assign(static_cast<std::size_t>(window.steps) * window.batch, 0.0f);
    std::fill(window.weight.end() - window.batch, window.weight.end(), 1.0f);
    window.targets.layout = TargetLayout::per_row;
    window.targets.values = targets;
    window.targets.width = file["shape"]["outputs"];
  }
  GoldenSequence(const GoldenSequence&) = delete;  // the window looks into it
  GoldenSequence& operator=(const GoldenSequence&) = delete;

  std::vector<float> inputs, targets;
  Source source;
  Window window;
};

TEST_P(FpttAgainstPyTorch, WeightsAverageAndMultiplierAgreeAfterEachSequence) {
  const nlohmann::json file = read_golden("fptt-" + GetParam().cell);
  const Model model(golden_model(file));
  const auto engine = make_engine(model, {.name = GetParam().engine, .threads = 2, .communicator = nullptr});
  Trainee trainee =
      make_trainee(*engine, flat_parameters(model, file["parameters"]), optimizer("adam"), {.value = 0, .norm = 1});
  FpttConfig config = fptt(0, FpttForm::lambda, file["alpha"]);
  config.window_length = file["window_length"];
  const GoldenSequence sequence(file);
  const auto learner =
      make_learner(config, trainee, {.steps = sequence.window.steps, .batch = sequence.window.batch, .terminal = true});
  const double tolerance = golden_tolerance(GetParam().engine);
  for (const nlohmann::json& after : file["after"]) {
    learner->learn(sequence.window, constant(file["rate"]));
    StateEditor state;
    learner->archive(state);
    expect_close(engine->read(trainee.parameters), flat_parameters(model, after["parameters"]), tolerance, "W");
    expect_close(state.buffers["average"], flat_parameters(model, after["average"]), tolerance, "W-bar");
    expect_close(state.buffers["multiplier"], flat_parameters(model, after["multiplier"]), tolerance, "lambda");
  }
}

}  // namespace
}  // namespace throughtime::testing
