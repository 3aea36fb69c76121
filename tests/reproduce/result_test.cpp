#include "reproduce/results/result.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reproduce/example.h"
#include "reproduce/results/stored.h"
#include "reproduce/runs/cost.h"
#include "reproduce/runs/programme.h"
#include "support/scratch.h"
#include "throughtime/error.h"
#include "train/options/config.h"

namespace throughtime {
namespace {

using testing::experiment;
using testing::ScratchDirectory;
using testing::text_of;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string refusal_of(const std::string& text) {
  const ScratchDirectory directory;
  directory.write("paper/figure-0.toml", text);
  try {
    find_results(directory.path());
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

TEST(Result, IsReadFromTheExperimentAndIgnoredByTraining) {
  const ScratchDirectory directory;
  const std::string file = directory.write("paper/figure-0.toml", experiment);
  directory.write("plain.toml", "[task.add]\nlength = 4\n");
  const std::vector<ResultSpec> specs = find_results(directory.path());
  ASSERT_EQ(specs.size(), 1u);
  EXPECT_EQ(specs[0].name, "paper/figure-0");
  EXPECT_EQ(specs[0].arms, (std::vector<std::string>{"first", "second"}));
  ASSERT_EQ(specs[0].claims.size(), 3u);
  EXPECT_EQ(specs[0].claims[0].values.at("first"), 0.5);
  EXPECT_EQ(specs[0].claims[0].rules[0].measure.key(), "train_loss, last");
  EXPECT_EQ(specs[0].claims[1].rules[0].measure.key(), "train_loss, final");  // the claim's
  EXPECT_EQ(specs[0].claims[0].shown_arms(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(specs[0].measures().size(), 2u);
  const std::vector<RunConfig> small = load_files({file}, specs[0].quick);
  EXPECT_EQ(small.size(), 2u);
  EXPECT_EQ(small[0].train.iterations, 5);
  EXPECT_EQ(small[0].task.name, "add");
}

TEST(Result, MisspeltNamesAreRefusedWithTheNearest) {
  EXPECT_NE(refusal_of(replaced(experiment, "title =", "titel =")).find("did you mean 'title'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "kind = 'less'", "kind = 'les'")).find("'less'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "arms = ", "arm = ")).find("'arms'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "['second']", "['secnd']")).find("'second'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "first = 0.5", "frist = 0.5")).find("'first'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "trend = true", "trend = 1")).find("true or false"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "says =", "say =")).find("'says'?"), std::string::npos);
}

TEST(Result, RulesThatCannotBeMeantAreRefused) {
  const auto refused = [](const std::string& rule, const std::string& part) {
    const std::string text =
        replaced(experiment, "kind = 'less'\narms = ['first']\nthan = ['second']\ntrend = true\n", rule);
    EXPECT_NE(refusal_of(text).find(part), std::string::npos) << refusal_of(text);
  };
  refused("kind = 'less'\narms = ['first']\n", "than belongs to");
  refused("kind = 'below'\narms = ['first']\nthan = ['second']\n", "than belongs to");
  refused("kind = 'near'\narms = ['first']\nthan = ['second']\ntrend = true\n", "near has none");
  refused("kind = 'falling'\narms = ['first']\n", "at least 2");
  refused("kind = 'widening'\narms = ['first', 'second']\nthan = ['second']\n", "one of than for each");
  refused("kind = 'within'\narms = ['second']\nmargin = 1\n", "none of second");
  refused("kind = 'less'\narms = ['first']\nthan = ['second']\nmargin = 1\npercent = 2\n", "not both");
  refused("kind = 'below'\narms = ['first']\nhigh = 1\np = 0.05\n", "p belongs to");
  refused("kind = 'below'\narms = ['first']\nhigh = 1\nmetric = 'test_mse'\nmeasure = 'lowest'\n",
          "chooses on test data");
  refused("", "a rule needs a kind");
}

TEST(Result, WithoutArmsThereIsNothingToTrain) {
  const ScratchDirectory directory;
  const std::string file = directory.write(
      "table-5.toml", "[result]\ntitle = 'Table 5'\npaper = 'N'\n[[result.claim]]\nsays = 's'\nmissing = 'no data'\n");
  EXPECT_TRUE(find_results(directory.path())[0].arms.empty());
  EXPECT_THROW(load_files({file}, {}), InvalidInput);
}

RunRecord run_with(const std::vector<double>& losses) {
  RunRecord run;
  run.finished = true;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    run.series["train_loss"].x.push_back(static_cast<double>(10 * (i + 1)));
    run.series["train_loss"].y.push_back(losses[i]);
  }
  return run;
}

TEST(Result, MeasuresOfACurve) {
  const RunRecord run = run_with({4, 3, 1, 2});
  const auto measured = [&](MeasureHow how, double level) { return measure_run({"train_loss", how, level}, run); };
  EXPECT_EQ(measured(MeasureHow::last, 0), 2);
  EXPECT_EQ(measured(MeasureHow::final, 0), 2);
  EXPECT_EQ(measured(MeasureHow::lowest, 0), 1);
  EXPECT_EQ(measured(MeasureHow::highest, 0), 4);
  EXPECT_EQ(measured(MeasureHow::mean, 0), 2.5);
  EXPECT_EQ(measured(MeasureHow::decay, 0), 0.5);
  EXPECT_EQ(measured(MeasureHow::reach, 3), 20);
  EXPECT_EQ(measured(MeasureHow::reach, 0.5), std::numeric_limits<double>::infinity()) << "never";
  EXPECT_DOUBLE_EQ(measured(MeasureHow::share, 2), 2.0 / 3);
  EXPECT_EQ(measured(MeasureHow::rise, 0), -2);
  EXPECT_TRUE(std::isnan(measure_run({"other", MeasureHow::last}, run)));
}

TEST(Result, CountsRelapses) {
  const auto relapses = [](const std::vector<double>& curve) {
    return measure_run({"train_loss", MeasureHow::relapses, 0.01}, run_with(curve));
  };
  EXPECT_EQ(relapses({0.2, 0.05, 0.02, 0.3}), 0) << "it was never below the level";
  EXPECT_EQ(relapses({0.2, 0.01, 0.1, 0.02, 0.005}), 0) << "ten times the level is allowed";
  EXPECT_EQ(relapses({0.2, 0.01, 0.11, 0.17, 0.05, 0.2}), 1) << "once lost it must be learned again first";
  EXPECT_EQ(relapses({0.2, 0.01, 0.11, 0.009, 0.02, 0.2, 0.001}), 2);
  EXPECT_EQ(relapses({0.01, std::numeric_limits<double>::quiet_NaN()}), 1);
  EXPECT_EQ(relapses({0.01}), 0);
}

TEST(Result, ACurveBeginsAtItsFirstNumber) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto measured = [&](MeasureHow how, double level, const std::vector<double>& curve) {
    return measure_run({"train_loss", how, level}, run_with(curve));
  };
  EXPECT_EQ(measured(MeasureHow::rise, 0, {nan, nan, 4, 5, 7}), 3);
  EXPECT_EQ(measured(MeasureHow::share, 4, {nan, nan, 9, 3, 4}), 1) << "the first estimate does not count";
  EXPECT_EQ(measured(MeasureHow::share, 4, {nan, 9, 3, nan, 5}), 1.0 / 3) << "one that is lost later on does";
  EXPECT_EQ(measured(MeasureHow::lowest, 0, {nan, 4, 3}), 3);
  EXPECT_EQ(measured(MeasureHow::highest, 0, {nan, 4, 3}), 4);
  EXPECT_EQ(measured(MeasureHow::mean, 0, {nan, 4, 3}), 3.5);
  EXPECT_EQ(measured(MeasureHow::decay, 0, {nan, 4, 3}), 0.75);
  EXPECT_EQ(measured(MeasureHow::reach, 3, {nan, 4, 3}), 30) << "its iterations stay";
  for (const MeasureHow how : {MeasureHow::rise, MeasureHow::share, MeasureHow::lowest, MeasureHow::last})
    EXPECT_TRUE(std::isnan(measured(how, 0, {nan, nan}))) << name_of(how);
}

TEST(Result, AMedianTakesValuesWithoutBound) {
  constexpr double unbounded = std::numeric_limits<double>::quiet_NaN();  // as a curve has them
  const auto median = [](std::vector<double> last) {
    std::vector<double> curve(9 * last.size(), 1.0);  // so that they are its final tenth
    curve.insert(curve.end(), last.begin(), last.end());
    return measure_run({"train_loss", MeasureHow::median}, run_with(curve));
  };
  EXPECT_EQ(median({3, 9, 4}), 4);
  EXPECT_EQ(median({3, 9, 4, 5}), 4.5);
  EXPECT_EQ(median({3, unbounded, 4}), 4);
  EXPECT_EQ(median({unbounded, unbounded, 4}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(measure_run({"train_loss", MeasureHow::median}, run_with({7})), 7) << "the smallest curve";
}

TEST(Result, AnInfiniteNumberIsStored) {
  StoredResult stored{
      .scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu", .note = "an older setting"};
  stored.values["a"]["loss, reach 0.05"] = {{1, 400}, {2, std::numeric_limits<double>::infinity()}};
  const StoredResult read = parse_stored(json_of(stored), "here");
  EXPECT_EQ(read.values, stored.values);
  EXPECT_EQ(read.note, "an older setting");
}

TEST(Result, TheEndIsTheMeanOfTheLastFiftyIterations) {
  // Reports every ten iterations: the last five of them.
  EXPECT_EQ(measure_run({"train_loss", MeasureHow::end}, run_with({100, 100, 1, 2, 3, 4, 5})), 3);
  EXPECT_EQ(measure_run({"train_loss", MeasureHow::end}, run_with({1, 2})), 1.5) << "a shorter run";
  RunRecord run = run_with({9, 7});
  run.series["train_loss"].x = {50, 100};  // each the mean of 50 iterations
  EXPECT_EQ(measure_run({"train_loss", MeasureHow::end}, run), 7);
}

TEST(Result, QuickScaleSaysWhichClaimsItCanDecide) {
  ResultSpec spec{.name = "paper/figure-0", .file = {}, .arms = {"a", "b", "c"}};
  spec.quick_arms = {"a", "b"};
  const auto rule = [](RuleKind kind, const std::string& arm, bool trend) {
    const bool pair = takes_others(kind);
    return Rule{.kind = kind,
                .arms = {arm},
                .than = pair ? std::vector<std::string>{"b"} : std::vector<std::string>(),
                .measure = {"x"},
                .trend = trend};
  };
  Claim claim{.says = "s", .rules = {rule(RuleKind::less, "a", true), rule(RuleKind::below, "c", false)}};
  EXPECT_EQ(spec.needs_full_text(claim), "") << "the trend decides";
  claim.rules = {rule(RuleKind::less, "c", true)};
  EXPECT_EQ(spec.needs_full_text(claim), "quick scale does not run c");
  claim.rules = {rule(RuleKind::within, "a", false)};
  EXPECT_NE(spec.needs_full_text(claim).find("the paper's numbers"), std::string::npos);
  claim.rules = {rule(RuleKind::below, "a", false)};
  spec.claims = {claim};
  EXPECT_EQ(spec.decided(Scale::quick), 1u);
  spec.claims[0].needs_full = "too short";
  EXPECT_EQ(spec.needs_full_text(spec.claims[0]), "too short");
  EXPECT_EQ(spec.decided(Scale::quick), 0u);
  EXPECT_EQ(spec.decided(Scale::full), 1u);
  spec.claims[0].needs_full.clear();
  spec.needs_full = "three updates";
  EXPECT_EQ(spec.needs_full_text(spec.claims[0]), "three updates");
  EXPECT_EQ(spec.decided(Scale::quick), 0u);
}

ResultFile result_with(Entries entries) { return {std::move(entries)}; }

TEST(Result, SaysWhatARunLearned) {
  const auto learned = [](const std::string& updates, const std::string& loss, const std::string& score) {
    return learned_by(result_with({{"updates", updates},
                                   {"uniform_loss", "3.29584"},
                                   {"metric", "bpc"},
                                   {"baseline", "4.1"},
                                   {"metrics.test_loss", loss},
                                   {"metrics.test_bpc", score}}));
  };
  EXPECT_EQ(learned("3", "1.0", "1.4"), Learned::nothing) << "three updates";
  EXPECT_EQ(learned("300", "5.9", "8.5"), Learned::nothing) << "worse than a uniform guess";
  EXPECT_EQ(learned("300", "2.9", "4.18"), Learned::baseline);
  EXPECT_EQ(learned("300", "2.84", "4.09"), Learned::baseline) << "better by less than a hundredth";
  EXPECT_EQ(learned("300", "1.7", "2.5"), Learned::more);
  const auto accurate = [](const std::string& last, const std::string& best) {
    return learned_by(result_with({{"updates", "300"},
                                   {"metric", "accuracy"},
                                   {"baseline", "0.9"},
                                   {"metrics.test_accuracy", last},
                                   {"best.test_accuracy", best}}));
  };
  EXPECT_EQ(accurate("0.9", "0.9"), Learned::baseline);
  EXPECT_EQ(accurate("0.5", "0.95"), Learned::more) << "the weights with the best validation";
  EXPECT_EQ(learned_by(result_with({{"updates", "300"}})), Learned::more) << "nothing is known against it";
}

TEST(Result, EveryTableAndFigureIsThereAndLoadsAtBothScales) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  std::vector<std::string> names;
  for (const ResultSpec& spec : find_results(root / "experiments")) {
    names.push_back(spec.name);
    for (const std::string& arm : spec.arms_at(Scale::quick))
      EXPECT_NO_THROW(ConfigFile(spec.file.string()).config(arm, spec.quick)) << spec.name << ", " << arm;
    EXPECT_TRUE(spec.arms.empty() || !spec.quick.empty()) << spec.name << " is not smaller at quick scale";
  }
  std::vector<std::string> wanted;
  for (const char* one : {"figure-1", "figure-2", "figure-3", "figure-c1", "figure-c2", "figure-c3", "figure-c4",
                          "table-c1", "table-c2", "table-c3"})
    wanted.push_back(std::string("adaptive-tbptt/") + one);
  for (int figure = 1; figure <= 8; ++figure) wanted.push_back("fpp/figure-4." + std::to_string(figure));
  for (int table = 1; table <= 2; ++table) wanted.push_back("fpp/table-4." + std::to_string(table));
  for (int figure = 1; figure <= 5; ++figure) wanted.push_back("fptt/figure-" + std::to_string(figure));
  for (int table = 1; table <= 9; ++table) wanted.push_back("fptt/table-" + std::to_string(table));
  for (const std::string& name : wanted) EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

/// A rule that a paper's own table breaks would say nothing about our runs.
TEST(Result, ThePapersOwnNumbersMeetTheirRules) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  int checked = 0;
  for (const ResultSpec& spec : find_results(root / "experiments"))
    for (const Claim& claim : spec.claims) {
      ArmValues values;
      for (const auto& [arm, value] : claim.values) values[arm][claim.measure.key()] = {{1, value}};
      for (Rule rule : claim.rules) {
        rule.p = 0;  // a table has no seeds
        const Check check = check_rule(rule, values, claim.values);
        checked += check.met != Answer::unknown ? 1 : 0;
        EXPECT_NE(check.met, Answer::no) << spec.name << ": " << rule_text(rule) << ": " << check.seen;
      }
    }
  EXPECT_GT(checked, 50);
}

TEST(Result, ThePageOfTheCommandHasAllKeys) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  EXPECT_NE(text_of(root / "docs/reproduce.md").find(result_keys_markdown()), std::string::npos)
      << "throughtime reproduce --keys";
}

TEST(Costs, AreKeptAndQuickScaleIsQuick) {
  const ScratchDirectory directory;
  EXPECT_TRUE(read_costs(directory.path()).empty());
  write_costs(directory.path(), {{"paper/figure-0", {.quick = 12, .full = 3600}}});
  EXPECT_EQ(read_costs(directory.path()).at("paper/figure-0").full, 3600);
  directory.write("costs.json", "[1]");
  EXPECT_THROW(read_costs(directory.path()), InvalidInput);
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  for (const auto& [name, cost] : read_costs(root / "experiments/results"))
    EXPECT_LE(cost.quick, 2 * 300) << name << ": five minutes on two cores";
}

TEST(Costs, EverythingAtQuickScaleFitsIntoThreeHoursOfTwoCores) {
  const std::filesystem::path experiments =
      std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path() / "experiments";
  const std::filesystem::path results = experiments / "results";
  const Programme quick = programme_of(find_results(experiments), Scale::quick, read_costs(results), results);
  double seconds = 0;
  for (std::size_t i = 0; i < quick.results.size(); ++i) {
    EXPECT_TRUE(std::isfinite(quick.seconds[i])) << quick.results[i].name << " was neither run nor estimated";
    seconds += quick.seconds[i];
  }
  EXPECT_LE(seconds, 2 * 3 * 3600);
}

/// What runs took is as good as what they were expected to take: a slow one is named.
TEST(Costs, WhatTookLongerThanQuickIsSaid) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  const std::string page = text_of(root / "docs/reproduce.md");
  for (const ResultSpec& spec : find_results(root / "experiments"))
    for (const StoredResult& stored : find_stored(root / "experiments/results", spec.name)) {
      if (stored.scale == Scale::full || stored.seconds <= 2 * 300) continue;
      EXPECT_NE(page.find(fmt::format("{} ({:.0f} s)", spec.name, stored.seconds)), std::string::npos)
          << spec.name << " took " << stored.seconds << " s of one core at quick scale";
    }
}

TEST(Result, OurOwnQuestionsAreMarked) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  const std::vector<ResultSpec> specs = find_results(root / "experiments");
  for (const ResultSpec& spec : specs)
    for (const Claim& claim : spec.claims) {
      const bool says_so =
          claim.says.find("asked by us") != std::string::npos || claim.says.find("our own check") != std::string::npos;
      EXPECT_EQ(claim.ours, says_so) << spec.name << ": " << claim.says;
      if (claim.counted_in.empty()) continue;
      const std::string other = (std::filesystem::path(spec.name).parent_path() / claim.counted_in).generic_string();
      const auto found =
          std::find_if(specs.begin(), specs.end(), [&](const ResultSpec& one) { return one.name == other; });
      ASSERT_NE(found, specs.end()) << other;
      EXPECT_TRUE(std::any_of(
          found->claims.begin(), found->claims.end(),
          [&](const Claim& one) { return one.says == claim.says && one.counted_in.empty() && one.ours == claim.ours; }))
          << other << " has no such claim: " << claim.says;
    }
}

}  // namespace
}  // namespace throughtime
