#include "engine/cpu/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/denormals.h"
#include "throughtime/error.h"

namespace throughtime::cpu {
namespace {

TEST(ThreadPool, RunsEveryTaskOnceForAnyThreadCount) {
  for (int threads = 1; threads <= 8; ++threads) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int round = 0; round < 200; ++round) {
      std::vector<int> runs(round % 23);
      pool.run(static_cast<int>(runs.size()), [&](int i) { ++runs[i]; });
      for (const int count : runs) ASSERT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, RunsHelpedTasksOnceAndTheFirstWhereItIsCalled) {
  for (int threads = 1; threads <= 8; ++threads) {
    std::atomic<int> helps{0};
    ThreadPool pool(threads, [&] { ++helps; });
    for (int round = 0; round < 200; ++round) {
      std::vector<int> runs(static_cast<std::size_t>(1 + round % 5));
      std::thread::id first;
      pool.run_helped(static_cast<int>(runs.size()), [&](int i) {
        ++runs[static_cast<std::size_t>(i)];
        if (i == 0) first = std::this_thread::get_id();
      });
      for (const int count : runs) ASSERT_EQ(count, 1);
      ASSERT_EQ(first, std::this_thread::get_id());
    }
  }
}

TEST(ThreadPool, SeesWhatTasksWroteWhenItReturns) {
  ThreadPool pool(4);
  std::vector<int> values(100);
  for (int round = 1; round <= 500; ++round) {
    pool.run(100, [&](int i) { values[i] += i; });
    ASSERT_EQ(std::accumulate(values.begin(), values.end(), 0), round * 4950);
  }
}

TEST(ThreadPool, RethrowsTheErrorOfTheLowestTask) {
  for (int threads = 1; threads <= 4; ++threads) {
    ThreadPool pool(threads);
    const auto task = [](int i) {
      if (i % 10 == 3) throw RunFailure(std::to_string(i));
    };
    for (int round = 0; round < 20; ++round) {
      try {
        pool.run(50, task);
        FAIL() << "nothing was thrown";
      } catch (const RunFailure& error) {
        EXPECT_STREQ(error.what(), "3");
      }
    }
    int sum = 0;
    pool.run(1, [&](int) { ++sum; });
    EXPECT_EQ(sum, 1) << "the pool is of no use after an error";
  }
}

#if defined(__SSE2__)
TEST(ThreadPool, FlushesDenormalsInsideAndRestoresThemOutside) {
  volatile float tiny = 1e-38f;
  ThreadPool pool(2);
  std::vector<float> products(2, 1.0f);
  pool.run(2, [&](int i) { products[i] = tiny * 0.01f; });
  EXPECT_EQ(products, (std::vector<float>{0.0f, 0.0f}));
  EXPECT_NE(tiny * 0.01f, 0.0f);
}
#endif

}  // namespace
}  // namespace throughtime::cpu
