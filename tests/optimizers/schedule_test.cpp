#include <gtest/gtest.h>

#include <cmath>

#include "support/errors.h"
#include "throughtime/optimizer.h"
#include "train/checkpoint/checkpoint.h"

namespace throughtime {
namespace {

TEST(Schedule, ConstantNeverChanges) {
  Schedule schedule({}, 0.3);
  schedule.observe_validation(1.0);
  schedule.observe_validation(2.0);
  EXPECT_EQ(schedule.rate(1, 0), 0.3);
  EXPECT_EQ(schedule.rate(1000000, 99.5), 0.3);
}

TEST(Schedule, FactorAtMultipliesFromEachEpochOn) {
  const Schedule schedule({.rule = ScheduleRule::factor_at, .factor = 0.1, .epochs = {300, 400}}, 2.0);
  EXPECT_DOUBLE_EQ(schedule.rate(7, 299.99), 2.0);
  EXPECT_DOUBLE_EQ(schedule.rate(7, 300), 0.2);
  EXPECT_DOUBLE_EQ(schedule.rate(7, 399.99), 0.2);
  EXPECT_NEAR(schedule.rate(7, 400), 0.02, 1e-16);
}

TEST(Schedule, InverseSqrtDividesByTheRootOfTheUpdate) {
  const Schedule schedule({.rule = ScheduleRule::inverse_sqrt}, 1.0);
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 1.0);
  EXPECT_DOUBLE_EQ(schedule.rate(4, 0), 0.5);
  EXPECT_DOUBLE_EQ(schedule.rate(100, 3), 0.1);
}

TEST(Schedule, PlateauForgivesPatienceEvaluationsThenDivides) {
  Schedule schedule({.rule = ScheduleRule::plateau, .factor = 0.25, .patience = 1}, 1.0);
  schedule.observe_validation(5.0);
  schedule.observe_validation(5.0);  // no improvement, forgiven
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 1.0);
  schedule.observe_validation(4.0);  // an improvement forgets it
  schedule.observe_validation(4.5);
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 1.0);
  schedule.observe_validation(4.5);
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 0.25);
  schedule.observe_validation(4.0);  // the best counts, not the last; patience starts anew
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 0.25);
  schedule.observe_validation(4.0);
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 0.0625);
}

TEST(Schedule, PlateauTakesALossThatIsNoNumberForNoImprovement) {
  Schedule schedule({.rule = ScheduleRule::plateau, .factor = 0.5}, 1.0);
  schedule.observe_validation(std::nan(""));
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 0.5);
  schedule.observe_validation(3.0);
  schedule.observe_validation(std::nan(""));
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 0.25);
  schedule.observe_validation(2.0);
  EXPECT_DOUBLE_EQ(schedule.rate(1, 0), 0.25);
}

TEST(Schedule, GoesOnFromAnArchive) {
  const ScheduleConfig config = {.rule = ScheduleRule::plateau, .factor = 0.5, .patience = 2};
  Schedule first(config, 1.0), second(config, 1.0);
  for (const double loss : {3.0, 4.0, 4.0}) first.observe_validation(loss);
  TensorFile file;
  SavingArchive saving(file);
  first.archive(saving);
  LoadingArchive loading(file);
  second.archive(loading);
  for (const double loss : {3.5, 3.5, 2.9, 3.0}) {
    first.observe_validation(loss);
    second.observe_validation(loss);
    EXPECT_EQ(first.rate(1, 0), second.rate(1, 0));
  }
  EXPECT_DOUBLE_EQ(second.rate(1, 0), 0.5);
}

TEST(Schedule, RefusesWhatCannotWork) {
  EXPECT_REFUSED(choice_of<ScheduleRule>("platau", "schedule", "rule"),
                 "[schedule] unknown rule 'platau'; did you mean 'plateau'? known: constant, factor_at, plateau");
  EXPECT_REFUSED(Schedule({}, -0.1), "[schedule] the learning rate");
  EXPECT_REFUSED(Schedule({}, std::nan("")), "the learning rate");
  EXPECT_REFUSED(Schedule({.rule = ScheduleRule::factor_at, .factor = 0.0}, 1.0), "factor");
  EXPECT_REFUSED(Schedule({.rule = ScheduleRule::factor_at, .epochs = {-1}}, 1.0), "epochs");
  EXPECT_REFUSED(Schedule({.rule = ScheduleRule::plateau, .patience = -1}, 1.0), "patience");
}

}  // namespace
}  // namespace throughtime
