#include "study/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "study/tiny.h"
#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::tiny_file;

TEST(Comparison, EveryLearnerRunsTheSameSeeds) {
  const ScratchDirectory scratch;
  ComparisonRequest request{
      .config = scratch.write("tiny.toml", tiny_file + "[learner.tbptt]\npreset = \"plain\"\ntruncation = 2\n"),
      .overrides = {"train.seed=5", "run.directory=" + (scratch / "run").string()},
      .learners = {"bptt", "tbptt"},
      .seeds = 2};
  const std::vector<Contender> contenders = make_contenders(request);
  ASSERT_EQ(contenders.size(), 2u);
  ASSERT_EQ(contenders[1].configs.size(), 2u);
  EXPECT_EQ(contenders[1].configs[1].learner.name, "tbptt");
  EXPECT_EQ(contenders[1].configs[1].train.seed, 6u);
  EXPECT_EQ(contenders[1].configs[1].run.directory, (scratch / "run-compare/tbptt-seed-6").string());
  EXPECT_EQ(contenders[1].configs[1].run.name, "tiny-compare/tbptt-seed-6");
  EXPECT_EQ(contenders[0].configs[1].train.seed, 6u);
  request.learners.push_back("tbpt");
  EXPECT_REFUSED(make_contenders(request), "did you mean 'tbptt'?");
  request.config = scratch.path().string();
  EXPECT_REFUSED(make_contenders(request), "throughtime report");
}

TEST(Comparison, EveryArmRunsTheSameSeedsWithItsOwnOptions) {
  const ScratchDirectory scratch;
  ComparisonRequest request{
      .config = scratch.write("tiny.toml", tiny_file + "[[arm]]\nname = \"whole\"\n[[arm]]\nname = \"windows\"\n"
                                                       "learner.name = \"fptt\"\nlearner.fptt.windows = 2\n"
                                                       "train.iterations = 10\n"),
      .overrides = {"train.seed=5"},
      .seeds = 2};
  const std::vector<Contender> contenders = make_contenders(request);
  ASSERT_EQ(contenders.size(), 2u);
  EXPECT_EQ(contenders[0].name, "whole");
  ASSERT_EQ(contenders[1].configs.size(), 2u);
  const RunConfig& last = contenders[1].configs[1];
  EXPECT_EQ(last.learner.name, "fptt");
  EXPECT_EQ(last.train.iterations, 10);
  EXPECT_EQ(contenders[0].configs[1].train.iterations, 20);
  EXPECT_EQ(last.train.seed, 6u);
  EXPECT_EQ(last.run.directory, "runs/tiny-compare/windows-seed-6");
  EXPECT_EQ(last.run.name, "tiny-compare/windows-seed-6");
  request.overrides = {"run.directory=" + (scratch / "run").string()};
  request.arms = {"windows"};
  const std::vector<Contender> one = make_contenders(request);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].configs[0].run.directory, (scratch / "run-compare/windows-seed-1").string());
}

TEST(Comparison, RefusesArmsThatItCannotCompare) {
  const ScratchDirectory scratch;
  ComparisonRequest request{.config = scratch.write("plain.toml", tiny_file)};
  EXPECT_REFUSED(make_contenders(request), "has no [[arm]] to compare");
  request.arms = {""};
  EXPECT_REFUSED(make_contenders(request), "has no [[arm]] to compare");
  request.config = scratch.write("arms.toml", tiny_file + "[[arm]]\nname = \"whole\"\n");
  EXPECT_REFUSED(make_contenders(request), "pick one with --arm");
  request.arms = {"hole"};
  EXPECT_REFUSED(make_contenders(request), "did you mean 'whole'?");
  request.arm = "whole";
  EXPECT_REFUSED(make_contenders(request), "without them it is --arms whole");
  request.learners = {"bptt"};
  EXPECT_REFUSED(make_contenders(request), "learners or arms, not both");
}

TEST(Comparison, RefusesANameThatIsThereTwice) {
  const ScratchDirectory scratch;
  const std::string arms = "[[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";
  EXPECT_REFUSED(make_contenders({.config = scratch.write("arms.toml", tiny_file + arms), .arms = {"a", "b", "a"}}),
                 "--arms names a twice");
  EXPECT_REFUSED(make_contenders({.config = scratch.write("tiny.toml", tiny_file), .learners = {"bptt", "bptt"}}),
                 "--learners names bptt twice");
}

TEST(Comparison, RefusesArmsOfDifferentMetrics) {
  const ScratchDirectory scratch;
  ComparisonRequest request{.config =
                                scratch.write("arms.toml", tiny_file + "[[arm]]\nname = \"sum\"\n[[arm]]\n"
                                                                       "name = \"copy\"\ntask.name = \"copy\"\n")};
  EXPECT_REFUSED(make_contenders(request),
                 "arm sum is judged by mse, arm copy by cross_entropy: arms of different tasks cannot be compared");
  request.arms = {"copy"};
  EXPECT_EQ(make_contenders(request).size(), 1u);
}

TEST(Comparison, RunsThatFailedHaveNoNumbers) {
  Contender contender{"bptt", {}};
  EXPECT_EQ(metric_of({contender}), "metric");
  contender.outcomes = {{.run = "a",
                         .metric = "mse",
                         .iterations = 3,
                         .updates = 6,
                         .seconds = 2,
                         .test_metric = 1,
                         .last_test_metric = 5},
                        {.run = "b",
                         .metric = "mse",
                         .iterations = 4,
                         .updates = 12,
                         .seconds = 4,
                         .test_metric = 3,
                         .last_test_metric = 9},
                        {.run = "c", .failure = "it broke", .test_metric = 100}};
  EXPECT_EQ(contender.values(&Outcome::test_metric), (std::vector<double>{1, 3}));
  EXPECT_EQ(contender.failures(), 1u);
  EXPECT_EQ(contender.sample().iterations, 4);
  EXPECT_EQ(metric_of({contender}), "mse");
  const auto json = nlohmann::json::parse(contender_json(contender, "learner"));
  EXPECT_EQ(json["learner"], "bptt");
  EXPECT_EQ(json["updates_mean"], 9);
  EXPECT_EQ(json["test_mean"], 2);
  EXPECT_DOUBLE_EQ(json["test_deviation"], std::sqrt(2.0));
  EXPECT_EQ(json["last_test_mean"], 7);
  EXPECT_EQ(json["seconds_mean"], 3);
  EXPECT_EQ(json["runs"].size(), 3u);
  EXPECT_EQ(json["failures"][0], "it broke");
  contender.outcomes.resize(1);
  EXPECT_EQ(nlohmann::json::parse(contender_json(contender, "learner"))["test_deviation"], 0);
}

}  // namespace
}  // namespace throughtime
