#include "tasks/add.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/names.h"
#include "throughtime/error.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr std::uint64_t marker_element = std::uint64_t{1} << 32;  // beyond every element used for values

/// 24 random bits as a number in [0, 1), exact in float.
float unit_interval(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

class AddTask final : public Task {
 public:
  AddTask(const TaskConfig& config, std::uint64_t seed)
      : length_(config.length), anywhere_(config.markers == "anywhere"), random_(seed, Purpose::task) {
    if (length_ < 2) refuse("add", "task.length must be at least 2 to hold two markers, got {}", length_);
    if (!anywhere_ && config.markers != "halves") refuse_unknown("add", "markers", config.markers, marker_names());
  }

  InputConfig input() const override { return {.reals = 2}; }
  HeadConfig head() const override { return {.name = "regression", .outputs = 1}; }
  int steps() const override { return length_; }
  /// The constant prediction 1 leaves the variance of a sum of two uniform numbers.
  double baseline() const override { return 1.0 / 6.0; }
  double metric(double mean_loss) const override { return mean_loss; }

  const Window& make_batch(Split split, std::uint64_t iteration, int batch) override {
    if (batch < 1) refuse("add", "a batch needs at least 1 row, got {}", batch);
    if (batch != window_.batch) resize(batch);
    const std::uint64_t counter = split_iteration(split, iteration);
    for (int row = 0; row < batch; ++row) draw_row(counter, row);
    window_.mask_key = counter;
    return window_;
  }

 private:
  void resize(int batch) {
    const std::size_t rows = static_cast<std::size_t>(batch);
    const std::size_t steps = rows * static_cast<std::size_t>(length_);
    inputs_.resize(2 * steps);
    sums_.resize(rows);
    source_.steps = steps;
    source_.reals = 2;
    source_.values = inputs_;
    window_.steps = length_;
    window_.batch = batch;
    window_.sources = {&source_, 1};
    window_.targets.layout = TargetLayout::per_row;
    window_.targets.width = 1;
    window_.targets.values = sums_;
    window_.start.resize(rows);
    for (int row = 0; row < batch; ++row) window_.start[row] = static_cast<std::int64_t>(row) * length_;
    window_.weight.assign(steps, 0.0f);
    std::fill(window_.weight.end() - batch, window_.weight.end(), 1.0f);
    window_.reset.assign(steps, 0);
    std::fill_n(window_.reset.begin(), batch, std::uint8_t{1});
  }

  std::pair<int, int> draw_markers(std::uint64_t iteration, int row) const {
    const auto below = [&](int bound, int which) {
      return static_cast<int>(random_.below(static_cast<std::uint64_t>(bound), iteration,
                                            static_cast<std::uint32_t>(row), marker_element + which));
    };
    if (anywhere_) {
      const int first = below(length_, 0);
      const int second = below(length_ - 1, 1);
      return {first, second < first ? second : second + 1};
    }
    const int half = length_ / 2;
    return {below(half, 0), length_ - half + below(half, 1)};
  }

  void draw_row(std::uint64_t iteration, int row) {
    float* inputs = inputs_.data() + 2 * static_cast<std::size_t>(row) * length_;  // [T, 2]: value, marker
    for (int step = 0; step < length_; step += 4) {
      const std::array<std::uint32_t, 4> words =
          random_.words(iteration, static_cast<std::uint32_t>(row), static_cast<std::uint64_t>(step / 4));
      for (int k = 0; k < std::min(4, length_ - step); ++k) {
        inputs[2 * (step + k)] = unit_interval(words[k]);
        inputs[2 * (step + k) + 1] = 0.0f;
      }
    }
    const auto [first, second] = draw_markers(iteration, row);
    inputs[2 * first + 1] = inputs[2 * second + 1] = 1.0f;
    sums_[row] = inputs[2 * first] + inputs[2 * second];
  }

  int length_;  // T
  bool anywhere_;
  Random random_;
  std::vector<float> inputs_;  // [B, T, 2]
  std::vector<float> sums_;    // [B]
  Source source_;
  Window window_;
};

}  // namespace

TaskType add_task() {
  return {.name = "add",
          .description = "sum of the two marked numbers of a sequence, asked for at its end",
          .metric = "mse",
          .make = [](const TaskConfig& config, std::uint64_t seed) -> std::unique_ptr<Task> {
            return std::make_unique<AddTask>(config, seed);
          }};
}

std::vector<std::string> marker_names() { return {"halves", "anywhere"}; }

}  // namespace throughtime
