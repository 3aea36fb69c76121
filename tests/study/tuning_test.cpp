#include "study/tuning.h"

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

TEST(Grid, ReadsAnAxis) {
  const GridAxis axis = parse_axis("model.hidden=[8, 4],16,[1]");
  EXPECT_EQ(axis.key, "model.hidden");
  EXPECT_EQ(axis.values, (std::vector<std::string>{"[8, 4]", "16", "[1]"}));
  EXPECT_REFUSED(parse_axis("model.hidden"), "key=a,b,c");
  EXPECT_REFUSED(parse_axis("model.hidden=1,,2"), "empty value");
}

TEST(Grid, AGridIsEveryCombination) {
  const auto points = grid_points({{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}});
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[0], (std::vector<std::string>{"a=1", "b=x"}));
  EXPECT_EQ(points[1], (std::vector<std::string>{"a=1", "b=y"}));
  EXPECT_EQ(points[5], (std::vector<std::string>{"a=2", "b=z"}));
}

class Tuning : public ::testing::Test {
 protected:
  TuningRequest request(std::vector<std::string> grid, std::vector<std::string> overrides = {}) const {
    overrides.push_back("run.directory=" + (scratch_ / "run").string());
    return {.config = scratch_.write("tiny.toml", tiny_file), .overrides = overrides, .grid = std::move(grid)};
  }
  /// A task that can give its validation data back.
  std::vector<std::string> series() const {
    std::string rows = "x\n";
    for (int i = 0; i < 100; ++i) rows += std::to_string(i % 7) + "\n";
    return {"task.name=series", "task.series.path=" + scratch_.write("rows.csv", rows)};
  }
  ScratchDirectory scratch_;
};

TEST_F(Tuning, ATrialIsNamedAfterItsSetting) {
  const std::vector<Trial> trials = make_trials(request({"optimizer.rate=0.1,0.2", "model.cell=lstm,gru"}));
  ASSERT_EQ(trials.size(), 4u);
  EXPECT_EQ(trials[1].setting, "optimizer.rate=0.1 model.cell=gru");
  EXPECT_EQ(trials[1].config.run.directory, (scratch_ / "run-tune/optimizer.rate=0.1_model.cell=gru").string());
  EXPECT_EQ(trials[1].config.run.name, "tiny-tune/optimizer.rate=0.1_model.cell=gru");
  EXPECT_EQ(trials[2].config.optimizer.rate, 0.2);
}

TEST_F(Tuning, RefusesWhatCannotBeJudgedBeforeAnythingIsTrained) {
  EXPECT_REFUSED(make_trials(request({"run.threads=1,2"})), "run.threads does not change what is learned");
  EXPECT_REFUSED(make_trials(request({"optimizer.rate=1"}, {"train.evaluate_every=0"})), "train.evaluate_every");
  EXPECT_REFUSED(make_trials(request({"optimizer.name=adam,adm"})), "did you mean 'adam'?");
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "run-tune"));
}

TEST(BestTrial, HasTheLowestValidationLossThatIsANumber) {
  std::vector<Trial> trials(3);
  trials[1].outcome.validation_score = 2;
  trials[2].outcome.validation_score = 1;
  EXPECT_EQ(&best_trial(trials), &trials[2]);
  trials[1].outcome.validation_score = trials[2].outcome.validation_score = std::nan("");
  const auto failure = [&]() -> std::string {
    try {
      return best_trial(trials).setting;
    } catch (const RunFailure& error) {
      return error.what();
    }
  };
  EXPECT_EQ(failure(),
            "[tune] none of the 3 trials has a finite validation loss; choose by another metric (train.best_by)");
  trials[0].outcome.failure = "it broke";
  EXPECT_EQ(failure(), "[tune] none of the 3 trials has a finite validation loss: it broke");
}

TEST_F(Tuning, TheBestSettingIsTrainedOnceMoreBesideItsTrials) {
  const TuningRequest asked = request({"optimizer.rate=0.1,0.2"});
  std::vector<Trial> trials = make_trials(asked);
  trials[1].outcome = {.run = "there", .metric = "mse", .validation_loss = 0.5, .validation_score = 0.125};
  FinalRun last = final_run(trials[1], asked);
  EXPECT_EQ(last.config.run.directory, (scratch_ / "run-tune/best/optimizer.rate=0.2").string());
  EXPECT_EQ(last.config.optimizer.rate, 0.2);
  EXPECT_NE(last.data.find("nothing was held out"), std::string::npos) << last.data;
  EXPECT_EQ(last.config.train.iterations, 20);
  last.outcome.test_metric = 0.25;
  const auto json = nlohmann::json::parse(tuning_json(trials, trials[1], last));
  EXPECT_EQ(json["best"], "optimizer.rate=0.2");
  EXPECT_EQ(json["test_mse"], 0.25);
  EXPECT_TRUE(json["trials"][0]["validation_loss"].is_null());
  EXPECT_EQ(json["validation_score"], 0.125);
  EXPECT_EQ(json["trials"][1]["validation_score"], 0.125);
  EXPECT_TRUE(json["trials"][0]["validation_score"].is_null());
}

TEST_F(Tuning, WhatWasHeldOutIsLearnedFromForAsLongAsWasBest) {
  const TuningRequest asked = request({"optimizer.rate=0.1"}, series());
  std::vector<Trial> trials = make_trials(asked);
  trials[0].outcome.best_iteration = 7;
  const FinalRun last = final_run(trials[0], asked);
  EXPECT_EQ(last.config.train.iterations, 7);
  EXPECT_EQ(last.config.train.evaluate_every, 0);
  EXPECT_NE(last.data.find("7 iterations, which were best"), std::string::npos) << last.data;
}

TEST_F(Tuning, AnAverageThatWaitsForValidationsKeepsThem) {
  std::vector<std::string> overrides = series();
  overrides.emplace_back("optimizer.average=non_monotone");
  const TuningRequest asked = request({"optimizer.rate=0.1"}, overrides);
  const std::vector<Trial> trials = make_trials(asked);
  const FinalRun last = final_run(trials[0], asked);
  EXPECT_NO_THROW(check_run(last.config));
  EXPECT_EQ(last.config.train.evaluate_every, 10);
  EXPECT_EQ(last.config.train.iterations, 20);
  EXPECT_NE(last.data.find("waits for validations"), std::string::npos) << last.data;
}

}  // namespace
}  // namespace throughtime
