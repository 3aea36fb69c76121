#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace throughtime {
namespace {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

std::filesystem::path scratch() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path path = std::filesystem::temp_directory_path() / ("throughtime-command-" + std::string(test->name()));
  std::filesystem::create_directories(path);
  return path;
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Runs `throughtime ARGUMENTS` without a terminal.
Outcome run(const std::string& arguments) {
  const std::filesystem::path directory = scratch();
  const std::string command = std::string(THROUGHTIME_COMMAND) + " " + arguments + " >" + (directory / "out").string() +
                              " 2>" + (directory / "err").string() + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, file_text(directory / "out"), file_text(directory / "err")};
}

std::string config_file(const std::string& text, const std::string& name = "tiny") {
  const std::filesystem::path path = scratch() / (name + ".toml");
  std::ofstream(path) << text;
  return path.string();
}

const char* const tiny =
    "[task]\nlength = 4\n[model]\nhidden = 4\n[train]\niterations = 20\nbatch = 4\n[run]\nengine = \"reference\"\n";

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// A refusal is one line on stderr and nothing on stdout.
void expect_refusal(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines_in(outcome.err), 1u) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
}

TEST(Command, ExplainsItself) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("gradcheck"), std::string::npos);
  EXPECT_EQ(help.err, "");
  EXPECT_EQ(run("train --help").code, 0);
}

TEST(Command, RefusesBadUsageWithOneLine) {
  expect_refusal(run(""), "subcommand");
  expect_refusal(run("trian x.toml"), "unknown command 'trian'; did you mean 'train'?");
  expect_refusal(run("--fast"), "--fast");
  expect_refusal(run("train"), "config");
  expect_refusal(run("train a.toml --no-such-flag"), "--no-such-flag");
  expect_refusal(run("list"), "subcommand");
  expect_refusal(run("list cell"), "unknown command 'cell'; did you mean 'cells'?");
  expect_refusal(run("gradcheck --cell lstn"), "did you mean 'lstm'?");
}

TEST(Command, ListsWhatItKnows) {
  for (const char* kind : {"cells", "heads", "optimizers", "learners", "tasks", "engines"}) {
    const Outcome table = run(std::string("list ") + kind);
    EXPECT_EQ(table.code, 0);
    EXPECT_EQ(table.err, "");
    const nlohmann::json rows = nlohmann::json::parse(run(std::string("list ") + kind + " --json").out);
    ASSERT_FALSE(rows.empty());
    for (const nlohmann::json& row : rows)
      EXPECT_NE(table.out.find(row.at("name").get<std::string>()), std::string::npos);
  }
}

TEST(Command, HelpOptionsListsThem) {
  const Outcome outcome = run("help options");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("train.batch"), std::string::npos);
  EXPECT_NE(run("help options --markdown").out.find("| `batch` | integer | `128` |"), std::string::npos);
}

TEST(Command, TrainPrintsATableOnStdoutAndProgressOnStderr) {
  const Outcome outcome = run("train " + config_file(tiny, "first") + " " + config_file(tiny, "second"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_in(outcome.out), 4u) << outcome.out;
  EXPECT_NE(outcome.out.find("first "), std::string::npos);
  EXPECT_NE(outcome.out.find("second "), std::string::npos);
  EXPECT_NE(outcome.err.find("tape"), std::string::npos);
  EXPECT_NE(outcome.err.find("first: 10/20 iterations"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

TEST(Command, TrainQuietIsSilentOnStderr) {
  const Outcome outcome = run("train --quiet " + config_file(tiny));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out, "");
}

TEST(Command, TrainJsonIsOneObjectPerRun) {
  const Outcome outcome =
      run("train " + config_file(tiny) + " --json --set train.seed=7 --set train.evaluate_every=10");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_in(outcome.out), 1u);
  const nlohmann::json line = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(line.at("task"), "add");
  EXPECT_EQ(line.at("learner"), "bptt");
  EXPECT_EQ(line.at("cell"), "lstm");
  EXPECT_EQ(line.at("iterations"), 20);
  EXPECT_EQ(line.at("seed"), 7);
  EXPECT_GT(line.at("activation_bytes"), 0);
  EXPECT_EQ(line.at("metrics").at("test_mse"), line.at("metrics").at("test_loss"));
  EXPECT_TRUE(line.at("best").contains("validation_loss"));
}

TEST(Command, TrainRefusesBadConfigurationsBeforeItTrains) {
  expect_refusal(run("train no-such-file.toml"), "cannot read no-such-file.toml");
  expect_refusal(run("train " + config_file("[train]\nbacth = 3\n")), ":2: unknown option 'train.bacth'; did you mean 'train.batch'?");
  expect_refusal(run("train " + config_file(tiny) + " --set train.batch=0"), "train.batch must be between 1");
  expect_refusal(run("train " + config_file(tiny, "good") + " " + config_file("[task]\nlength = 1\n", "bad")),
                 "task.length must be at least 2");
}

TEST(Command, AFailedRunExitsWithOne) {
  const Outcome outcome =
      run("train --quiet " + config_file(tiny) + " --set optimizer.name=sgd --set optimizer.rate=1e200");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines_in(outcome.err), 1u) << outcome.err;
  EXPECT_NE(outcome.err.find("lower optimizer.rate"), std::string::npos);
}

TEST(Command, GradcheckPassesAndShowsTheWorst) {
  const Outcome outcome = run("gradcheck --cell lstm");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("worst"), std::string::npos);
  EXPECT_NE(outcome.out.find("softmax"), std::string::npos);
}

}  // namespace
}  // namespace throughtime
