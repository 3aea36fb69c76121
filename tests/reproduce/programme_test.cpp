#include "reproduce/runs/programme.h"

#include <gtest/gtest.h>

#include "reproduce/arm_values.h"
#include "support/scratch.h"

namespace throughtime::testing {
namespace {

ResultSpec result_named(const std::string& name) {
  ResultSpec spec{.name = name, .file = {}, .arms = {"a", "b"}};
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
  spec.claims = {Claim{.says = "a beats b", .measure = mse, .rules = {rule}}};
  return spec;
}

std::vector<std::string> names_of_results(const Programme& programme) {
  std::vector<std::string> names;
  for (const ResultSpec& spec : programme.results) names.push_back(spec.name);
  return names;
}

TEST(Programme, RunsTheCheapestFirstAndUnknownCostsLast) {
  const ScratchDirectory scratch;
  const std::vector<ResultSpec> specs = {result_named("unknown"), result_named("dear"), result_named("cheap"),
                                         result_named("stored")};
  const Costs costs = {{"dear", {.quick = 900, .full = 1}}, {"cheap", {.quick = 5, .full = 2}}};
  StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu", .seconds = 295};
  stored.values = results({{1, 1, 1}, {2, 2, 2}});
  scratch.write("stored.quick.json", json_of(stored));
  const Programme quick = programme_of(specs, Scale::quick, costs, scratch.path());
  EXPECT_EQ(names_of_results(quick), (std::vector<std::string>{"cheap", "stored", "dear", "unknown"}));
  EXPECT_EQ(left_text(quick, 0, 2), "about 10 min left on 2 cores, and what 1 result without an estimate takes");
  EXPECT_EQ(left_text(quick, 2, 1), "about 15 min left on 1 core, and what 1 result without an estimate takes");
  const Programme full = programme_of(specs, Scale::full, costs, scratch.path());
  EXPECT_EQ(names_of_results(full), (std::vector<std::string>{"dear", "cheap", "unknown", "stored"}));
}

TEST(Programme, SaysWhatItLeavesOutAndWhy) {
  const ScratchDirectory scratch;
  ResultSpec lost{.name = "lost", .file = {}, .arms = {}};
  lost.claims = {Claim{.says = "s", .missing = "no data"}};
  ResultSpec large = result_named("large"), some = result_named("some");
  large.needs_full = "three updates";
  some.claims.push_back(some.claims.front());
  some.claims[1].needs_full = "its level is that of large nets";
  const Costs costs = {{"large", {.quick = 1, .full = 72 * 3600}}};
  const Programme quick = programme_of({lost, large, some}, Scale::quick, costs, scratch.path());
  EXPECT_EQ(names_of_results(quick), (std::vector<std::string>{"some"}));
  ASSERT_EQ(quick.left_out.size(), 2u);
  EXPECT_EQ(quick.left_out[0].why, "cannot be run: no data");
  EXPECT_EQ(quick.left_out[1].what, "large");
  EXPECT_EQ(quick.left_out[1].why, "needs full scale, ~72 core-hours: three updates");
  ASSERT_EQ(quick.undecided.size(), 1u);
  EXPECT_EQ(quick.undecided[0].what, "some, claim 2");
  const Programme full = programme_of({lost, large, some}, Scale::full, costs, scratch.path());
  EXPECT_EQ(full.results.size(), 2u);
  EXPECT_TRUE(full.undecided.empty());
}

}  // namespace
}  // namespace throughtime::testing
