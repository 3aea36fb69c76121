#include "study/jobs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "study/tiny.h"
#include "study/trials.h"
#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::tiny;

std::vector<RunConfig> some(const ScratchDirectory& directory, int count) {
  std::vector<RunConfig> configs;
  for (int i = 0; i < count; ++i) {
    configs.push_back(tiny(directory / std::to_string(i)));
    configs.back().run.engine = "reference";
    configs.back().train.seed = static_cast<std::uint64_t>(i + 1);
  }
  return configs;
}

double test_loss(const RunConfig& config) {
  Observer silent;
  return run_trial(config, silent, true).test_loss;
}

struct Listener : JobObserver {
  void on_start(const JobsProgress& progress) override { finished_before = progress.finished; }
  void on_progress(const JobsProgress& progress) override { last = progress; }
  void on_end(const JobsProgress&, std::size_t job, const std::string& how) override { ended[job] = how; }
  std::size_t finished_before = 0;
  JobsProgress last;
  std::map<std::size_t, std::string> ended;
};

TEST(Jobs, TrainEveryRunInAProcessOfItsOwn) {
  const ScratchDirectory here, there;
  const std::vector<RunConfig> apart = some(here, 3), alone = some(there, 3);
  Listener listener;
  const std::vector<JobEnd> ends = run_jobs(apart, {.jobs = 2, .keep_checkpoints = false}, listener);
  ASSERT_EQ(ends.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ends[i].failure, "");
    EXPECT_FALSE(ends[i].interrupted);
    EXPECT_EQ(test_loss(apart[i]), test_loss(alone[i]));
    EXPECT_FALSE(std::filesystem::exists(here / (std::to_string(i) + "/checkpoints")));
  }
  EXPECT_EQ(listener.ended.size(), 3u);
  EXPECT_EQ(listener.last.finished, 3u);
  EXPECT_EQ(listener.last.share, 1);
}

TEST(Jobs, WhatIsFinishedIsTakenOver) {
  const ScratchDirectory directory;
  std::vector<RunConfig> configs = some(directory, 2);
  test_loss(configs[0]);
  const auto written = std::filesystem::last_write_time(directory / "0/result.json");
  Listener listener;
  run_jobs(configs, {}, listener);
  EXPECT_EQ(listener.finished_before, 1u);
  EXPECT_EQ(listener.ended.size(), 1u);
  EXPECT_EQ(std::filesystem::last_write_time(directory / "0/result.json"), written);
  std::filesystem::remove_all(directory / "1");
  configs[0].optimizer.rate = 0.5;
  EXPECT_REFUSED(run_jobs(configs, {}, listener), "another configuration");
  EXPECT_FALSE(std::filesystem::exists(directory / "1")) << "nothing was begun";
}

TEST(Jobs, OneThatFailsDoesNotStopTheOthers) {
  const ScratchDirectory directory;
  std::vector<RunConfig> configs = some(directory, 3);
  directory.write("0", "a file where a run wants to go");
  configs[1].optimizer.rule.name = "sgd";
  configs[1].optimizer.rate = 1e200;
  Listener listener;
  const std::vector<JobEnd> ends = run_jobs(configs, {}, listener);
  EXPECT_TRUE(ends[0].interrupted) << "no answer";
  EXPECT_NE(listener.ended[0].find("failed: "), std::string::npos) << listener.ended[0];
  EXPECT_FALSE(ends[1].interrupted) << "a loss that is no number is an answer";
  EXPECT_NE(ends[1].failure, "");
  EXPECT_EQ(ends[2].failure, "");
}

TEST(Jobs, AnObserverStopsAllOfThemAndTheSameSetGoesOn) {
  /// Wants it in the process of a run alone, after some iterations: each process has its own copy.
  struct Impatient : JobObserver {
    bool wants_stop() override { return getpid() != parent && ++asked == 7; }
    pid_t parent = getpid();
    int asked = 0;
  };
  const ScratchDirectory here, there;
  const std::vector<RunConfig> parts = some(here, 2), whole = some(there, 2);
  Impatient impatient;
  const std::vector<JobEnd> stopped = run_jobs(parts, {}, impatient);
  EXPECT_TRUE(stopped[0].interrupted && stopped[1].interrupted);
  EXPECT_TRUE(std::filesystem::exists(here / "0/checkpoints/last.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(here / "0/result.json"));
  JobObserver silent;
  run_jobs(parts, {.jobs = 2}, silent);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(test_loss(parts[i]), test_loss(whole[i]));
}

TEST(Jobs, AStopLeavesWhatWasNeverBegunWithoutAnAnswer) {
  struct Stopped : JobObserver {
    bool wants_stop() override { return true; }
  };
  const ScratchDirectory directory;
  Stopped stopped;
  const std::vector<JobEnd> ends = run_jobs(some(directory, 2), {}, stopped);
  EXPECT_TRUE(ends[0].interrupted && ends[1].interrupted);
}

}  // namespace
}  // namespace throughtime
