#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::text_of;
using testing::write_text;

/// Own sequences from the file to answers, as a user meets them.
class SequencesCommand : public testing::CommandTest {
 protected:
  /// Sequences of 1 to 6 steps that rise or fall.
  static std::string table(const std::string& up = "up", const std::string& down = "down") {
    std::string text = "id,label,x\n";
    for (int i = 0; i < 60; ++i)
      for (int step = 0; step <= i % 6; ++step)
        text += "s" + std::to_string(i) + "," + (i % 2 == 0 ? up : down) + "," +
                std::to_string((i % 2 == 0 ? 1 : -1) * (step + 1)) + "\n";
    return text;
  }
  std::string config(const std::string& more = "") const {
    return config_file("[task]\nname = \"sequences\"\nsequences.files = [\"a.csv\"]\n" + more +
                           "[model]\nhidden = 4\n[optimizer]\nrate = 0.05\n[train]\nepochs = 12\nbatch = "
                           "8\nevaluate_every = 6\n[run]\nthreads = 1\n",
                       "own");
  }
  void trained() const {
    write_text(path("a.csv"), table("up", "\"down, \"\"there\"\"\""));
    const Outcome outcome = run("train --quiet " + config());
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
};

TEST_F(SequencesCommand, EvaluatePrintsScoresAndWhichClassesAreConfused) {
  trained();
  const Outcome outcome = run("evaluate runs/own");
  for (const char* part :
       {"accuracy", "balanced_accuracy", "cross_entropy", "true \\ predicted", "up", "down, \"there\""})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  const auto json = nlohmann::json::parse(run("evaluate runs/own --json").out);
  EXPECT_EQ(json.at("confusion").at("classes"), (std::vector<std::string>{"down, \"there\"", "up"}));
  double sum = 0;
  for (const auto& row : json.at("confusion").at("counts"))
    for (const double count : row) sum += count;
  EXPECT_EQ(sum, 12);
  EXPECT_EQ(json.at("accuracy"), 1.0) << "rising and falling are easy to tell apart";
  const auto result = nlohmann::json::parse(text_of(path("runs/own/result.json")));
  EXPECT_EQ(result.at("confusion").at("test"), json.at("confusion").at("counts"));
  EXPECT_EQ(nlohmann::json::parse(text_of(path("runs/own/task/classes.json"))), json.at("confusion").at("classes"));
}

TEST_F(SequencesCommand, PredictNamesTheClassOfEachSequence) {
  trained();
  write_text(path("new.csv"), "when,x,id\nnow,1,a\nnow,-1,b\nlater,2,a\n");
  const Outcome all = run("predict runs/own new.csv");
  EXPECT_EQ(all.out.substr(0, all.out.find('\n')), "id,class,\"down, \"\"there\"\"\",up") << all.err;
  EXPECT_EQ(lines_in(all.out), 3u);
  EXPECT_NE(all.out.find("\na,up,"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("\nb,\"down, \"\"there\"\"\","), std::string::npos) << all.out;
  const Outcome top = run("predict runs/own new.csv --top 1");
  EXPECT_EQ(top.out.substr(0, top.out.find('\n')), "id,class_1,probability_1");
  EXPECT_NE(top.out.find("\na,up,0.9"), std::string::npos) << top.out;
  const Outcome lines = run("predict runs/own new.csv --format jsonl");
  const auto first = nlohmann::json::parse(lines.out.substr(0, lines.out.find('\n')));
  EXPECT_EQ(first.at("id"), "a");
  EXPECT_EQ(first.at("class"), "up");
  EXPECT_NEAR(
      first.at("probabilities").at("up").get<double>() + first.at("probabilities").at("down, \"there\"").get<double>(),
      1, 1e-6);
  // The file that it was trained on is read too, and steps from a pipe answer one by one, under the names of classes.
  EXPECT_EQ(lines_in(run("predict runs/own a.csv").out), 61u);
  const Outcome steps = shell("printf 'x\\n1\\n2\\n' | " THROUGHTIME_COMMAND " predict runs/own");
  EXPECT_EQ(steps.out.substr(0, steps.out.find('\n')), "\"down, \"\"there\"\"\",up");
  EXPECT_EQ(lines_in(steps.out), 3u);
}

TEST_F(SequencesCommand, ASplitNamesItsSequences) {
  trained();
  // Of each id the label that the file has, and each sequence in one split.
  std::set<std::string> ids;
  for (const char* split : {"train", "validation", "test"}) {
    const Outcome outcome = run(std::string("predict runs/own --format jsonl --split ") + split);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::istringstream text(outcome.out);
    std::set<std::int64_t> rows;
    for (std::string line; std::getline(text, line);) {
      const auto answer = nlohmann::json::parse(line);
      const std::string id = answer.at("id");
      EXPECT_TRUE(ids.insert(id).second) << id;
      rows.insert(answer.at("row").get<std::int64_t>());
      EXPECT_EQ(answer.at("truth"), std::stoi(id.substr(1)) % 2 == 0 ? "up" : "down, \"there\"") << id;
    }
    EXPECT_EQ(*rows.rbegin(), static_cast<std::int64_t>(rows.size()) - 1);
  }
  EXPECT_EQ(ids.size(), 60u);
  EXPECT_TRUE(run("predict runs/own --split test").out.starts_with("row,id,truth,forecast,probability\n0,s"));
}

TEST_F(SequencesCommand, PredictRefusesWhatItCannotRead) {
  trained();
  write_text(path("other.csv"), "id,y\na,1\n");
  expect_refusal(run("predict runs/own other.csv"), "unknown column of task.sequences.inputs 'x'; known: id, y");
  expect_refusal(run("predict runs/own none.csv"), "there is no such file or folder");
  write_text(path("other.csv"), "name,x\na,1\n");
  expect_refusal(run("predict runs/own other.csv"), "task.sequences.id");
}

TEST_F(SequencesCommand, NumbersArePredictedInTheirOwnUnits) {
  write_text(path("a.csv"), table("1000.5", "2000"));
  ASSERT_EQ(run("train --quiet " + config()).code, 0);
  write_text(path("new.csv"), "id,x\na,1\na,2\na,3\n");
  const Outcome outcome = run("predict runs/own new.csv");
  ASSERT_EQ(outcome.out.substr(0, outcome.out.find('\n')), "id,label") << outcome.err;
  const double value = std::stod(outcome.out.substr(outcome.out.find("\na,") + 3));
  EXPECT_GT(value, 700);
  EXPECT_LT(value, 2300);
  expect_refusal(run("predict runs/own new.csv --top 1"), "--top is for models that choose between classes");
  EXPECT_EQ(run("evaluate runs/own").out.find("predicted"), std::string::npos);
}

TEST_F(SequencesCommand, NumbersMayOverwriteClasses) {
  trained();
  write_text(path("a.csv"), table("1000.5", "2000"));
  ASSERT_EQ(run("train --quiet --force " + config()).code, 0);
  EXPECT_FALSE(std::filesystem::exists(path("runs/own/task/classes.json")));
  const Outcome outcome = run("evaluate runs/own");
  EXPECT_NE(outcome.out.find("mse"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out.find("accuracy"), std::string::npos) << outcome.out;
}

TEST_F(SequencesCommand, TheReportShowsWhichClassesAreConfused) {
  trained();
  ASSERT_EQ(run("report runs/own -o report.html").code, 0);
  const std::string page = text_of(path("report.html"));
  EXPECT_NE(page.find("Which classes are confused"), std::string::npos);
  EXPECT_NE(page.find("<svg class=\"confusion\""), std::string::npos);
  EXPECT_NE(page.find("up predicted as up"), std::string::npos);
}

TEST_F(SequencesCommand, BadFilesAreRefusedInOneLine) {
  const auto with = [&](const std::string& text, const std::string& part) {
    write_text(path("a.csv"), text);
    expect_refusal(run("train --quiet " + config()), part);
    EXPECT_FALSE(std::filesystem::exists(path("runs/own/config.toml")));
  };
  with("id;label;x\na;up;1\n", "say task.sequences.delimiter = \";\"");
  with("Id,label,x\na,up,1\n", "say task.sequences.id = \"Id\"");
  with("id,x\na,1\n", "unknown column of task.sequences.targets 'label'");
  with("id,label,x\na,up,nan\n", "a.csv:2: column 'x': 'nan' is no finite number");
  with("id,label,x\na,up,\"1,5\"\n", "has a decimal comma");
}

}  // namespace
}  // namespace throughtime
