// Settings that a paper chooses for each method, and runs that several results have in common.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "reproduce/runs/cost.h"
#include "reproduce/runs/sweep_runs.h"
#include "study/trials.h"
#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime::testing {
namespace {

const std::string swept =
    "[task]\nname = 'cycle_world'\n[task.cycle_world]\nperiod = 3\nlength = 5\nhistory = 0\n"
    "[model]\ncell = 'rnn_tanh'\nhidden = 2\n[learner]\nname = 'fpp'\n[learner.fpp]\nsteps = 1\nbuffer = 4\n"
    "[learner.sliding_tbptt]\nsteps = 1\n[optimizer]\nname = 'sgd'\nrate = 0.1\n"
    "[train]\niterations = 3\nbatch = 1\n[run]\nthreads = 1\n"
    "[result]\ntitle = 'Figure 0'\npaper = 'Nobody, 1900'\nmetric = 'cumulative_loss'\nmeasure = 'result'\nseeds = 2\n"
    "[result.sweep]\nmetric = 'cumulative_loss'\nmeasure = 'result'\nseeds = 2\n"
    "keep = ['learner.fpp.state_rate=0.0']\n"
    "[result.sweep.grid]\noptimizer.rate = [0.0, 0.5]\nlearner.fpp.state_rate = [0.01, 0.1, 1.0]\n"
    "[[result.claim]]\nsays = 'fpp is better'\n"
    "[[result.claim.rule]]\nkind = 'less'\narms = ['fpp']\nthan = ['bptt']\ntrend = true\n"
    "[[arm]]\nname = 'fpp'\n"
    "[[arm]]\nname = 'buffer'\nlearner.fpp.state_rate = 0.0\nlearner.fpp.penalise = 'none'\n"
    "[[arm]]\nname = 'bptt'\nlearner.name = 'sliding_tbptt'\noptimizer.rate = 0.3\n";

class Sweeps : public ::testing::Test {
 protected:
  ResultSpec spec(const std::string& text = swept) const {
    scratch_.write("experiments/paper/figure-0.toml", text);
    return find_result(scratch_ / "experiments", "paper/figure-0");
  }
  ReproduceRequest request(const std::string& directory = "d") const {
    return {.scale = Scale::full, .jobs = 1, .engine = "reference", .directory = scratch_ / directory};
  }
  static std::vector<JobEnd> run(const std::vector<Part>& parts) {
    JobObserver silent;
    return run_jobs(configs_of(parts), {.jobs = 1, .keep_checkpoints = false}, silent);
  }
  ScratchDirectory scratch_;
};

TEST_F(Sweeps, VaryWhatAnArmReadsAndDoesNotKeep) {
  const SweepRuns runs = undertake_sweep(spec(), request());
  EXPECT_EQ(runs.points.at("fpp").size(), 6u);
  EXPECT_EQ(runs.points.at("buffer").size(), 2u) << "its state rate is what it is about";
  EXPECT_EQ(runs.points.at("bptt").size(), 2u)
      << "it has no states to move, and its own rate is only where the file begins";
  EXPECT_EQ(runs.points.at("fpp")[1], (SweepPoint{"learner.fpp.state_rate=0.01", "optimizer.rate=0.5"}));
  ASSERT_EQ(runs.parts.size(), 2u * (6 + 2 + 2));
  EXPECT_EQ(runs.parts[0].config.train.seed, 1001u) << "none that is judged";
  EXPECT_EQ(runs.parts[1].config.train.seed, 1002u);
  EXPECT_EQ(runs.parts[3].config.run.name, "sweep/fpp/point-2/seed-1002");
}

TEST_F(Sweeps, HaveOtherValuesForTheArmsOfACase) {
  std::string text = swept;
  text.replace(
      text.find("[[result.claim]]"), 0,
      "[[result.sweep.instead]]\nwhere = 'learner.fpp.state_rate=0.0'\ngrid.optimizer.rate = [0.7, 0.8, 0.9]\n");
  const SweepRuns runs = undertake_sweep(spec(text), request());
  EXPECT_EQ(runs.points.at("buffer"),
            (std::vector<SweepPoint>{{"optimizer.rate=0.7"}, {"optimizer.rate=0.8"}, {"optimizer.rate=0.9"}}));
  EXPECT_EQ(runs.points.at("fpp").size(), 6u);
  EXPECT_EQ(runs.points.at("bptt").front(), (SweepPoint{"optimizer.rate=0.0"}));
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string changed = text;
    changed.replace(changed.find(old), old.size(), other);
    return changed;
  };
  EXPECT_REFUSED(spec(with("where = ", "were = ")), "did you mean 'where'?");
  EXPECT_REFUSED(spec(with("where = 'learner.fpp.state_rate=0.0'", "where = 'bptt'")), "needs where = \"key=value\"");
  EXPECT_REFUSED(spec(with("grid.optimizer.rate", "grid.optimizer.clip")), "option of the grid");
}

/// Table 3's 1, 0.1 and 0.01 are those of the paper; ours are over B.
TEST(Sweep, OfTargetPropagationIsThePapersGridForEveryB) {
  const std::filesystem::path experiments =
      std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path() / "experiments";
  int checked = 0;
  for (const char* name : {"table-1", "table-2", "solvers", "figure-3"}) {
    const ResultSpec spec = find_result(experiments, std::string("target-propagation/") + name);
    for (const std::string& arm : spec.arms) {
      const RunConfig config = ConfigFile(spec.file.string()).config(arm, {});
      if (config.learner.name != "target_propagation") continue;
      std::set<double> lambdas;
      for (const SweepPoint& point : sweep_points(spec.sweep, config))
        for (const std::string& assignment : point)
          if (const std::string key = "learner.target_propagation.lambda="; assignment.starts_with(key))
            lambdas.insert(std::stod(assignment.substr(key.size())) * config.learner.target_propagation.block);
      if (lambdas.empty()) continue;  // an arm that is about its lambda
      ++checked;
      ASSERT_EQ(lambdas.size(), 3u) << name << ", " << arm;
      for (const auto& [one, wanted] :
           {std::pair(*lambdas.begin(), 0.01), {*std::next(lambdas.begin()), 0.1}, {*lambdas.rbegin(), 1.0}})
        EXPECT_NEAR(one, wanted, 1e-12) << name << ", " << arm;
    }
  }
  EXPECT_GT(checked, 40);
}

TEST_F(Sweeps, CountInWhatFullScaleCosts) {
  const ResultSpec result = spec();
  const Costs costs = {{"paper/figure-0", {.quick = 10, .full = 60, .epoch = 120}}};
  const std::filesystem::path none = scratch_ / "none";
  EXPECT_EQ(cost_text(result, Scale::quick, costs, none), "3 x 3 runs, ~10 s");
  // Six judged runs of 10 s, and 2 x (6 + 2 + 2) that choose.
  EXPECT_EQ(cost_text(result, Scale::full, costs, none), "3 x 2 runs and 20 of the sweep, ~4 min, ~2 min an epoch");
  StoredResult stored{.scale = Scale::full, .version = "0", .commit = "c", .engine = "cpu", .seconds = 6};
  for (const char* arm : {"fpp", "buffer", "bptt"}) stored.values[arm]["cumulative_loss, result"] = {{1, 1}, {2, 2}};
  scratch_.write("results/paper/figure-0.full.json", json_of(stored));
  EXPECT_EQ(cost_text(result, Scale::full, {}, scratch_ / "results"), "3 x 2 runs and 20 of the sweep, ~26 s")
      << "unswept runs are no measurement of swept ones";
  stored.engine = "cuda";
  scratch_.write("results/paper/figure-0.full.json", json_of(stored));
  EXPECT_EQ(cost_text(result, Scale::full, {}, scratch_ / "results"), "3 x 2 runs and 20 of the sweep")
      << "seconds of a GPU are none of a core";
}

TEST_F(Sweeps, AreNotRunAtQuickScale) {
  ReproduceRequest quick = request();
  quick.scale = Scale::quick;
  EXPECT_TRUE(undertake_sweep(spec(), quick).parts.empty());
}

TEST(Sweep, TakesTheBestMeanAndNeverARunThatBroke) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  Sweep lowest;
  EXPECT_EQ(best_point(lowest, {{0.5, 0.7}, {0.1, none}, {0.3, 0.5}, {0.4, 0.4}}), 2u) << "of equals the first";
  EXPECT_EQ(best_point(lowest, {{none}, {none}}), 0u);
  Sweep highest;
  highest.higher = true;
  EXPECT_EQ(best_point(highest, {{0.5, 0.7}, {none, 9}, {0.9, 0.6}}), 2u);
}

TEST_F(Sweeps, DecideWhatTheJudgedRunsAreMadeWith) {
  const ResultSpec result = spec();
  const SweepRuns runs = undertake_sweep(result, request());
  const SweepChoices chosen = choose(result, runs, run(runs.parts), request().known_runs());
  ASSERT_EQ(chosen.size(), 3u);
  // The lowest mean of the runs themselves, looked up one by one.
  std::map<std::string, double> sums;
  for (const Part& part : runs.parts)
    if (part.arm == "bptt")
      sums[part.config.optimizer.rate == 0 ? "optimizer.rate=0.0" : "optimizer.rate=0.5"] +=
          measure_run(result.sweep.measure, read_run(part.config.run.directory));
  EXPECT_EQ(chosen.at("bptt").front(),
            sums["optimizer.rate=0.0"] < sums["optimizer.rate=0.5"] ? "optimizer.rate=0.0" : "optimizer.rate=0.5");
  const Undertaking task = undertake(result, request(), {{"bptt", {"optimizer.rate=0.25"}}});
  for (const Part& part : task.parts) EXPECT_EQ(part.config.optimizer.rate, part.arm == "bptt" ? 0.25 : 0.1);
}

TEST_F(Sweeps, FullScaleIsSaidOfSweptArmsAlone) {
  const ResultSpec result = spec();
  const Undertaking task = undertake(result, request(), {{"fpp", {}}, {"bptt", {}}});
  const Reproduction all = gather(task, run(task.parts));
  const Claim& claim = result.claims.front();
  EXPECT_EQ(scale_text(result, claim, all.stored), "full scale");
  StoredResult plain = parse_stored(json_of(all.stored), "here");
  EXPECT_EQ(plain.chosen, all.stored.chosen);
  plain.chosen.erase("bptt");
  EXPECT_EQ(scale_text(result, claim, plain), "full length, not swept");
  EXPECT_NE(judge(result, claim, plain).word, VerdictWord::reproduced);
  EXPECT_NE(judge(result, claim, plain).word, VerdictWord::not_reproduced);
}

TEST_F(Sweeps, RefuseWhatCannotBeMeant) {
  const auto with = [&](const std::string& old, const std::string& other) {
    std::string text = swept;
    text.replace(text.find(old), old.size(), other);
    return text;
  };
  EXPECT_REFUSED(spec(with("optimizer.rate = [0.0, 0.5]", "optimizer.rate = 0.5")), "must be a list of values");
  EXPECT_REFUSED(spec(with("[result.sweep]\nmetric = 'cumulative_loss'", "[result.sweep]\nmetric = 'test_loss'")),
                 "chooses on test data");
  EXPECT_REFUSED(spec(with("seeds = 2\nkeep", "sedes = 2\nkeep")), "sedes");
  EXPECT_REFUSED(undertake_sweep(spec(with("learner.fpp.state_rate = [", "learner.fpp.stat_rate = [")), request()),
                 "stat_rate");
}

TEST_F(Sweeps, ARunThatTwoResultsShareIsTrainedOnce) {
  const ResultSpec result = spec();
  const KnownRuns known(scratch_ / "known");
  Part first{"bptt", ConfigFile(result.file.string()).config("bptt", {"run.engine=reference"})};
  Part second = first, other = first;
  place(first, "bptt", scratch_ / "one", known);
  run({first});
  known.remember(first.config);

  place(second, "renamed", scratch_ / "two", known);
  EXPECT_EQ(second.config.run.directory, first.config.run.directory);
  EXPECT_NO_THROW(require_same_run(second.config));
  other.config.train.seed = 7;
  place(other, "renamed", scratch_ / "two", known);
  EXPECT_EQ(other.config.run.directory, (scratch_ / "two/renamed/seed-7").string());

  std::filesystem::remove(std::filesystem::path(first.config.run.directory) / "result.json");
  Part third{"bptt", ConfigFile(result.file.string()).config("bptt", {"run.engine=reference"})};
  place(third, "bptt", scratch_ / "two", known);
  EXPECT_EQ(third.config.run.directory, (scratch_ / "two/bptt/seed-1").string()) << "it is not finished any more";
}

}  // namespace
}  // namespace throughtime::testing
