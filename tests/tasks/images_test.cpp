#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>

#include "support/digits.h"
#include "support/errors.h"
#include "tasks/task_support.h"

namespace throughtime::testing {
namespace {

class Digits : public ::testing::Test {
 protected:
  Digits() {
    write_digits(directory_, "train", 20, 0);
    write_digits(directory_, "t10k", 5, 3);
  }
  std::unique_ptr<Task> make(PixelOrder order, std::uint64_t permutation = 1, double validation = 0.1) const {
    return make_task(
        MnistConfig{.order = order, .permutation = permutation, .validation = validation, .data = directory_.path()},
        1);
  }
  /// Which pixel of test image 0 each step shows.
  static std::vector<int> pixels(Task& task) {
    const Window& window = task.make_batch(Split::test, 0, 1);
    std::vector<int> shown;
    for (int step = 0; step < window.steps; ++step)
      for (int column = 0; column < window.sources[0].reals; ++column)
        shown.push_back(static_cast<int>(std::lround((value_at(window, step, 0, column) * 0.3081 + 0.1307) * 255)));
    return shown;
  }
  ScratchDirectory directory_;
};

TEST_F(Digits, ShowPixelsInOrderStandardised) {
  const auto task = make(PixelOrder::pixels);
  EXPECT_EQ(task->steps(), 784);
  EXPECT_EQ(task->input().reals, 1);
  EXPECT_EQ(task->loss_steps(), 1);
  const std::vector<int> shown = pixels(*task);
  for (int pixel = 0; pixel < 784; ++pixel) EXPECT_EQ(shown[static_cast<std::size_t>(pixel)], pixel % 256);
  EXPECT_FLOAT_EQ(value_at(task->make_batch(Split::test, 0, 1), 0, 0), -0.1307f / 0.3081f);
  EXPECT_EQ(label_at(task->make_batch(Split::test, 0, 5), 0, 4), 7);
}

TEST_F(Digits, ShowRows) {
  const auto task = make(PixelOrder::rows);
  EXPECT_EQ(task->steps(), 28);
  EXPECT_EQ(task->input().reals, 28);
  const std::vector<int> shown = pixels(*task);
  for (int pixel = 0; pixel < 784; ++pixel) EXPECT_EQ(shown[static_cast<std::size_t>(pixel)], pixel % 256);
}

TEST_F(Digits, ArePermutedBySeedAndRememberIt) {
  const auto task = make(PixelOrder::permuted);
  const std::vector<int> shown = pixels(*task);
  EXPECT_NE(shown, pixels(*make(PixelOrder::pixels)));
  EXPECT_EQ(shown, pixels(*make(PixelOrder::permuted)));
  const auto other = make(PixelOrder::permuted, 2);
  EXPECT_NE(shown, pixels(*other));
  std::vector<int> counts(256);
  for (const int value : shown) ++counts[static_cast<std::size_t>(value)];
  for (int value = 0; value < 256; ++value) EXPECT_EQ(counts[static_cast<std::size_t>(value)], value < 16 ? 4 : 3);

  ScratchDirectory run;
  task->save(run.path());
  other->load(run.path());
  EXPECT_EQ(shown, pixels(*other));
  run.write("permutation.txt", "0\n1\n1\n");
  EXPECT_REFUSED(other->load(run.path()), "permutation.txt");
  ScratchDirectory empty;
  EXPECT_REFUSED(other->load(empty.path()), "permutation.txt");
}

TEST_F(Digits, HoldOutTheEndOfTheTrainingImages) {
  const auto task = make(PixelOrder::rows, 1, 0.25);
  EXPECT_EQ(task->batches(Split::train, 4), 4);                             // 15
  EXPECT_EQ(task->batches(Split::validation, 4), 2);                        // 5
  EXPECT_EQ(label_at(task->make_batch(Split::validation, 0, 4), 0, 0), 5);  // image 15
  std::multiset<int> first_pixels;
  for (std::uint64_t batch = 0; batch < 15; ++batch)
    first_pixels.insert(static_cast<int>(
        std::lround((value_at(task->make_batch(Split::train, batch, 1), 0, 0, 0) * 0.3081 + 0.1307) * 255)));
  std::multiset<int> wanted;
  for (int image = 0; image < 15; ++image) wanted.insert(31 * image % 256);
  EXPECT_EQ(first_pixels, wanted);
  EXPECT_FALSE(make(PixelOrder::rows, 1, 0)->has(Split::validation));
}

TEST_F(Digits, BaselineIsTheMostFrequentClass) {
  write_digits(directory_, "train", 24, 0);  // classes 0 to 3 three times: class 0 is first
  write_digits(directory_, "t10k", 20, 0);
  const auto task = make(PixelOrder::rows);
  EXPECT_DOUBLE_EQ(task->baseline(), 0.1);
  // Each split counts its own images.
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    double favourite = 0, all = 0;
    for (std::int64_t i = 0; i < task->batches(split, 1); ++i, ++all)
      favourite += label_at(task->make_batch(split, static_cast<std::uint64_t>(i), 1), 0, 0) == 0;
    EXPECT_DOUBLE_EQ(task->baselines(split).front(), favourite / all) << split_name(split);
  }
}

TEST_F(Digits, RefuseWhatTheyCannotRead) {
  EXPECT_REFUSED(choice_of<PixelOrder>("pixel", "mnist", "order"), "did you mean 'pixels'");
  EXPECT_REFUSED(make(PixelOrder::rows, 1, 1.0), "task.mnist.validation");
  directory_.write("mnist/t10k-labels-idx1-ubyte", big_endian(0x801) + big_endian(2) + std::string("\1\2"));
  EXPECT_REFUSED(make(PixelOrder::rows), "one label for each of the 5 images");
  std::filesystem::remove((directory_ / "mnist/t10k-images-idx3-ubyte").string());
  EXPECT_REFUSED(make(PixelOrder::rows), "t10k-images-idx3-ubyte");
}

TEST(Mnist, HasItsImagesAndItsBaseline) {
  REQUIRE_REAL_DATA(data, "mnist/train-images-idx3-ubyte.gz");
  const auto task = make_task(MnistConfig{.data = data}, 1);
  EXPECT_EQ(task->batches(Split::train, 128), 422);  // 54,000
  EXPECT_EQ(task->batches(Split::validation, 1), 6000);
  EXPECT_EQ(task->batches(Split::test, 1), 10000);
  EXPECT_NEAR(task->baseline(), 0.1135, 1e-12);  // 1,135 ones
  double sum = 0, squares = 0;
  for (std::uint64_t batch = 0; batch < 10; ++batch)
    for (const float value : task->make_batch(Split::train, batch, 500).sources[0].values) {
      sum += value;
      squares += value * value;
    }
  EXPECT_NEAR(sum / (5000 * 784), 0, 0.01);
  EXPECT_NEAR(squares / (5000 * 784), 1, 0.02);
}

TEST(Cifar10, ShowsThreeColoursPerStep) {
  REQUIRE_REAL_DATA(data, "cifar10/test_batch.bin");
  const auto task = make_task(Cifar10Config{.validation = 0, .data = data}, 1);
  EXPECT_EQ(task->steps(), 1024);
  EXPECT_EQ(task->input().reals, 3);
  EXPECT_EQ(task->batches(Split::train, 100), 500);
  EXPECT_EQ(task->batches(Split::test, 100), 100);
  EXPECT_DOUBLE_EQ(task->baseline(), 0.1);
  std::ifstream file(data + "/cifar10/test_batch.bin", std::ios::binary);
  std::string record(3073, '\0');
  file.read(record.data(), 3073);
  const Window& window = task->make_batch(Split::test, 0, 2);
  EXPECT_EQ(label_at(window, 0, 0), static_cast<unsigned char>(record[0]));
  for (const int step : {0, 1, 31, 32, 1023})
    for (int colour = 0; colour < 3; ++colour) {
      const auto byte = static_cast<unsigned char>(record[static_cast<std::size_t>(1 + 1024 * colour + step)]);
      EXPECT_NEAR(value_at(window, step, 0, colour), (byte / 255.0 - 0.5) / 0.5, 1e-6);
    }
}

}  // namespace
}  // namespace throughtime::testing
