#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "support/digits.h"
#include "support/scratch.h"
#include "throughtime/error.h"
#include "train/run/run_variants.h"
#include "train/stream/forecaster.h"

namespace throughtime {
namespace {

using testing::config_of;
using testing::ScratchDirectory;
using testing::StopAt;
using testing::Variant;

/// What somebody may have written in the place of a tensor. `never`: no field of its kind can be that.
struct Forgery {
  std::string what;
  Tensor tensor;
  bool never = false;
};

Tensor of_length(const Tensor& tensor, std::size_t length) {
  Tensor changed = tensor;
  changed.data.resize(length * type_bytes(tensor.type));
  changed.shape = {static_cast<std::int64_t>(length)};
  return changed;
}

/// All numbers, or only the last one, become `value`.
template <class Stored, class Value>
Tensor with_value(const Tensor& tensor, Value value, bool all) {
  Tensor changed = tensor;
  const auto stored = static_cast<Stored>(value);
  for (std::size_t i = all ? 0 : tensor.size() - 1; i < tensor.size(); ++i)
    std::memcpy(changed.data.data() + i * sizeof(Stored), &stored, sizeof(Stored));
  return changed;
}

std::vector<Forgery> forgeries_of(const Tensor& tensor) {
  std::vector<Forgery> list = {{"longer", of_length(tensor, tensor.size() + 1), true}};
  if (tensor.size() == 0) return list;
  list.push_back({"shorter", of_length(tensor, tensor.size() - 1), tensor.size() > 1});
  for (const bool all : {true, false}) {
    using Whole = std::numeric_limits<std::int64_t>;
    const std::vector<std::int64_t> integers = {Whole::min(), Whole::max(), -1, 0, 1, 2, 255, 1 << 30, 1LL << 40};
    if (tensor.type == "I64")
      for (const std::int64_t value : integers)
        list.push_back({fmt::format("{}", value), with_value<std::int64_t>(tensor, value, all),
                        value == Whole::min() || value == Whole::max()});
    using Real = std::numeric_limits<double>;
    const std::vector<double> numbers = {
        Real::quiet_NaN(), Real::infinity(), -Real::infinity(), -1.0, 0.0, 1e30, -1e30};
    for (const double value : numbers) {
      const bool never = !std::isfinite(value);
      if (tensor.type == "F64")
        list.push_back({fmt::format("{}", value), with_value<double>(tensor, value, all), never});
      if (tensor.type == "F32")
        list.push_back({fmt::format("{}", value), with_value<float>(tensor, value, all), never});
    }
  }
  return list;
}

/// Numbers that a report shows and nothing is computed from.
bool only_shown(const std::string& name) {
  static const std::set<std::string> names = {
      "trainer.train_loss", "trainer.train_accuracy", "trainer.cumulative_loss", "trainer.cumulative_accuracy",
      "trainer.best",       "learner.estimate.beta",  "learner.estimate.kappa"};
  const std::string_view prefix = "throughtime.";
  if (!name.starts_with(prefix)) return false;
  const std::string field = name.substr(prefix.size());
  return names.contains(field) || field.starts_with("learner.estimate.relative_bias");
}

/// Loads the file with each of its tensors forged in every way, and goes on. Each ends well or with one line; what can
/// never be is refused at once.
template <class Load, class GoOn>
void forge_all(const TensorFile& whole, const Load& load, const GoOn& go_on) {
  for (std::size_t at = 0; at < whole.tensors.size(); ++at) {
    const Tensor& tensor = whole.tensors[at];
    for (const Forgery& forgery : forgeries_of(tensor)) {
      SCOPED_TRACE(tensor.name + " " + forgery.what);
      TensorFile file = whole;
      file.tensors[at] = forgery.tensor;
      bool refused = false;
      try {
        auto owner = load(file, refused);
        go_on(*owner);
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      }
      const bool of_any_length = tensor.name.find(".id") != std::string::npos && forgery.what.ends_with("er");
      if (forgery.never && !only_shown(tensor.name) && !of_any_length) {
        EXPECT_TRUE(refused);
      }
    }
  }
}

/// Shows the file to the owner's list of fields; notes a refusal on its way out.
template <class Owner>
void show(const TensorFile& file, Owner& owner, bool& refused) {
  try {
    LoadingArchive archive(file);
    owner.archive(archive);
  } catch (const InvalidInput&) {
    refused = true;
    throw;
  }
}

class HostileCheckpoint : public ::testing::TestWithParam<Variant> {};

TEST_P(HostileCheckpoint, EveryFieldIsLookedAt) {
  const ScratchDirectory directory;
  RunConfig config = config_of(GetParam(), directory / "run");
  if (GetParam().task == "mnist") {
    testing::write_digits(directory, "train", 20, 0, "data/");
    testing::write_digits(directory, "t10k", 5, 3, "data/");
  }
  if (GetParam().task == "text") testing::set_words(config, directory / "words.txt", 300);
  if (GetParam().choice() == "persist") testing::set_length(config, 200);  // all of the text
  config.model.hidden = {3};
  config.train.batch = 2;
  config.train.evaluate_every = 20;
  Trainer trainer(config);
  StopAt seven(7);
  trainer.run(seven, false);
  TensorFile whole;
  SavingArchive saving(whole);
  trainer.archive(saving);
  const auto load = [&](const TensorFile& file, bool& refused) {
    auto loaded = std::make_unique<Trainer>(config);
    show(file, *loaded, refused);
    return loaded;
  };
  bool refused = false;
  StopAt three(3);
  EXPECT_EQ(load(whole, refused)->run(three, false).iteration, 10);
  forge_all(whole, load, [](Trainer& loaded) {
    StopAt three(3);
    loaded.run(three, false);
  });
}

INSTANTIATE_TEST_SUITE_P(Learners, HostileCheckpoint,
                         ::testing::Values(Variant{"add", "bptt", "adam", "plateau", "cpu"},
                                           Variant{"text", "recompute", "adagrad", "constant", "cpu"},
                                           Variant{"text", "tbptt:paper", "rmsprop", "constant", "cpu"},
                                           Variant{"stream", "tbptt:original", "asgd", "constant", "reference"},
                                           Variant{"text", "adaptive_tbptt", "sgd", "constant", "cpu"},
                                           Variant{"mnist", "fptt:examples", "momentum", "constant", "cpu"},
                                           Variant{"mnist", "fptt:class_wrong", "sgd", "constant", "cpu"},
                                           Variant{"copy", "fptt:gradient", "adadelta", "constant", "reference"},
                                           Variant{"text", "fpp:decay", "adam", "constant", "cpu"},
                                           Variant{"stream", "fpp:random", "sgd", "constant", "reference"},
                                           Variant{"text", "sliding_tbptt", "sgd", "constant", "cpu"},
                                           Variant{"add", "target_propagation:zeros", "adam", "constant", "cpu"},
                                           Variant{"text", "target_propagation:persist", "sgd", "constant", "cpu"}),
                         [](const auto& info) {
                           std::string name = testing::name_of(info.param);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

class HostileStream : public ::testing::TestWithParam<std::string> {};

TEST_P(HostileStream, EveryFieldIsLookedAt) {
  RunConfig config;
  config.task.name = "series";
  config.task.series.inputs = {"a", "b"};
  config.task.series.targets = {"a"};
  config.task.series.horizon = {2};
  config.model.hidden = {3};
  config.stream.slots = 2;
  config.stream.rolling = 4;
  config.run.threads = 1;
  testing::set_learner({"stream", GetParam(), "", "", ""}, config.learner);
  if (config.learner.name == "tbptt") config.learner.tbptt.truncation = 3;
  if (config.learner.name == "fptt") config.learner.fptt = {.window_length = 3};
  int row = 0;
  const auto take = [&row](StreamForecaster& forecaster, int rows) {
    for (int end = row + rows; row < end; ++row) {
      const float value = std::sin(0.3f * static_cast<float>(row));
      forecaster.take({.id = row % 3 == 0 ? "other" : "one",
                       .inputs = {value, 1 - value},
                       .targets = {value},
                       .has_targets = true});
    }
  };
  StreamForecaster forecaster(config);
  take(forecaster, 20);
  TensorFile whole;
  SavingArchive saving(whole);
  forecaster.archive(saving);
  const auto load = [&](const TensorFile& file, bool& refused) {
    auto loaded = std::make_unique<StreamForecaster>(config);
    show(file, *loaded, refused);
    return loaded;
  };
  forge_all(whole, load, [&](StreamForecaster& loaded) { take(loaded, 9); });
}

INSTANTIATE_TEST_SUITE_P(Learners, HostileStream,
                         ::testing::Values("tbptt:original", "fptt", "fpp:plain", "sliding_tbptt", "adaptive_tbptt"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

}  // namespace
}  // namespace throughtime
