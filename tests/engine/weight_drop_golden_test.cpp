#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <tuple>

#include "engine/dropout.h"
#include "support/golden.h"
#include "throughtime/throughtime.h"

// Nets of stock modules with our masks on their recurrent weights, against PyTorch in double precision.
namespace throughtime::testing {
namespace {

/// An engine and a cell.
class WeightDropAgainstPyTorch : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override {
    const EngineType& type = find_engine(std::get<0>(GetParam()));
    if (!type.usable()) GTEST_SKIP() << type.missing();
  }
};

TEST_P(WeightDropAgainstPyTorch, MasksLossAndGradientsAgree) {
  const auto& [name, cell] = GetParam();
  const nlohmann::json file = read_golden("weight_drop-" + cell);
  ModelConfig config = golden_model(file);
  config.dropout.recurrent = file["share"];
  const Model model(config);
  Window window;
  Source source;
  const std::vector<float> inputs = inputs_by_row(file["inputs"]);
  const auto labels = flatten<std::int32_t>(file["target"]);
  set_rows(file, inputs, source, window);
  window.weight.assign(labels.size(), 1.0f);
  window.targets.layout = TargetLayout::per_step;
  window.targets.labels = labels;
  window.mask_key = file["key"][0].get<std::uint64_t>() << 32 | file["key"][1].get<std::uint64_t>();

  for (std::size_t k = 0; k < model.layers().size(); ++k) {
    const std::vector<double> theirs = flatten(file["masks"][k]);
    EXPECT_GT(std::ranges::count(theirs, 0.0), 0);
    std::vector<double> ours(theirs.size());
    write_recurrent_mask(config.dropout, static_cast<int>(k), window.mask_key, std::span(ours));
    EXPECT_EQ(ours, theirs) << "layer " << k;
  }

  const auto engine = make_engine(model, {.name = name, .threads = 1, .communicator = nullptr});
  const auto tape = engine->make_tape({.steps = window.steps, .batch = window.batch});
  const Buffer parameters = engine->allocate(model.parameters().size());
  engine->write(parameters, flat_parameters(model, file["parameters"]));
  const Buffer loss = engine->allocate(1), gradient = engine->allocate(parameters.size);
  engine->unroll({.window = window, .parameters = parameters, .tape = *tape, .loss_sum = loss});
  engine->pull_back({.tape = *tape, .window = window, .parameters = parameters, .gradient = gradient});
  const double count = static_cast<double>(labels.size()), tolerance = golden_tolerance(name);
  engine->scale(gradient, 1 / count);
  EXPECT_NEAR(engine->read(loss)[0] / count, file["loss"], tolerance * file["loss"].get<double>());
  expect_close(engine->read(gradient), flat_parameters(model, file["gradient"]), tolerance, "gradient");
}

INSTANTIATE_TEST_SUITE_P(Golden, WeightDropAgainstPyTorch,
                         ::testing::Combine(::testing::ValuesIn(engine_names()),
                                            ::testing::Values("lstm", "gru", "rnn_tanh", "rnn_relu")),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace throughtime::testing
