#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;
using testing::text_of;
using testing::write_text;

class DynamicEvaluate : public testing::CommandTest {
 protected:
  /// A run that has learned a little of a text whose test part has other words.
  void train() {
    std::string known, other;
    for (int i = 0; i < 60; ++i) known += i % 7 % 2 != 0 ? "the cat saw a dog\n" : "a dog saw the cat\n";
    for (int i = 0; i < 12; ++i) other += "dog dog cat saw saw the a\n";
    write_text(path("train.txt"), known);
    write_text(path("valid.txt"), other);
    write_text(path("test.txt"), other);
    config_file(
        "[task]\nname = \"text\"\n[task.text]\nlength = 7\ncorpus = \"files\"\nfiles = [\"train.txt\", \"valid.txt\", "
        "\"test.txt\"]\n[model]\nhidden = 6\nembedding = 4\n[train]\niterations = 30\nbatch = 4\n"
        "evaluate_every = 10\n",
        "words");
    ASSERT_EQ(run("train --quiet words.toml").code, 0);
  }

  /// Every file of the run with its bytes.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path("runs/words")))
      if (entry.is_regular_file()) files[entry.path().string()] = text_of(entry.path());
    return files;
  }
};

TEST_F(DynamicEvaluate, LearnsWhileItTestsAndLeavesTheRunAsItWas) {
  train();
  const auto before = files();
  const Outcome outcome = run("evaluate runs/words --dynamic --rate 0.01 --columns 4 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json line = nlohmann::json::parse(outcome.out);
  EXPECT_LT(line.at("perplexity").get<double>(), line.at("static").at("perplexity").get<double>());
  EXPECT_EQ(line.at("dynamic").at("rate"), 0.01);
  EXPECT_EQ(line.at("dynamic").at("decay"), 0.002);
  EXPECT_EQ(before, files());
  const Outcome still = run("evaluate runs/words --dynamic --rate 0 --decay 0 --columns 4 --json");
  const nlohmann::json same = nlohmann::json::parse(still.out);
  EXPECT_EQ(same.at("loss"), same.at("static").at("loss"));
  EXPECT_EQ(run("evaluate runs/words --dynamic --best --columns 4").code, 0);
}

TEST_F(DynamicEvaluate, TunesOnValidationDataAndTestsOnce) {
  train();
  const auto before = files();
  const Outcome outcome =
      run("evaluate runs/words --dynamic --tune --rate 0,0.01 --decay 0.001,0.1 --columns 4 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::json line = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(line.at("trials").size(), 4u);
  double lowest = 1e9;
  for (const nlohmann::json& trial : line.at("trials"))
    lowest = std::min(lowest, trial.at("validation").at("loss").get<double>());
  for (const nlohmann::json& trial : line.at("trials"))
    if (trial.at("validation").at("loss") == lowest) {
      EXPECT_EQ(trial.at("rate"), line.at("dynamic").at("rate"));
      EXPECT_EQ(trial.at("decay"), line.at("dynamic").at("decay"));
    }
  EXPECT_EQ(before, files());
  const Outcome table = run("evaluate runs/words --dynamic --tune --rate 0,0.01 --decay 0.001 --columns 4");
  EXPECT_NE(table.out.find("best"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("test, dynamic"), std::string::npos) << table.out;
}

TEST_F(DynamicEvaluate, RefusesInOneLine) {
  train();
  expect_refusal(run("evaluate runs/words --rate 0.1"), "--dynamic");
  expect_refusal(run("evaluate runs/words --dynamic --rate 0.1,0.2"), "--tune chooses one");
  expect_refusal(run("evaluate runs/words --dynamic --rate -1"), "--rate");
  expect_refusal(run("evaluate runs/words --dynamic --tune --rate 0.1,inf --decay 0.1"),
                 "--rate must be a finite number");
  expect_refusal(run("evaluate runs/words --dynamic --epsilon 0"), "--epsilon");
  expect_refusal(run("evaluate runs/words --dynamic --scaling mode"), "mean, sum");
  expect_refusal(run("evaluate runs/words --dynamic --tune --split validation"), "leave out --split");
  expect_refusal(run("evaluate runs/words --dynamic --tune --scaling sum"), "--rate A,B,C");
  std::filesystem::remove(path("train.txt"));
  expect_refusal(run("evaluate runs/words --dynamic"), "train.txt");
  config_file(testing::tiny);
  ASSERT_EQ(run("train --quiet tiny.toml").code, 0);
  expect_refusal(run("evaluate runs/tiny --dynamic"), "this task is generated");
}

/// A recording whose training part has no target: nothing could be learned from on the way.
TEST_F(DynamicEvaluate, RefusesTrainingDataWithoutATarget) {
  const auto write = [&](bool known) {
    std::string rows = "y,z\n";
    for (int i = 0; i < 200; ++i)
      rows += std::to_string(i % 7) + "," + (known || i > 160 ? std::to_string(i % 3) : "") + "\n";
    write_text(path("rows.csv"), rows);
  };
  write(true);
  config_file(
      "[task]\nname = \"series\"\n[task.series]\npath = \"rows.csv\"\nlength = 10\ninputs = [\"y\"]\ntargets = "
      "[\"z\"]\nmissing = \"skip\"\n[model]\nhidden = 4\n[train]\niterations = 3\nbatch = 2\n",
      "rows");
  const Outcome trained = run("train --quiet rows.toml");
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(run("evaluate runs/rows --dynamic --columns 2").code, 0);
  write(false);
  expect_refusal(run("evaluate runs/rows --dynamic --columns 2"),
                 "the training data has no loss, so --dynamic has nothing to learn from");
}

}  // namespace
}  // namespace throughtime
