#include "train/files/result_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;

TEST(ResultFile, ReadsBackWhatARunWrites) {
  RunResult result;
  result.plan.name = "a run";
  result.plan.metric = "mse";
  result.end = RunEnd::stopped_early;
  result.iteration = 12;
  result.seconds = 0.1;
  result.train_loss = std::nan("");
  result.test = Evaluation{.loss = 0.5, .scores = {{"mse", 1.0 / 3}}};
  result.best_validation = Evaluation{.iteration = 7, .loss = 0.25};
  const ScratchDirectory scratch;
  const ResultFile file = read_result_file(scratch.write("result.json", result_json(result, "runs/a")));
  EXPECT_EQ(file.text("name"), "a run");
  EXPECT_EQ(file.text("end"), "stopped early");
  EXPECT_EQ(file.number("iterations"), 12);
  EXPECT_EQ(file.number("seconds"), 0.1);
  EXPECT_EQ(file.number("metrics.test_mse"), 1.0 / 3) << "to the last bit";
  EXPECT_EQ(file.number("best.iteration"), 7);
  EXPECT_TRUE(std::isnan(file.number("train_loss")));
  EXPECT_TRUE(std::isnan(file.number("best.test_loss")));
  EXPECT_TRUE(std::isnan(file.number("name")));
  EXPECT_EQ(file.text("nothing"), "");
  EXPECT_EQ(file.text("uniform_loss"), "") << "no classes";
  result.plan.uniform_loss = 2.5;
  EXPECT_EQ(read_result_file(scratch.write("result.json", result_json(result, "runs/a"))).number("uniform_loss"), 2.5);
}

TEST(ResultFile, SaysWhereTheEndIsNoResult) {
  RunResult result;
  result.plan.name = "a run";
  result.plan.metric = "mse";
  result.plan.baseline = 0.5;
  result.test = Evaluation{.loss = 49, .metric = 49};
  EXPECT_EQ(divergence(result), "");
  EXPECT_NE(result_json(result, "runs/a").find("\"diverged\":false"), std::string::npos);
  result.test->metric = 5e10;
  EXPECT_NE(divergence(result).find(
                "a run has diverged, or learned nothing: its test mse is 5e+10, 1e+11 times the naive baseline (0.5)"),
            std::string::npos)
      << divergence(result);
  EXPECT_NE(result_json(result, "runs/a").find("\"diverged\":true"), std::string::npos);
  // Accuracy has a lower end; there the loss tells, compared with that of a guess.
  result.plan.metric = "accuracy";
  result.plan.is_error = false;
  result.plan.uniform_loss = std::log(10.0);
  result.test->loss = 23;
  EXPECT_EQ(divergence(result), "");
  result.test->loss = 24;
  EXPECT_NE(divergence(result).find("its test loss is 24, 10 times that of a guess (2.303)"), std::string::npos)
      << divergence(result);
  // A log density has no zero: no multiple of a naive one that is small by chance says anything.
  result.plan.metric = "nll";
  result.plan.uniform_loss = std::nan("");
  result.plan.baseline = 1e-9;
  result.test->metric = 5;
  EXPECT_EQ(divergence(result), "");
  EXPECT_FALSE(exploded(result));
  result.test->metric = 101;
  EXPECT_NE(divergence(result).find("its test nll is 101, that of the naive baseline 1e-09"), std::string::npos);
  EXPECT_FALSE(exploded(result));
  result.test->metric = 1e19;
  EXPECT_TRUE(exploded(result));
  EXPECT_TRUE(std::isnan(skill_of(5, 1e-9, is_error(Metric::nll))));
  EXPECT_EQ(skill_of(3, 2, is_error(Metric::mse)), 1.5);
  result.plan.uniform_loss = std::log(10.0);
  // Without a test it is the training loss.
  result.test.reset();
  result.train_loss = 1;
  EXPECT_EQ(divergence(result), "");
  result.train_loss = 1e6;
  EXPECT_NE(divergence(result).find("its training loss is 1e+06"), std::string::npos) << divergence(result);
}

TEST(ResultFile, RefusesWhatIsNoObject) {
  const ScratchDirectory scratch;
  for (const char* text : {"", "[1]", "{\"a\":"})
    EXPECT_REFUSED(read_result_file(scratch.write("result.json", text)), "no JSON object");
}

}  // namespace
}  // namespace throughtime
