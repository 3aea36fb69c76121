#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/text/vocabulary.h"
#include "heads/exponential_intensity.h"
#include "support/errors.h"
#include "tasks/events/point_scores.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

/// One row of a pass: what the model reads, what it is asked for.
struct Row {
  int mark;
  float first, since;
  int next;
  float interval;
  bool reset;
  bool operator==(const Row&) const = default;
};

std::vector<std::vector<Row>> columns(Task& task, Split split, int batch) {
  std::vector<std::vector<Row>> all(static_cast<std::size_t>(batch));
  for (std::int64_t i = 0; i < task.batches(split, batch); ++i) {
    const Window& window = task.make_batch(split, static_cast<std::uint64_t>(i), batch);
    validate(window);
    EXPECT_EQ(window.continues, i > 0);
    for (int row = 0; row < batch; ++row)
      for (int step = 0; step < window.steps; ++step)
        all[static_cast<std::size_t>(row)].push_back({token_at(window, step, row), value_at(window, step, row, 0),
                                                      value_at(window, step, row, 1), label_at(window, step, row),
                                                      target_at(window, step, row), window.resets_at(step, row)});
  }
  return all;
}

class SmallPoints : public ::testing::Test {
 protected:
  SmallPoints() {
    train_ = directory_.write("train.csv", "time,mark,sequence\n1,a,0\n1.5,b,0\n3,a,0\n0,b,1\n4,b,1\n7,c,2\n");
    test_ = directory_.write("test.csv", "time,mark\n0,a\n1,b\n3,a\n6,c\n10,a\n");
  }
  PointProcessConfig config() const { return {.length = 2, .files = {train_, test_}, .scale = 2}; }
  ScratchDirectory directory_;
  std::string train_, test_;
};

TEST_F(SmallPoints, ReadsAMarkAFlagAndAnIntervalAndAsksForTheNext) {
  const auto task = make_task(config(), 1);
  EXPECT_EQ(task->input().vocabulary, 3);
  EXPECT_EQ(task->input().reals, 2);
  EXPECT_EQ(task->head().name, "point_process");
  EXPECT_EQ(task->head().outputs, 5);
  // Three sequences of 3, 2 and 1 events give 2, 1 and 0 rows; the state goes on.
  const std::vector<Row> wanted = {{0, 1, 0, 1, 1, false}, {1, 0, 1, 0, 3, false}, {1, 1, 0, 1, 8, false}};
  EXPECT_EQ(columns(*task, Split::train, 1)[0], wanted);
}

TEST_F(SmallPoints, ResetsAtSequencesWhereAsked) {
  PointProcessConfig resets = config();
  resets.reset_sequences = true;
  const auto task = make_task(resets, 1);
  const std::vector<Row> rows = columns(*task, Split::train, 1)[0];
  EXPECT_EQ((std::vector<bool>{rows[0].reset, rows[1].reset, rows[2].reset}), (std::vector<bool>{true, false, true}));
  EXPECT_FALSE(columns(*make_task(config(), 1), Split::train, 1)[0][0].reset);
}

TEST_F(SmallPoints, RandomPlacesResetWhereTheirSequencesStart) {
  std::string events = "time,mark,sequence\n";
  for (int sequence = 0; sequence < 6; ++sequence)
    for (int event = 0; event < 4 + sequence; ++event)
      events += std::to_string(event) + (event % 2 == 0 ? ",a," : ",b,") + std::to_string(sequence) + "\n";
  for (const bool resets : {true, false}) {
    PointProcessConfig given = config();
    const std::string many = directory_.write("many.csv", events);
    given.files = {many, many};
    given.reset_sequences = resets;
    const auto task = make_task(given, 1);
    int starts = 0;
    for (std::uint64_t draw = 0; draw < 10; ++draw) {
      const Window& window = task->make_positions(draw, 2, 5, 8);
      validate(window);
      for (int step = 0; step < window.steps; ++step)
        for (int row = 0; row < window.batch; ++row) {
          const bool first = value_at(window, step, row, 0) == 1;  // the flag of a first event
          starts += first ? 1 : 0;
          EXPECT_EQ(window.resets_at(step, row), resets && first);
        }
    }
    EXPECT_GT(starts, 10);
  }
}

TEST_F(SmallPoints, HalvesTheRowsOfTheTestFile) {
  const auto task = make_task(config(), 1);
  EXPECT_EQ(task->evaluation_batch(64), 1);
  const std::vector<Row> validation = {{0, 1, 0, 1, 2, false}, {1, 0, 2, 0, 4, false}};
  const std::vector<Row> test = {{0, 0, 4, 2, 6, false}, {2, 0, 6, 0, 8, false}};
  EXPECT_EQ(columns(*task, Split::validation, 1)[0], validation);
  EXPECT_EQ(columns(*task, Split::test, 1)[0], test);
  const auto two = columns(*task, Split::validation, 2);
  EXPECT_EQ(two[0], (std::vector<Row>{validation[0]}));
  EXPECT_EQ(two[1], (std::vector<Row>{validation[1]}));
}

TEST_F(SmallPoints, TakesThreeFilesOrCutsOneByShares) {
  PointProcessConfig three = config();
  three.files = {train_, test_, train_};
  EXPECT_EQ(columns(*make_task(three, 1), Split::validation, 1)[0].size(), 4u);
  EXPECT_EQ(columns(*make_task(three, 1), Split::test, 1)[0].size(), 3u);
  PointProcessConfig one = config();
  one.files = {test_};
  one.splits = {0.5, 0.25, 0.25};
  const auto task = make_task(one, 1);
  EXPECT_EQ(columns(*task, Split::train, 1)[0].size(), 2u);
  EXPECT_EQ(columns(*task, Split::validation, 1)[0].size(), 1u);
  EXPECT_EQ(columns(*task, Split::test, 1)[0][0], (Row{2, 0, 6, 0, 8, false}));
}

TEST_F(SmallPoints, BaselineIsAConstantRateAndTheFrequenciesOfMarks) {
  const auto task = make_task(config(), 1);
  // Training: 3 intervals of 12 in all; next marks a 1, b 2, c 0, one more of each: 2, 3, 1 of 6.
  const double rate = 3.0 / 12;
  const auto loss = [&](double share, double interval) { return -std::log(share) - std::log(rate) + rate * interval; };
  const std::vector<double> test = task->baselines(Split::test);
  EXPECT_NEAR(task->baseline(), (loss(1 / 6.0, 6) + loss(2 / 6.0, 8)) / 2, 1e-12);
  EXPECT_EQ(test[0], task->baseline());
  EXPECT_NEAR(test[1], std::sqrt((std::pow(6 - 4, 2) + std::pow(8 - 4, 2)) / 2), 1e-9);
  EXPECT_EQ(test[2], 1.0);  // it always says b
  EXPECT_NEAR(task->baselines(Split::validation)[0], (loss(3 / 6.0, 2) + loss(2 / 6.0, 4)) / 2, 1e-12);
  EXPECT_NE(task->baseline_text().find("constant rate"), std::string::npos);
}

TEST_F(SmallPoints, KeepsTheMarksOfARun) {
  ScratchDirectory run;
  make_task(config(), 1)->save(run.path());
  EXPECT_EQ(Vocabulary::load((run / "vocabulary.txt").string()).size(), 3u);
  directory_.write("train.csv", "time,mark\n1,c\n2,a\n3,b\n4,c\n");  // another order of appearance
  const auto task = make_task(config(), 1);
  EXPECT_EQ(columns(*task, Split::train, 1)[0][0].mark, 0);
  task->load(run.path());
  EXPECT_EQ(columns(*task, Split::train, 1)[0][0].mark, 2);
  directory_.write("train.csv", "time,mark\n1,c\n2,a\n3,b\n4,d\n5,d\n");
  directory_.write("test.csv", "time,mark\n1,c\n2,a\n");
  const auto stranger = make_task(config(), 1);
  EXPECT_REFUSED(stranger->load(run.path()), "unknown mark 'd'");
}

TEST_F(SmallPoints, RefusesWhatItCannotRead) {
  PointProcessConfig wrong = config();
  wrong.files = {train_, test_, test_, test_};
  EXPECT_REFUSED(make_task(wrong, 1), "one file, two (train, test) or three");
  wrong.files = {(directory_ / "absent.csv").string()};
  EXPECT_REFUSED(make_task(wrong, 1), "absent.csv: there is no such file");
  wrong.files = {train_, directory_.write("marks.csv", "time,mark\n0,a\n1,z\n")};
  EXPECT_REFUSED(make_task(wrong, 1), "marks.csv:3: event 2: unknown mark 'z'; known: 'a', 'b', 'c'");
  wrong.files = {directory_.write("falls.csv", "time,mark\n2,a\n1,b\n")};
  EXPECT_REFUSED(make_task(wrong, 1), "falls.csv:3: event 2: the times of a sequence must not fall");
  wrong.files = {directory_.write("still.csv", "time,mark\n2,a\n2,b\n2,b\n2,b\n")};
  EXPECT_REFUSED(make_task(wrong, 1), "no time passes between them");
  wrong.files = {directory_.write("huge.csv", "time,mark\n0,a\n1e300,b\n")};
  EXPECT_REFUSED(make_task(wrong, 1), "no number that a 32-bit float can hold");
  wrong = config();
  wrong.scale = 0;
  EXPECT_REFUSED(make_task(wrong, 1), "task.point_process.scale must be a positive number");
  wrong = config();
  wrong.delimiter = ";;";
  EXPECT_REFUSED(make_task(wrong, 1), "task.point_process.delimiter must be one character");
  wrong = {.files = {config().files.front()}, .fold = 2};
  EXPECT_REFUSED(make_task(wrong, 1), "task.point_process.fold is one of the book orders; here");
  wrong = {.files = {config().files.front(), config().files.front()}, .splits = {0.5, 0.25, 0.25}};
  EXPECT_REFUSED(make_task(wrong, 1),
                 "task.point_process.splits cuts one file of your own; here 2 files are the parts");
  wrong = {.fold = 6};
  EXPECT_REFUSED(make_task(wrong, 1), "task.point_process.fold must be between 1 and 5");
  ScratchDirectory empty;
  EXPECT_REFUSED(make_task(PointProcessConfig{.data = empty.path()}, 1), "book_order/time-1-train.txt");
  EXPECT_REFUSED(make_task(config(), 1)->make_batch(Split::train, 0, 4), "too few to read 4 rows side by side");
}

TEST(PointScores, AreExactMeans) {
  PointScores scores(2, 0);
  const std::vector<double> sure = {0.9, 0.1, 0.5, -0.3}, unsure = {0.4, 0.6, -1, 0.2};
  scores.add(0, 1, 2.0, sure.data(), 0, 0.25);
  scores.add(0, 3, 1.0, unsure.data(), 0, 0.5);
  EXPECT_DOUBLE_EQ(scores.score(Metric::nll), 5.0 / 4);
  EXPECT_DOUBLE_EQ(scores.score(Metric::mark_error), 3.0 / 4);
  const double first = expected_interval(0.5, -0.3) - 0.25, second = expected_interval(-1, 0.2) - 0.5;
  EXPECT_DOUBLE_EQ(scores.score(Metric::time_rmse), std::sqrt((first * first + 3 * second * second) / 4));
}

TEST(PointScores, PublishedOnesDropTheLastChunkAndSkipTwentySteps) {
  constexpr int steps = 646, rows = 2;
  PointScores scores(2, 4.0);
  const std::vector<double> prediction = {0.8, 0.2, 0.7, 0.1};
  double whole = 0, squares = 0, wrong = 0;
  for (int step = 0; step < steps; ++step)
    for (int row = 0; row < rows; ++row) {
      const double loss = std::sin(step + 0.5 * row), interval = 0.1 + 0.01 * ((step * 7 + row) % 13);
      const std::int32_t mark = step % 3 == 0;
      scores.add(step, 1, loss, prediction.data(), mark, interval);
      if (step < 600) whole += loss;
      if (step < 20) continue;
      squares += std::pow(truncated_interval(0.7, 0.1, 4.0) - interval, 2);
      wrong += mark;
    }
  EXPECT_NEAR(scores.score(Metric::published_nll), whole / (steps * rows), 1e-12);
  EXPECT_NEAR(scores.score(Metric::published_time_rmse), std::sqrt(squares / ((steps - 20) * rows)), 1e-12);
  EXPECT_NEAR(scores.score(Metric::published_mark_error), wrong / ((steps - 20) * rows), 1e-12);
}

TEST(BookOrders, HaveThePublishedCounts) {
  REQUIRE_REAL_DATA(data, "book_order/time-1-train.txt");
  const auto task = make_task(PointProcessConfig{.length = 500, .data = data}, 1);
  const auto rows = [&](Split split, int batch) {
    std::int64_t steps = 0;
    for (std::int64_t i = 0; i < task->batches(split, batch); ++i)
      steps += task->make_batch(split, static_cast<std::uint64_t>(i), batch).steps;
    return steps;
  };
  EXPECT_EQ(task->input().vocabulary, 2);
  EXPECT_EQ(rows(Split::train, 1), 100 * 3318);
  EXPECT_EQ(rows(Split::train, 64), 5184);
  EXPECT_EQ(task->evaluation_batch(3), 64);
  EXPECT_EQ(rows(Split::validation, 64), 646);
  EXPECT_EQ(rows(Split::test, 64), 646);
  // The spec's count of baselines, and the deviation of the test intervals.
  EXPECT_NEAR(task->baselines(Split::test)[0], -5.11, 0.01);
  EXPECT_NEAR(task->baselines(Split::validation)[0], -4.96, 0.01);
  EXPECT_NEAR(task->baselines(Split::test)[1], 3.94e-3, 0.01e-3);
}

TEST(BookOrders, EveryFoldHasAsManyEvents) {
  REQUIRE_REAL_DATA(data, "book_order/time-5-train.txt");
  for (int fold = 2; fold <= 5; ++fold) {
    const auto task = make_task(PointProcessConfig{.length = 5184, .fold = fold, .data = data}, 1);
    EXPECT_EQ(task->make_batch(Split::train, 0, 64).steps, 5184);
    EXPECT_EQ(task->make_batch(Split::test, 0, 64).steps, 646);
  }
}

}  // namespace
}  // namespace throughtime::testing
