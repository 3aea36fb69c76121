#include "bench/plan.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace throughtime::bench {
namespace {

TEST(Plan, SortsNamesByTheirKinds) {
  const Plan plan = plan_of({"batch-add", "bptt-gru-b64-h96-t100", "online-tbptt-lstm-b1-h32-k10",
                             "host-fptt-lstm-b2-h3-t4-k2", "4x-bptt-gru-b1-h1-t1", "stream-csv-lstm-b1-h32-k10"});
  EXPECT_EQ(plan.streams, std::vector<std::string>{"stream-csv-lstm-b1-h32-k10"});
  EXPECT_EQ(plan.at_once, std::vector<std::string>{"4x-bptt-gru-b1-h1-t1"});
  EXPECT_EQ(plan.cases, std::vector<std::string>{"bptt-gru-b64-h96-t100"});
  EXPECT_EQ(plan.online, std::vector<std::string>{"online-tbptt-lstm-b1-h32-k10"});
  EXPECT_EQ(plan.host, std::vector<std::string>{"host-fptt-lstm-b2-h3-t4-k2"});
  ASSERT_EQ(plan.batches.size(), 1u);
  EXPECT_EQ(plan.batches.front().name, "batch-add");
  EXPECT_THROW(plan_of({"bptt"}), InvalidInput);
  EXPECT_THROW(plan_of({"host-bptt-gru-b64-h96-t100"}), InvalidInput);
}

TEST(Plan, WithoutNamesHoldsEveryKind) {
  const Plan plan = plan_of({});
  EXPECT_FALSE(plan.cases.empty() || plan.online.empty() || plan.streams.empty() || plan.host.empty() ||
               plan.batches.empty());
}

TEST(Plan, AMapHasEveryPairOfSizes) {
  const std::vector<std::string> cases = map_cases({"lstm", "gru"});
  EXPECT_EQ(cases.size(), 2 * map_rows.size() * map_units.size());
  EXPECT_EQ(cases.front(), "bptt-lstm-b1-h16-t200");
  EXPECT_EQ(cases.back(), "bptt-gru-b128-h512-t200");
  EXPECT_REFUSED(map_cases({"lsmt"}), "lsmt");
}

TEST(Plan, AQuickLookIsShort) {
  EXPECT_LT(effort_of(true, 15).seconds, effort_of(false, 15).seconds);
  EXPECT_EQ(effort_of(false, 3).least, 3);
  EXPECT_EQ(with_effort({}, true, 15).repeats, 3);
}

}  // namespace
}  // namespace throughtime::bench
