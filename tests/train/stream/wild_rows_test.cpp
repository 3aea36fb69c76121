// What one wild row, a shifted level and a poisonous number leave behind in a stream.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "support/errors.h"
#include "throughtime/random.h"
#include "train/checkpoint/checkpoint.h"
#include "train/stream/forecaster.h"

namespace throughtime {
namespace {

RunConfig config_of(const std::string& stream) {
  return parse_config(
      "[task]\nname = \"series\"\nseries.inputs = [\"y\"]\n[model]\nhidden = 16\n[learner]\nname = \"tbptt\"\n"
      "[learner.tbptt]\npreset = \"original\"\ntruncation = 5\n[optimizer]\nrate = 0.002\nclip = 1.0\n[run]\n"
      "threads = 1\n[stream]\n" +
          stream,
      "test");
}

StreamRow row_of(double value) {
  StreamRow row;
  row.inputs = row.targets = {static_cast<float>(value)};
  row.has_targets = true;
  return row;
}

using Series = std::function<double(int)>;

/// A sine with noise of deviation 0.1.
double wave(int t) {
  const Random random(1, Purpose::task);
  double noise = 0;
  for (std::uint32_t part = 0; part < 12; ++part) noise += random.uniform(static_cast<std::uint64_t>(t), part, 0) - 0.5;
  return std::sin(0.1 * t) + 0.1 * noise;
}

struct Errors {
  double model = 0, naive = 0;
  double ratio() const { return model / naive; }
};

/// Squared errors of the forecasts that are made in rows [first, last).
Errors errors_between(const RunConfig& config, const Series& series, int first, int last) {
  StreamForecaster forecaster(config);
  Errors errors;
  for (int t = 0; t < last; ++t) {
    const double prediction = forecaster.take(row_of(series(t)))[0];
    if (t < first) continue;
    errors.model += std::pow(prediction - series(t + 1), 2);
    errors.naive += std::pow(series(t) - series(t + 1), 2);
  }
  return errors;
}

class WildRows : public ::testing::TestWithParam<const char*> {
 protected:
  RunConfig config() const { return config_of(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Targets, WildRows, ::testing::Values("difference = true\n", "difference = false\n"));

TEST_P(WildRows, OneRowOfTenThousandIsForgottenWithinSomeHundredRows) {
  const Series series = [](int t) { return t == 1500 ? 10'000 : wave(t); };
  const double clean = errors_between(config(), wave, 2000, 4000).ratio();
  EXPECT_LT(errors_between(config(), series, 2000, 4000).ratio(), 1.3 * clean);
}

TEST_P(WildRows, ThousandsOfRowsAMillionTimesAsLargeAreForgottenToo) {
  const Series larger = [](int t) { return (t >= 1500 && t < 3000 ? 1e6 : 1) * wave(t); };
  const Series higher = [](int t) { return (t >= 1500 && t < 3000 ? 1e6 : 0) + wave(t); };
  const double clean = errors_between(config(), wave, 4500, 6000).ratio();
  for (const Series& series : {larger, higher}) {
    EXPECT_LT(errors_between(config(), series, 4500, 6000).ratio(), 2 * clean);
    EXPECT_LT(errors_between(config(), series, 2500, 2999).ratio(), 4 * clean);
  }
}

TEST_P(WildRows, TheScalesOfAllRowsNeverForget) {
  RunConfig all = config();
  all.stream.scales.scaling = Scaling::all;
  const Series higher = [](int t) { return (t >= 1500 && t < 3000 ? 1e6 : 0) + wave(t); };
  EXPECT_GT(errors_between(all, higher, 4500, 6000).ratio(), 4);
}

TEST(StreamForecaster, ForecastsTheRowsSeenBeforeAnythingIsLearned) {
  for (const int horizon : {1, 3}) {
    RunConfig config = config_of("");
    config.task.series.horizon = {horizon};
    StreamForecaster forecaster(config);
    EXPECT_DOUBLE_EQ(forecaster.take(row_of(100))[0], 100);  // the mean of one row
    const double second = forecaster.take(row_of(101))[0];
    EXPECT_NEAR(second, 100.5, 0.5);  // the mean of two, and what untrained weights make of a deviation of 0.5
    EXPECT_NEAR(forecaster.take(row_of(102))[0], 101, 1);
  }
}

TEST(StreamForecaster, RefusesAPoisonousRowAndIsAsBefore) {
  const RunConfig config = config_of("difference = true\n");
  StreamForecaster with(config), without(config);
  const auto same = [&](double value) { EXPECT_EQ(with.take(row_of(value)), without.take(row_of(value))) << value; };
  for (const double value : {1.0, 2.0, 1.0, 3e38}) same(value);
  EXPECT_REFUSED(with.take(row_of(-3e38)), "is larger than any number of single precision");
  for (const double value : {1.0, 2.0, 1.5, 2.5}) same(value);
  EXPECT_EQ(with.counts().rows, without.counts().rows);
  RunConfig unscaled = config;
  unscaled.task.series.standardise = false;
  StreamForecaster raw(unscaled);
  EXPECT_REFUSED(raw.take(row_of(1e20)), "is too large for a model without task.series.standardise");
  for (const double value : {1.0, 2.0, 1.0}) EXPECT_TRUE(std::isfinite(raw.take(row_of(value))[0]));
}

TEST(StreamForecaster, HasAsManyTensorsWithManySlotsAsWithOne) {
  std::size_t tensors[2];
  for (const int slots : {1, 40}) {
    RunConfig config = config_of("");
    config.stream.slots = slots;
    StreamForecaster forecaster(config);
    StreamRow row = row_of(1);
    for (int t = 0; t < 100; ++t) {
      row.id = "stream " + std::to_string(t % slots);
      row.inputs = row.targets = {static_cast<float>(wave(t))};
      forecaster.take(row);
    }
    TensorFile file;
    SavingArchive saving(file);
    forecaster.archive(saving);
    tensors[slots > 1] = file.tensors.size();
    // What was saved goes on as what saved it.
    StreamForecaster loaded(config);
    LoadingArchive loading(file);
    loaded.archive(loading);
    for (int t = 100; t < 150; ++t) {
      row.id = "stream " + std::to_string(t % (slots + 1));
      row.inputs = row.targets = {static_cast<float>(wave(t))};
      EXPECT_EQ(loaded.take(row), forecaster.take(row)) << slots << " slots, row " << t;
    }
    EXPECT_EQ(loaded.rows_of("stream 0"), forecaster.rows_of("stream 0"));
  }
  EXPECT_EQ(tensors[0], tensors[1]);
}

}  // namespace
}  // namespace throughtime
