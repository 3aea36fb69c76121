// NT-ASGD (optimizer.average = "non_monotone") from the command: once averaging has begun, the average is the model.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "command/command_run.h"

namespace throughtime {
namespace {

using nlohmann::json;
using testing::Outcome;
using testing::text_of;
using testing::write_text;

class NonMonotone : public testing::CommandTest {
 protected:
  /// A rate so high that validation soon gets worse; `more` options make other runs of it.
  json train(const std::string& name, const std::string& more) const {
    config_file(
        "[task.add]\nlength = 6\n[model]\nhidden = 6\n[optimizer]\nname = \"sgd\"\nrate = 1\nclip = 1\naverage = "
        "\"non_monotone\"\naverage_patience = 2\n[train]\niterations = 60\nbatch = 8\nevaluate_every = 4\n"
        "evaluate_batches = 2\n[run]\nthreads = 1\n");
    const Outcome trained = run("train --quiet --json tiny.toml --set run.name=" + name + more);
    EXPECT_EQ(trained.code, 0) << trained.err;
    return json::parse(trained.out);
  }
  json evaluated(const std::string& arguments) const { return json::parse(run("evaluate --json " + arguments).out); }
  std::string exported(const std::string& arguments) const {
    std::filesystem::remove(path("weights"));
    EXPECT_EQ(run("export -o weights " + arguments).code, 0);
    return text_of(path("weights"));
  }
  std::string predicted(const std::string& arguments) const {
    const Outcome outcome = run("predict " + arguments + " steps.csv");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
};

TEST_F(NonMonotone, TheAverageIsWhatIsChosenPredictedWithAndExported) {
  const json result = train("average", "");
  const std::string log = text_of(path("runs/average/log.txt"));
  const std::size_t line = log.rfind("iteration ", log.find("validation has stopped improving"));
  ASSERT_NE(line, std::string::npos) << "it began";
  EXPECT_GT(result.at("best").at("iteration"), std::stoi(log.substr(line + 10))) << "else the best is no average";
  // The same steps without an average: what is trained does not change, what is judged does.
  train("plain", " --set optimizer.average=off");
  write_text(path("steps.csv"), "0.5,0\n0.25,1\n0.75,1\n0.5,0\n");
  EXPECT_NE(exported("runs/average --last"), exported("runs/plain --last"));
  EXPECT_NE(predicted("runs/average --last"), predicted("runs/plain --last"));

  EXPECT_EQ(evaluated("runs/average --last").at("loss"), result.at("metrics").at("test_loss"));
  EXPECT_EQ(evaluated("runs/average --best").at("loss"), result.at("best").at("test_loss"));
  EXPECT_EQ(evaluated("runs/average --best --split validation").at("loss"), result.at("best").at("validation_loss"));

  // What was exported is the average: a run that begins with it and stands still has these losses and answers.
  for (const std::string which : {"--last", "--best"}) {
    const std::string file = exported("runs/average " + which), still = "still" + which;
    write_text(path("weights"), file);
    ASSERT_EQ(run("import tiny.toml weights --set run.name=" + still + " --set optimizer.average=off").code, 0);
    EXPECT_EQ(evaluated("runs/" + still + " --last").at("loss"), evaluated("runs/average " + which).at("loss"));
    EXPECT_EQ(predicted("runs/" + still + " --last"), predicted("runs/average " + which));
  }
}

TEST_F(NonMonotone, IsRefusedWhereItCanNeverBegin) {
  config_file("[task.add]\nlength = 4\n[optimizer]\naverage = \"non_monotone\"\n[train]\niterations = 60\n");
  expect_refusal(run("train --quiet tiny.toml"), "there are none; set train.evaluate_every");
  expect_refusal(run("train --quiet tiny.toml --set train.evaluate_every=61"),
                 "train.evaluate_every = 61 comes after the last iteration (60); it must be 60 at most");
  EXPECT_EQ(run("train --quiet tiny.toml --set train.evaluate_every=60").code, 0);
}

}  // namespace
}  // namespace throughtime
