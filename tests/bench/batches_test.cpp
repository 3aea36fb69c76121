#include "bench/batches.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/errors.h"

namespace throughtime::bench {
namespace {

TEST(BenchBatches, EveryGeneratedTaskIsMeasured) {
  for (const TaskType* type : all_tasks()) {
    // These have no data set of their own.
    if (type->name == "series" || type->name == "sequences" || type->name == "arrays") continue;
    bool measured = false;
    for (const BatchCase& each : all_batch_cases()) measured = measured || each.task.name == type->name;
    EXPECT_TRUE(measured) << type->name;
  }
}

TEST(BenchBatches, NamesAreFoundAndBeginAlike) {
  for (const BatchCase& each : all_batch_cases()) {
    EXPECT_TRUE(is_batch_case(each.name));
    EXPECT_EQ(&find_batch_case(each.name), &each);
  }
  EXPECT_FALSE(is_batch_case("bptt-lstm-b1-h1-t1"));
  EXPECT_REFUSED(find_batch_case("batch-ad"), "unknown case batch-ad; known: batch-add");
}

TEST(BenchBatches, MakesBatchesBesideAnIterationOfTheirLength) {
  const BatchResult result = run_batch_case({"batch-small", {.name = "copy", .copy = {.length = 3}}}, {},
                                            {.repeats = 2, .least = 2, .sample_seconds = 1e-4});
  EXPECT_EQ(result.steps, 23);  // ten symbols, the wait, ten symbols
  EXPECT_GT(result.make_ms, 0);
  EXPECT_GT(result.iteration_ms, result.make_ms);
  EXPECT_GT(result.share, 0);
}

TEST(BenchBatches, MissingDataIsRefused) {
  EXPECT_REFUSED(run_batch_case({"batch-none", {.name = "mnist", .mnist = {.data = "/nowhere"}}}, {}, {}), "/nowhere");
}

TEST(BenchBatches, JsonIsOneLine) {
  const std::string line = json_line(
      BatchResult{.name = "batch-x", .threads = 2, .steps = 5, .make_ms = 0.5, .iteration_ms = 50, .share = 0.01});
  EXPECT_EQ(nlohmann::json::parse(line), (nlohmann::json{{"case", "batch-x"},
                                                         {"threads", 2},
                                                         {"steps", 5},
                                                         {"ours_ms", 0.5},
                                                         {"iteration_ms", 50.0},
                                                         {"share", 0.01}}));
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace throughtime::bench
