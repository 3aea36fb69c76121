#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/errors.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

/// The inputs and targets of one row over `windows` windows.
struct Recording {
  std::vector<std::int32_t> tokens, labels;
};

Recording record(Task& task, Split split, int row, int rows, int windows) {
  Recording recording;
  for (int i = 0; i < windows; ++i) {
    const Window& window = task.make_batch(split, static_cast<std::uint64_t>(i), rows);
    for (int step = 0; step < window.steps; ++step) {
      recording.tokens.push_back(token_at(window, step, row));
      recording.labels.push_back(label_at(window, step, row));
    }
  }
  return recording;
}

/// Reads blocks of 2m steps off the inputs alone and says every target: m blanks, then the m entries. Returns how often
/// a block of each length was seen; `predicted` receives the targets.
std::map<int, int> replay(const std::vector<std::int32_t>& tokens, bool mark_first,
                          std::vector<std::int32_t>& predicted) {
  std::map<int, int> lengths;
  for (std::size_t at = 0; at < tokens.size();) {
    std::vector<std::int32_t> block;
    std::size_t end = at + (mark_first ? 1 : 0);
    while (end < tokens.size() && tokens[end] >= 2) ++end;  // symbols; then a blank or the mark
    block.assign(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens.begin() + static_cast<std::ptrdiff_t>(end));
    predicted.insert(predicted.end(), block.size(), 0);
    predicted.insert(predicted.end(), block.begin(), block.end());
    if (end < tokens.size()) ++lengths[static_cast<int>(block.size())];
    at += 2 * block.size();
  }
  predicted.resize(tokens.size());
  return lengths;
}

struct Arm {
  RecallGenerator generator;
  bool variable;
  double share;  // of symbols among the targets
  int symbols;
};

class RecallArm : public ::testing::TestWithParam<Arm> {};

TEST_P(RecallArm, ReplayFindsEveryTarget) {
  const Arm& arm = GetParam();
  const auto task = make_task(RecallConfig{.length = 37, .generator = arm.generator, .variable = arm.variable}, 3);
  EXPECT_EQ(task->input().vocabulary, arm.symbols + 2);
  std::map<int, int> lengths;
  double symbols = 0, steps = 0;
  for (const int row : {0, 3}) {
    const Recording recording = record(*task, Split::train, row, 4, 800);
    std::vector<std::int32_t> predicted;
    for (const auto& [length, count] : replay(recording.tokens, arm.generator == RecallGenerator::reference, predicted))
      lengths[length] += count;
    EXPECT_EQ(predicted, recording.labels);
    for (const std::int32_t label : recording.labels) symbols += label >= 2;
    steps += static_cast<double>(recording.labels.size());
  }
  EXPECT_NEAR(symbols / steps, arm.share, arm.variable ? 0.005 : 0.001);
  EXPECT_NEAR(task->baseline(), std::exp(arm.share * std::log(arm.symbols)), 1e-12);
  if (!arm.variable) {
    EXPECT_EQ(lengths.size(), 1u);
    EXPECT_EQ(lengths.begin()->first, 10);
    return;
  }
  int blocks = 0;
  for (const auto& [length, count] : lengths) blocks += count;
  for (int length = 5; length <= 10; ++length)
    EXPECT_NEAR(lengths[length], blocks / 6.0, 4.5 * std::sqrt(blocks * 5.0 / 36)) << length;
  EXPECT_EQ(lengths.size(), 6u);
}

INSTANTIATE_TEST_SUITE_P(All, RecallArm,
                         ::testing::Values(Arm{RecallGenerator::paper, false, 0.5, 6},
                                           Arm{RecallGenerator::paper, true, 0.5, 6},
                                           Arm{RecallGenerator::reference, false, 0.45, 4},
                                           Arm{RecallGenerator::reference, true, 6.5 / 15, 4}));

TEST(Recall, LevelsAreThoseOfTheSpecification) {
  const auto level = [](bool variable) {
    return make_task(RecallConfig{.generator = RecallGenerator::reference, .variable = variable}, 1)->baseline();
  };
  EXPECT_NEAR(level(false), 1.866, 5e-4);
  EXPECT_NEAR(level(true), 1.823, 5e-4);
}

TEST(Recall, PassesRepeatTheSameStepsFromAStateOfZero) {
  const auto task = make_task(RecallConfig{.length = 100, .steps = 250}, 1);
  EXPECT_EQ(task->batches(Split::train, 8), 3);
  EXPECT_EQ(task->batches(Split::test, 8), 1);
  const std::vector<double> first = contents(*task, Split::train, 0, 8);
  const Window& last = task->make_batch(Split::train, 2, 8);
  EXPECT_EQ(last.steps, 50);
  EXPECT_TRUE(last.continues);
  EXPECT_EQ(last.start[0], 200);
  const Window& again = task->make_batch(Split::train, 3, 8);
  EXPECT_FALSE(again.continues);
  EXPECT_EQ(contents(again), first);
  EXPECT_EQ(task->make_batch(Split::test, 0, 8).steps, 62);
}

TEST(Recall, RefusesWhatItCannotMake) {
  EXPECT_REFUSED(choice_of<RecallGenerator>("papr", "recall", "generator"), "did you mean 'paper'");
  EXPECT_REFUSED(make_task(RecallConfig{.variable = true, .block = 4}, 1), "task.recall.shortest");
  ScratchDirectory directory;
  EXPECT_REFUSED(make_task(RecallConfig{.generator = RecallGenerator::files, .data = directory.path()}, 1),
                 "copy_fixed");
}

TEST(RecallFiles, ReadPairsOfLines) {
  ScratchDirectory directory;
  directory.write("copy_fixed/train.txt", "1230\n0001\n1450\n0014\n");
  directory.write("copy_fixed/valid.txt", "10\n01\n");
  directory.write("copy_fixed/test.txt", "12\n02\n");
  const RecallConfig config{.length = 3, .generator = RecallGenerator::files, .data = directory.path()};
  const auto task = make_task(config, 1);
  const Recording second = record(*task, Split::train, 1, 2, 2);
  EXPECT_EQ(second.tokens, (std::vector<std::int32_t>{1, 4, 5, 0}));
  EXPECT_EQ(second.labels, (std::vector<std::int32_t>{0, 0, 1, 4}));
  EXPECT_DOUBLE_EQ(task->baseline(), 2.0);  // one of two targets is one of four symbols
  directory.write("copy_fixed/train.txt", "1230\n00x1\n");
  EXPECT_REFUSED(make_task(config, 1), "train.txt:2");
  directory.write("copy_fixed/train.txt", "1230\n001\n11\n11\n");
  EXPECT_REFUSED(make_task(config, 1), "train.txt:2");
}

TEST(RecallFiles, PublishedLevels) {
  REQUIRE_REAL_DATA(data, "copy_fixed/test.txt");
  const auto level = [&](bool variable) {
    const auto task = make_task(
        RecallConfig{.length = 100, .generator = RecallGenerator::files, .variable = variable, .data = data}, 1);
    EXPECT_EQ(task->batches(Split::train, 64), 40);
    EXPECT_EQ(task->batches(Split::test, 64), 10);
    EXPECT_EQ(task->evaluation_batch(64), 64);
    return task->baseline();
  };
  EXPECT_NEAR(level(false), 1.687, 1e-3);
  EXPECT_NEAR(level(true), 1.820, 1e-3);
}

}  // namespace
}  // namespace throughtime::testing
