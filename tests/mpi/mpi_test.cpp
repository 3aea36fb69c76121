#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "command/command_run.h"
#include "core/launch.h"
#include "support/metrics.h"
#include "train/checkpoint/safetensors.h"

namespace throughtime::testing {
namespace {

/// Several processes of the program under mpirun, on however few cores.
class MpiTest : public CommandTest {
 protected:
  void SetUp() override {
    if (mpi_text() == "none") GTEST_SKIP() << "built without MPI";
    if (shell("command -v mpirun").code != 0) GTEST_SKIP() << "there is no mpirun here";
  }
  static std::string mpirun(int ranks) {
    return "OMPI_MCA_rmaps_base_oversubscribe=1 mpirun --allow-run-as-root --oversubscribe --bind-to none -q -n " +
           std::to_string(ranks) + " ";
  }
  Outcome on_ranks(int ranks, const std::string& arguments) const {
    return shell(mpirun(ranks) + THROUGHTIME_COMMAND + " " + arguments + " </dev/null");
  }
  void write_config(const std::string& learner, const std::string& more = "") const {
    write_text(path("run.toml"),
               "[task]\nname = \"stochastic_world\"\nstochastic_world.length = 12\n[model]\nhidden = 8\n" + more +
                   "[learner]\n" + learner +
                   "[train]\niterations = 30\nbatch = 6\nevaluate_every = 10\nreport_every = 5\n"
                   "[run]\nthreads = 1\ncheckpoint_every = 10\n");
  }
  nlohmann::json result(const std::string& run) const {
    return nlohmann::json::parse(text_of(path(run + "/result.json")));
  }
  std::string checkpoint(const std::string& run) const {
    std::string bytes;
    for (const Tensor& tensor : read_tensors(path(run + "/checkpoints/last.safetensors"), true).tensors) {
      if (tensor.name == "throughtime.trainer.seconds" || tensor.name.starts_with("throughtime.record.")) continue;
      bytes += tensor.name;
      for (const std::byte byte : tensor.data) bytes.push_back(static_cast<char>(byte));
    }
    return bytes;
  }
};

class MpiLearners : public MpiTest, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(
    Methods, MpiLearners,
    ::testing::Values("name = \"bptt\"\n", "name = \"tbptt\"\ntbptt.preset = \"paper\"\ntbptt.truncation = 4\n",
                      "name = \"fptt\"\nfptt.windows = 3\n",
                      "name = \"target_propagation\"\ntarget_propagation.block = 4\n",
                      "name = \"fpp\"\nfpp.steps = 4\nfpp.buffer = 20\n",
                      "name = \"adaptive_tbptt\"\n[learner.adaptive_tbptt]\nlags = 20\nburn_in = 4\n"
                      "longest = 8\nestimate_every = 5\n"));

TEST_P(MpiLearners, TrainOnAnyNumberOfRanksWhatOneProcessTrains) {
  write_config(GetParam(), "dropout_output = 0.2\n");
  ASSERT_EQ(run("train run.toml --quiet --set run.directory=alone").code, 0);
  const double alone = result("alone")["metrics"]["test_loss"];
  for (const int ranks : {1, 2, 3, 4}) {
    const std::string directory = "ranks" + std::to_string(ranks);
    const Outcome outcome = on_ranks(ranks, "train run.toml --quiet --json --set run.directory=" + directory);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(lines_in(outcome.out), 1u) << "rank 0 alone speaks";
    EXPECT_EQ(outcome.err, "");
    const nlohmann::json together = result(directory);
    EXPECT_NEAR(together["metrics"]["test_loss"].get<double>(), alone, 1e-4 * std::abs(alone)) << ranks;
    EXPECT_EQ(together["updates"], result("alone")["updates"]);
    EXPECT_EQ(together.value("ranks", 1), ranks);
  }
}

TEST_F(MpiTest, TwoRunsOnThreeRanksAreEqualToTheBit) {
  write_config("name = \"fptt\"\nfptt.windows = 3\n");
  for (const char* directory : {"a", "b"})
    ASSERT_EQ(on_ranks(3, std::string("train run.toml --quiet --set run.directory=") + directory).code, 0);
  EXPECT_EQ(metrics_without_times(path("a")), metrics_without_times(path("b")));
  EXPECT_EQ(checkpoint("a"), checkpoint("b"));
}

TEST_F(MpiTest, ARunGoesOnWithAnotherNumberOfRanks) {
  write_config("name = \"tbptt\"\ntbptt.preset = \"paper\"\ntbptt.truncation = 4\n");
  ASSERT_EQ(on_ranks(2, "train run.toml --quiet --set run.directory=whole").code, 0);
  ASSERT_EQ(on_ranks(3, "train run.toml --quiet --set run.directory=parts --set train.iterations=20").code, 0);
  const Outcome resumed = on_ranks(2, "train --resume parts --quiet --set train.iterations=30");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  ASSERT_EQ(run("train --resume parts --quiet --set train.iterations=40").code, 0);
  ASSERT_EQ(run("train --resume whole --quiet --set train.iterations=40").code, 0);
  const double whole = result("whole")["metrics"]["test_loss"];
  EXPECT_NEAR(result("parts")["metrics"]["test_loss"].get<double>(), whole, 1e-4 * std::abs(whole));
}

TEST_F(MpiTest, WhatAllRanksRefuseIsSaidOnce) {
  write_config("name = \"bptt\"\n");
  for (const auto& [arguments, part] : std::vector<std::pair<std::string, std::string>>{
           {"train run.toml --set train.batch=2", "3 ranks cannot share 2 rows of a batch (train.batch)"},
           {"train run.toml --set train.bach=2", "did you mean 'train.batch'?"},
           {"train none.toml", "none.toml"},
           {"trian run.toml", "did you mean 'train'?"},
           {"inspect run", "[inspect] runs in one process"}}) {
    const Outcome outcome = on_ranks(3, arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find(part), outcome.err.rfind(part)) << outcome.err;
  }
}

TEST_F(MpiTest, RanksWithDifferentConfigurationsAllStop) {
  write_config("name = \"bptt\"\n");
  const Outcome outcome = shell(mpirun(1) + THROUGHTIME_COMMAND + " train run.toml : -n 2 " + THROUGHTIME_COMMAND +
                                " train run.toml --set train.seed=2 </dev/null");
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("the configuration of rank 1 is not that of rank 0"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(path("runs")));
}

TEST_F(MpiTest, ARankThatFailsAloneEndsTheOthers) {
  write_config("name = \"bptt\"\n");
  const Outcome outcome = shell(mpirun(1) + THROUGHTIME_COMMAND + " train run.toml : -n 1 " + THROUGHTIME_COMMAND +
                                " train none.toml </dev/null");
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("throughtime: rank 1: "), std::string::npos) << outcome.err;
}

TEST_F(MpiTest, ARankThatIsKilledEndsTheOthersAndTheRunGoesOn) {
  write_config("name = \"bptt\"\n");
  const std::string train = " train run.toml --quiet --set train.iterations=100000000 --set run.directory=run";
  // The second rank tells its process id; it is killed as soon as there is a checkpoint.
  const std::string second = "sh -c 'echo $$ >pid; exec " + std::string(THROUGHTIME_COMMAND) + train + "'";
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome =
      shell("(while [ ! -s run/checkpoints/last.safetensors ]; do sleep 0.05; done; kill -9 $(cat pid)) & " +
            mpirun(1) + THROUGHTIME_COMMAND + train + " : -n 1 " + second + " </dev/null");
  EXPECT_NE(outcome.code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  const std::int64_t done =
      std::stoll(read_tensors(path("run/checkpoints/last.safetensors"), true).metadata.at("throughtime.iteration"));
  const Outcome resumed = on_ranks(2, "train --resume run --quiet --set train.iterations=" + std::to_string(done + 20));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(result("run")["iterations"], done + 20);
}

TEST_F(MpiTest, ARankThatIsStoppedEndsTheOthersAfterTheTimeout) {
  write_config("name = \"bptt\"\n");
  const std::string train =
      " train run.toml --quiet --set train.iterations=100000000 --set run.directory=run --set run.rank_timeout=2";
  // Either rank may be the one that is stopped, as soon as there is a checkpoint.
  for (const int stopped : {0, 1}) {
    std::filesystem::remove_all(path("run"));
    const auto program = [&](int rank) {
      return "sh -c 'echo $$ >pid" + std::to_string(rank) + "; exec " + THROUGHTIME_COMMAND + train + "'";
    };
    const Outcome outcome = shell(
        "(while [ ! -s run/checkpoints/last.safetensors ]; do sleep 0.05; done; "
        "kill -STOP $(cat pid" +
        std::to_string(stopped) + ")) & timeout 60 env " + mpirun(1) + program(0) + " : -n 1 " + program(1) +
        " </dev/null");
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.code, 124) << "nobody gave up";
    EXPECT_NE(outcome.err.find("rank " + std::to_string(1 - stopped) + ": has waited 2 s for the other ranks"),
              std::string::npos)
        << outcome.err;
    const std::int64_t done =
        std::stoll(read_tensors(path("run/checkpoints/last.safetensors"), true).metadata.at("throughtime.iteration"));
    const Outcome resumed = run("train --resume run --quiet --set train.iterations=" + std::to_string(done + 10));
    EXPECT_EQ(resumed.code, 0) << resumed.err;
  }
}

TEST_F(MpiTest, ASignalStopsAllRanksWithACheckpoint) {
  write_config("name = \"bptt\"\n");
  const Outcome outcome = shell(mpirun(2) + THROUGHTIME_COMMAND +
                                " train run.toml --quiet --set train.iterations=100000000 --set run.directory=run "
                                "</dev/null & while [ ! -s run/checkpoints/last.safetensors ]; do sleep 0.05; done; "
                                "kill -TERM $!; wait $!");
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.err.find("go on with: throughtime train --resume run"), std::string::npos) << outcome.err;
  EXPECT_NE(text_of(path("run/log.txt")).find("interrupted at iteration"), std::string::npos);
}

TEST_F(MpiTest, TheProgramSaysWhichMpiItHas) {
  EXPECT_NE(run("--version").out.find("MPI: " + mpi_text()), std::string::npos);
}

class WithoutMpi : public CommandTest {};

TEST_F(WithoutMpi, OneProcessTrainsAndSeveralRanksAreRefused) {
  const std::string program = THROUGHTIME_WITHOUT_MPI;
  config_file(tiny);
  EXPECT_EQ(shell(program + " --version").out.find("MPI: none") == std::string::npos, false);
  EXPECT_EQ(shell(program + " train tiny.toml --quiet").code, 0);
  const Outcome several = shell("OMPI_COMM_WORLD_SIZE=4 " + program + " train tiny.toml --quiet --force");
  expect_refusal(several, "4 ranks were started, but this program was built without MPI");
}

}  // namespace
}  // namespace throughtime::testing
