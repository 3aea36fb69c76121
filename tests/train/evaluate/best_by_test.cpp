#include "train/evaluate/best_by.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/errors.h"
#include "support/scratch.h"
#include "train/options/config.h"
#include "train/run/trainer.h"

namespace throughtime {
namespace {

const Evaluation evaluation = {.loss = 3, .metric = 0.5, .scores = {{"accuracy", 0.5}, {"esr", 0.25}}};

TEST(BestBy, TakesTheLossOrAMetric) {
  EXPECT_EQ(BestBy("loss").score(evaluation), 3);
  EXPECT_EQ(BestBy("esr").score(evaluation), 0.25);
  EXPECT_TRUE(BestBy("esr").better(0.1, 0.2));
  EXPECT_FALSE(BestBy("esr").better(0.2, 0.2));
  EXPECT_TRUE(BestBy("accuracy").better(0.9, 0.8)) << "more is better";
  EXPECT_FALSE(BestBy("loss").better(2, 1));
}

TEST(BestBy, PrefersAnyFiniteScore) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const char* name : {"esr", "accuracy"})
    for (const double none : {std::nan(""), infinite, -infinite}) {
      EXPECT_TRUE(BestBy(name).better(0.5, none)) << name << " " << none;
      EXPECT_FALSE(BestBy(name).better(none, 0.5)) << name << " " << none;
      EXPECT_FALSE(BestBy(name).better(none, std::nan(""))) << name << " " << none;
    }
}

TEST(BestBy, ARunWithoutAFiniteScoreSaysSo) {
  RunResult result{.plan = {.name = "a run", .best_by = "esr"}};
  EXPECT_EQ(unchosen(result), "") << "no validations";
  result.best_validation = evaluation;
  EXPECT_EQ(unchosen(result), "");
  result.best_validation->scores.back().value = std::numeric_limits<double>::infinity();
  result.best_validation->iteration = 5;
  EXPECT_EQ(unchosen(result),
            "no validation of a run had a finite esr (the first is inf), so that the best weights are those of "
            "iteration 5; choose by another metric (train.best_by)");
  result.plan.best_by = "loss";
  EXPECT_EQ(unchosen(result), "");
}

TEST(BestBy, RefusesWhatIsNotMeasured) {
  EXPECT_EQ(BestBy("esr", {Metric::mse, Metric::esr}).name(), "esr");
  EXPECT_EQ(BestBy("loss", {}).name(), "loss");
  EXPECT_REFUSED(BestBy("esr", {Metric::mse, Metric::coverage}), "\"esr\" is not measured here; what is: loss, mse");
  EXPECT_REFUSED(BestBy("essr"), "did you mean 'esr'?");
  const std::vector<std::string> names = BestBy::names();
  EXPECT_EQ(names.front(), "loss");
  EXPECT_EQ(std::ranges::count(names, "coverage"), 0) << "a wider band is no better one";
}

TEST(BestBy, NeedsValidations) {
  const testing::ScratchDirectory scratch;
  const std::string path = scratch.write("a.toml", "[train]\nbest_by = \"accuracy\"\n");
  EXPECT_REFUSED(load_config(path, {}),
                 "train.best_by = \"accuracy\" needs validations to choose by: set "
                 "train.evaluate_every");
  EXPECT_EQ(load_config(path, {"train.evaluate_every=5"}).train.best_by, "accuracy");
  EXPECT_REFUSED(load_config(path, {"train.best_by=coverage"}), "train.best_by");
}

}  // namespace
}  // namespace throughtime
