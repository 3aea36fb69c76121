// The command where there is no GPU, and where there is one that fails.
#include <gtest/gtest.h>

#include "command/command_run.h"
#include "throughtime/engine.h"

namespace throughtime {
namespace {

using testing::lines_in;
using testing::Outcome;
using testing::tiny;

class CommandOnCuda : public testing::CommandTest {
 protected:
  /// Everything behind `throughtime`, with the n-th list of each engine as its last; 0: none is.
  Outcome run_losing(int list, const std::string& arguments) const {
    return shell("THROUGHTIME_CUDA_FAULT=" + std::to_string(list) + " " + THROUGHTIME_COMMAND + " " + arguments);
  }
  const EngineType& cuda = find_engine("cuda");
  const std::string file = config_file(tiny);
};

TEST_F(CommandOnCuda, EndsBeforeAnythingBeginsWhereThereIsNoGpu) {
  if (cuda.usable()) GTEST_SKIP() << "there is a CUDA device here";
  const std::string line = "throughtime: [cuda] " + cuda.missing() + "\n";
  for (const std::string& arguments :
       {"train " + file + " --set run.engine=cuda", "compare " + file + " --learners bptt --engine cuda",
        "compare " + file + " --learners bptt --engine cuda --jobs 2", std::string("bench --engine cuda --quick")})
    expect_refusal(run(arguments), line);
  EXPECT_FALSE(std::filesystem::exists(path("runs")));
}

TEST_F(CommandOnCuda, SaysInOneLineThatTheGpuIsLostAndGoesOn) {
  if (!cuda.usable()) GTEST_SKIP() << cuda.missing();
  const std::string options = " --set run.engine=cuda --set run.checkpoint_every=3";
  const Outcome lost = run_losing(20, "train --quiet " + file + options);
  EXPECT_EQ(lost.code, 1);
  EXPECT_EQ(lines_in(lost.err), 1u) << lost.err;
  EXPECT_NE(lost.err.find("go on from the last checkpoint with: throughtime train --resume runs/tiny"),
            std::string::npos)
      << lost.err;
  EXPECT_EQ(run("train --quiet --resume runs/tiny").code, 0);

  const std::string compare = "compare --quiet " + file + " --learners bptt,fptt --jobs 2" + options;
  const Outcome both = run_losing(20, compare);
  EXPECT_EQ(both.code, 1);
  EXPECT_EQ(lines_in(both.err), 1u) << both.err;
  EXPECT_NE(both.err.find("every run stopped at its last checkpoint"), std::string::npos) << both.err;
  EXPECT_EQ(run(compare).code, 0);
}

}  // namespace
}  // namespace throughtime
