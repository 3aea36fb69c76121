#include "bench/python_case.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime::bench {
namespace {

using throughtime::testing::refusal_of;
using throughtime::testing::ScratchDirectory;
using throughtime::testing::write_text;

/// A program in the place of Python that gives known answers.
class PythonCase : public ::testing::Test {
 protected:
  /// `cases`: branches of the shell's `case` over the first argument of python_overheads.py.
  PythonConfig with_answers(const std::string& cases) const {
    const std::filesystem::path program = directory_ / "python";
    write_text(program, "#!/bin/sh\ncase $2 in\n" + cases + "esac\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    write_text(directory_ / "python_overheads.py", "");
    return {
        .python = program.string(), .directory = directory_.path().string(), .command = "throughtime", .quick = true};
  }
  static std::string answers(const std::string& torch) {
    return "--describe) echo '{\"throughtime\": \"1\", \"numpy\": \"1\", \"torch\": " + torch +
           "}' ;;\n"
           "--calls) echo '{\"learn_many\": [3, 8], \"observe\": [2, 4], \"pair\": [1, 2]}' ;;\n"
           "--torch) echo '{\"torch\": [0.25, 0.5]}' ;;\n"
           "--fit) echo '{\"fit\": [90, 99], \"train\": [80, 100], \"fit_later\": [98, 99], "
           "\"train_later\": [97, 90]}' ;;\n"
           "--import) echo '{\"import\": [40, 20]}' ;;\n";
  }
  static PythonResult measured(const PythonConfig& config) {
    return run_python_case(config, describe_python(config), {.repeats = 2, .least = 2, .seconds = 0});
  }

 private:
  ScratchDirectory directory_;
};

TEST_F(PythonCase, StandsBesideCppPyTorchAndTheCommand) {
  const PythonResult result = measured(with_answers(answers("\"2\"")));
  std::map<std::string, PythonCall> calls;
  for (const PythonCall& call : result.calls) calls[call.name] = call;
  ASSERT_EQ(calls.size(), 5u);
  EXPECT_EQ(calls["cpp"].of_cpp, 1);
  EXPECT_GT(calls["cpp"].rates.cpu, 100);
  EXPECT_EQ(calls["learn_many"].rates.wall, 3);
  EXPECT_EQ(calls["learn_many"].rates.cpu, 8);
  EXPECT_NEAR(calls["observe"].of_cpp / calls["learn_many"].of_cpp, 0.5, 1e-9);
  EXPECT_LT(calls["learn_many"].of_cpp, 0.1) << "eight rows a second are few";
  EXPECT_EQ(result.times_torch(calls["observe"]), 8);
  ASSERT_EQ(result.trainings.size(), 2u);
  EXPECT_EQ(result.trainings[0].name, "whole");
  EXPECT_EQ(result.trainings[0].fit.wall, 90);
  EXPECT_EQ(result.trainings[0].train.cpu, 100);
  EXPECT_NEAR(result.trainings[1].of_train, 1.1, 1e-9) << "by processor time";
  EXPECT_EQ(result.import_ms, 40);
  EXPECT_EQ(result.import_cpu_ms, 20);
}

TEST_F(PythonCase, GivesALineOfJsonForEach) {
  std::map<std::string, nlohmann::json> lines;
  std::istringstream text(json_lines(measured(with_answers(answers("null")))));
  for (std::string line; std::getline(text, line);) {
    const auto value = nlohmann::json::parse(line);
    lines[value.at("case")] = value;
  }
  ASSERT_EQ(lines.size(), 7u) << "cpp, three ways to call, fit twice, import; no PyTorch";
  EXPECT_EQ(lines["python-pair"]["rows_per_cpu_second"], 2);
  EXPECT_TRUE(lines["python-pair"]["times_torch"].is_null());
  EXPECT_EQ(lines["python-fit"]["of_train"], 0.99);
  EXPECT_EQ(lines["python-fit"]["train_steps_per_second"], 80);
  EXPECT_EQ(lines["python-fit-later"]["steps_per_cpu_second"], 99);
  EXPECT_EQ(lines["python-import"]["import_ms"], 40);
}

TEST_F(PythonCase, SaysWhatIsMissing) {
  EXPECT_EQ(refusal_of([] { describe_python({.python = "no-such-python-here", .directory = "."}); }),
            "[bench] there is no Python at 'no-such-python-here'; --interpreter names another");
  EXPECT_EQ(refusal_of([] { describe_python({.python = "sh", .directory = "/nowhere"}); }),
            "[bench] there is no /nowhere/python_overheads.py; --peers names its folder, bench/peers of the sources");
  const PythonConfig config = with_answers("--describe) echo '{\"missing\": \"no NumPy; install it\"}'; exit 3 ;;\n");
  EXPECT_EQ(refusal_of([&] { describe_python(config); }), "[bench] --python: no NumPy; install it");
}

TEST_F(PythonCase, FailsWhereAnAnswerIsNone) {
  for (const char* cases : {"--describe) exit 1 ;;\n", "--describe) echo 'no JSON' ;;\n", "--describe) echo '{}' ;;\n",
                            "--describe) echo '{\"throughtime\": \"1\", \"numpy\": \"1\", \"torch\": null}' "
                            ";;\n--calls) echo '{\"observe\": [1, 2]}' ;;\n"})
    EXPECT_THROW(measured(with_answers(cases)), RunFailure) << cases;
}

}  // namespace
}  // namespace throughtime::bench
