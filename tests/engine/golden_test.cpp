#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "support/golden.h"
#include "support/random_problem.h"
#include "throughtime/throughtime.h"

// Outputs, gradients and updates against PyTorch in double precision.
namespace throughtime::testing {
namespace {

using nlohmann::json;

struct GoldenCase {
  std::string engine;
  std::string file;  // without its extension
};

void PrintTo(const GoldenCase& golden, std::ostream* out) { *out << golden.engine << " " << golden.file; }

/// A golden file as this library's model, window and buffers.
class Golden {
 public:
  explicit Golden(const GoldenCase& chosen)
      : file_(read_golden(chosen.file)),
        steps_(file_["shape"]["steps"]),
        batch_(file_["shape"]["batch"]),
        hidden_(file_["shape"]["hidden"]),
        model_(golden_model(file_)),
        engine_(make_engine(model_, {.name = chosen.engine, .threads = 1, .communicator = nullptr})),
        tape_(engine_->make_tape({.steps = steps_, .batch = batch_, .keep = Keep::gradient})),
        tolerance_(golden_tolerance(chosen.engine)) {
    fill_window();
    parameters_ = buffer_of(flat_parameters(model_, file_["parameters"]));
    initial_state_ = buffer_of(flat_state(file_["initial_state"]));
  }

  const json& file() const { return file_; }
  const Model& model() const { return model_; }
  Engine& engine() { return *engine_; }
  double tolerance() const { return tolerance_; }
  int losses() const { return steps_ * batch_; }
  Buffer parameters() const { return parameters_; }
  const Window& window() const { return window_; }

  UnrollCall unroll_call() {
    return {.window = window_, .parameters = parameters_, .tape = *tape_, .initial_state = initial_state_};
  }
  PullBackCall pull_back_call(Buffer gradient) {
    return {.tape = *tape_, .window = window_, .parameters = parameters_, .gradient = gradient};
  }

  /// PyTorch's [tensors][layers, B, H] as rows of all tensors of all layers: [B, S].
  std::vector<double> flat_state(const json& tensors) const {
    std::vector<double> rows(static_cast<std::size_t>(batch_) * model_.state_size());
    for (std::size_t layer = 0; layer < model_.layers().size(); ++layer)
      for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor)
        for (int row = 0; row < batch_; ++row)
          for (int unit = 0; unit < hidden_; ++unit)
            rows[state_index(row, static_cast<int>(layer), static_cast<int>(tensor), unit)] =
                tensors[tensor][layer][row][unit];
    return rows;
  }

  /// h of the top layer after steps 1..L, from states [L, B, S]: [L, B, H].
  std::vector<double> top_outputs(const std::vector<double>& states) const {
    std::vector<double> outputs;
    const std::size_t step_size = static_cast<std::size_t>(batch_) * model_.state_size();
    const int top = static_cast<int>(model_.layers().size()) - 1;
    for (int step = 0; step < steps_; ++step)
      for (int row = 0; row < batch_; ++row)
        for (int unit = 0; unit < hidden_; ++unit)
          outputs.push_back(states[step * step_size + state_index(row, top, 0, unit)]);
    return outputs;
  }

  Buffer buffer_of(const std::vector<double>& values) {
    const Buffer buffer = engine_->allocate(values.size());
    engine_->write(buffer, values);
    return buffer;
  }

 private:
  std::size_t state_index(int row, int layer, int tensor, int unit) const {
    return static_cast<std::size_t>(row) * model_.state_size() + model_.layers()[layer].state_offset +
           tensor * hidden_ + unit;
  }

  /// Rows one after the other in one source; every step has a loss of weight 1, scaled to a mean by the caller.
  void fill_window() {
    inputs_ = inputs_by_row(file_["inputs"]);
    set_rows(file_, inputs_, source_, window_);
    window_.weight.assign(static_cast<std::size_t>(steps_) * batch_, 1.0f);
    window_.targets.layout = TargetLayout::per_step;
    if (file_["head"] == "softmax") {
      labels_ = flatten<std::int32_t>(file_["target"]);
      window_.targets.labels = labels_;
    } else {
      values_ = flatten<float>(file_["target"]);
      window_.targets.values = values_;
      window_.targets.width = file_["shape"]["outputs"];
    }
  }

  json file_;
  int steps_, batch_, hidden_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tape> tape_;
  double tolerance_;
  std::vector<float> inputs_, values_;
  std::vector<std::int32_t> labels_;
  Source source_;
  Window window_;
  Buffer parameters_, initial_state_;
};

class AgainstPyTorch : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(AgainstPyTorch, OutputsLossAndFinalStateAgree) {
  Golden golden(GetParam());
  Engine& engine = golden.engine();
  const std::vector<double> states = golden.flat_state(golden.file()["final_state"]);
  std::vector<int> all_steps;
  for (int step = 1; step <= golden.window().steps; ++step) all_steps.push_back(step);

  UnrollCall call = golden.unroll_call();
  call.final_state = engine.allocate(states.size());
  call.loss_sum = engine.allocate(1);
  call.losses = engine.allocate(static_cast<std::size_t>(golden.losses()));
  call.predictions = engine.allocate(flatten(golden.file()["prediction"]).size());
  call.states = engine.allocate(states.size() * all_steps.size());
  call.state_steps = all_steps;
  engine.unroll(call);

  expect_close(golden.top_outputs(engine.read(call.states)), flatten(golden.file()["output"]), golden.tolerance(),
               "output");
  expect_close(engine.read(call.final_state), states, golden.tolerance(), "final state");
  expect_close(engine.read(call.predictions), flatten(golden.file()["prediction"]), golden.tolerance(), "prediction");
  const double loss = golden.file()["loss"];
  EXPECT_NEAR(engine.read(call.loss_sum)[0] / golden.losses(), loss, golden.tolerance() * loss);
  double summed = 0;
  for (double value : engine.read(call.losses)) summed += value;
  EXPECT_NEAR(summed / golden.losses(), loss, golden.tolerance() * loss);
}

TEST_P(AgainstPyTorch, GradientsAgree) {
  Golden golden(GetParam());
  Engine& engine = golden.engine();
  const std::vector<double> expected = flat_parameters(golden.model(), golden.file()["gradient"]);
  const std::vector<double> expected_state = golden.flat_state(golden.file()["initial_state_gradient"]);

  engine.unroll(golden.unroll_call());
  PullBackCall call = golden.pull_back_call(engine.allocate(expected.size()));
  call.initial_cotangent = engine.allocate(expected_state.size());
  engine.pull_back(call);
  engine.scale(call.gradient, 1.0 / golden.losses());
  engine.scale(call.initial_cotangent, 1.0 / golden.losses());

  expect_close(engine.read(call.gradient), expected, golden.tolerance(), "parameter gradient");
  expect_close(engine.read(call.initial_cotangent), expected_state, golden.tolerance(), "initial-state gradient");
}

TEST_P(AgainstPyTorch, LossesOfTenUpdatesAgree) {
  for (const std::string& name : {std::string("adam"), std::string("sgd")}) {
    Golden golden(GetParam());
    Engine& engine = golden.engine();
    const json& updates = golden.file()["updates"][name];
    const std::vector<double> expected = updates["losses"];
    ASSERT_EQ(expected.size(), 11u);

    OptimizerConfig config;
    config.name = name;
    config.epsilon = 1e-8;
    const auto optimizer = engine.make_optimizer(config, golden.parameters());
    const Buffer gradient = engine.allocate(golden.parameters().size);
    std::vector<double> losses;
    for (std::size_t update = 0; update < expected.size(); ++update) {
      UnrollCall call = golden.unroll_call();
      call.loss_sum = engine.allocate(1);
      engine.unroll(call);
      engine.pull_back(golden.pull_back_call(gradient));
      engine.apply_update({.target = golden.parameters(),
                           .gradient = gradient,
                           .optimizer = *optimizer,
                           .rate = updates["rate"],
                           .gradient_scale = 1.0 / golden.losses()});
      losses.push_back(engine.read(call.loss_sum)[0] / golden.losses());
    }
    expect_close(losses, expected, golden.tolerance(), name);
  }
}

std::vector<GoldenCase> all_golden_cases() {
  std::vector<GoldenCase> cases;
  for (const std::string& engine : engines_here())
    for (const char* cell : {"lstm", "gru", "rnn_tanh", "rnn_relu"})
      for (const char* layers : {"1", "2"})
        for (const char* head : {"softmax", "regression"})
          cases.push_back({engine, std::string(cell) + "-" + layers + "-" + head});
  return cases;
}

std::string test_name(const ::testing::TestParamInfo<GoldenCase>& info) {
  std::string name = info.param.engine + "_" + info.param.file;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Golden, AgainstPyTorch, ::testing::ValuesIn(all_golden_cases()), test_name);

}  // namespace
}  // namespace throughtime::testing
