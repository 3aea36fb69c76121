#include <gtest/gtest.h>

#include "support/digits.h"
#include "support/errors.h"
#include "support/metrics.h"
#include "support/scratch.h"
#include "support/thread_ranks.h"
#include "train/run/run_variants.h"

namespace throughtime::testing {
namespace {

/// Trains on that many ranks; the first one's result. What the others conclude must be the same to the bit.
RunResult train_on(int ranks, const RunConfig& config, std::int64_t stop_at = -1) {
  std::vector<RunResult> results(static_cast<std::size_t>(ranks));
  ThreadRanks::run(ranks, [&](std::shared_ptr<Communicator> communicator) {
    StopAt observer(communicator->rank() == ranks - 1 ? stop_at : -1);
    results[static_cast<std::size_t>(communicator->rank())] = train_run(config, observer, false, true, communicator);
  });
  for (const RunResult& result : results) {
    EXPECT_EQ(result.train_loss, results[0].train_loss);
    EXPECT_EQ(result.iteration, results[0].iteration);
    EXPECT_EQ(result.test ? result.test->loss : 0, results[0].test ? results[0].test->loss : 0);
  }
  return results[0];
}

void resume_on(int ranks, const std::filesystem::path& run) {
  ThreadRanks::run(ranks, [&](std::shared_ptr<Communicator> communicator) {
    Observer silent;
    resume_run(run, {}, silent, false, true, communicator);
  });
}

class OnRanks : public ::testing::TestWithParam<Variant> {
 protected:
  OnRanks() {
    if (GetParam().task != "mnist") return;
    write_digits(directory_, "train", 20, 0, "data/");
    write_digits(directory_, "t10k", 5, 3, "data/");
  }
  void SetUp() override {
    const EngineType& type = find_engine(GetParam().engine);
    if (!type.usable()) GTEST_SKIP() << type.missing();
  }
  RunConfig config(const std::string& run) const {
    RunConfig config = config_of(GetParam(), directory_ / run);
    config.train.batch = 5;  // no number of ranks divides it
    config.learner.fpp.fixed = GetParam().learner == "fpp:fixed";
    if (GetParam().learner == "fpp:blocks") {
      config.learner.fpp.batch = FppBatch::blocks;
      config.learner.fpp.blocks = 7;
    }
    return config;
  }
  std::filesystem::path checkpoint(const std::string& run) const {
    return directory_ / run / "checkpoints/last.safetensors";
  }
  double tolerance() const { return GetParam().engine == "reference" ? 1e-9 : 5e-3; }

  ScratchDirectory directory_;
};

TEST_P(OnRanks, TrainsWhatOneProcessTrains) {
  Observer silent;
  const RunResult alone = train_run(config("alone"), silent);
  for (const int ranks : {2, 3, 4}) {
    const std::string run = "ranks" + std::to_string(ranks);
    const RunResult together = train_on(ranks, config(run));
    EXPECT_NEAR(together.test->loss, alone.test->loss, tolerance());
    EXPECT_EQ(together.updates, alone.updates);
    expect_close_checkpoints(checkpoint("alone"), checkpoint(run), tolerance());
  }
}

TEST_P(OnRanks, GoesOnWithAnotherNumberOfThem) {
  Observer silent;
  train_run(config("alone"), silent);
  EXPECT_EQ(train_on(3, config("parts"), 7).end, RunEnd::interrupted);
  resume_on(2, directory_ / "parts");
  expect_close_checkpoints(checkpoint("alone"), checkpoint("parts"), tolerance());
}

std::vector<Variant> variants() {
  return {{"add", "bptt", "adam", "plateau", "reference"},
          {"add", "bptt", "adam", "constant", "cpu"},
          {"stream", "recompute", "momentum", "constant", "reference"},
          {"stream", "tbptt:paper", "rmsprop", "constant", "reference"},
          {"copy", "tbptt:buffer", "sgd", "factor_at", "reference"},
          {"stream", "adaptive_tbptt", "adam", "constant", "reference"},
          {"copy", "fptt", "adam", "constant", "reference"},
          {"copy", "fptt:gradient", "momentum", "constant", "reference"},
          {"mnist", "fptt:examples", "adam", "constant", "reference"},
          {"mnist", "fptt:class_wrong", "sgd", "constant", "reference"},
          {"mnist", "bptt:examples", "adam", "constant", "reference"},
          {"cycle_world", "fpp:plain", "rmsprop", "constant", "reference"},
          {"copy", "fpp:decay", "sgd", "constant", "reference"},
          {"stream", "fpp:random", "adam", "constant", "reference"},
          {"cycle_world", "fpp:fixed", "adam", "constant", "reference"},
          {"stream", "fpp:blocks", "sgd", "constant", "reference"},
          {"stream", "target_propagation:chain", "adam", "constant", "reference"},
          {"cycle_world", "target_propagation:zeros", "momentum", "constant", "reference"},
          {"cycle_world", "sliding_tbptt", "adagrad", "constant", "reference"},
          {"add", "bptt", "adam", "constant", "cuda"},
          {"copy", "fptt", "adam", "constant", "cuda"},
          {"stream", "tbptt:paper", "rmsprop", "constant", "cuda"},
          {"cycle_world", "fpp:plain", "rmsprop", "constant", "cuda"},
          {"stream", "target_propagation:chain", "adam", "constant", "cuda"}};
}

INSTANTIATE_TEST_SUITE_P(Learners, OnRanks, ::testing::ValuesIn(variants()), [](const auto& info) {
  std::string name = name_of(info.param);
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

/// Batch target propagation of one text in one row: more ranks than rows, each with some of its blocks.
TEST(Ranks, ShareTheBlocksOfAText) {
  const ScratchDirectory directory;
  const auto config = [&](const std::string& run) {
    RunConfig config =
        config_of({"text", "target_propagation:persist", "adagrad", "constant", "reference"}, directory / run);
    set_words(config, directory / "words.txt", 300);
    config.task.text.length = 240;
    config.learner.target_propagation.shard = 60;
    config.learner.target_propagation.state_reset = false;
    config.train.batch = 1;
    config.train.iterations = 9;
    return config;
  };
  Observer silent;
  train_run(config("alone"), silent);
  train_on(3, config("together"));
  EXPECT_EQ(train_on(3, config("parts"), 4).end, RunEnd::interrupted);
  resume_on(2, directory / "parts");
  for (const char* run : {"together", "parts"})
    expect_close_checkpoints(directory / "alone/checkpoints/last.safetensors",
                             directory / run / "checkpoints/last.safetensors", 1e-9);
  EXPECT_REFUSED(train_on(61, config("more")), "61 ranks cannot share ");
}

const Variant plain = {"add", "bptt", "adam", "constant", "cpu"};

TEST(Ranks, RepeatARunBitForBit) {
  const ScratchDirectory directory;
  for (const char* run : {"a", "b"}) train_on(3, config_of(plain, directory / run));
  EXPECT_EQ(metrics_without_times(directory / "a"), metrics_without_times(directory / "b"));
  expect_equal_checkpoints(directory / "a/checkpoints/last.safetensors", directory / "b/checkpoints/last.safetensors");
}

TEST(Ranks, RepeatARunBitForBitOnCuda) {
  const EngineType& type = find_engine("cuda");
  if (!type.usable()) GTEST_SKIP() << type.missing();
  const ScratchDirectory directory;
  Variant variant = plain;
  variant.engine = type.name;
  for (const char* run : {"a", "b"}) train_on(3, config_of(variant, directory / run));
  expect_equal_checkpoints(directory / "a/checkpoints/last.safetensors", directory / "b/checkpoints/last.safetensors");
}

TEST(Ranks, MoreThanRowsAreRefused) {
  const ScratchDirectory directory;
  EXPECT_REFUSED(train_on(5, config_of(plain, directory / "run")),
                 "5 ranks cannot share 4 rows of a batch (train.batch)");
  EXPECT_FALSE(std::filesystem::exists(directory / "run"));
}

TEST(Ranks, WithDifferentConfigurationsAreRefusedOnAll) {
  const ScratchDirectory directory;
  ThreadRanks::run(3, [&](std::shared_ptr<Communicator> ranks) {
    RunConfig config = config_of(plain, directory / "run");
    config.run.threads = 1 + ranks->rank();  // may differ
    if (ranks->rank() == 1) config.train.seed = 9;
    Observer silent;
    EXPECT_REFUSED(train_run(config, silent, false, true, ranks),
                   "[ranks] the configuration of rank 1 is not that of rank 0");
  });
}

TEST(Ranks, WithDifferentDataAreRefusedOnAll) {
  const ScratchDirectory directory;
  for (const char* name : {"0", "1"}) {
    std::filesystem::create_directory(directory / name);
    std::string rows;
    for (int i = 0; i < 400; ++i) rows += std::to_string(i == 399 && name[0] == '1' ? 5 : i * 37 % 11) + "\n";
    write_text(directory / name / "x.csv", "x\n" + rows);
  }
  ThreadRanks::run(2, [&](std::shared_ptr<Communicator> ranks) {
    RunConfig config = config_of({"series", "bptt", "adam", "constant", "cpu"}, directory / "run");
    config.task.series.path = (directory / std::to_string(ranks->rank()) / "x.csv").string();
    config.task.series.standardise = false;
    Observer silent;
    EXPECT_REFUSED(train_run(config, silent, false, true, ranks), "[ranks] the data of rank 1 is not that of rank 0");
  });
}

TEST(Ranks, AllEndWithALossThatIsNoNumber) {
  const ScratchDirectory directory;
  ThreadRanks::run(3, [&](std::shared_ptr<Communicator> ranks) {
    RunConfig config = config_of({"add", "bptt", "sgd", "constant", "cpu"}, directory / "run");
    config.optimizer.rate = 1e30;
    Observer silent;
    EXPECT_THROW(train_run(config, silent, false, true, ranks), RunFailure);
  });
}

TEST(Ranks, AreAllRefusedARunThatExists) {
  const ScratchDirectory directory;
  train_on(2, config_of(plain, directory / "run"));
  ThreadRanks::run(2, [&](std::shared_ptr<Communicator> ranks) {
    Observer silent;
    EXPECT_REFUSED(train_run(config_of(plain, directory / "run"), silent, false, true, ranks), "already holds a run");
  });
}

}  // namespace
}  // namespace throughtime::testing
