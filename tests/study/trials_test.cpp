#include "study/trials.h"

#include <gtest/gtest.h>

#include <cmath>

#include "study/tiny.h"
#include "support/errors.h"
#include "support/scratch.h"
#include "train/files/result_file.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::tiny;

struct Counter : Observer {
  void on_start(const RunPlan&, std::int64_t iteration) override {
    ++starts;
    first = iteration;
  }
  bool wants_stop() override { return ++iterations == stop; }
  int starts = 0, iterations = 0, stop = -1;
  std::int64_t first = -1;
};

TEST(Trials, AFinishedTrialIsNotRunAgain) {
  const ScratchDirectory directory;
  Counter counter;
  const Outcome first = run_trial(tiny(directory / "a"), counter, true);
  const Outcome second = run_trial(tiny(directory / "a"), counter, true);
  EXPECT_EQ(counter.starts, 1);
  EXPECT_EQ(first.test_loss, second.test_loss);
  EXPECT_EQ(first.metric, "mse");
  EXPECT_TRUE(std::isfinite(first.validation_loss));
  RunConfig other = tiny(directory / "a");
  other.optimizer.rate = 0.5;
  EXPECT_REFUSED(run_trial(other, counter, true), "another configuration");
}

TEST(Trials, TheTestThatCountsIsOfTheWeightsThatValidationChose) {
  const ScratchDirectory directory;
  RunConfig config = tiny(directory / "a");
  config.optimizer.rate = 0.5;  // so high that the first validation may well be the best
  config.train.evaluate_every = 1;
  Counter counter;
  const Outcome chosen = run_trial(config, counter, true);
  const ResultFile result = read_result_file(directory / "a" / "result.json");
  ASSERT_NE(result.number("best.test_mse"), result.number("metrics.test_mse"));
  EXPECT_EQ(chosen.test_metric, result.number("best.test_mse"));
  EXPECT_EQ(chosen.test_loss, result.number("best.test_loss"));
  EXPECT_EQ(chosen.last_test_metric, result.number("metrics.test_mse"));
  config = tiny(directory / "b");
  config.train.evaluate_every = 0;
  const Outcome last = run_trial(config, counter, true);
  EXPECT_TRUE(std::isfinite(last.test_metric));
  EXPECT_EQ(last.test_metric, last.last_test_metric);
}

TEST(Trials, AnInterruptedTrialGoesOn) {
  const ScratchDirectory directory;
  Counter stopped;
  stopped.stop = 7;
  EXPECT_TRUE(run_trial(tiny(directory / "a"), stopped, true).interrupted);
  Counter counter;
  const Outcome outcome = run_trial(tiny(directory / "a"), counter, true);
  EXPECT_EQ(counter.first, 7);
  EXPECT_EQ(outcome.test_loss, run_trial(tiny(directory / "b"), counter, true).test_loss);
}

TEST(Trials, WithoutATestThereIsNoTestLoss) {
  const ScratchDirectory directory;
  Counter counter;
  EXPECT_TRUE(std::isnan(run_trial(tiny(directory / "a"), counter, false).test_loss));
}

TEST(Trials, AFailedRunIsAnOutcome) {
  const ScratchDirectory directory;
  RunConfig config = tiny(directory / "a");
  config.optimizer.rule.name = "sgd";
  config.optimizer.rate = 1e35;
  Counter counter;
  const Outcome outcome = run_trial(config, counter, true);
  EXPECT_FALSE(outcome.failure.empty());
  EXPECT_TRUE(std::isnan(outcome.validation_loss));
}

}  // namespace
}  // namespace throughtime
