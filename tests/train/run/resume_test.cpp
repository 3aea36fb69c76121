#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "support/digits.h"
#include "support/errors.h"
#include "support/metrics.h"
#include "support/scratch.h"
#include "train/run/run_variants.h"

namespace throughtime {
namespace {

using testing::config_of;
using testing::expect_equal_checkpoints;
using testing::metrics_without_times;
using testing::name_of;
using testing::ScratchDirectory;
using testing::set_words;
using testing::StopAt;
using testing::text_of;
using testing::Variant;
using testing::write_text;

void expect_equal_runs(const std::filesystem::path& whole, const std::filesystem::path& parts) {
  EXPECT_EQ(metrics_without_times(whole), metrics_without_times(parts));
  for (const char* name : {"last.safetensors", "best.safetensors"})
    expect_equal_checkpoints(whole / "checkpoints" / name, parts / "checkpoints" / name);
}

class Resume : public ::testing::TestWithParam<Variant> {};

TEST_P(Resume, InterruptedPlusResumedEqualsUninterrupted) {
  const ScratchDirectory directory;
  if (GetParam().task == "mnist") {
    testing::write_digits(directory, "train", 20, 0, "data/");
    testing::write_digits(directory, "t10k", 5, 3, "data/");
  }
  Observer silent;
  const RunResult whole = train_run(config_of(GetParam(), directory / "whole"), silent);
  StopAt seven(7), six(6);
  EXPECT_EQ(train_run(config_of(GetParam(), directory / "parts"), seven).end, RunEnd::interrupted);
  const RunResult second = resume_run(directory / "parts", {}, six);
  EXPECT_EQ(second.end, RunEnd::interrupted);
  EXPECT_EQ(second.iteration, 13);
  const RunResult last = resume_run(directory / "parts", {}, silent);
  EXPECT_EQ(last.end, RunEnd::finished);
  EXPECT_EQ(last.test->loss, whole.test->loss);
  EXPECT_EQ(last.best_test->loss, whole.best_test->loss);
  EXPECT_EQ(last.updates, whole.updates);
  expect_equal_runs(directory / "whole", directory / "parts");
}

/// A run in one piece and one that was stopped and resumed are the same; returns the result of the first.
RunResult expect_goes_on(RunConfig config, const ScratchDirectory& directory) {
  Observer silent;
  config.run.directory = (directory / "whole").string();
  const RunResult whole = train_run(config, silent);
  config.run.directory = (directory / "parts").string();
  StopAt seven(7);
  EXPECT_EQ(train_run(config, seven).end, RunEnd::interrupted);
  EXPECT_EQ(resume_run(directory / "parts", {}, silent).test->loss, whole.test->loss);
  expect_equal_runs(directory / "whole", directory / "parts");
  return whole;
}

TEST(RunSession, ATextGoesOnBitForBit) {
  const ScratchDirectory directory;
  RunConfig config = config_of({"text", "tbptt:paper", "adam", "constant", "cpu"}, directory / "whole");
  set_words(config, directory / "words.txt", 900);
  config.model.embedding = 5;
  expect_goes_on(config, directory);
}

TEST(RunSession, ATextOfRandomLengthsWithAllRegularisersGoesOnBitForBit) {
  for (const std::string learner : {"bptt", "tbptt:paper", "fptt", "fptt with a mixture"}) {
    const ScratchDirectory directory;
    const bool mixture = learner.ends_with("mixture");
    RunConfig config = config_of({"text", mixture ? "fptt" : learner, "sgd", "factor_at", "cpu"}, directory / "whole");
    set_words(config, directory / "words.txt", 900);
    config.task.text.length_varies = true;
    config.task.text.length_cap = 6;
    config.model.embedding = 6;
    config.model.tied = true;
    config.model.dropout = {.input = 0.1, .output = 0.2, .per_sequence = true, .recurrent = 0.3, .embedding = 0.1};
    config.model.penalties = {.activation = 2, .slowness = 1};
    if (mixture)
      config.model.head = "mixture_of_softmaxes", config.model.experts = 3, config.model.dropout.latent = 0.2;
    config.optimizer.rate_by_length = true;
    config.optimizer.rule.average = Averaging::non_monotone;
    config.optimizer.rule.average_patience = 1;
    expect_goes_on(config, directory);
  }
}

TEST(RunSession, AMixtureOfSoftmaxesGoesOnBitForBitWithEveryMethod) {
  for (const std::string learner : {"bptt", "recompute", "tbptt:plain", "tbptt:original", "adaptive_tbptt",
                                    "fptt:gradient", "fpp:plain", "sliding_tbptt", "target_propagation:chain"}) {
    SCOPED_TRACE(learner);
    const ScratchDirectory directory;
    RunConfig config = config_of({"text", learner, "adam", "constant", "cpu"}, directory / "whole");
    set_words(config, directory / "words.txt", 900);
    config.model.embedding = 5;
    config.model.head = "mixture_of_softmaxes";
    config.model.experts = 3;
    expect_goes_on(config, directory);
  }
}

TEST(RunSession, AMixtureOfSoftmaxesLearnsFromLossesBeforeTheEnd) {
  // Their targets are distributions: a share of the label, and earlier predictions.
  for (const std::string learner : {"fptt:examples", "fptt:class_wrong", "bptt:examples"}) {
    SCOPED_TRACE(learner);
    const ScratchDirectory directory;
    testing::write_digits(directory, "train", 20, 0, "data/");
    testing::write_digits(directory, "t10k", 5, 3, "data/");
    RunConfig config = config_of({"mnist", learner, "adam", "constant", "cpu"}, directory / "whole");
    config.model.head = "mixture_of_softmaxes";
    config.model.experts = 2;
    expect_goes_on(config, directory);
  }
}

TEST(RunSession, TablesOfAWholeTextGoOnBitForBit) {
  const ScratchDirectory directory;
  const Variant variant{"text", "target_propagation:persist", "adagrad", "constant", "cpu"};
  RunConfig config = config_of(variant, directory / "whole");
  set_words(config, directory / "words.txt", 900);
  config.task.text.length = 400;
  config.model.embedding = 5;
  config.learner.target_propagation.shard = 7;
  config.learner.target_propagation.dual_before_theta = false;
  config.learner.target_propagation.state_reset = false;
  config.train.batch = 2;
  expect_goes_on(config, directory);
}

TEST(RunSession, ASeriesGoesOnBitForBit) {
  const ScratchDirectory directory;
  RunConfig config = config_of({"series", "fptt", "rmsprop", "plateau", "reference"}, directory / "whole");
  config.task.series.path = (directory / "series.csv").string();
  config.task.series.evaluation_columns = 2;
  std::string rows = "x,y\n";
  for (int i = 0; i < 600; ++i) rows += fmt::format("{},{}\n", i * 37 % 11, i * i % 13);
  write_text(directory / "series.csv", rows);
  expect_goes_on(config, directory);
}

TEST(RunSession, BlocksToRecallGoOnBitForBit) {
  const ScratchDirectory directory;
  RunConfig config = config_of({"recall", "adaptive_tbptt", "sgd", "constant", "cpu"}, directory / "whole");
  config.task.recall.variable = true;
  expect_goes_on(config, directory);
}

TEST(RunSession, ImagesInColourGoOnBitForBit) {
  const ScratchDirectory directory;
  RunConfig config = config_of({"cifar10", "fptt", "adagrad", "constant", "cpu"}, directory / "whole");
  config.task.data = (directory / "data").string();
  config.task.cifar10.validation = 0.2;
  config.train.iterations = 9;
  for (const char* batch :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
    std::string images;
    for (int image = 0; image < 3; ++image) {
      images.push_back(static_cast<char>((image + std::string_view(batch).back()) % 10));
      for (int i = 0; i < 3072; ++i)
        images.push_back(static_cast<char>((i * (image + 3) + std::string_view(batch).back()) % 251));
    }
    directory.write(std::string("data/cifar10/") + batch + ".bin", images);
  }
  expect_goes_on(config, directory);
}

TEST(RunSession, AStreamOfEventsGoesOnBitForBit) {
  const ScratchDirectory directory;
  std::string events = "time,mark,sequence\n";
  for (int i = 0; i < 400; ++i)
    events += fmt::format("{},{},{}\n", 0.01 * (i % 100) + 0.001 * (i * 37 % 11), i * i % 3, i / 100);
  RunConfig config = config_of({"point_process", "tbptt:paper", "sgd", "constant", "cpu"}, directory / "whole");
  config.task.point_process.files = {(directory / "events.csv").string()};
  config.task.point_process.reset_sequences = true;
  config.task.point_process.published_metric = true;
  config.model.embedding = 4;
  config.model.layers = 2;
  write_text(directory / "events.csv", events);
  const RunResult whole = expect_goes_on(config, directory);
  EXPECT_EQ(whole.test->scores.size(), 6u);
  EXPECT_NEAR(whole.test->metric, whole.test->loss, 1e-12);  // the exact mean
}

/// Every value of every column meets the others at least once in a while; all of them with THROUGHTIME_FULL.
std::vector<Variant> variants() {
  const std::vector<std::string> tasks = {"add", "stream", "copy", "cycle_world"};
  const std::vector<std::string> learners = {"bptt",
                                             "recompute",
                                             "tbptt:plain",
                                             "tbptt:paper",
                                             "tbptt:original",
                                             "fptt",
                                             "fpp:plain",
                                             "fpp:decay",
                                             "fpp:random",
                                             "sliding_tbptt",
                                             "adaptive_tbptt",
                                             "target_propagation:chain",
                                             "target_propagation:zero_start",
                                             "target_propagation:zeros"};
  std::vector<std::string> optimizers;
  for (const OptimizerType* optimizer : all_optimizers()) optimizers.push_back(optimizer->name);
  const std::vector<std::string> schedules = {"constant", "factor_at", "plateau", "inverse_sqrt"};
  const std::vector<std::string> engines = {"cpu", "reference"};
  // Both gradients of a window, and tables of earlier predictions over almost five epochs.
  std::vector<Variant> list = {{"copy", "fptt:gradient", "momentum", "constant", "cpu"},
                               {"copy", "fptt:adaptive", "adam", "constant", "cpu"},
                               {"add", "fptt:adaptive", "sgd", "constant", "reference"},
                               {"mnist", "fptt:examples", "adam", "constant", "cpu"},
                               {"mnist", "fptt:class_wrong", "sgd", "constant", "cpu"},
                               {"mnist", "fptt:class_right", "momentum", "constant", "reference"},
                               {"mnist", "bptt:examples", "adam", "constant", "cpu"}};
  if (std::getenv("THROUGHTIME_FULL") != nullptr) {
    for (const std::string& task : tasks)
      for (const std::string& learner : learners)
        for (const std::string& optimizer : optimizers)
          for (const std::string& schedule : schedules)
            for (const std::string& engine : engines) list.push_back({task, learner, optimizer, schedule, engine});
    return list;
  }
  for (std::size_t i = 0; i < learners.size(); ++i)
    for (std::size_t j = 0; j < tasks.size(); ++j) {
      const std::size_t n = i * tasks.size() + j;
      list.push_back(
          {tasks[j], learners[i], optimizers[n % optimizers.size()], schedules[(i + j) % 4], engines[n % 2]});
    }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Pairs, Resume, ::testing::ValuesIn(variants()), [](const auto& info) {
  std::string name = name_of(info.param);
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
});

const Variant plain = {"add", "bptt", "adam", "constant", "cpu"};

TEST(RunSession, TwoRunsOfOneSeedWriteTheSameMetrics) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(plain, directory / "a"), silent);
  train_run(config_of(plain, directory / "b"), silent);
  expect_equal_runs(directory / "a", directory / "b");
  RunConfig other = config_of(plain, directory / "c");
  other.train.seed = 2;
  train_run(other, silent);
  EXPECT_NE(metrics_without_times(directory / "a"), metrics_without_times(directory / "c"));
}

TEST(RunSession, CutsBackWhatACrashLeftBehind) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(plain, directory / "whole"), silent);
  StopAt seven(7);
  train_run(config_of(plain, directory / "parts"), seven);
  for (const char* name : {"metrics.jsonl", "metrics.csv", "events.out.tfevents.throughtime"}) {
    const std::string text = text_of(directory / "parts" / name);
    write_text(directory / "parts" / name, text + "{\"iteration\": 8, half a li");
  }
  write_text(directory / "parts/checkpoints/last.safetensors.partial", "half");
  resume_run(directory / "parts", {}, silent);
  expect_equal_runs(directory / "whole", directory / "parts");
}

TEST(RunSession, ResumesFromTheStartWhereThereIsNoCheckpointYet) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(plain, directory / "whole"), silent);
  StopAt three(3);
  train_run(config_of(plain, directory / "parts"), three);
  std::filesystem::remove_all(directory / "parts/checkpoints");
  resume_run(directory / "parts", {}, silent);
  expect_equal_runs(directory / "whole", directory / "parts");
}

TEST(RunSession, ResumesFromThePreviousCheckpointWhenAsked) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(plain, directory / "whole"), silent);
  StopAt seven(7);
  train_run(config_of(plain, directory / "parts"), seven);
  write_text(directory / "parts/checkpoints/last.safetensors", "damaged");
  EXPECT_REFUSED(resume_run(directory / "parts", {}, silent), "add --previous");
  resume_run(directory / "parts", {}, silent, true);
  expect_equal_runs(directory / "whole", directory / "parts");
}

TEST(RunSession, ALongerRunEqualsOneThatWasLongFromTheStart) {
  const ScratchDirectory directory;
  Observer silent;
  RunConfig shorter = config_of(plain, directory / "parts");
  shorter.train.iterations = 12;
  train_run(config_of(plain, directory / "whole"), silent);
  train_run(shorter, silent);
  resume_run(directory / "parts", {"train.iterations=23"}, silent);
  expect_equal_runs(directory / "whole", directory / "parts");
  EXPECT_EQ(RunDirectory(directory / "parts").load_config().train.iterations, 23);
}

TEST(RunSession, ResumingAFinishedRunChangesNothing) {
  const ScratchDirectory directory;
  Observer silent;
  const RunResult first = train_run(config_of(plain, directory / "run"), silent);
  const std::string metrics = text_of(directory / "run/metrics.jsonl");
  const RunResult second = resume_run(directory / "run", {}, silent);
  EXPECT_EQ(first.test->loss, second.test->loss);
  EXPECT_EQ(metrics, text_of(directory / "run/metrics.jsonl"));
}

TEST(RunSession, OnlySomeOptionsMayChange) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(plain, directory / "run"), silent);
  EXPECT_REFUSED(resume_run(directory / "run", {"train.seed=4"}, silent), "train.seed cannot change");
  EXPECT_REFUSED(resume_run(directory / "run", {"train.sede=4"}, silent), "did you mean 'train.seed'?");
}

TEST(RunSession, RefusesDirectoriesThatAreTaken) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(plain, directory / "run"), silent);
  EXPECT_REFUSED(train_run(config_of(plain, directory / "run"), silent), "--resume");
  const std::string metrics = metrics_without_times(directory / "run");
  write_text(directory / "run/notes.txt", "mine");
  EXPECT_EQ(train_run(config_of(plain, directory / "run"), silent, true).iteration, 23);
  EXPECT_EQ(metrics, metrics_without_times(directory / "run"));
  EXPECT_EQ(text_of(directory / "run/notes.txt"), "mine");
  std::filesystem::create_directories(directory / "other");
  write_text(directory / "other/notes.txt", "mine");
  EXPECT_REFUSED(train_run(config_of(plain, directory / "other"), silent), "is not empty");
  EXPECT_REFUSED(resume_run(directory / "other", {}, silent), "no config.toml");
  EXPECT_REFUSED(resume_run(directory / "none", {}, silent), "no such directory");
}

/// As a run was saved that measured one metric.
void forget_metrics(const std::filesystem::path& checkpoint) {
  TensorFile file = read_tensors(checkpoint);
  for (Tensor& tensor : file.tensors) {
    if (tensor.name != "throughtime.trainer.best") continue;
    std::vector<double> values = real_values(tensor);  // iteration, loss, weight, the metrics
    ASSERT_GT(values.size(), 4u);
    values.resize(4);
    tensor = double_tensor(tensor.name, {4}, values);
  }
  write_tensors(checkpoint, file);
}

TEST(RunSession, ARunThatMeasuredFewerMetricsGoesOn) {
  const ScratchDirectory directory;
  std::string table = "y\n";
  for (int t = 0; t < 200; ++t) table += fmt::format("{}\n", t * t % 11);
  write_text(directory / "wave.csv", table);
  RunConfig config = config_of({"add", "bptt", "adam", "constant", "cpu"}, directory / "whole");
  config.task.name = "series";
  config.task.series.path = (directory / "wave.csv").string();
  config.task.series.length = 10;
  Observer silent;
  const RunResult whole = train_run(config, silent);
  StopAt seven(7);
  config.run.directory = (directory / "parts").string();
  train_run(config, seven);
  forget_metrics(directory / "parts/checkpoints/last.safetensors");
  const RunResult result = resume_run(directory / "parts", {}, silent);
  EXPECT_EQ(result.test->loss, whole.test->loss);
  EXPECT_EQ(result.best_test->loss, whole.best_test->loss);

  config.run.directory = (directory / "esr").string();
  config.train.best_by = "esr";
  StopAt again(7);
  train_run(config, again);
  forget_metrics(directory / "esr/checkpoints/last.safetensors");
  EXPECT_REFUSED(resume_run(directory / "esr", {}, silent), "measured by fewer metrics, without esr (train.best_by)");
}

TEST(RunSession, RefusesTwoProcessesInOneRun) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(plain, directory / "run"), silent);
  RunDirectory held(directory / "run");
  held.lock();
  EXPECT_REFUSED(resume_run(directory / "run", {}, silent), "another process is working");
}

TEST(RunSession, ALossThatIsNoNumberKeepsTheLastGoodCheckpoint) {
  const ScratchDirectory directory;
  Observer silent;
  RunConfig config = config_of(plain, directory / "run");
  StopAt seven(7);
  train_run(config, seven);
  const std::string before = text_of(directory / "run/checkpoints/last.safetensors");
  // The same run with a rate that no net survives.
  config.optimizer.rule.name = "sgd";
  config.optimizer.rate = 1e30;
  config.optimizer.clip = {};
  config.run.directory = (directory / "bad").string();
  config.train.evaluate_every = 0;
  config.train.report_every = 100;
  config.run.checkpoint_every = 1;
  config.train.iterations = 50;
  try {
    train_run(config, silent);
    FAIL() << "ran to the end";
  } catch (const RunFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("optimizer.rate"), std::string::npos) << failure.what();
  }
  const CheckpointStore store(directory / "bad/checkpoints");
  if (!store.empty()) {
    EXPECT_NO_THROW(store.load());
  }
  EXPECT_NE(text_of(directory / "bad/log.txt").find("optimizer.rate"), std::string::npos);
  EXPECT_EQ(before, text_of(directory / "run/checkpoints/last.safetensors"));
}

TEST(RunSession, ImportedWeightsAreWhereTrainingStarts) {
  const ScratchDirectory directory;
  Observer silent;
  train_run(config_of(plain, directory / "source"), silent);
  const TensorFile weights = load_checkpoint(directory / "source", false);
  start_run_with(config_of(plain, directory / "copy"), weights, false);
  const std::unique_ptr<Trainer> source = open_run(directory / "source", false),
                                 copy = open_run(directory / "copy", false);
  EXPECT_EQ(source->engine().read(source->parameters()), copy->engine().read(copy->parameters()));
  EXPECT_EQ(resume_run(directory / "copy", {}, silent).iteration, 23);

  StopAt three(3);
  train_run(config_of(plain, directory / "later"), three);
  replace_parameters(directory / "later", weights);
  const std::unique_ptr<Trainer> later = open_run(directory / "later", false);
  EXPECT_EQ(source->engine().read(source->parameters()), later->engine().read(later->parameters()));

  TensorFile wrong = weights;
  wrong.tensors.front().shape = {1, static_cast<std::int64_t>(wrong.tensors.front().size())};
  EXPECT_REFUSED(replace_parameters(directory / "later", wrong), "must have the shape");
  EXPECT_REFUSED(replace_parameters(directory / "later", TensorFile{}), "no tensor of the file belongs to the model");
}

}  // namespace
}  // namespace throughtime
