#include "throughtime/arrays.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "support/errors.h"
#include "support/scratch.h"
#include "tasks/task_support.h"
#include "throughtime/task.h"

namespace throughtime {
namespace {

using testing::contents;
using testing::ScratchDirectory;

/// Sequences of these lengths, numbered through: step s of sequence n has the input 100 n + s and ten times that as
/// target.
struct Numbered {
  explicit Numbered(std::vector<int> lengths, bool one_target = false, bool recording = false) {
    data.reals = 1;
    data.one_target = one_target;
    data.recording = recording;
    for (std::size_t n = 0; n < lengths.size(); ++n) {
      for (int step = 0; step < lengths[n]; ++step)
        values.push_back(static_cast<float>(100 * n) + static_cast<float>(step));
      const int count = one_target ? 1 : lengths[n];
      for (int i = 0; i < count; ++i)
        targets.push_back(10 * (static_cast<float>(100 * n) + static_cast<float>(one_target ? lengths[n] - 1 : i)));
    }
    std::size_t first = 0, target = 0;
    for (const int length : lengths) {
      const auto steps = static_cast<std::size_t>(length), count = one_target ? 1 : steps;
      data.parts[0].sequences.push_back({.steps = steps,
                                         .reals = 1,
                                         .target_width = 1,
                                         .values = std::span(values).subspan(first, steps),
                                         .target_values = std::span(targets).subspan(target, count)});
      first += steps;
      target += count;
    }
  }
  std::unique_ptr<Task> task(int length = 100) const {
    return make_task(ArraysConfig{.length = length, .memory = std::make_shared<ArrayData>(data)}, 7);
  }
  ArrayData data;
  std::vector<float> values, targets;
};

float input_at(const Window& window, int step, int row) {
  const auto r = static_cast<std::size_t>(row);
  const Source& source = window.sources[window.source.empty() ? 0 : static_cast<std::size_t>(window.source[r])];
  return source.values[static_cast<std::size_t>(window.start[r] + step)];
}

TEST(Arrays, ARecordingIsReadInColumnsWithoutACopy) {
  const Numbered numbered({21}, false, true);
  const std::unique_ptr<Task> task = numbered.task(4);
  EXPECT_EQ(task->batches(Split::train, 2), 3);  // two columns of ten steps
  const Window& window = task->make_batch(Split::train, 1, 2);
  validate(window);
  EXPECT_EQ(window.sources[0].values.data(), numbered.values.data());
  EXPECT_EQ(window.steps, 4);
  EXPECT_EQ(input_at(window, 0, 0), 4);
  EXPECT_EQ(input_at(window, 0, 1), 14);
  EXPECT_TRUE(window.continues);
  EXPECT_FALSE(task->has(Split::validation));
  EXPECT_REFUSED(task->make_batch(Split::train, 0, 22), "too few to read 22 rows side by side");
}

TEST(Arrays, RaggedSequencesEndTogetherAndBeginWithAReset) {
  const Numbered numbered({1, 5, 3});
  const std::unique_ptr<Task> task = numbered.task();
  EXPECT_EQ(task->steps(), 5);
  EXPECT_EQ(task->examples(), 3);
  std::multiset<std::int64_t> shown;
  for (std::uint64_t iteration = 0; iteration < 2; ++iteration) {
    const Window& window = task->make_batch(Split::train, iteration, 2);
    validate(window);
    for (int row = 0; row < 2; ++row) {
      const std::int64_t number = window.example[static_cast<std::size_t>(row)];
      shown.insert(number);
      if (number < 0) {
        for (int step = 0; step < 5; ++step) EXPECT_EQ(window.weight_at(step, row), 0);
        continue;
      }
      const int length = static_cast<int>(numbered.data.parts[0].sequences[static_cast<std::size_t>(number)].steps);
      for (int step = 0; step < 5; ++step) {
        const int place = step - (5 - length);
        EXPECT_EQ(window.weight_at(step, row), place < 0 ? 0 : 1);
        EXPECT_EQ(window.resets_at(step, row), place == 0);
        if (place >= 0) {
          EXPECT_EQ(input_at(window, step, row), static_cast<float>(100 * number + place));
        }
      }
    }
  }
  EXPECT_EQ(shown, (std::multiset<std::int64_t>{-1, 0, 1, 2}));
}

TEST(Arrays, EveryPassHasAnotherOrder) {
  const Numbered numbered(std::vector<int>(20, 2));
  const std::unique_ptr<Task> task = numbered.task();
  const std::vector<std::int64_t> first = task->make_batch(Split::train, 0, 20).example;
  EXPECT_NE(task->make_batch(Split::train, 1, 20).example, first);
  EXPECT_EQ(task->make_batch(Split::train, 0, 20).example, first);
}

TEST(Arrays, OneTargetIsAskedForAtTheEnd) {
  const Numbered numbered({4, 2}, true);
  const std::unique_ptr<Task> task = numbered.task();
  EXPECT_TRUE(task->terminal());
  EXPECT_EQ(task->loss_steps(), 1);
  const Window& window = task->make_batch(Split::train, 0, 2);
  validate(window);
  for (int row = 0; row < 2; ++row) {
    for (int step = 0; step < 3; ++step) EXPECT_EQ(window.weight_at(step, row), 0);
    EXPECT_EQ(window.weight_at(3, row), 1);
    EXPECT_EQ(window.targets.values[static_cast<std::size_t>(row)], 10 * input_at(window, 3, row));
  }
}

TEST(Arrays, PositionsEndWithinASequenceAndLeaveBatchesAlone) {
  for (const bool one_target : {false, true}) {
    const Numbered numbered({4, 9, 1}, one_target);
    const std::unique_ptr<Task> task = numbered.task(), untouched = numbered.task();
    for (std::uint64_t draw = 0; draw < 30; ++draw) {
      const Window& places = task->make_positions(draw, 1, 5, 6);
      validate(places);
      for (int row = 0; row < 5; ++row)
        for (int step = 0; step < 6; ++step) EXPECT_EQ(places.weight_at(step, row), step == 5 ? 1 : 0);
      EXPECT_EQ(contents(task->make_batch(Split::train, draw, 2)),
                contents(untouched->make_batch(Split::train, draw, 2)));
    }
    EXPECT_REFUSED(task->make_positions(0, 1, 1, 10), "longer than a row of the training data (9 steps)");
  }
}

TEST(Arrays, WeightsAreThoseOfTheCaller) {
  const std::vector<float> weights = {0, 2, 0.5f, 1};
  Numbered numbered({4}, false, true);
  numbered.data.parts[0].weights = {weights};
  const std::unique_ptr<Task> columns = numbered.task(4);
  EXPECT_EQ(columns->make_batch(Split::train, 0, 2).weight, (std::vector<float>{0, 0.5f, 2, 1}));
  Numbered sequence({4});
  sequence.data.parts[0].weights = {weights};
  const std::unique_ptr<Task> task = sequence.task();
  EXPECT_EQ(task->make_batch(Split::train, 0, 1).weight, weights);
}

TEST(Arrays, BaselineIsTheMeanOrTheMostFrequentClass) {
  const Numbered numbered({3});  // targets 0, 10, 20
  EXPECT_NEAR(numbered.task()->baseline(), 200.0 / 3, 1e-9);
  EXPECT_EQ(numbered.task()->baseline_text(), "the mean");
  const std::vector<std::int32_t> labels = {1, 1, 0};
  ArrayData data = numbered.data;
  data.labels = true;
  data.outputs = 2;
  data.parts[0].sequences[0].target_values = {};
  data.parts[0].sequences[0].target_width = 0;
  data.parts[0].sequences[0].labels = labels;
  const std::unique_ptr<Task> task = make_task(ArraysConfig{.memory = std::make_shared<ArrayData>(data)}, 1);
  EXPECT_NEAR(task->baseline(), 2.0 / 3, 1e-12);
  EXPECT_EQ(task->head().name, "softmax");
}

TEST(Arrays, FilesHoldWhatMemoryHad) {
  for (const bool recording : {false, true})
    for (const bool one_target : {false, true}) {
      if (recording && one_target) continue;
      const ScratchDirectory directory;
      Numbered numbered(recording ? std::vector<int>{12} : std::vector<int>{4, 1, 7}, one_target, recording);
      const std::vector<float> weights = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
      for (std::size_t first = 0; const Source& source : numbered.data.parts[0].sequences) {
        numbered.data.parts[0].weights.push_back(std::span(weights).subspan(first, source.steps));
        first += source.steps;
      }
      const std::unique_ptr<Task> task = numbered.task(5);
      task->save(directory.path().string());
      const std::unique_ptr<Task> read = make_task(ArraysConfig{.path = directory.path().string(), .length = 5}, 7);
      for (std::uint64_t iteration = 0; iteration < 4; ++iteration) {
        EXPECT_EQ(contents(task->make_batch(Split::train, iteration, 2)),
                  contents(read->make_batch(Split::train, iteration, 2)));
        EXPECT_EQ(task->make_batch(Split::train, iteration, 2).weight,
                  read->make_batch(Split::train, iteration, 2).weight);
      }
    }
}

TEST(Arrays, NamesTheFileThatIsGone) {
  const ScratchDirectory directory;
  Numbered({4, 1, 7}).task(5)->save(directory.path().string());
  std::filesystem::remove(directory.path() / "train_inputs.npy");
  EXPECT_REFUSED(make_task(ArraysConfig{.path = directory.path().string(), .length = 5}, 1),
                 "train_inputs.npy: no such file, and no tokens either: nothing goes with the targets beside it");
}

TEST(Arrays, RefusesWhatCannotBe) {
  EXPECT_REFUSED(make_task(ArraysConfig{}, 1), "[arrays] there is no data: set task.arrays.path");
  EXPECT_REFUSED(make_task(ArraysConfig{.path = "/nowhere"}, 1),
                 "[arrays] task.arrays.path must be a directory with train_targets.npy, got '/nowhere'");
  const auto refused = [](ArrayData data, const std::string& line) { EXPECT_REFUSED(validate(data), line); };
  const Numbered good({3});
  ArrayData data = good.data;
  data.reals = 0;
  refused(data, "[arrays] a step must have numbers or a token");
  data = good.data;
  data.parts[0] = {};
  refused(data, "[arrays] there are no sequences to train on");
  data = good.data;
  data.recording = data.one_target = true;
  refused(data, "[arrays] a recording has a target for each step");
  data = Numbered({3, 3}).data;
  data.recording = true;
  refused(data, "[arrays] the train part must be one recording, got 2");
  data = good.data;
  data.parts[0].sequences[0].values = data.parts[0].sequences[0].values.first(2);
  refused(data, "[arrays] sequence 0 of the train part must have 3 inputs, got 2");
  data = good.data;
  data.labels = true;
  refused(data, "[arrays] sequence 0 of the train part must have 3 labels, got 0");
  data = good.data;
  data.outputs = 0;
  refused(data, "[arrays] outputs must be between 1 and");
  data = good.data;
  const std::vector<float> negative = {1, -1, 1}, zero = {0, 0, 0}, missing = {1};
  data.parts[0].weights = {negative};
  refused(data, "[arrays] sequence 0 of the train part: a weight must be finite and at least 0, got -1 at step 1");
  data.parts[0].weights = {zero};
  refused(data, "[arrays] every weight of the train part is zero");
  data.parts[0].weights = {missing};
  refused(data, "[arrays] sequence 0 of the train part must have 3 weights, got 1");
  data.parts[0].weights = {zero, zero};
  refused(data, "[arrays] the train part has weights for 2 of its 1 sequences");
}

}  // namespace
}  // namespace throughtime
