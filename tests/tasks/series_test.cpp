#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/errors.h"
#include "tasks/series/standardisation.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

/// 40 steps: a = t, b = 2 t + 1, c is 5 at the first half and 7 after.
std::string ramp() {
  std::string text = "date,a,b,c\n";
  for (int t = 0; t < 40; ++t)
    text += "2020-01-01," + std::to_string(t) + "," + std::to_string(2 * t + 1) + "," + (t < 20 ? "5\n" : "7\n");
  return text;
}

class Series : public ::testing::Test {
 protected:
  Series() { config_.path = directory_.write("ramp.csv", ramp()); }
  ScratchDirectory directory_;
  SeriesConfig config_ = {.length = 8, .splits = {0.5, 0.25, 0.25}, .standardise = false};
};

TEST_F(Series, TargetsAreTheColumnsHorizonStepsLater) {
  config_.inputs = {"a", "c"};
  config_.targets = {"b"};
  config_.horizon = {3};
  const auto task = make_task(config_, 1);
  EXPECT_EQ(task->input().reals, 2);
  EXPECT_EQ(task->head().outputs, 1);
  EXPECT_EQ(task->head().name, "regression");
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    const int begin = split == Split::train ? 0 : split == Split::validation ? 20 : 30;
    const int end = split == Split::train ? 20 : split == Split::validation ? 30 : 40;
    int position = begin;
    for (std::int64_t i = 0; i < task->batches(split, 1); ++i) {
      const Window& window = task->make_batch(split, static_cast<std::uint64_t>(i), 1);
      validate(window);
      EXPECT_EQ(window.continues, i > 0);
      for (int step = 0; step < window.steps; ++step, ++position) {
        EXPECT_EQ(value_at(window, step, 0, 0), static_cast<float>(position));
        EXPECT_EQ(value_at(window, step, 0, 1), position < 20 ? 5.0f : 7.0f);
        EXPECT_EQ(target_at(window, step, 0), static_cast<float>(2 * (position + 3) + 1));
      }
    }
    EXPECT_EQ(position, end - 3);  // no target lies in the next part
  }
}

TEST_F(Series, SaysWhichColumnsAreUsedAndWhichAreNot) {
  EXPECT_EQ(make_task(config_, 1)->notes(),
            (std::vector<std::string>{"inputs: a, b, c; targets: a, b, c",
                                      "columns that are not used: 'date' ('2020-01-01' in line 2 is no number)"}));
  config_.inputs = {"a"};
  config_.targets = {"b"};
  EXPECT_EQ(make_task(config_, 1)->notes(), (std::vector<std::string>{"inputs: a; targets: b"}));
}

TEST_F(Series, LeavesOutDecimalCommasOfColumnsThatNobodyAskedFor) {
  std::string text = "y;place\n";
  for (int t = 0; t < 40; ++t) text += std::to_string(t) + ";52,1\n";
  config_.path = directory_.write("places.csv", text);
  config_.delimiter = ";";
  config_.targets = {"y"};
  EXPECT_EQ(make_task(config_, 1)->notes(),
            (std::vector<std::string>{"inputs: y; targets: y",
                                      "columns that are not used: 'place' ('52,1' in line 2 has a decimal comma)"}));
  for (std::vector<std::string>* named : {&config_.targets, &config_.known}) {
    config_.targets = {"y"};
    *named = {"place"};
    EXPECT_REFUSED(make_task(config_, 1), "places.csv:2: column 'place': '52,1' has a decimal comma");
  }
}

TEST_F(Series, TrainingReadsStretchesSideBySide) {
  config_.inputs = {"a"};
  const auto task = make_task(config_, 1);  // 19 steps have a target in the training part
  const Window& window = task->make_batch(Split::train, 0, 3);
  EXPECT_EQ(window.steps, 6);
  for (int row = 0; row < 3; ++row) EXPECT_EQ(value_at(window, 0, row), static_cast<float>(6 * row));
  EXPECT_EQ(task->evaluation_batch(3), 1);
}

TEST_F(Series, IsStandardisedByTheTrainingPartAlone) {
  config_.standardise = true;
  const auto task = make_task(config_, 1);
  EXPECT_EQ(task->input().reals, 3);
  const double mean = 9.5, deviation = std::sqrt((20.0 * 20 - 1) / 12);  // of 0 ... 19
  const Window& train = task->make_batch(Split::train, 0, 1);
  EXPECT_NEAR(value_at(train, 4, 0, 0), (4 - mean) / deviation, 1e-6);
  EXPECT_NEAR(value_at(train, 4, 0, 2), 0, 1e-6);  // a column that never changes there
  const Window& test = task->make_batch(Split::test, 0, 1);
  EXPECT_NEAR(value_at(test, 0, 0, 0), (30 - mean) / deviation, 1e-6);
  EXPECT_NEAR(value_at(test, 0, 0, 2), 2, 1e-6);
  EXPECT_NEAR(target_at(test, 0, 0, 1), (31 - mean) / deviation, 1e-6);

  // Another end of the recording changes nothing of the training part.
  const std::vector<double> before = contents(*task, Split::train, 0, 2);
  std::string other = ramp();
  other.replace(other.find("39,79,7"), 7, "9999,1,1");
  directory_.write("ramp.csv", other);
  EXPECT_EQ(contents(*make_task(config_, 1), Split::train, 0, 2), before);
}

TEST_F(Series, KeepsTheStandardisationOfARun) {
  config_.standardise = true;
  const auto task = make_task(config_, 1);
  ScratchDirectory run;
  task->save(run.path());
  const Standardisation saved = Standardisation::load(run.path());
  ASSERT_EQ(saved.inputs.size(), 3u);
  EXPECT_EQ(saved.inputs[1].column, "b");
  EXPECT_DOUBLE_EQ(saved.inputs[1].mean, 20);
  EXPECT_EQ(saved.inputs[2].deviation, 1);
  std::vector<double> numbers = {0.0, 0.0, 1.0};
  undo_scales(saved.targets, numbers);
  EXPECT_DOUBLE_EQ(numbers[0], 9.5);
  EXPECT_DOUBLE_EQ(numbers[2], 6);

  // A later recording is seen with the run's numbers.
  std::string later = "date,a,b,c\n";
  for (int t = 0; t < 40; ++t) later += "2021-01-01,100,100,100\n";
  directory_.write("ramp.csv", later);
  const auto changed = make_task(config_, 1);
  changed->load(run.path());
  EXPECT_NEAR(value_at(changed->make_batch(Split::train, 0, 1), 0, 0, 0), (100 - 9.5) / saved.inputs[0].deviation,
              1e-5);

  directory_.write("ramp.csv", "x,y\n1,2\n3,4\n5,6\n7,8\n");
  EXPECT_REFUSED(make_task(config_, 1)->load(run.path()), "other columns");
  run.write("standardisation.json", "{\"inputs\": [{\"column\": \"a\"}]}");
  EXPECT_REFUSED(changed->load(run.path()), "not a saved standardisation");
}

TEST_F(Series, BaselineIsTheLastValue) {
  config_.inputs = {"a"};
  config_.targets = {"a", "b"};
  config_.horizon = {3};
  EXPECT_NEAR(make_task(config_, 1)->baseline(), (9.0 + 36.0) / 2, 1e-9);
  EXPECT_EQ(make_task(config_, 1)->baseline_text(), "the last value, which the inputs do not have");
  config_.inputs = {"b", "a"};
  EXPECT_EQ(make_task(config_, 1)->baseline_text(), "the last value");
  config_.horizon = {0};  // no target is seen: the mean of a over the first 20 steps is 9.5, that of b 20
  double sum = 0;
  for (int t = 30; t < 40; ++t) sum += (t - 9.5) * (t - 9.5) + (2 * t + 1 - 20) * (2 * t + 1 - 20);
  EXPECT_NEAR(make_task(config_, 1)->baseline(), sum / 20, 1e-9);
  EXPECT_EQ(make_task(config_, 1)->baseline_text(), "the mean of the training part; the inputs have the target itself");
  const std::vector<std::string> notes = make_task(config_, 1)->notes();
  EXPECT_NE(std::ranges::find(notes,
                              "at horizon 0 the inputs have what is asked for: a, b; name other columns in "
                              "task.series.inputs"),
            notes.end());
  config_.inputs = {"b", "c"};
  EXPECT_EQ(make_task(config_, 1)->baseline_text(), "the mean of the training part; the inputs have a target itself");
  config_.inputs = {"c"};
  EXPECT_EQ(make_task(config_, 1)->baseline_text(),
            "the mean of the training part; at horizon 0 no past target is seen");
  EXPECT_EQ(make_task(config_, 1)->notes().size(), 1u);
}

TEST_F(Series, EverySplitHasItsOwnBaseline) {
  std::string text = "y\n";  // steps of 1 in the training part, of 2 in the validation part, of 3 in the test part
  double y = 0;
  for (int t = 0; t < 40; ++t) text += std::to_string(y += t < 20 ? 1 : t < 30 ? 2 : 3) + "\n";
  config_.path = directory_.write("steps.csv", text);
  const auto task = make_task(config_, 1);
  EXPECT_NEAR(task->baselines(Split::train).front(), 1, 1e-9);
  EXPECT_NEAR(task->baselines(Split::validation).front(), 4, 1e-9);
  EXPECT_NEAR(task->baselines(Split::test).front(), 9, 1e-9);
  EXPECT_EQ(task->baseline(), task->baselines(Split::test).front());
  config_.splits = {0.5, 0.5, 0};
  EXPECT_EQ(make_task(config_, 1)->judged_split(), Split::validation);
  config_.splits = {1, 0, 0};
  EXPECT_EQ(make_task(config_, 1)->judged_split(), Split::train);
}

TEST_F(Series, TargetsMayHaveTheirOwnFile) {
  config_.target_path = directory_.write("wanted.csv", [] {
    std::string text;
    for (int t = 0; t < 40; ++t) text += std::to_string(-t) + "\n";
    return text;
  }());
  config_.inputs = {"b"};
  config_.horizon = {0};
  const auto task = make_task(config_, 1);
  const Window& window = task->make_batch(Split::validation, 0, 1);
  EXPECT_EQ(window.steps, 8);
  EXPECT_EQ(value_at(window, 2, 0), 45.0f);
  EXPECT_EQ(target_at(window, 2, 0), -22.0f);
  config_.target_path = directory_.write("short.csv", "1\n2\n");
  EXPECT_REFUSED(make_task(config_, 1), "as many");
}

TEST_F(Series, ReadsRawFloats) {
  std::vector<float> numbers(60);
  for (std::size_t i = 0; i < 60; ++i) numbers[i] = static_cast<float>(i);
  config_.path = directory_.write("two.f32", {reinterpret_cast<const char*>(numbers.data()), 240});
  config_.channels = 2;
  config_.targets = {"1"};
  const auto task = make_task(config_, 1);
  const Window& window = task->make_batch(Split::train, 0, 1);
  EXPECT_EQ(value_at(window, 3, 0, 1), 7.0f);
  EXPECT_EQ(target_at(window, 3, 0), 9.0f);
  config_.channels = 7;
  EXPECT_REFUSED(make_task(config_, 1), "task.series.channels = 7");
}

TEST_F(Series, RefusesWhatItCannotRead) {
  SeriesConfig wrong = config_;
  wrong.targets = {"bb"};
  EXPECT_REFUSED(make_task(wrong, 1), "did you mean 'b'");
  wrong.targets = {"B"};
  EXPECT_REFUSED(make_task(wrong, 1), "has no column 'B'; did you mean 'b'?");
  wrong = config_;
  wrong.path = "";
  EXPECT_REFUSED(make_task(wrong, 1), "task.series.path");
  wrong.path = (directory_ / "absent.csv").string();
  EXPECT_REFUSED(make_task(wrong, 1), "absent.csv");
  wrong.path = directory_.write("thing.xyz", "1");
  EXPECT_REFUSED(make_task(wrong, 1), "ending must tell the format");
  wrong.path = directory_.write("some.npz", "1");
  EXPECT_REFUSED(make_task(wrong, 1), "some.npz:name");
  wrong = config_;
  wrong.horizon = {20};
  EXPECT_REFUSED(make_task(wrong, 1), "too few for a horizon of 20; the longest possible is 19");
  wrong.horizon = {10};
  EXPECT_EQ(
      make_task(wrong, 1)->why_empty(Split::validation),
      "the validation part has 10 rows, too few for a horizon of 10 (the longest possible is 9; a larger share in "
      "task.series.splits gives it more)");
  wrong.horizon = {9};
  EXPECT_EQ(make_task(wrong, 1)->why_empty(Split::validation), "");
  wrong.horizon = {4};
  wrong.splits = {0.8, 0.1, 0.1};
  const auto notes = make_task(wrong, 1)->notes();
  EXPECT_NE(std::ranges::find(notes,
                              "the test part has 4 rows, too few for a horizon of 4: nothing of it is used; give "
                              "it a larger share (task.series.splits)"),
            notes.end())
      << notes.back();
  wrong = config_;
  wrong.delimiter = ";;";
  EXPECT_REFUSED(make_task(wrong, 1), "task.series.delimiter");
}

TEST_F(Series, ColumnsHaveNumbersToo) {
  // date is 0; inputs are all columns of numbers.
  config_.targets = {"2"};
  config_.known = {"1"};
  const auto task = make_task(config_, 1);
  EXPECT_EQ(task->notes().front(), "inputs: a, b, c, a +1; targets: b");
  EXPECT_EQ(task->baseline_text(), "the last value");
  config_.targets = {"0"};
  EXPECT_REFUSED(make_task(config_, 1), "column 'date': '2020-01-01' is no number");
  config_.targets = {"date"};
  EXPECT_REFUSED(make_task(config_, 1), "column 'date': '2020-01-01' is no number");
  config_.targets = {"4"};
  EXPECT_REFUSED(make_task(config_, 1), "has no column '4'; it has: a, b, c");
}

TEST_F(Series, RefusesOptionsThatTheFileGivesNoMeaning) {
  const auto with = [&](auto change) {
    SeriesConfig config = config_;
    change(config);
    return make_task(config, 1);
  };
  EXPECT_REFUSED(with([](SeriesConfig& config) { config.channels = 2; }),
                 "task.series.channels is an option of raw float32 files (.f32, .raw, .bin);");
  EXPECT_REFUSED(with([](SeriesConfig& config) {
                   config.targets = {"a", "b", "a"};
                 }),
                 "task.series.targets names 'a' twice");
  EXPECT_REFUSED(with([](SeriesConfig& config) { config.inputs = {"a", "a"}; }), "task.series.inputs names 'a' twice");
  EXPECT_REFUSED(with([](SeriesConfig& config) { config.season = 40; }),
                 "task.series.season = 40 looks back so many steps, and ");
  EXPECT_NO_THROW(with([](SeriesConfig& config) { config.season = 39; }));
  const std::vector<float> numbers(60, 1.0f);
  config_.path = directory_.write("one.f32", {reinterpret_cast<const char*>(numbers.data()), 240});
  EXPECT_REFUSED(with([](SeriesConfig& config) { config.delimiter = ";"; }),
                 "task.series.delimiter is an option of .csv and .txt files;");
  EXPECT_REFUSED(with([](SeriesConfig& config) { config.header = HeaderLine::yes; }),
                 "task.series.header is an option");
  // The targets' file may be the one that has it.
  config_.target_path = directory_.write("wanted.csv", [] {
    std::string text;
    for (int t = 0; t < 60; ++t) text += std::to_string(t) + ";" + std::to_string(t % 3) + "\n";
    return text;
  }());
  EXPECT_NO_THROW(with([](SeriesConfig& config) { config.delimiter = ";"; }));
}

TEST(RealSeries, TransformerTemperatures) {
  REQUIRE_REAL_DATA(data, "series/ETTh1.csv");
  const SeriesConfig config{.length = 96, .path = data + "/series/ETTh1.csv", .targets = {"OT"}, .horizon = {24}};
  const auto task = make_task(config, 1);
  EXPECT_EQ(task->input().reals, 7);  // the date is no number
  EXPECT_EQ(task->head().outputs, 1);
  EXPECT_GT(task->baseline(), 0.01);
  EXPECT_LT(task->baseline(), 1.0);
  EXPECT_EQ(task->make_batch(Split::test, 0, 1).sources[0].steps, 3484u - 24);
}

TEST(RealSeries, ExchangeRatesWithoutAHeader) {
  REQUIRE_REAL_DATA(data, "series/exchange_rate.txt.gz");
  const auto task = make_task(SeriesConfig{.path = data + "/series/exchange_rate.txt.gz", .targets = {"7"}}, 1);
  EXPECT_EQ(task->input().reals, 8);
  EXPECT_EQ(task->make_batch(Split::train, 0, 1).sources[0].steps, 5312u - 1);
}

}  // namespace
}  // namespace throughtime::testing
