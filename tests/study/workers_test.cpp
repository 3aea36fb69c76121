#include "study/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace throughtime {
namespace {

/// Waits until as many workers have ended.
std::vector<Workers::Ended> bury_all(Workers& workers, std::size_t count) {
  std::vector<Workers::Ended> ended;
  while (ended.size() < count) {
    for (const Workers::Ended& one : workers.bury()) ended.push_back(one);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ended;
}

TEST(Workers, ThreadsWorkSideBySideInOneMemory) {
  const auto workers = make_threads();
  std::atomic<int> met = 0, sum = 0;
  for (int job = 0; job < 3; ++job)
    workers->start(static_cast<std::size_t>(job), [&, job] {
      ++met;
      while (met < 3) std::this_thread::yield();  // none would go on if they came one after the other
      sum += job;
    });
  EXPECT_EQ(workers->count(), 3u);
  for (const Workers::Ended& ended : bury_all(*workers, 3)) EXPECT_EQ(ended.how, "");
  EXPECT_EQ(workers->count(), 0u);
  EXPECT_EQ(sum, 3);
}

TEST(Workers, AProcessHasItsOwnMemoryAndSaysWhatEndedIt) {
  const auto workers = make_processes();
  int touched = 0;
  workers->start(7, [&] { touched = 1; });
  workers->start(8, [] { std::raise(SIGKILL); });
  for (const Workers::Ended& ended : bury_all(*workers, 2))
    EXPECT_EQ(ended.how, ended.job == 7 ? "" : "ended by signal 9 (Killed)");
  EXPECT_EQ(touched, 0);
}

TEST(Workers, AProcessIsAskedToEnd) {
  const auto workers = make_processes();
  workers->start(1, [] { std::this_thread::sleep_for(std::chrono::seconds(600)); });
  workers->stop();
  EXPECT_EQ(bury_all(*workers, 1)[0].how, "ended by signal 15 (Terminated)");
}

}  // namespace
}  // namespace throughtime
