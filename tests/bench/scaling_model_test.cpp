#include "bench/scaling_model.h"

#include <gtest/gtest.h>

#include "support/scratch.h"

namespace throughtime::bench {
namespace {

const Cluster slow{.name = "slow", .flops = 1e9, .latency = 1e-3, .bandwidth = 1e6};
const Cluster ideal{.name = "ideal", .flops = 1e9, .latency = 0, .bandwidth = 1e30};
const Net net{.name = "net", .parameters = 1000, .multiplied = 500, .state = 10};

TEST(ScalingModel, CountsMessagesAndBytes) {
  EXPECT_EQ(all_reduce_seconds(net, slow, 1), 0);
  // Three others: 3 messages and 3/4 of 4000 bytes, out and back.
  EXPECT_DOUBLE_EQ(all_reduce_seconds(net, slow, 4), 2 * (3e-3 + 3000 / 1e6));
  EXPECT_DOUBLE_EQ(boundary_seconds(net, slow, 5), 2 * (1e-3 + 200 / 1e6));
  EXPECT_DOUBLE_EQ(compute_seconds(net, slow, 20), 6 * 500 * 20 / 1e9);
}

TEST(ScalingModel, WithoutCostsOfMessagesRanksMultiplyTheSpeed) {
  EXPECT_DOUBLE_EQ(data_parallel_speedup(net, ideal, 8, 64, 20), 8);
  EXPECT_DOUBLE_EQ(data_parallel_speedup(net, ideal, 7, 8, 20), 4);  // one of them has two rows
  EXPECT_DOUBLE_EQ(data_parallel_speedup(net, ideal, 64, 8, 20), 8);
  EXPECT_DOUBLE_EQ(time_parallel_speedup(net, ideal, 64, 8, 20), 64);
}

TEST(ScalingModel, LongerWindowsScaleBetterAndSlowNetworksDoNotScale) {
  EXPECT_GT(data_parallel_speedup(net, slow, 8, 64, 2000), data_parallel_speedup(net, slow, 8, 64, 20));
  EXPECT_LT(data_parallel_speedup(net, slow, 64, 64, 1), 1);
}

TEST(ScalingModel, ThePageShowsItsTables) {
  const std::string page = testing::text_of(THROUGHTIME_TEST_DIRECTORY "/../docs/scaling.md");
  EXPECT_NE(page.find(scaling_tables()), std::string::npos) << "run: throughtime bench --scaling";
}

}  // namespace
}  // namespace throughtime::bench
