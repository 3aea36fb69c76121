// Every method on every fast engine that can compute here, against the reference.
#include <gtest/gtest.h>

#include <thread>

#include "support/digits.h"
#include "support/scratch.h"
#include "train/run/run_variants.h"
#include "train/run/trained_model.h"

namespace throughtime::testing {
namespace {

/// A variant's `engine` is the one that is compared with the reference.
class OnEngines : public ::testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    const EngineType& type = find_engine(GetParam().engine);
    if (!type.usable()) GTEST_SKIP() << type.missing();
    if (GetParam().task != "mnist") return;
    write_digits(directory_, "train", 20, 0, "data/");
    write_digits(directory_, "t10k", 5, 3, "data/");
  }
  RunConfig config(const std::string& run, const std::string& engine) const {
    Variant variant = GetParam();
    variant.engine = engine;
    return config_of(variant, directory_ / run);
  }
  std::filesystem::path checkpoint(const std::string& run) const {
    return directory_ / run / "checkpoints/last.safetensors";
  }

  // Twenty-three updates of a rate of 0.01: what float rounding may become on the way.
  static constexpr double tolerance = 5e-3;
  ScratchDirectory directory_;
};

TEST_P(OnEngines, TrainsWhatTheReferenceTrains) {
  Observer silent;
  const RunResult wanted = train_run(config("wanted", "reference"), silent);
  const RunResult got = train_run(config("got", GetParam().engine), silent);
  EXPECT_NEAR(got.test->loss, wanted.test->loss, tolerance);
  EXPECT_EQ(got.updates, wanted.updates);
  expect_close_checkpoints(checkpoint("wanted"), checkpoint("got"), tolerance);
}

TEST_P(OnEngines, GoesOnBitForBitAndElsewhere) {
  Observer silent;
  train_run(config("whole", GetParam().engine), silent);
  StopAt seven(7), six(6);
  train_run(config("parts", GetParam().engine), seven);
  resume_run(directory_ / "parts", {}, silent);
  expect_equal_checkpoints(checkpoint("whole"), checkpoint("parts"));

  // From the processor to the engine and back.
  StopAt again(7);
  train_run(config("travels", "cpu"), again);
  resume_run(directory_ / "travels", {"run.engine=" + GetParam().engine}, six);
  resume_run(directory_ / "travels", {"run.engine=cpu"}, silent);
  expect_close_checkpoints(checkpoint("whole"), checkpoint("travels"), tolerance);
}

TEST_P(OnEngines, GivesTheSameBitsAloneAndBesideThreeOthers) {
  Observer silent;
  train_run(config("alone", GetParam().engine), silent);
  std::vector<std::jthread> beside;
  for (int i = 0; i < 4; ++i)
    beside.emplace_back([this, i] {
      Observer observer;
      train_run(config("beside" + std::to_string(i), GetParam().engine), observer);
    });
  beside.clear();
  for (int i = 0; i < 4; ++i) expect_equal_checkpoints(checkpoint("alone"), checkpoint("beside" + std::to_string(i)));
}

TEST(TrainedModelElsewhere, IsReadWhereTheEngineOfItsRunIsMissing) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of({"add", "bptt", "adam", "constant", "cpu"}, directory / "run"), silent);
  TrainedModel here(directory / "run", false);
  std::string text = text_of(directory / "run/config.toml");
  const std::string named = "engine = \"cpu\"";
  ASSERT_NE(text.find(named), std::string::npos);
  write_text(directory / "run/config.toml", text.replace(text.find(named), named.size(), "engine = \"cuda\""));
  TrainedModel elsewhere(directory / "run", false);
  EXPECT_EQ(elsewhere.engine().name(), find_engine("cuda").usable() ? "cuda" : "cpu");
  EXPECT_EQ(elsewhere.engine().read(elsewhere.parameters()), here.engine().read(here.parameters()));
}

std::vector<Variant> variants() {
  const Variant rows[] = {{"add", "bptt", "adam", "plateau", ""},
                          {"add", "recompute", "momentum", "constant", ""},
                          {"stream", "tbptt:plain", "rmsprop", "constant", ""},
                          {"stream", "tbptt:paper", "rmsprop_tf1", "constant", ""},
                          {"copy", "tbptt:original", "sgd", "factor_at", ""},
                          {"copy", "tbptt:buffer", "sgd", "inverse_sqrt", ""},
                          {"stream", "adaptive_tbptt", "adam", "constant", ""},
                          {"add", "fptt", "adam", "constant", ""},
                          {"copy", "fptt:gradient", "momentum", "constant", ""},
                          {"mnist", "fptt:examples", "adam", "constant", ""},
                          {"mnist", "bptt:examples", "asgd", "constant", ""},
                          {"stream", "fpp:plain", "adam", "constant", ""},
                          {"stream", "fpp:decay", "sgd", "constant", ""},
                          {"stream", "fpp:random", "adagrad", "constant", ""},
                          {"stream", "sliding_tbptt", "sgd", "constant", ""},
                          {"copy", "target_propagation:chain", "adagrad", "constant", ""},
                          {"copy", "target_propagation:zeros", "sgd", "constant", ""}};
  std::vector<Variant> list;
  for (const EngineType* engine : all_engines())
    for (Variant row : rows) {
      row.engine = engine->name;
      if (!engine->exact) list.push_back(row);
    }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Methods, OnEngines, ::testing::ValuesIn(variants()), [](const auto& info) {
  std::string name = name_of(info.param);
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

}  // namespace
}  // namespace throughtime::testing
