#include <gtest/gtest.h>

#include "support/errors.h"
#include "train/run/trainer.h"

namespace throughtime {
namespace {

TEST(CheckRun, RefusesWhatATrainerRefuses) {
  const auto changed = [](auto change) {
    RunConfig config;
    config.run.engine = "reference";
    config.train.batch = 4;
    change(config);
    return config;
  };
  EXPECT_NO_THROW(check_run(changed([](RunConfig&) {})));
  const RunConfig task = changed([](RunConfig& config) { config.task.name = "ad"; });
  EXPECT_REFUSED(check_run(task), "did you mean 'add'?");
  EXPECT_REFUSED(Trainer{task}, "did you mean 'add'?");
  const RunConfig model = changed([](RunConfig& config) { config.model.dropout.input = 1; });
  EXPECT_REFUSED(check_run(model), "dropout.input must be at least 0 and below 1");
  EXPECT_REFUSED(Trainer{model}, "dropout.input must be at least 0 and below 1");
  const RunConfig optimizer = changed([](RunConfig& config) { config.optimizer.rule.weight_decay = -1; });
  EXPECT_REFUSED(check_run(optimizer), "weight_decay");
  EXPECT_REFUSED(Trainer{optimizer}, "weight_decay");
  const RunConfig rate = changed([](RunConfig& config) { config.optimizer.rate = -1; });
  EXPECT_REFUSED(check_run(rate), "the learning rate");
  EXPECT_REFUSED(Trainer{rate}, "the learning rate");
  const RunConfig learner = changed([](RunConfig& config) {
    config.task.add.length = 4;
    config.learner = {.name = "fptt", .fptt = {.windows = 5}};
  });
  EXPECT_REFUSED(check_run(learner), "[fptt] windows must be between 1 and the sequence length (4), got 5");
  EXPECT_REFUSED(Trainer{learner}, "[fptt] windows must be between 1 and the sequence length (4), got 5");
}

TEST(CheckRun, ARankNeedsWork) {
  RunConfig config;
  config.train.batch = 4;
  EXPECT_NO_THROW(check_run(config, 4));
  EXPECT_REFUSED(check_run(config, 5), "5 ranks cannot share 4 rows of a batch");
}

}  // namespace
}  // namespace throughtime
