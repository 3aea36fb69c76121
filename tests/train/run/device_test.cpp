// A run on a device: what it says before the first step, and what is left when the device goes. On a fake one
// everywhere, on a GPU where there is one.
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/errors.h"
#include "support/fake_device.h"
#include "support/scratch.h"
#include "support/usable_engine.h"
#include "train/run/run_variants.h"

namespace throughtime::testing {
namespace {

RunConfig config_on(const std::string& engine, const std::filesystem::path& directory) {
  RunConfig config = config_of({"add", "fptt", "adam", "constant", engine}, directory);
  config.run.checkpoint_every = 4;
  return config;
}

std::filesystem::path last_checkpoint(const std::filesystem::path& run) { return run / "checkpoints/last.safetensors"; }

/// Hears what a run says when it starts.
struct Listener : Observer {
  void on_start(const RunPlan& plan, std::int64_t) override { notes = plan.notes; }
  bool heard(const std::string& part) const {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const std::string& note) { return note.find(part) != note.npos; });
  }
  std::vector<std::string> notes;
};

TEST(RunOnADevice, SaysHowMuchOfItsMemoryItTakesBeforeTheFirstStep) {
  FakeDevice device;
  device.bound_memory(std::uint64_t{3} << 30);
  const ScratchDirectory directory;
  Listener there, here;
  train_run(config_on(FakeDevice::name, directory / "device"), there);
  EXPECT_TRUE(there.heard("memory of the GPU: 0.")) << "parts of a MiB";
  EXPECT_TRUE(there.heard(" MiB taken, 3.0 GiB left"));
  train_run(config_on("cpu", directory / "host"), here);
  EXPECT_FALSE(here.heard("memory of the GPU"));
}

TEST(RunOnADevice, IsRefusedBeforeTheFirstStepWhereItDoesNotFit) {
  FakeDevice device;
  device.bound_memory(100);
  const ScratchDirectory directory;
  Observer silent;
  EXPECT_REFUSED(train_run(config_on(FakeDevice::name, directory / "run"), silent), "bytes, 100 are left");
  EXPECT_FALSE(std::filesystem::exists(directory / "run"));
}

TEST(RunOnADevice, SaysThatOneCoreIsFasterForOneNarrowRow) {
  FakeDevice device;
  const ScratchDirectory directory;
  const std::string said = "one row of at most 32 units: one core of a processor is faster (run.engine=cpu)";
  for (const auto& [learner, batch, hidden, expected] :
       {std::tuple("bptt", 1, std::vector{32}, true), std::tuple("fpp:plain", 1, std::vector{4, 32}, true),
        std::tuple("bptt", 1, std::vector{33, 4}, false), std::tuple("bptt", 2, std::vector{4}, false)}) {
    RunConfig config = config_of({"stream", learner, "adam", "constant", FakeDevice::name}, directory / "run");
    config.train.batch = batch;
    config.model.hidden = hidden;
    const std::vector<std::string> notes = Trainer(config).plan().notes;
    EXPECT_EQ(std::count(notes.begin(), notes.end(), said), expected ? 1 : 0) << learner << batch << hidden[0];
  }
}

TEST(RunOnADevice, LeavesItsLastCheckpointWholeWhenTheDeviceIsLost) {
  FakeDevice device;
  const ScratchDirectory directory;
  Observer silent;
  const RunResult whole = train_run(config_on(FakeDevice::name, directory / "whole"), silent);
  for (const std::int64_t update : {std::int64_t{1}, whole.updates / 2, whole.updates}) {
    const std::filesystem::path run = directory / std::to_string(update);
    device.lose_at(update);
    EXPECT_THROW(train_run(config_on(FakeDevice::name, run), silent), DeviceFailure) << update;
    EXPECT_NE(text_of(run / "log.txt").find(FakeDevice::lost_text), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(run / "result.json"));
    device.repair();
    if (update == 1) continue;  // nothing was saved yet
    resume_run(run, {}, silent);
    expect_equal_checkpoints(last_checkpoint(directory / "whole"), last_checkpoint(run));
  }
}

class CudaRun : public ::testing::Test {
 protected:
  void SetUp() override { skip_without("cuda"); }
  void TearDown() override {
    unsetenv("THROUGHTIME_CUDA_FAULT");
    unsetenv("THROUGHTIME_CUDA_MEMORY");
  }
};

TEST_F(CudaRun, LeavesItsLastCheckpointWholeWhenTheDeviceIsLost) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_on("cuda", directory / "whole"), silent);
  setenv("THROUGHTIME_CUDA_FAULT", "60", 1);
  try {
    train_run(config_on("cuda", directory / "parts"), silent);
    ADD_FAILURE() << "nothing was lost";
  } catch (const DeviceFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("[cuda] "), std::string::npos) << failure.what();
  }
  unsetenv("THROUGHTIME_CUDA_FAULT");
  resume_run(directory / "parts", {}, silent);
  expect_equal_checkpoints(last_checkpoint(directory / "whole"), last_checkpoint(directory / "parts"));
}

/// A text of windows of random length, and everything on that language models have.
RunConfig language_model(const std::string& engine, const std::filesystem::path& run) {
  RunConfig config = config_of({"text", "fptt", "sgd", "factor_at", engine}, run);
  set_words(config, run.parent_path() / "words.txt", 900);
  config.task.text.length_varies = true;
  config.task.text.length_cap = 6;
  config.model.embedding = 6;
  config.model.tied = true;
  config.model.head = "mixture_of_softmaxes";
  config.model.experts = 3;
  config.model.dropout = {.input = 0.1, .output = 0.2, .per_sequence = true, .recurrent = 0.3, .embedding = 0.1};
  config.model.dropout.latent = 0.2;
  config.model.penalties = {.activation = 2, .slowness = 1};
  config.optimizer.rate_by_length = true;
  config.optimizer.rule.average = Averaging::non_monotone;
  config.optimizer.rule.average_patience = 1;
  return config;
}

TEST_F(CudaRun, LanguageModelGoesOnBitForBitAndElsewhere) {
  const ScratchDirectory directory;
  Observer silent;
  const RunResult wanted = train_run(language_model("reference", directory / "wanted"), silent);
  const RunResult whole = train_run(language_model("cuda", directory / "whole"), silent);
  EXPECT_NEAR(whole.test->loss, wanted.test->loss, 1e-4);
  expect_close_checkpoints(last_checkpoint(directory / "wanted"), last_checkpoint(directory / "whole"), 5e-3);
  StopAt seven(7), six(6), again(7);
  train_run(language_model("cuda", directory / "parts"), seven);
  resume_run(directory / "parts", {}, silent);
  expect_equal_checkpoints(last_checkpoint(directory / "whole"), last_checkpoint(directory / "parts"));
  train_run(language_model("cpu", directory / "travels"), again);
  resume_run(directory / "travels", {"run.engine=cuda"}, six);
  resume_run(directory / "travels", {"run.engine=cpu"}, silent);
  expect_close_checkpoints(last_checkpoint(directory / "whole"), last_checkpoint(directory / "travels"), 5e-3);
}

TEST_F(CudaRun, SaysHowMuchMemoryItTakesAndRefusesTooMuchOfIt) {
  const ScratchDirectory directory;
  Listener listener;
  train_run(config_on("cuda", directory / "run"), listener);
  EXPECT_TRUE(listener.heard("memory of the GPU: "));
  setenv("THROUGHTIME_CUDA_MEMORY", "1", 1);
  Observer silent;
  RunConfig large = config_on("cuda", directory / "large");
  large.train.batch = 2000;
  large.model.hidden = {64};
  EXPECT_REFUSED(train_run(large, silent), "are left");
  EXPECT_FALSE(std::filesystem::exists(directory / "large"));
}

}  // namespace
}  // namespace throughtime::testing
