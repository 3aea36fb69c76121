// Runs side by side on a device that is lost in their midst.
#include <gtest/gtest.h>

#include "study/jobs.h"
#include "study/tiny.h"
#include "study/trials.h"
#include "support/fake_device.h"
#include "support/scratch.h"
#include "train/files/run_directory.h"

namespace throughtime {
namespace {

using testing::FakeDevice;
using testing::ScratchDirectory;

std::vector<RunConfig> runs_on_device(const ScratchDirectory& directory, int count) {
  std::vector<RunConfig> configs;
  for (int i = 0; i < count; ++i) {
    configs.push_back(testing::tiny(directory / std::to_string(i)));
    configs.back().run.engine = FakeDevice::name;
    configs.back().run.checkpoint_every = 3;
    configs.back().train.seed = static_cast<std::uint64_t>(i + 1);
  }
  return configs;
}

/// The text of the DeviceFailure that a set of runs ends with.
std::string failure_of(const std::vector<RunConfig>& configs, int jobs) {
  JobObserver silent;
  try {
    run_jobs(configs, {.jobs = jobs}, silent);
  } catch (const DeviceFailure& failure) {
    return failure.what();
  }
  return "";
}

double test_loss(const RunConfig& config) {
  Observer silent;
  return run_trial(config, silent, true).test_loss;
}

TEST(DeviceFailure, StopsAllRunsBesideAndTheSameSetGoesOn) {
  FakeDevice device;
  const ScratchDirectory here, there;
  const std::vector<RunConfig> parts = runs_on_device(here, 4), whole = runs_on_device(there, 4);
  device.lose_at(
      31);  // 20 updates a run, three at a time: none is done, and the fourth has not begun or is in its midst
  EXPECT_EQ(failure_of(parts, 3),
            std::string(FakeDevice::lost_text) +
                "; every run stopped at its last checkpoint, and the same command goes on from there");
  int begun = 0;
  for (const RunConfig& config : parts) {
    const RunDirectory directory(config.run.directory);
    if (!directory.checkpoints().empty()) {
      EXPECT_NO_THROW(directory.checkpoints().load());
      ++begun;
    }
  }
  EXPECT_GE(begun, 1);
  device.repair();
  JobObserver silent;
  for (const JobEnd& end : run_jobs(parts, {.jobs = 3}, silent)) EXPECT_EQ(end.failure, "");
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(test_loss(parts[i]), test_loss(whole[i]));
}

TEST(DeviceFailure, LeavesRunsThatWereNotBegunAlone) {
  FakeDevice device;
  const ScratchDirectory directory;
  const std::vector<RunConfig> configs = runs_on_device(directory, 3);
  device.lose_at(5);
  EXPECT_NE(failure_of(configs, 1), "");
  EXPECT_TRUE(RunDirectory(configs[0].run.directory).is_run());
  EXPECT_FALSE(RunDirectory(configs[0].run.directory).is_finished());
  for (int i : {1, 2}) EXPECT_FALSE(std::filesystem::exists(configs[static_cast<std::size_t>(i)].run.directory));
}

TEST(DeviceFailure, IsNoAnswerOfATrial) {
  FakeDevice device;
  const ScratchDirectory directory;
  const RunConfig config = runs_on_device(directory, 1)[0];
  device.lose_at(1);
  EXPECT_THROW(test_loss(config), DeviceFailure);
}

}  // namespace
}  // namespace throughtime
