// What a run says about a recording: its evaluation, the curves of a forecast and a step by step prediction are the
// same numbers, in the levels of the file.

#include "train/predict/forecast.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "support/scratch.h"
#include "tasks/series/forecast_band.h"
#include "train/predict/predictor.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;

constexpr int recorded = 120;
double recorded_y(int t) { return 40 + 5 * std::sin(0.4 * t) + 0.1 * t; }
double recorded_x(int t) { return std::cos(0.4 * t); }

struct ForecastCase {
  std::string head;
  bool difference = false;
  std::vector<int> horizon = {1};
};

class Forecasts : public ::testing::Test {
 protected:
  RunConfig config(const ForecastCase& choice) {
    RunConfig config;
    config.task.name = "series";
    std::string text = "x,y\n";
    for (int t = 0; t < recorded; ++t) text += fmt::format("{:.6f},{:.6f}\n", recorded_x(t), recorded_y(t));
    config.task.series = {.length = 20,
                          .path = scratch_.write("data.csv", text),
                          .targets = {"y"},
                          .horizon = choice.horizon,
                          .difference = choice.difference,
                          .splits = {0.5, 0.25, 0.25}};
    config.model.hidden = {5};
    config.model.head = choice.head;
    config.model.levels = {0.2, 0.5, 0.8};
    config.train.iterations = 6;
    config.train.batch = 2;
    config.run.engine = "reference";
    config.run.name = "run";
    config.run.directory = (scratch_ / "run").string();
    return config;
  }
  ScratchDirectory scratch_;
};

TEST_F(Forecasts, AreThoseOfAPredictorThatReadsTheFile) {
  for (const ForecastCase& choice :
       {ForecastCase{}, ForecastCase{.difference = true}, ForecastCase{"quantile", true, {1, 3}},
        ForecastCase{"gaussian", true}, ForecastCase{"gaussian", false, {2, 5}}, ForecastCase{"quantile"}}) {
    SCOPED_TRACE(
        fmt::format("head '{}' difference {} horizons {}", choice.head, choice.difference, choice.horizon.size()));
    Observer nobody;
    const RunResult result = train_run(config(choice), nobody, true);
    const std::string directory = (scratch_ / "run").string();
    const std::unique_ptr<Trainer> trainer = open_run(directory, false);
    const RunForecast forecast = forecast_of(*trainer, Split::test, 0);
    const std::size_t targets = choice.horizon.size();
    ASSERT_EQ(forecast.targets.size(), targets);
    EXPECT_EQ(forecast.levels.empty(), choice.head.empty());

    TrainedModel trained(directory, false);
    Predictor predictor(trained);
    predictor.reset();
    const std::size_t steps = forecast.targets[0].row.size();
    EXPECT_EQ(steps, 30u - static_cast<std::size_t>(choice.horizon.back()));
    std::vector<double> squares(targets, 0);
    double pinball = 0, covered = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      const int t = 90 + static_cast<int>(step);
      const std::vector<double> said = predictor.step(-1, {recorded_x(t), recorded_y(t)});
      ASSERT_EQ(said.size(), predictor.output_names().size());
      for (std::size_t i = 0; i < targets; ++i) {
        const ForecastCurve& curve = forecast.targets[i];
        const double point = said[choice.head == "quantile" ? targets + i : i];
        EXPECT_EQ(curve.row[step], t + choice.horizon[i]);
        EXPECT_NEAR(curve.truth[step], recorded_y(t + choice.horizon[i]), 1e-5);
        squares[i] += std::pow(curve.forecast[step] - curve.truth[step], 2);
        if (choice.head.empty()) {
          EXPECT_NEAR(curve.forecast[step], point, 1e-4);
          EXPECT_TRUE(curve.low.empty());
          continue;
        }
        double low = said[i], high = said[2 * targets + i < said.size() ? 2 * targets + i : i];
        if (choice.head == "gaussian") {
          low = point - 0.8416212335729143 * said[targets + i];
          high = point + 0.8416212335729143 * said[targets + i];
          EXPECT_NEAR(curve.forecast[step], point, 1e-4);
        }
        std::vector<double> ordered = {low, point, high};
        std::sort(ordered.begin(), ordered.end());
        EXPECT_NEAR(curve.low[step], ordered[0], 1e-4);
        EXPECT_NEAR(curve.forecast[step], ordered[1], 1e-4);
        EXPECT_NEAR(curve.high[step], ordered[2], 1e-4);
        const std::vector<double> levels = {0.2, 0.5, 0.8};
        for (std::size_t k = 0; k < 3; ++k) {
          const double above = curve.truth[step] - ordered[k];
          pinball += std::max(levels[k] * above, (levels[k] - 1) * above) / 3 / curve.target.scale;
        }
        covered += curve.truth[step] >= ordered[0] && curve.truth[step] <= ordered[2] ? 1 : 0;
      }
    }
    // The evaluation's error is that of the curves.
    double mean = 0;
    for (const double sum : squares) mean += sum / static_cast<double>(steps) / static_cast<double>(targets);
    const Evaluation evaluation = trainer->evaluate(Split::test);
    const auto score = [&](const std::string& name) {
      for (const Score& each : evaluation.scores)
        if (each.name == name) return each.value;
      return std::nan("");
    };
    EXPECT_NEAR(score("original_mse"), mean, 1e-6 * mean);
    EXPECT_NEAR(score("original_rmse"), std::sqrt(mean), 1e-6 * mean);
    EXPECT_EQ(result.test->metric, score("mse"));
    EXPECT_EQ(std::isnan(score("coverage")), choice.head.empty());
    if (!choice.head.empty()) {
      const double count = static_cast<double>(steps * targets);
      EXPECT_NEAR(score("pinball"), pinball / count, 1e-5);
      EXPECT_NEAR(score("coverage"), covered / count, 1e-12);
    }
    if (choice.head.empty() && !choice.difference) {
      EXPECT_NEAR(score("mse"), evaluation.loss, 1e-6);
    }
  }
}

TEST_F(Forecasts, AtHorizonZeroAChangeIsAddedToTheStepBefore) {
  for (const std::string head : {"", "gaussian"})
    for (const std::vector<int>& horizon : {std::vector<int>{0}, {0, 3}}) {
      SCOPED_TRACE(fmt::format("head '{}' horizons {}", head, horizon.size()));
      RunConfig run = config({head, true, horizon});
      run.task.series.inputs = {"x"};
      Observer nobody;
      train_run(run, nobody, true);
      const std::unique_ptr<Trainer> trainer = open_run(scratch_ / "run", false);
      const RunForecast forecast = forecast_of(*trainer, Split::test, 0);
      TrainedModel trained((scratch_ / "run").string(), false), same((scratch_ / "run").string(), false);
      Predictor changes(trained), levels(same);
      EXPECT_EQ(changes.missing_levels(), std::vector<std::string>{"y"});
      levels.bring_levels({"y"});
      EXPECT_EQ(changes.output_names()[0], horizon.size() == 1 ? "y change" : "y +0 change");
      EXPECT_EQ(levels.output_names()[0], horizon.size() == 1 ? "y" : "y +0");
      for (int sequence = 0; sequence < 2; ++sequence) {
        changes.reset();
        levels.reset();
        for (std::size_t step = 0; step < forecast.targets[0].row.size(); ++step) {
          const int t = 90 + static_cast<int>(step);
          const std::vector<double> change = changes.step(-1, {recorded_x(t)});
          const std::vector<double> level = levels.step(-1, {recorded_x(t)}, {recorded_y(t)});
          for (std::size_t i = 0; i < horizon.size(); ++i) {
            const int before = horizon[i] == 0 ? t - 1 : t;
            EXPECT_NEAR(forecast.targets[i].forecast[step], change[i] + recorded_y(before), 1e-4) << step;
            // The first step of a sequence knows no step before it.
            EXPECT_NEAR(level[i], change[i] + recorded_y(step == 0 ? t : before), 1e-4) << step;
          }
          if (head == "gaussian") {
            EXPECT_EQ(level[horizon.size()], change[horizon.size()]) << "a deviation has no level";
          }
        }
      }
    }
}

TEST_F(Forecasts, HaveAsManyRowsAsAskedFor) {
  Observer nobody;
  train_run(config({}), nobody);
  const std::unique_ptr<Trainer> trainer = open_run(scratch_ / "run", false);
  const RunForecast all = forecast_of(*trainer, Split::validation, 0),
                    last = forecast_of(*trainer, Split::validation, 1);
  ASSERT_EQ(last.targets[0].row.size(), 1u);
  EXPECT_EQ(last.targets[0].row[0], 89);
  EXPECT_EQ(last.targets[0].forecast[0], all.targets[0].forecast.back());
  EXPECT_EQ(forecast_of(*trainer, Split::validation, 1000).targets[0].row.size(), all.targets[0].row.size());
}

TEST_F(Forecasts, RefuseWhatHasNone) {
  Observer nobody;
  RunConfig add;
  add.task.add.length = 5;
  add.model.hidden = {2};
  add.train.iterations = 1;
  add.train.batch = 2;
  add.run.engine = "reference";
  add.run.directory = (scratch_ / "add").string();
  train_run(add, nobody);
  EXPECT_REFUSED(forecast_of(*open_run(scratch_ / "add", false), Split::test, 0), "a forecast is of task.name");
  RunConfig whole = config({});
  whole.task.series.splits = {1, 0, 0};
  train_run(whole, nobody);
  EXPECT_REFUSED(forecast_of(*open_run(scratch_ / "run", false), Split::test, 0), "no test split");
}

TEST_F(Forecasts, OneStepOfOneRowIsEnough) {
  RunConfig smallest = config({"quantile", true, {1}});
  smallest.task.series.path = scratch_.write("small.csv", "y\n1\n2\n4\n7\n");
  smallest.task.series.length = 1;
  smallest.task.series.splits = {0.5, 0, 0.5};
  smallest.train.batch = 1;
  Observer nobody;
  train_run(smallest, nobody);
  const RunForecast forecast = forecast_of(*open_run(scratch_ / "run", false), Split::test, 500);
  ASSERT_EQ(forecast.targets[0].row.size(), 1u);
  EXPECT_EQ(forecast.targets[0].truth[0], 7);
}

TEST(ForecastBand, NormalQuantilesAreKnownNumbers) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-9);
  EXPECT_NEAR(normal_quantile(0.1), -1.2815515655446004, 1e-9);
  EXPECT_NEAR(normal_quantile(1e-12), -7.034483825, 1e-6);
}

TEST(ForecastBand, TheMedianIsBetweenItsNeighbours) {
  const auto point = [](const std::vector<double>& levels, const std::vector<double>& predictions) {
    ModelConfig config;
    config.input.reals = 1;
    config.layers = {{.cell = "gru", .hidden = 1, .options = {}}};
    config.head = {.name = "quantile", .outputs = static_cast<int>(levels.size()), .levels = levels};
    return ForecastBand(Model(config)).point(predictions.data(), 0);
  };
  EXPECT_EQ(point({0.1, 0.5, 0.9}, {1, 2, 9}), 2);
  EXPECT_EQ(point({0.1, 0.5, 0.9}, {9, 2, 4}), 4) << "crossed quantiles are put in order";
  EXPECT_NEAR(point({0.25, 0.75}, {1, 3}), 2, 1e-12);
  EXPECT_NEAR(point({0.4, 0.9}, {0, 10}), 2, 1e-12);
  EXPECT_EQ(point({0.8, 0.9}, {5, 6}), 5);
  EXPECT_EQ(point({0.1, 0.2}, {5, 6}), 6);
}

}  // namespace
}  // namespace throughtime
