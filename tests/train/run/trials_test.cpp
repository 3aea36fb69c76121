#include "train/run/trials.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;

TEST(Trials, ReadsAnAxis) {
  const GridAxis axis = parse_axis("model.hidden=[8, 4],16,[1]");
  EXPECT_EQ(axis.key, "model.hidden");
  EXPECT_EQ(axis.values, (std::vector<std::string>{"[8, 4]", "16", "[1]"}));
  EXPECT_REFUSED(parse_axis("model.hidden"), "key=a,b,c");
  EXPECT_REFUSED(parse_axis("model.hidden=1,,2"), "empty value");
}

TEST(Trials, AGridIsEveryCombination) {
  const auto points = grid_points({{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}});
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[0], (std::vector<std::string>{"a=1", "b=x"}));
  EXPECT_EQ(points[1], (std::vector<std::string>{"a=1", "b=y"}));
  EXPECT_EQ(points[5], (std::vector<std::string>{"a=2", "b=z"}));
}

TEST(Trials, SpreadOfNumbers) {
  EXPECT_TRUE(std::isnan(spread_of({}).mean));
  EXPECT_EQ(spread_of({3}).mean, 3);
  EXPECT_EQ(spread_of({3}).deviation, 0);
  EXPECT_DOUBLE_EQ(spread_of({1, 2, 3, 4}).mean, 2.5);
  EXPECT_DOUBLE_EQ(spread_of({1, 2, 3, 4}).deviation, std::sqrt(5.0 / 3));
  // A hundred perfect reports are no better than perfect.
  EXPECT_EQ(spread_of(std::vector<double>(100, 1.0)).mean, 1.0);
  EXPECT_EQ(spread_of(std::vector<double>(77, 0.83)).mean, 0.83);
  EXPECT_EQ(spread_of(std::vector<double>(77, 0.83)).deviation, 0);
}

RunConfig tiny(const std::filesystem::path& directory) {
  RunConfig config;
  config.task.add.length = 4;
  config.model.hidden = {4};
  config.train.iterations = 20;
  config.train.batch = 4;
  config.train.evaluate_every = 10;
  config.run.threads = 1;
  config.run.name = "tiny";
  config.run.directory = directory.string();
  return config;
}

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
