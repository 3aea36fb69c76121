#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;

using BenchPython = testing::CommandTest;

TEST_F(BenchPython, SaysInOneLineWhatIsMissing) {
  const Outcome none = run("bench --python --interpreter no-such-python");
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("[bench] there is no Python at 'no-such-python'; --interpreter names another\n"),
            std::string::npos)
      << none.err;
  const Outcome empty = shell("THROUGHTIME_LIBRARY=/nowhere.so " THROUGHTIME_COMMAND " bench --python");
  EXPECT_EQ(empty.code, 2);
  EXPECT_TRUE(empty.err.find("[bench] --python: [throughtime] there is no /nowhere.so; build it with ") !=
                  std::string::npos ||
              empty.err.find("NumPy") != std::string::npos || empty.err.find("no Python") != std::string::npos)
      << empty.err;
}

TEST_F(BenchPython, TakesNoFlagOfTheOtherMeasurements) {
  for (const std::string flag : {"--cases batch-add", "--map lstm", "--against torch", "--time cpu", "--costs",
                                 "--scaling", "--engine cpu", "--threads 2", "--verbose"})
    expect_refusal(run("bench --python " + flag), "leave " + flag.substr(0, flag.find(' ')) + " out");
  expect_refusal(run("bench --python python3"), "python3");
}

TEST_F(BenchPython, AFolderWithoutTheProgramIsRefused) {
  if (shell("command -v python3").code != 0) GTEST_SKIP() << "no python3";
  expect_refusal(run("bench --python --interpreter python3 --peers /nowhere"),
                 "[bench] there is no /nowhere/python_overheads.py; --peers names its folder");
}

TEST_F(BenchPython, WhatIsOfAPeerNeedsOne) {
  for (const std::string flag : {"--interpreter python3", "--peers ."})
    for (const std::string other : {"", " --costs", " --scaling"})
      expect_refusal(run("bench " + flag + other), flag.substr(0, flag.find(' ')) + " is for --against torch");
}

TEST_F(BenchPython, MeasuresEveryWayToCall) {
  if (shell("/usr/bin/python3 -c 'import numpy'").code != 0) GTEST_SKIP() << "/usr/bin/python3 has no NumPy";
  const Outcome outcome = run("bench --python --quick --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::set<std::string> cases;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) {
    const auto value = nlohmann::json::parse(line);
    cases.insert(value.at("case"));
    for (const auto& [key, number] : value.items())
      if (number.is_number()) {
        EXPECT_GT(number.get<double>(), 0) << line;
      }
  }
  for (const char* name : {"cpp", "learn_many", "observe", "pair", "fit", "import"})
    EXPECT_TRUE(cases.contains(std::string("python-") + name)) << outcome.out;
}

}  // namespace
}  // namespace throughtime
