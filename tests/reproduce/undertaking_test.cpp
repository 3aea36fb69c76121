#include "reproduce/runs/undertaking.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/run_writer.h"
#include "reproduce/example.h"
#include "reproduce/runs/cost.h"
#include "support/errors.h"

namespace throughtime::testing {
namespace {

class Undertakings : public ::testing::Test {
 protected:
  ResultSpec spec() const {
    scratch_.write("experiments/paper/figure-0.toml", experiment);
    return find_result(scratch_ / "experiments", "paper/figure-0");
  }
  ReproduceRequest request() const {
    return {.seeds = 2, .jobs = 1, .engine = "reference", .directory = scratch_ / "d"};
  }
  ScratchDirectory scratch_;
};

TEST_F(Undertakings, RunArmsSeedBySeed) {
  const Undertaking task = undertake(spec(), request());
  std::vector<std::string> names;
  for (const Part& part : task.parts) names.push_back(part.config.run.name);
  EXPECT_EQ(names, (std::vector<std::string>{"first/seed-1", "second/seed-1", "first/seed-2", "second/seed-2"}));
  EXPECT_EQ(task.parts[3].arm, "second");
  EXPECT_EQ(task.parts[3].config.run.directory, (scratch_ / "d/second/seed-2").string());
  EXPECT_EQ(task.parts[3].config.run.engine, "reference");
  EXPECT_EQ(task.parts[3].config.train.iterations, 5) << "quick scale";
  EXPECT_EQ(task.report(), scratch_ / "d/report.html");
  EXPECT_EQ(task.parts.size(), 4u);
}

TEST_F(Undertakings, FullScaleLeavesTheExperimentAsItIs) {
  ReproduceRequest full = request();
  full.scale = Scale::full;
  full.seeds = 0;
  full.directory.clear();
  const Undertaking task = undertake(spec(), full);
  EXPECT_EQ(task.parts.size(), 2u * 3u) << "the seeds of the result";
  EXPECT_NE(task.parts[0].config.train.iterations, 5);
  EXPECT_EQ(task.directory, "runs/reproduce/paper/figure-0-full");
}

TEST_F(Undertakings, ArmsThatAreNotAskedForCountWhereTheyWereFinished) {
  ReproduceRequest some = request();
  some.arms = {"second"};
  EXPECT_EQ(undertake(spec(), some).parts.size(), 2u);
  write_run(scratch_, "d/first/seed-2", {.seed = 2});
  const Undertaking task = undertake(spec(), some);
  ASSERT_EQ(task.parts.size(), 3u);
  EXPECT_EQ(task.parts[1].config.run.name, "first/seed-2");
  some.arms = {"secnd"};
  EXPECT_REFUSED(undertake(spec(), some), "unknown arm of paper/figure-0 'secnd'; did you mean 'second'?");
}

TEST_F(Undertakings, ShareTheCores) {
  ReproduceRequest many = request();
  many.jobs = 64;
  const Undertaking task = undertake(spec(), many);
  EXPECT_EQ(task.jobs, 4) << "there are no more runs";
  for (const Part& part : task.parts) EXPECT_GE(part.config.run.threads, 1);
}

TEST_F(Undertakings, AreRefusedBeforeAnythingIsTrained) {
  ResultSpec broken = spec();
  scratch_.write("experiments/paper/figure-0.toml", experiment + "train.batch = 4\ntrain.evaluate_every = 0\n");
  broken.quick.push_back("task.name=\"series\"");  // which needs a file
  EXPECT_THROW(undertake(broken, request()), InvalidInput);
  ResultSpec without;
  without.name = "paper/table-9";
  without.claims = {Claim{.says = "s", .missing = "no data"}};
  EXPECT_REFUSED(undertake(without, request()), "paper/table-9 cannot be run: no data");
}

TEST_F(Undertakings, AreWrittenDownAndStored) {
  const Undertaking task = undertake(spec(), request());
  write_run(scratch_, "d/first/seed-1", {.seed = 1, .losses = {2, 0.5}});
  write_run(scratch_, "d/second/seed-1", {.seed = 1, .losses = {2, 1.5}});
  write_run(scratch_, "d/first/seed-2", {.seed = 2, .losses = {2, 0.25}});
  const std::vector<JobEnd> ends = {{}, {.failure = "the loss is nan"}, {}, {.failure = "killed", .interrupted = true}};
  Reproduction all = gather(task, ends);
  EXPECT_FALSE(all.complete);
  EXPECT_EQ(all.stored.seconds, 2.0 + 2.0) << "of the runs with a result";
  EXPECT_EQ(all.stored.smaller, task.spec.quick);
  EXPECT_EQ(all.stored.values["first"]["train_loss, last"], (SeedValues{{1, 0.5}, {2, 0.25}}));
  ASSERT_EQ(all.stored.values["second"]["train_loss, last"].size(), 1u) << "nothing of a run without an answer";
  EXPECT_TRUE(std::isnan(all.stored.values["second"]["train_loss, last"][0].second)) << "it broke";
  EXPECT_EQ(all.groups.size(), 1u) << "these runs differ in their seeds alone";

  write_down(task, all);
  EXPECT_EQ(json_of(parse_stored(text_of(scratch_ / "d/values.json"), "values.json")), json_of(all.stored));
  const std::string page = text_of(task.report());
  EXPECT_NE(page.find("Verdicts, quick scale"), std::string::npos);
  EXPECT_NE(page.find("first is low"), std::string::npos);

  store(task, all, scratch_ / "results");
  const std::vector<StoredResult> kept = find_stored(scratch_ / "results", "paper/figure-0");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].scale, Scale::quick);
}

TEST(StoredArms, ThatAreNotRunAgainStay) {
  StoredResult older{.scale = Scale::full, .version = "0", .commit = "a", .engine = "cpu", .seconds = 30};
  for (const char* arm : {"one", "two", "three"}) older.values[arm]["x, last"] = {{1, 1.0}, {2, 2.0}};
  older.chosen["two"] = {"optimizer.rate=0.1"};
  StoredResult newer{.scale = Scale::full, .version = "0", .commit = "b", .engine = "cpu", .seconds = 5};
  newer.values["one"]["x, last"] = {{1, 7.0}};

  StoredResult both = newer;
  keep_other_arms(older, both);
  EXPECT_EQ(both.values["one"]["x, last"], (SeedValues{{1, 7.0}}));
  EXPECT_EQ(both.values["three"]["x, last"], (SeedValues{{1, 1.0}, {2, 2.0}}));
  EXPECT_EQ(both.chosen.at("two"), SweepPoint{"optimizer.rate=0.1"});
  EXPECT_EQ(both.commit, "a, b");
  EXPECT_EQ(both.seconds, 5 + 20.0);
  older.commit = "a, b, c, b";
  both = newer;
  keep_other_arms(older, both);
  EXPECT_EQ(both.commit, "a, b, c") << "each once";

  older.smaller = {"train.iterations=5"};  // another quick scale: its numbers mean something else
  both = newer;
  keep_other_arms(older, both);
  EXPECT_EQ(json_of(both), json_of(newer));
}

TEST(Costs, AreToldInWords) {
  EXPECT_EQ(time_text(35), "35 s");
  EXPECT_EQ(time_text(2400), "40 min");
  EXPECT_EQ(time_text(25200), "7 h");
  EXPECT_EQ(time_text(3 * 86400), "3 days");
  const ScratchDirectory scratch;
  ResultSpec spec{.name = "paper/figure-0", .file = {}, .arms = {"a", "b"}};
  EXPECT_EQ(cost_text(spec, Scale::full, {}, scratch.path()), "2 x 3 runs");
  const Costs costs = {{"paper/figure-0", {.quick = 60, .full = 7200}}};
  EXPECT_EQ(cost_text(spec, Scale::full, costs, scratch.path()), "2 x 3 runs, ~2 h");
  StoredResult stored{.scale = Scale::full, .version = "0", .commit = "c", .engine = "cpu", .seconds = 70};
  for (const char* arm : {"a", "b"}) stored.values[arm]["x, last"] = {{1, 1.0}, {2, 1.0}, {3, 1.0}};
  scratch.write("paper/figure-0.full.json", json_of(stored));
  EXPECT_EQ(cost_text(spec, Scale::full, costs, scratch.path()), "2 x 3 runs, 70 s") << "measured";
  EXPECT_EQ(cost_text(spec, Scale::quick, costs, scratch.path()), "2 x 3 runs, ~60 s");
  spec.arms.clear();
  EXPECT_EQ(cost_text(spec, Scale::full, costs, scratch.path()), "–");
}

}  // namespace
}  // namespace throughtime::testing
