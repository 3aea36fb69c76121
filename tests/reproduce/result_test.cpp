#include "reproduce/result.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reproduce/atlas.h"
#include "support/scratch.h"
#include "throughtime/error.h"
#include "train/config.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::text_of;

const std::string experiment =
    "[task]\nlength = 4\n"
    "[result]\ntitle = 'Figure 0'\npaper = 'Nobody, 1900'\nclaim = 'first | beats second'\nmetric = 'train_loss'\n"
    "[result.values]\nfirst = 0.5\n[result.quick]\ntrain.iterations = 5\ntask.name = 'add'\n"
    "[[result.rule]]\nkind = 'less'\narms = ['first']\nthan = ['second']\ntrend = true\n"
    "[[arm]]\nname = 'first'\n[[arm]]\nname = 'second'\n";

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
  directory.write("plain.toml", "[task]\nlength = 4\n");
  const std::vector<ResultSpec> specs = find_results(directory.path());
  ASSERT_EQ(specs.size(), 1u);
  EXPECT_EQ(specs[0].name, "paper/figure-0");
  EXPECT_EQ(specs[0].arms, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(specs[0].values.at("first"), 0.5);
  EXPECT_EQ(specs[0].rules[0].measure.metric, "train_loss");
  const std::vector<RunConfig> small = load_arms(file, specs[0].quick);
  EXPECT_EQ(small.size(), 2u);
  EXPECT_EQ(small[0].train.iterations, 5);
  EXPECT_EQ(small[0].task.name, "add");
}

TEST(Result, MisspeltNamesAreRefusedWithTheNearest) {
  EXPECT_NE(refusal_of(replaced(experiment, "claim =", "clam =")).find("did you mean 'claim'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "kind = 'less'", "kind = 'les'")).find("'less'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "arms = ", "arm = ")).find("'arms'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "['second']", "['secnd']")).find("'second'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "first = 0.5", "frist = 0.5")).find("'first'?"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "trend = true", "trend = 1")).find("true or false"), std::string::npos);
  EXPECT_NE(refusal_of(replaced(experiment, "trend = true\n", "")).find("trend = true"), std::string::npos);
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
  const auto measured = [&](const std::string& how, double level) {
    return measure_run({"train_loss", how, level}, run);
  };
  EXPECT_EQ(measured("last", 0), 2);
  EXPECT_EQ(measured("final", 0), 2);
  EXPECT_EQ(measured("lowest", 0), 1);
  EXPECT_EQ(measured("reach", 3), 20);
  EXPECT_EQ(measured("reach", 0.5), 40);  // never: the last iteration
  EXPECT_DOUBLE_EQ(measured("share", 2), 2.0 / 3);
  EXPECT_EQ(measured("rise", 0), -2);
  EXPECT_TRUE(std::isnan(measure_run({"other", "last"}, run)));
}

TEST(Atlas, HasARowForEveryClaimAndIsTheSameEveryTime) {
  const ScratchDirectory directory;
  directory.write("paper/figure-0.toml", experiment);
  const auto atlas = [&] { return atlas_of(find_results(directory.path()), directory / "results"); };
  EXPECT_NE(atlas().find("| first \\| beats second | first 0.5 | – | – | not run |"), std::string::npos) << atlas();
  StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu", .seconds = 2};
  stored.values["first"]["train_loss, last"] = {{1, 0.1}, {2, 0.2}};
  stored.values["second"]["train_loss, last"] = {{1, 1.1}, {2, 1.0 / 3}};
  directory.write("results/paper/figure-0.quick.json", json_of(stored));
  const std::string text = atlas();
  EXPECT_NE(text.find("quick scale"), std::string::npos);
  EXPECT_EQ(text, atlas());
  EXPECT_EQ(json_of(parse_stored(json_of(stored), "here")), json_of(stored));
  EXPECT_THROW(parse_stored("{}", "here"), InvalidInput);
}

TEST(Atlas, ThePageInTheDocumentationIsWhatTheStoredResultsSay) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  EXPECT_EQ(atlas_of(find_results(root / "experiments"), root / "experiments/results"),
            text_of(root / "docs/reproduction.md"));
}

}  // namespace
}  // namespace throughtime
