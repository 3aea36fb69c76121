// What a series is asked for besides levels one horizon ahead: changes, several horizons, columns that are known ahead,
// missing values, and the forecasts that it is compared with.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/errors.h"
#include "tasks/series/forecast_scores.h"
#include "tasks/series/series_rivals.h"
#include "tasks/series/standardisation.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

double y_of(int t) { return 3 * std::sin(0.3 * t) + 0.01 * t * t; }
double x_of(int t) { return (t * 7) % 5; }

class Forecast : public ::testing::Test {
 protected:
  Forecast() {
    std::string text = "x,y\n";
    for (int t = 0; t < rows; ++t) text += fmt::format("{},{}\n", x_of(t), y_of(t));
    config_.path = directory_.write("waves.csv", text);
    config_.targets = {"y"};
  }
  /// What a perfect model would give out, as levels.
  static void expect_levels(const Task& task, Task& batches, Split split, int begin, const std::vector<int>& horizons) {
    const ForecastView& view = *task.forecast();
    ASSERT_EQ(view.targets().size(), horizons.size());
    const Window& window = batches.make_batch(split, 0, 1);
    for (int step = 0; step < window.steps; ++step)
      for (std::size_t i = 0; i < horizons.size(); ++i) {
        const double wanted = y_of(begin + step + horizons[i]);
        EXPECT_NEAR(view.level(split, step, i), wanted, 1e-5);
        const ForecastTarget& target = view.targets()[i];
        const double output = target_at(window, step, 0, static_cast<int>(i));
        EXPECT_NEAR(view.base(split, step, i) + target.mean + target.deviation * output, wanted, 1e-4) << step;
        EXPECT_EQ(view.row(split, step), begin + step);
      }
  }

  static constexpr int rows = 60;
  ScratchDirectory directory_;
  SeriesConfig config_ = {.length = 50, .splits = {0.5, 0.25, 0.25}};
};

TEST_F(Forecast, ChangesAndLevelsAreTheSameForecast) {
  for (const bool difference : {false, true})
    for (const bool standardise : {false, true})
      for (const std::vector<int>& horizons : {std::vector<int>{1}, {3}, {0}, {1, 4}, {0, 2}}) {
        SCOPED_TRACE(fmt::format("difference {} standardise {} horizons {}", difference, standardise, horizons.size()));
        config_.difference = difference;
        config_.standardise = standardise;
        config_.horizon = horizons;
        const auto task = make_task(config_, 1);
        expect_levels(*task, *task, Split::train, 0, horizons);
        expect_levels(*task, *task, Split::test, 45, horizons);
        EXPECT_EQ(task->make_batch(Split::test, 0, 1).steps, 15 - horizons.back());
      }
}

TEST_F(Forecast, AChangeOfZeroIsNoChange) {
  config_.difference = true;
  config_.horizon = {2};
  const auto task = make_task(config_, 1);
  const ForecastTarget& target = task->forecast()->targets().front();
  EXPECT_EQ(target.mean, 0);
  double squares = 0;
  for (int t = 0; t + 2 < 30; ++t) squares += std::pow(y_of(t + 2) - y_of(t), 2);
  EXPECT_NEAR(target.deviation, std::sqrt(squares / 28), 1e-4);
  EXPECT_EQ(task->head().outputs, 1);
  // Errors are scaled by the deviation of the level, whatever the model predicts.
  config_.difference = false;
  EXPECT_NEAR(target.scale, make_task(config_, 1)->forecast()->targets().front().scale, 1e-12);
  EXPECT_NEAR(task->baseline(), make_task(config_, 1)->baseline(), 1e-12);
}

TEST_F(Forecast, SeveralHorizonsHaveNames) {
  config_.horizon = {1, 4};
  config_.targets = {"y", "x"};
  const auto task = make_task(config_, 1);
  std::vector<std::string> names;
  for (const ForecastTarget& target : task->forecast()->targets()) names.push_back(target.name);
  EXPECT_EQ(names, (std::vector<std::string>{"y +1", "x +1", "y +4", "x +4"}));
  EXPECT_EQ(task->head().outputs, 4);
  EXPECT_NEAR(task->forecast()->level(Split::validation, 2, 3), x_of(30 + 2 + 4), 1e-6);
  ScratchDirectory run;
  task->save(run.path());
  EXPECT_EQ(Standardisation::load(run.path()).targets[2].column, "y +4");
}

TEST_F(Forecast, KnownColumnsEnterAsTheyWillBe) {
  config_.inputs = {"y"};
  config_.known = {"x"};
  config_.horizon = {0, 1, 4};
  config_.standardise = false;
  const auto task = make_task(config_, 1);
  EXPECT_EQ(task->input().reals, 3);
  EXPECT_EQ(task->notes().front(), "inputs: y, x +1, x +4; targets: y +0, y +1, y +4");
  const Window& window = task->make_batch(Split::validation, 0, 1);
  for (int step = 0; step < window.steps; ++step) {
    EXPECT_NEAR(value_at(window, step, 0, 0), y_of(30 + step), 1e-5);
    EXPECT_EQ(value_at(window, step, 0, 1), static_cast<float>(x_of(30 + step + 1)));
    EXPECT_EQ(value_at(window, step, 0, 2), static_cast<float>(x_of(30 + step + 4)));
  }
  config_.standardise = true;
  const auto scaled = make_task(config_, 1);
  ScratchDirectory run;
  scaled->save(run.path());
  const Standardisation saved = Standardisation::load(run.path());
  ASSERT_EQ(saved.inputs.size(), 3u);
  EXPECT_EQ(saved.inputs[1].column, "x +1");
  EXPECT_EQ(saved.inputs[1].mean, saved.inputs[2].mean);
  config_.horizon = {0};
  EXPECT_REFUSED(make_task(config_, 1), "task.series.known needs a task.series.horizon of at least 1");
  config_.horizon = {1};
  config_.known = {"z"};
  EXPECT_REFUSED(make_task(config_, 1), "'z'");
}

TEST_F(Forecast, MissingValuesAreHeldOrSkipped) {
  const auto write = [&](const std::string& text) { config_.path = directory_.write("gaps.csv", text); };
  write("x,y\n,1\n1,2\n2,\n3,nan\n4,5\n5,6\n6,7\n7,8\n");
  config_.splits = {1, 0, 0};
  config_.standardise = false;
  EXPECT_REFUSED(make_task(config_, 1), "task.series.missing");
  for (const MissingValues missing : {MissingValues::hold, MissingValues::skip}) {
    config_.missing = missing;
    const auto task = make_task(config_, 1);
    const Window& window = task->make_batch(Split::train, 0, 1);
    ASSERT_EQ(window.steps, 7);
    validate(window);
    const std::vector<float> x = {1, 1, 2, 3, 4, 5, 6}, y = {1, 2, 2, 2, 5, 6, 7}, wanted = {2, 2, 2, 5, 6, 7, 8};
    std::vector<float> weights = {1, 1, 1, 1, 1, 1, 1};
    if (missing == MissingValues::skip) weights[1] = weights[2] = 0;  // their targets are missing
    for (int step = 0; step < 7; ++step) {
      EXPECT_EQ(value_at(window, step, 0, 0), x[step]) << step;
      EXPECT_EQ(value_at(window, step, 0, 1), y[step]) << step;
      EXPECT_EQ(target_at(window, step, 0), wanted[step]) << step;
      EXPECT_EQ(window.weight_at(step, 0), weights[step]) << step;
    }
    EXPECT_NE(task->notes()[1].find("3 missing values are held"), std::string::npos) << task->notes()[1];
  }
  // Raw floats have the same gaps as NaN.
  std::vector<float> numbers;
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const float number : {none, 1.f, 1.f, 2.f, 2.f, none, 3.f, none, 4.f, 5.f, 5.f, 6.f, 6.f, 7.f, 7.f, 8.f})
    numbers.push_back(number);
  SeriesConfig raw = config_;
  raw.path = directory_.write("gaps.f32", {reinterpret_cast<const char*>(numbers.data()), 64});
  raw.channels = 2;
  raw.targets = {"1"};
  const auto of_table = make_task(config_, 1), of_floats = make_task(raw, 1);
  const Window& table = of_table->make_batch(Split::train, 0, 1);
  const Window& floats = of_floats->make_batch(Split::train, 0, 1);
  EXPECT_EQ(floats.weight, table.weight);
  EXPECT_TRUE(std::ranges::equal(floats.sources[0].values, table.sources[0].values));
  raw.missing = MissingValues::refuse;
  EXPECT_REFUSED(make_task(raw, 1), "number 0 (from 0) is not finite");
  // A change needs both of its ends.
  config_.difference = true;
  const auto changes = make_task(config_, 1);
  const Window& window = changes->make_batch(Split::train, 0, 1);
  for (int step = 0; step < 7; ++step) EXPECT_EQ(window.weight_at(step, 0), step >= 1 && step <= 3 ? 0 : 1) << step;
  // The baseline skips the same steps: changes of 1 are left.
  EXPECT_NEAR(changes->baselines(Split::train).front(), 1, 1e-12);
  write("x,y\n1,\n2,\n3,\n");
  config_.inputs = {"x"};
  EXPECT_REFUSED(make_task(config_, 1), "column 'y' of");
}

TEST_F(Forecast, RefusesHorizonsThatAreNone) {
  config_.horizon = {};
  EXPECT_REFUSED(make_task(config_, 1), "at least one horizon");
  config_.horizon = {4, 4};
  EXPECT_REFUSED(make_task(config_, 1), "must ascend, got 4, 4");
  config_.horizon = {1, 30};
  EXPECT_REFUSED(make_task(config_, 1), "too few for a horizon of 30");
  config_.horizon = {-1};
  EXPECT_REFUSED(make_task(config_, 1), "task.series.horizon");
}

TEST(ForecastScores, AreMeansInBothUnits) {
  const std::vector<ForecastTarget> targets = {{.name = "a", .scale = 2}, {.name = "b", .scale = 10}};
  ForecastScores scores(targets);
  scores.add(0, 1, 10, 12);   // an error of 2
  scores.add(0, 3, 20, 16);   // of -4, three times
  scores.add(1, 1, -5, -15);  // of -10
  EXPECT_DOUBLE_EQ(scores.score(Metric::original_mse, 0), (4 + 3 * 16) / 4.0);
  EXPECT_DOUBLE_EQ(scores.score(Metric::mse, 0), 13.0 / 4);
  EXPECT_DOUBLE_EQ(scores.score(Metric::mse), (13.0 / 4 + 1) / 2);
  EXPECT_DOUBLE_EQ(scores.score(Metric::rmse), std::sqrt((13.0 / 4 + 1) / 2));
  EXPECT_DOUBLE_EQ(scores.score(Metric::original_rmse, 0), std::sqrt(13.0));
  EXPECT_DOUBLE_EQ(scores.score(Metric::mae), ((2 + 12) / 4.0 / 2 + 1) / 2);
  EXPECT_DOUBLE_EQ(scores.score(Metric::original_mae, 0), 3.5);
  EXPECT_DOUBLE_EQ(scores.score(Metric::esr, 0), 52.0 / (100 + 1200));
  EXPECT_DOUBLE_EQ(scores.score(Metric::esr, 1), 100.0 / 25);
  EXPECT_REFUSED(scores.score(Metric::accuracy, 0), "no metric of a forecast");
}

TEST(ForecastScores, PreEmphasisFiltersTruthAndForecastAlongARow) {
  constexpr double c = 0.85;
  const std::vector<ForecastTarget> targets = {{.name = "a"}};
  ForecastScores scores(targets, c);
  const auto truth = [](int t) { return 3 * std::sin(0.3 * t) + 1; };
  const auto said = [&](int t) { return truth(t) + 0.5 * std::cos(1.7 * t); };
  double errors = 0, signal = 0;
  for (int t = 0; t < 50; ++t)  // two rows side by side: steps 0 to 49 and 50 to 99; step 70 is missing
    for (const int first : {0, 50})
      if (first + t != 70)
        scores.add(0, 2, truth(first + t), said(first + t), {.step = first + t, .row = first == 0 ? 0u : 1u});
  for (int t = 1; t < 100; ++t) {
    if (t == 50 || t == 70 || t == 71) continue;  // nothing comes before it
    const double wanted = truth(t) - c * truth(t - 1), got = said(t) - c * said(t - 1);
    errors += (got - wanted) * (got - wanted);
    signal += wanted * wanted;
  }
  EXPECT_NEAR(scores.score(Metric::pre_emphasis_esr), errors / signal, 1e-12);
  EXPECT_GT(scores.score(Metric::pre_emphasis_esr), 5 * scores.score(Metric::esr)) << "the error is a high tone";
}

TEST_F(Forecast, PreEmphasisIsOffUnlessAskedFor) {
  const auto place = [](const Task& task) {
    const std::vector<Metric> metrics = task.metrics();
    return std::ranges::find(metrics, Metric::pre_emphasis_esr) - metrics.begin();
  };
  const auto without = make_task(config_, 1);
  EXPECT_EQ(place(*without), std::ssize(without->metrics()));
  config_.pre_emphasis = 0.95;
  const auto task = make_task(config_, 1);
  // The naive forecast of it: the value before, behind the same filter.
  double errors = 0, signal = 0;
  for (int t = 45; t + 1 < 59; ++t) {
    const auto filtered = [&](int at) { return y_of(at) - 0.95 * y_of(at - 1); };
    errors += std::pow(filtered(t + 1) - filtered(t + 2), 2);
    signal += std::pow(filtered(t + 2), 2);
  }
  EXPECT_NEAR(task->baselines(Split::test).at(static_cast<std::size_t>(place(*task))), errors / signal, 1e-4);
}

TEST(ForecastScores, ABandIsJudgedByItsLevels) {
  const std::vector<ForecastTarget> targets = {{.name = "a", .scale = 2}};
  ForecastScores scores(targets);
  const std::vector<double> levels = {0.1, 0.5, 0.9};
  scores.add_band(0, 1, 5, levels, std::vector<double>{4, 5, 7});  // 0.1 * 1, 0, 0.1 * 2
  EXPECT_DOUBLE_EQ(scores.score(Metric::pinball), 0.3 / 3 / 2);
  EXPECT_DOUBLE_EQ(scores.score(Metric::coverage), 1);
  scores.add_band(0, 3, 8, levels, std::vector<double>{4, 5, 7});  // 0.1 * 4, 0.5 * 3, 0.9 * 1
  EXPECT_NEAR(scores.score(Metric::pinball), (0.3 + 3 * 2.8) / 4 / 3 / 2, 1e-12);
  EXPECT_DOUBLE_EQ(scores.score(Metric::coverage), 0.25);
}

TEST(Rivals, AreWhatTheySay) {
  std::vector<double> level(40);
  for (int t = 0; t < 40; ++t) level[t] = t % 4 + 0.5 * (t / 4);
  const RivalData data{.rows = 40, .training_rows = 20, .level = level, .seen = {level}};
  EXPECT_EQ(last_value(data, 1)(7), level[7]);
  EXPECT_EQ(last_value(data, 0)(7), level[6]);
  EXPECT_EQ(last_value(data, 0)(0), level[0]);
  EXPECT_EQ(seasonal_value(data, 1, 4)(7), level[4]);
  EXPECT_EQ(seasonal_value(data, 4, 4)(7), level[7]);
  EXPECT_EQ(seasonal_value(data, 5, 4)(7), level[4]);
  EXPECT_EQ(seasonal_value(data, 1, 4)(1), level[1]) << "no season before it: the last value";
  EXPECT_DOUBLE_EQ(training_mean(data)(33), std::accumulate(level.begin(), level.begin() + 20, 0.0) / 20);
  EXPECT_EQ(ridge_lags(data, 1), 4);
}

TEST(Rivals, RidgeFindsALinearRecurrence) {
  // y[t + 1] = 1.6 y[t] - 0.9 y[t - 1] + 2 has no other solution with two lags.
  std::vector<double> level = {1, 0};
  while (level.size() < 300)
    level.push_back(1.6 * level.back() - 0.9 * level[level.size() - 2] + 2 + ((level.size() * 37) % 11) * 0.1);
  const RivalData data{.rows = 300, .training_rows = 200, .level = level, .seen = {level}};
  const RivalForecast forecast = ridge(data, 1, 2);
  double errors = 0, naive = 0;
  for (std::size_t t = 200; t < 299; ++t) {
    errors += std::pow(forecast(t) - level[t + 1], 2);
    naive += std::pow(level[t] - level[t + 1], 2);
  }
  EXPECT_LT(errors, 0.2 * naive);
  // Of another column alone, at the same step: y = 3 x - 1.
  std::vector<double> x(50), y(50);
  for (std::size_t t = 0; t < 50; ++t) x[t] = static_cast<double>((t * 13) % 17), y[t] = 3 * x[t] - 1;
  const RivalForecast same = ridge({.rows = 50, .training_rows = 30, .level = y, .seen = {x}}, 0, 1);
  for (std::size_t t = 30; t < 50; ++t) EXPECT_NEAR(same(t), y[t], 0.2);
}

TEST_F(Forecast, RivalsAreOfTheSplit) {
  config_.season = 7;
  const auto task = make_task(config_, 1);
  const std::vector<Rival> rivals = task->rivals(Split::test);
  ASSERT_EQ(rivals.size(), 4u);
  EXPECT_EQ(rivals[0].name, "naive");
  EXPECT_EQ(rivals[0].scores, task->baselines(Split::test));
  EXPECT_EQ(rivals[1].name, "seasonal");
  double squares = 0;
  for (int t = 45; t < 59; ++t) squares += std::pow(y_of(t + 1) - y_of(t - 6), 2);
  const std::vector<Metric> metrics = task->metrics();
  const auto place = std::find(metrics.begin(), metrics.end(), Metric::original_mse) - metrics.begin();
  EXPECT_NEAR(rivals[1].scores[static_cast<std::size_t>(place)], squares / 14, 1e-3);
  EXPECT_EQ(rivals[2].name, "mean");
  EXPECT_EQ(rivals[3].name, "ridge");
  for (const Rival& rival : rivals) {
    EXPECT_EQ(rival.scores.size(), metrics.size());
    EXPECT_EQ(rival.first_scores, std::vector<double>{rival.scores.front()});
  }
  // At horizon 0 no rival knows a past target.
  config_.horizon = {0};
  config_.inputs = {"x"};
  const auto now = make_task(config_, 1);
  ASSERT_EQ(now->rivals(Split::test).size(), 2u);
  EXPECT_EQ(now->rivals(Split::test)[1].text, "a linear function of the last 7 rows of inputs");
  config_.difference = true;
  EXPECT_EQ(make_task(config_, 1)->baseline_text(), "no change since the step before");
}

TEST_F(Forecast, RivalsAreOfTheStepsThatAnEvaluationSees) {
  // 14 steps of the test part in 4 columns of 3: the last two are left over.
  config_.evaluation_columns = 4;
  config_.standardise = false;
  config_.pre_emphasis = 0.5;
  const auto task = make_task(config_, 1);
  double squares = 0, filtered = 0, signal = 0;
  for (int t = 45; t < 57; ++t) {
    const auto error = [](int row) { return y_of(row) - y_of(row + 1); };
    squares += std::pow(error(t), 2);
    if ((t - 45) % 3 == 0) continue;  // a column begins: no step comes before it
    filtered += std::pow(error(t) - 0.5 * error(t - 1), 2);
    signal += std::pow(y_of(t + 1) - 0.5 * y_of(t), 2);
  }
  const std::vector<double> naive = task->baselines(Split::test);
  const std::vector<Metric> metrics = task->metrics();
  const auto place = std::find(metrics.begin(), metrics.end(), Metric::pre_emphasis_esr) - metrics.begin();
  EXPECT_NEAR(naive.front(), squares / 12, 1e-4 * squares);
  EXPECT_NEAR(naive[static_cast<std::size_t>(place)], filtered / signal, 1e-4);
}

TEST_F(Forecast, EveryHorizonHasItsOwnRivals) {
  config_.season = 7;
  config_.inputs = {"x"};
  config_.standardise = false;
  config_.horizon = {2};
  const auto alone = make_task(config_, 1);
  config_.horizon = {0, 2};
  const auto both = make_task(config_, 1);
  EXPECT_EQ(both->baseline_text(),
            "the last value, which the inputs do not have; at horizon 0 the mean of the training part");
  const std::vector<Rival> rivals = both->rivals(Split::test), later = alone->rivals(Split::test);
  ASSERT_EQ(rivals.size(), 4u);
  double mean = 0, squares = 0;
  for (int t = 0; t < 30; ++t) mean += y_of(t) / 30;
  for (int t = 45; t < 58; ++t) squares += std::pow(y_of(t) - mean, 2) / 13;
  for (std::size_t i = 0; i < rivals.size(); ++i) {
    SCOPED_TRACE(rivals[i].name);
    EXPECT_EQ(rivals[i].name, later[i].name);
    EXPECT_EQ(rivals[i].first_scores[1], later[i].first_scores[0]) << "as if the horizon were alone";
    if (rivals[i].name != "ridge") {
      EXPECT_NEAR(rivals[i].first_scores[0], squares, 1e-4) << "where no past is seen: the mean";
    }
  }
  EXPECT_EQ(rivals[1].text, "the value a season of 7 steps before; at horizon 0 the mean");
  EXPECT_EQ(rivals[3].text,
            "a linear function of the last 7 values of the target; at horizon 0 of the last 7 rows of inputs");
}

TEST_F(Forecast, NoRivalHasSeenTheRowThatItsChangeEndsWith) {
  config_.horizon = {1};
  const double one_step = make_task(config_, 1)->rivals(Split::test).back().scores.front();
  config_.horizon = {0};
  config_.difference = true;
  const std::vector<Rival> rivals = make_task(config_, 1)->rivals(Split::test);
  ASSERT_EQ(rivals.back().name, "ridge");
  EXPECT_GT(rivals.back().scores.front(), 0.1 * one_step) << "the change to this row is not known yet";
}

}  // namespace
}  // namespace throughtime::testing
