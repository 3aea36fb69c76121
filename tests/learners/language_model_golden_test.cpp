#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

#include "support/golden.h"
#include "throughtime/throughtime.h"

// Language models of stock modules with our masks and both penalties, with one softmax and with a mixture of them,
// against PyTorch in double precision.
namespace throughtime::testing {
namespace {

ModelConfig model_of(const nlohmann::json& file) {
  const nlohmann::json &shape = file["shape"], &shares = file["shares"];
  ModelConfig config;
  config.input = {.vocabulary = shape["vocabulary"], .tokens = TokenInput::embedding, .embedding = shape["embedding"]};
  config.layers = {{.cell = "lstm", .hidden = shape["hidden"], .options = {}},
                   {.cell = "lstm", .hidden = shape.value("top", shape["embedding"].get<int>()), .options = {}}};
  config.head = {.name = "softmax", .outputs = shape["vocabulary"], .tied = true};
  if (shape.contains("experts")) {
    config.head.name = "mixture_of_softmaxes";
    config.head.experts = shape["experts"];
    config.dropout.latent = shares["latent"];
  }
  config.dropout.input = shares["input"];
  config.dropout.between = shares["between"];
  config.dropout.output = shares["output"];
  config.dropout.per_sequence = true;
  config.dropout.recurrent = shares["recurrent"];
  config.dropout.embedding = shares["embedding"];
  config.penalties = {.activation = file["penalties"]["activation"], .slowness = file["penalties"]["slowness"]};
  return config;
}

/// The text of the file, row by row, and a window over all of it.
struct Text {
  explicit Text(const nlohmann::json& file) {
    const auto all = flatten<std::int32_t>(file["text"]);  // [steps + 1, B]
    window.steps = file["shape"]["steps"];
    window.batch = file["shape"]["batch"];
    for (int row = 0; row < window.batch; ++row) {
      window.start.push_back(static_cast<std::int64_t>(tokens.size()));
      for (int step = 0; step < window.steps; ++step) {
        tokens.push_back(all[elements(step, window.batch) + elements(row)]);
        labels.push_back(all[elements(step + 1, window.batch) + elements(row)]);
      }
    }
    source.steps = tokens.size();
    source.tokens = tokens;
    source.labels = labels;
    window.sources = {&source, 1};
    window.weight.assign(tokens.size(), 1.0f);
    window.mask_key = file["key"][0].get<std::uint64_t>() << 32 | file["key"][1].get<std::uint64_t>();
  }
  std::vector<std::int32_t> tokens, labels;
  Source source;
  Window window;
};

/// An engine and a file.
class LanguageModelAgainstPyTorch : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static const std::string& engine_name() { return std::get<0>(GetParam()); }
  static const std::string& file_name() { return std::get<1>(GetParam()); }
};

TEST_P(LanguageModelAgainstPyTorch, LossPenaltiesAndGradientsAgree) {
  const nlohmann::json file = read_golden(file_name());
  const Model model(model_of(file));
  const Text text(file);
  const Window& window = text.window;
  const auto engine = make_engine(model, {.name = engine_name(), .threads = 1, .communicator = nullptr});
  const auto tape = engine->make_tape({.steps = window.steps, .batch = window.batch});
  const Buffer parameters = engine->allocate(model.parameters().size());
  engine->write(parameters, flat_parameters(model, file["parameters"]));
  const Buffer loss = engine->allocate(1), penalties = engine->allocate(2),
               gradient = engine->allocate(parameters.size);
  engine->unroll({.window = window, .parameters = parameters, .tape = *tape, .loss_sum = loss, .penalties = penalties});
  engine->pull_back({.tape = *tape, .window = window, .parameters = parameters, .gradient = gradient});
  const double count = static_cast<double>(text.tokens.size()), tolerance = golden_tolerance(engine_name());
  engine->scale(gradient, 1 / count);
  EXPECT_NEAR(engine->read(loss)[0] / count, file["loss"], tolerance * file["loss"].get<double>());
  EXPECT_NEAR(engine->read(penalties)[0] / count, file["activation"], tolerance * file["activation"].get<double>());
  EXPECT_NEAR(engine->read(penalties)[1] / count, file["slowness"], tolerance * file["slowness"].get<double>());
  expect_close(engine->read(gradient), flat_parameters(model, file["gradient"]), tolerance, "gradient");
}

TEST_P(LanguageModelAgainstPyTorch, TenUpdatesWithTheSwitchToAveragingAgree) {
  const nlohmann::json file = read_golden(file_name());
  const Model model(model_of(file));
  Text text(file);
  const auto engine = make_engine(model, {.name = engine_name(), .threads = 1, .communicator = nullptr});
  OptimizerConfig optimizer{.name = "sgd", .weight_decay = file["weight_decay"]};
  optimizer.average = Averaging::non_monotone;
  optimizer.average_patience = 1;
  Trainee trainee =
      make_trainee(*engine, flat_parameters(model, file["parameters"]), optimizer, {.value = 0, .norm = file["clip"]});
  const auto learner = make_learner(BpttConfig{}, trainee, {.steps = text.window.steps, .batch = text.window.batch});
  const double rate = file["rate"];
  const std::int64_t plain = file["plain_updates"];
  for (std::int64_t update = 0; update < file["updates"].get<std::int64_t>(); ++update) {
    if (update == plain) {
      EXPECT_FALSE(trainee.average.observe_validation(1, plain));
      EXPECT_FALSE(trainee.average.observe_validation(2, plain));
      EXPECT_TRUE(trainee.average.observe_validation(3, plain));
    }
    ++text.window.mask_key;
    learner->learn(text.window, [rate](std::int64_t) { return rate; });
  }
  const double tolerance = golden_tolerance(engine_name());
  expect_close(engine->read(trainee.parameters), flat_parameters(model, file["after"]), tolerance, "weights");
  expect_close(engine->read(evaluated_parameters(trainee, optimizer)), flat_parameters(model, file["average"]),
               tolerance, "average");
}

INSTANTIATE_TEST_SUITE_P(Golden, LanguageModelAgainstPyTorch,
                         ::testing::Combine(::testing::Values("reference", "cpu"),
                                            ::testing::Values("awd_lstm", "mixture")),
                         [](const auto& info) { return std::get<0>(info.param) + "_" + std::get<1>(info.param); });

}  // namespace
}  // namespace throughtime::testing
