#include "tasks/text/random_lengths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/errors.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

/// The windows of an epoch in their order.
std::vector<RandomLengths::Place> epoch_of(RandomLengths& lengths, std::int64_t epoch, std::int64_t row) {
  std::vector<RandomLengths::Place> places;
  for (std::int64_t i = lengths.batches(epoch, row); i < lengths.batches(epoch + 1, row); ++i)
    places.push_back(lengths.at(static_cast<std::uint64_t>(i), row));
  return places;
}

std::vector<int> steps_of(const std::vector<RandomLengths::Place>& places) {
  std::vector<int> steps;
  for (const RandomLengths::Place& place : places) steps.push_back(place.steps);
  return steps;
}

TEST(RandomLengths, ShowEveryStepOfAnEpochOnce) {
  for (const std::int64_t row : {1, 4, 5, 70, 1000, 12345})
    for (const int usual : {1, 8, 70}) {
      RandomLengths lengths(3, usual, usual + 40);
      for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
        std::int64_t next = 0;
        const auto places = epoch_of(lengths, epoch, row);
        for (std::size_t i = 0; i < places.size(); ++i) {
          EXPECT_EQ(places[i].first, next);
          EXPECT_GE(places[i].steps, i + 1 < places.size() ? RandomLengths::shortest : 1);
          EXPECT_LE(places[i].steps, usual + 40);
          next += places[i].steps;
        }
        EXPECT_EQ(next, row);
      }
    }
}

TEST(RandomLengths, AreAFunctionOfSeedEpochAndNumberAlone) {
  RandomLengths forwards(5, 70, 110), anyhow(5, 70, 110), other(6, 70, 110);
  std::vector<RandomLengths::Place> places;
  for (std::uint64_t i = 0; i < 300; ++i) places.push_back(forwards.at(i, 2000));
  for (const std::uint64_t i : {299, 3, 250, 0, 31, 30, 29, 28, 150}) {
    EXPECT_EQ(anyhow.at(i, 2000).first, places[i].first) << i;
    EXPECT_EQ(anyhow.at(i, 2000).steps, places[i].steps) << i;
    anyhow.at(7, 500);  // rows of another length in between
  }
  EXPECT_NE(steps_of(epoch_of(forwards, 0, 2000)), steps_of(epoch_of(forwards, 1, 2000)));
  EXPECT_NE(steps_of(epoch_of(forwards, 0, 2000)), steps_of(epoch_of(other, 0, 2000)));
}

TEST(RandomLengths, LieAroundTheUsualOneOrHalfOfIt) {
  RandomLengths lengths(1, 70, 110);
  std::vector<int> steps = steps_of(epoch_of(lengths, 0, 1'000'000));
  steps.pop_back();  // what was left
  const auto halves = std::ranges::count_if(steps, [](int length) { return length < 52; });
  const double count = static_cast<double>(steps.size()), share = static_cast<double>(halves) / count;
  EXPECT_NEAR(share, 0.05, 4 * std::sqrt(0.05 * 0.95 / count));
  double sum = 0, squares = 0, whole = 0;
  for (const int length : steps)
    if (length >= 52) sum += length, squares += static_cast<double>(length) * length, ++whole;
  const double mean = sum / whole;
  EXPECT_NEAR(mean, 69.5, 4 * 5 / std::sqrt(whole)) << "cut to a whole number";
  EXPECT_NEAR(std::sqrt(squares / whole - mean * mean), 5, 0.2);
  RandomLengths capped(1, 70, 72);
  EXPECT_EQ(std::ranges::max(steps_of(epoch_of(capped, 0, 100'000))), 72);
}

TEST(RandomLengths, RefuseALongestWindowBelowTheShortestLength) {
  EXPECT_REFUSED(RandomLengths(1, 4, 4), "lengths of at least 5 steps");
  EXPECT_NO_THROW(RandomLengths(1, 4, 5));
}

TEST(TextOfRandomLengths, ShowsTheTextOfEveryColumnOnceInEachEpoch) {
  const ScratchDirectory directory;
  std::string words;
  for (int i = 0; i < 700; ++i) words += fmt::format("w{} ", i * i % 23);
  TextConfig config{.length = 12, .corpus = TextCorpus::files, .files = {directory.write("text.txt", words)}};
  config.splits = {0.8, 0.1, 0.1};
  config.length_varies = true;
  config.length_cap = 9;
  const auto task = make_task(config, 4);
  config.length_varies = false;
  EXPECT_REFUSED(make_task(config, 4), "task.text.length_cap = 9 is read with task.text.length_varies = true only");
  config.length_cap = TextConfig().length_cap;
  const auto plain = make_task(config, 4);
  EXPECT_EQ(task->steps(), 21);
  EXPECT_EQ(task->usual_steps(), 12);
  EXPECT_TRUE(task->epochs_vary());
  std::int64_t iteration = 0;
  std::vector<std::int64_t> counts;
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::int64_t next = 0;
    while (next < task->row_steps(3)) {
      const Window& window = task->make_batch(Split::train, static_cast<std::uint64_t>(iteration++), 3);
      validate(window);
      EXPECT_EQ(window.continues, next > 0);
      EXPECT_LE(window.steps, task->steps());
      for (int row = 0; row < 3; ++row)
        EXPECT_EQ(window.start[static_cast<std::size_t>(row)], row * ((task->row_steps(3) + 1)) + next);
      next += window.steps;
    }
    EXPECT_EQ(next, task->row_steps(3));
    EXPECT_EQ(iteration, task->train_batches(epoch + 1, 3));
    counts.push_back(iteration);
  }
  EXPECT_EQ(counts[0], task->batches(Split::train, 3));
  EXPECT_TRUE(counts[1] - counts[0] != counts[0] || counts[2] - counts[1] != counts[0]) << "epochs differ";
  // Evaluations read as always.
  EXPECT_EQ(task->batches(Split::test, 1), plain->batches(Split::test, 1));
  EXPECT_EQ(task->make_batch(Split::test, 1, 1).start, plain->make_batch(Split::test, 1, 1).start);
}

}  // namespace
}  // namespace throughtime::testing
