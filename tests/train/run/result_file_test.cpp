#include "train/run/result_file.h"

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

TEST(ResultFile, RefusesWhatIsNoObject) {
  const ScratchDirectory scratch;
  for (const char* text : {"", "[1]", "{\"a\":"})
    EXPECT_REFUSED(read_result_file(scratch.write("result.json", text)), "no JSON object");
}

}  // namespace
}  // namespace throughtime
