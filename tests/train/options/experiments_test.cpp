// Every configuration under experiments/ is one that runs: all arms load, and learn from one small batch of data that
// is generated or stands in for the real files.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/digits.h"
#include "train/run/trainer.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;

/// A file that has nothing but what a paper claims is none to train.
bool can_be_trained(const std::filesystem::path& file) {
  const std::string text = testing::text_of(file);
  return text.find("\n[result]") == std::string::npos || text.find("\n[[arm]]") != std::string::npos;
}

std::vector<std::filesystem::path> experiment_files() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path() / "experiments";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.path().extension() == ".toml" && can_be_trained(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string name_of(const std::filesystem::path& file) {
  std::string name = file.parent_path().filename().string() + "_" + file.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
}

/// Two streams of blocks: a mark, three symbols and four blanks; the targets come four steps later.
void write_recall(const ScratchDirectory& directory) {
  std::string text;
  for (const char* symbols : {"254", "335"}) {
    std::string inputs, targets;
    for (int block = 0; block < 50; ++block) {
      inputs += std::string("1") + symbols + "0000";
      targets += std::string("00001") + symbols;
    }
    text += inputs + "\n" + targets + "\n";
  }
  for (const char* folder : {"copy_fixed/", "copy_variable/"})
    for (const char* part : {"train", "valid", "test"}) directory.write(std::string(folder) + part + ".txt", text);
}

/// Four sequences of 200 events of two kinds.
void write_points(const ScratchDirectory& directory) {
  std::string times, marks;
  for (int sequence = 0; sequence < 4; ++sequence) {
    for (int event = 0; event < 200; ++event) {
      times += std::to_string(0.1 * event * (sequence + 1)) + " ";
      marks += event % (sequence + 2) == 0 ? "1 " : "2 ";
    }
    times.back() = marks.back() = '\n';
  }
  for (const char* part : {"train", "test"}) {
    directory.write(std::string("book_order/time-1-") + part + ".txt", times);
    directory.write(std::string("book_order/event-1-") + part + ".txt", marks);
  }
}

/// Small files with the names and formats of the published ones.
void write_data(const ScratchDirectory& directory) {
  testing::write_digits(directory, "train", 4, 0);
  testing::write_digits(directory, "t10k", 4, 3);
  std::string photograph(1 + 3072, '\x20');
  photograph[0] = 3;
  for (const char* batch :
       {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"})
    directory.write(std::string("cifar10/") + batch + ".bin", photograph);
  std::string words;
  for (int line = 0; line < 200; ++line) words += " the cat saw a dog and the dog saw it \n";
  for (const char* part : {"train", "valid", "test"})
    for (const char* kind : {"", "char."}) directory.write(std::string("ptb/ptb.") + kind + part + ".txt", words);
  for (const char* part : {"train", "valid", "test"})
    directory.write(std::string("wikitext-2/wiki.") + part + ".tokens", words);
  directory.write("text8-prefix/text8.first12500000", words);
  write_recall(directory);
  write_points(directory);
}

/// Whether the data of a task needs no files, or has some from write_data.
bool has_data(const RunConfig& config) {
  const std::string& task = config.task.name;
  if (task == "text") return config.task.text.corpus != TextCorpus::files;
  for (const char* name :
       {"add", "copy", "recall", "mnist", "cifar10", "cycle_world", "stochastic_world", "point_process"})
    if (task == name) return true;
  return false;
}

class Experiment : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Experiment, LoadsAndLearnsFromABatchInEveryArm) {
  const ScratchDirectory directory;
  write_data(directory);
  const std::vector<std::string> small = {"model.hidden=4",        "train.batch=2",          "train.epochs=0",
                                          "train.iterations=1",    "train.evaluate_every=0", "train.best_by=loss",
                                          "optimizer.average=off", "run.threads=1"};
  for (const RunConfig& config : load_files({GetParam().string()}, {})) {
    SCOPED_TRACE(config.run.name);
    EXPECT_EQ(resolved_config(parse_config(resolved_config(config), "resolved")), resolved_config(config));
  }
  std::size_t trained = 0;
  const std::vector<RunConfig> arms = load_files({GetParam().string()}, small);
  for (RunConfig config : arms) {
    SCOPED_TRACE(config.run.name);
    config.task.data = directory.path().string();
    config.learner.adaptive_tbptt.estimate.first = true;
    if (!has_data(config)) continue;
    if (config.model.tied) config.model.embedding = 4;
    Trainer trainer(config);
    Observer silent;
    const RunResult result = trainer.run(silent, false);
    EXPECT_EQ(result.iteration, 1);
    EXPECT_GE(result.updates, 1);
    ++trained;
    if (config.learner.name != "adaptive_tbptt") continue;
    EXPECT_GT(trainer.diagnostics().back().value, 0) << "an estimate chose K: rows were read for it";
  }
  const std::string folder = GetParam().parent_path().filename().string();
  if (folder == "adaptive-tbptt" || folder == "target-propagation") {
    EXPECT_EQ(trained, arms.size());
  }
}

INSTANTIATE_TEST_SUITE_P(All, Experiment, ::testing::ValuesIn(experiment_files()),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace throughtime
