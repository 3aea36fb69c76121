#include "report/findings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/questions.h"
#include "report/run_writer.h"
#include "report/units.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::write_run;

std::vector<RunGroup> groups_of(const ScratchDirectory& scratch) {
  return group_runs(read_runs({scratch.path().string()}));
}

TEST(Finding, SaysHowManyTimesTheNaiveErrorIsLeftTheBestFirst) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {.learner = "bptt", .test = 0.97, .naive = 1});
  write_run(scratch, "b", {.learner = "fptt", .test = 0.93, .naive = 1});
  EXPECT_EQ(finding(groups_of(scratch)), "FPTT 0.93 x naive, BPTT 0.97 x (test mse; below 1 is better than naive).");
}

TEST(Finding, IsTheMeanOverSeedsOfEachRunsOwnSkill) {
  const ScratchDirectory scratch;
  write_run(scratch, "a-1", {.seed = 1, .test = 1, .naive = 2});
  write_run(scratch, "a-2", {.seed = 2, .test = 3, .naive = 4});
  const std::vector<RunGroup> groups = groups_of(scratch);
  EXPECT_EQ(skills(groups[0], "mse"), (std::vector<double>{0.5, 0.75}));
  EXPECT_EQ(finding(groups), "BPTT 0.625 x naive (test mse; below 1 is better than naive; mean of 2 seeds).");
}

TEST(Finding, SaysWhatIsNoBetterThanNaive) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {.learner = "bptt", .test = 1.5, .naive = 1});
  EXPECT_TRUE(finding(groups_of(scratch)).ends_with(" That is no better than naive.")) << finding(groups_of(scratch));
  write_run(scratch, "b", {.learner = "adaptive_tbptt", .test = 1, .naive = 1});
  EXPECT_EQ(
      finding(groups_of(scratch)),
      "adaptive TBPTT 1 x naive, BPTT 1.5 x (test mse; below 1 is better than naive). None is better than naive.");
  write_run(scratch, "c", {.learner = "fptt", .test = 0.5, .naive = 1});
  EXPECT_TRUE(finding(groups_of(scratch)).ends_with(" 2 of 3 are no better than naive."));
}

TEST(Finding, OfWhatIsBetterWhenLargerHasNaiveBesideIt) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {});
  scratch.write("a/result.json",
                "{\"metric\":\"accuracy\",\"baseline\":0.25,\"metrics\":{\"test_accuracy\":0.9},\"best\":{}}\n");
  EXPECT_EQ(finding(groups_of(scratch)), "BPTT 0.9, naive 0.25 (test accuracy, share of answers; more is better).");
  EXPECT_EQ(skill_kind(groups_of(scratch), "accuracy"), SkillKind::beside);
}

TEST(Finding, OfNegativeNumbersIsNoRatio) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {.test = -1, .naive = 0.5});
  EXPECT_EQ(skill_kind(groups_of(scratch), "mse"), SkillKind::beside);
}

TEST(Finding, OfManyRunsNamesTheBestAndTheWorst) {
  const ScratchDirectory scratch;
  for (int i = 1; i <= 8; ++i)
    write_run(scratch, fmt::format("run-{}x", i),
              {.learner = "bptt", .test = 0.1 * i, .question = "length = 20\nx = 1", .naive = 1});
  for (int i = 1; i <= 8; ++i)
    scratch.write(fmt::format("run-{}x/config.toml", i),
                  fmt::format("[task]\nname = \"add\"\n\n[model]\nhidden = {}\n", i));
  const std::string text = finding(groups_of(scratch));
  EXPECT_TRUE(text.starts_with("run-1x 0.1 x naive, run-2x 0.2 x, run-3x 0.3 x, then 4 more, last run-8x 0.8 x ("))
      << text;
}

TEST(Finding, WithoutATestSaysSo) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {});
  std::filesystem::remove(scratch / "a/result.json");
  EXPECT_EQ(finding(groups_of(scratch)), "No run has a test result yet.");
}

TEST(Naive, IsOfTheMetricAloneThatTheRunNames) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {.naive = 0.25});
  const ResultFile result = groups_of(scratch).at(0).runs.at(0).result;
  for (const std::string metric : {"test_mse", "rolling_mse", "cumulative_mse"})
    EXPECT_EQ(naive_of(result, metric), 0.25);
  for (const std::string metric : {"test_original_mse", "validation_mse", "train_mse"})
    EXPECT_TRUE(std::isnan(naive_of(result, metric))) << metric;
}

TEST(Finding, NamesWhatHasNoNaiveResult) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {.learner = "bptt", .test = 0.5, .naive = 1});
  write_run(scratch, "b", {.learner = "fptt"});
  scratch.write("b/result.json", "{\"metric\":\"mse\",\"metrics\":{\"test_mse\":0.25},\"best\":{}}\n");
  EXPECT_EQ(finding(groups_of(scratch)),
            "BPTT 0.5 x naive (test mse; below 1 is better than naive). Without a naive result: FPTT.");
}

TEST(Unit, OfAnErrorBehindAFilterIsThatOfTheError) {
  EXPECT_EQ(unit_of("test_pre_emphasis_esr", {}), unit_of("test_esr", {}));
}

/// A run of the series task with these options of it.
void write_series(const ScratchDirectory& scratch, const std::string& name, const std::string& options) {
  write_run(scratch, name, {});
  scratch.write(name + "/config.toml", "[task]\nname = \"series\"\ndata = '" + name +
                                           "'\n\n[task.series]\nevaluation_columns = 0\n" + options);
}

TEST(Questions, OfAnotherHorizonAreOthers) {
  const ScratchDirectory scratch;
  write_series(scratch, "a", "horizon = [1]\nlength = 96\n");
  write_series(scratch, "b", "horizon = [24]\nlength = 96\n");
  const std::vector<Question> questions = by_question(groups_of(scratch));
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[0].name, "series (horizon=[1])");
  EXPECT_EQ(questions[1].name, "series (horizon=[24])");
}

TEST(Questions, AreTheSameWhateverTheModelSeesOfTheData) {
  const ScratchDirectory scratch;
  write_series(scratch, "a", "horizon = [1]\nlength = 96\ninputs = [\"x\"]\ndifference = false\n");
  write_series(scratch, "b", "horizon = [1]\nlength = 48\ninputs = [\"x\", \"y\"]\ndifference = true\n");
  const std::vector<Question> questions = by_question(groups_of(scratch));
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(questions[0].name, "series");
  EXPECT_EQ(questions[0].groups.size(), 2u);
}

TEST(Questions, TheLengthOfASequenceIsPartOfOneButNotThatOfAWindow) {
  const ScratchDirectory scratch;
  for (const int length : {10, 20}) {
    write_run(scratch, fmt::format("add-{}x", length),
              {.question = fmt::format("[task.add]\nlength = {}\nhistory = 10", length)});
    write_run(scratch, fmt::format("cycle-{}x", length), {});
    scratch.write(
        fmt::format("cycle-{}x/config.toml", length),
        fmt::format("[task]\nname = \"cycle_world\"\n\n[task.cycle_world]\nlength = {}\nsteps = 10\n", length));
  }
  const std::vector<Question> questions = by_question(groups_of(scratch));
  ASSERT_EQ(questions.size(), 3u);
  EXPECT_EQ(questions[0].name, "add (length=10)");
  EXPECT_EQ(questions[2].name, "cycle_world");
}

TEST(Questions, OfAStreamIsNotThatOfARecording) {
  const ScratchDirectory scratch;
  write_series(scratch, "a", "horizon = [1]\n");
  write_series(scratch, "b", "horizon = [1]\n");
  scratch.write("b/metrics.jsonl", "{\"rows\":10,\"rolling_mse\":3}\n{\"rows\":20,\"rolling_mse\":2}\n");
  scratch.write("b/config.toml", testing::text_of(scratch / "b/config.toml") + "\n[stream]\nslots = 1\n");
  EXPECT_EQ(by_question(groups_of(scratch)).size(), 2u);
}

TEST(Groups, OfAStreamAndARecordingAreTwoWhereTheirConfigurationsAreEqual) {
  const ScratchDirectory scratch;
  write_series(scratch, "a", "horizon = [1]\n");
  write_series(scratch, "b", "horizon = [1]\n");
  EXPECT_EQ(groups_of(scratch).size(), 1u);
  scratch.write("b/metrics.jsonl", "{\"rows\":10,\"rolling_mse\":3}\n{\"rows\":20,\"rolling_mse\":2}\n");
  EXPECT_EQ(groups_of(scratch).size(), 2u);
}

/// A run that a program started with arrays of its own, `path` says where they lie.
void write_fit(const ScratchDirectory& scratch, int seed, const std::string& path, int length) {
  write_run(scratch, fmt::format("fit-{}", seed), {});
  scratch.write(fmt::format("fit-{}/config.toml", seed),
                fmt::format("[task]\nname = \"arrays\"\n\n[task.arrays]\npath = '{}'\nlength = {}\n\n[train]\nseed = "
                            "{}\n\n[run]\ndirectory = '/runs/{}'\n",
                            path, length, seed, seed));
}

TEST(Groups, OfFitsAreOneWhereEachRunKeepsItsOwnArrays) {
  const ScratchDirectory scratch;
  for (const int seed : {1, 2}) write_fit(scratch, seed, fmt::format("/runs/{}/task", seed), 50);
  EXPECT_EQ(groups_of(scratch).size(), 1u);
  write_fit(scratch, 2, "/runs/2/task", 25);
  ASSERT_EQ(groups_of(scratch).size(), 2u);
  EXPECT_EQ(differing_options(groups_of(scratch)), std::vector<std::string>{"task.arrays.length"});
  EXPECT_EQ(by_question(groups_of(scratch)).size(), 1u) << "the length is that of a window";
  write_fit(scratch, 2, "/runs/20/task", 50);
  EXPECT_EQ(by_question(groups_of(scratch)).size(), 2u) << "arrays that lie elsewhere are other arrays";
}

TEST(Questions, AreTheSameWhateverTheTrainingWindowsAndTheFurtherMetrics) {
  const ScratchDirectory scratch;
  write_series(scratch, "a", "horizon = [1]\nlength_varies = false\nlength_cap = 40\npre_emphasis = 0.0\n");
  write_series(scratch, "b", "horizon = [1]\nlength_varies = true\nlength_cap = 20\npre_emphasis = 0.95\n");
  EXPECT_EQ(by_question(groups_of(scratch)).size(), 1u);
}

TEST(Questions, HaveTheDefaultsOfOptionsThatARunDoesNotName) {
  const ScratchDirectory scratch;
  write_series(scratch, "a", "");
  write_series(scratch, "b", "horizon = 1\nstandardise = true\n");
  EXPECT_EQ(by_question(groups_of(scratch)).size(), 1u);
  write_series(scratch, "c", "horizon = 2\n");
  EXPECT_EQ(by_question(groups_of(scratch)).size(), 2u);
}

TEST(Questions, AreNotCalledByWhatTheyDoNotHave) {
  const ScratchDirectory scratch;
  write_series(scratch, "a", "path = 'x.csv'\n");
  write_series(scratch, "b", "path = ''\n");
  write_series(scratch, "c", "");
  const std::vector<Question> questions = by_question(groups_of(scratch));
  ASSERT_EQ(questions.size(), 2u) << "an empty text is the default";
  EXPECT_EQ(questions[0].name, "series (path=x.csv)");
  EXPECT_EQ(questions[1].name, "series");
}

TEST(Questions, OfRunsThatDoNotTellAreNotKnown) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {});
  std::filesystem::remove(scratch / "a/config.toml");
  const std::vector<Question> questions = by_question(groups_of(scratch));
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_FALSE(questions[0].known);
}

TEST(Finding, OfAStreamIsOfAllItsForecasts) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {.test = 1, .naive = 2});
  scratch.write("a/metrics.jsonl", "{\"rows\":10,\"rolling_mse\":3}\n{\"rows\":20,\"rolling_mse\":2}\n");
  scratch.write("a/config.toml", "[task]\nname = \"series\"\n\n[stream]\nslots = 1\n");
  std::vector<RunGroup> groups = groups_of(scratch);
  ASSERT_EQ(groups.size(), 1u);
  groups[0].runs[0].counter = "row";
  EXPECT_EQ(finding(groups), "a 0.5 x naive (mse of all forecasts; below 1 is better than naive).");
}

TEST(Finding, OfSeveralHorizonsSaysThatItIsTheirMean) {
  const ScratchDirectory scratch;
  write_run(scratch, "a", {.test = 1, .naive = 2});
  scratch.write("a/config.toml", "[task]\nname = \"series\"\n\n[task.series]\nhorizon = [1, 24]\n");
  EXPECT_EQ(finding(groups_of(scratch)),
            "a 0.5 x naive (test mse; below 1 is better than naive; mean over the horizons [1, 24]).");
}

}  // namespace
}  // namespace throughtime
