#include <algorithm>
#include <array>
#include <utility>

#include "tasks/sequences/sequence_set.h"
#include "throughtime/error.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

constexpr std::uint64_t marker_element = std::uint64_t{1} << 32;  // beyond every element used for values

/// 24 random bits as a number in [0, 1), exact in float.
float unit_interval(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

/// Two numbers of a sequence are marked; their sum is asked for at the end.
class AddSet final : public SequenceSet {
 public:
  AddSet(const AddConfig& config, std::uint64_t seed)
      : length_(config.length), markers_(config.markers), random_(seed, Purpose::task) {
    if (length_ < 2) refuse("add", "task.add.length must be at least 2 to hold two markers, got {}", length_);
    shape_ = {.length = length_,
              .input = {.reals = 2},
              .head = {.name = "regression", .outputs = 1},
              .one_target = true,
              .first_loss = length_ - 1};
  }

  const SequenceShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return {Metric::mse}; }
  /// The variance of a sum of two uniform numbers.
  double baseline() const override { return 1.0 / 6.0; }
  std::string baseline_text() const override { return "the constant 1"; }

  void write(Split split, std::uint64_t number, int row, const SequenceSpan& out) const override {
    const std::uint64_t batch = split_iteration(split, number);
    const auto sequence = static_cast<std::uint32_t>(row);
    float* inputs = out.values.data();  // [T, 2]: value, marker
    for (int step = 0; step < length_; step += 4) {
      const std::array<std::uint32_t, 4> words = random_.words(batch, sequence, static_cast<std::uint64_t>(step / 4));
      for (int k = 0; k < std::min(4, length_ - step); ++k) {
        inputs[2 * (step + k)] = unit_interval(words[k]);
        inputs[2 * (step + k) + 1] = 0.0f;
      }
    }
    const auto [first, second] = draw_markers(batch, sequence);
    inputs[2 * first + 1] = inputs[2 * second + 1] = 1.0f;
    out.targets[0] = inputs[2 * first] + inputs[2 * second];
  }

 private:
  std::pair<int, int> draw_markers(std::uint64_t batch, std::uint32_t sequence) const {
    const auto below = [&](int bound, int which) {
      return static_cast<int>(
          random_.below(static_cast<std::uint64_t>(bound), batch, sequence, marker_element + which));
    };
    if (markers_ == AddMarkers::anywhere) {
      const int first = below(length_, 0);
      const int second = below(length_ - 1, 1);
      return {first, second < first ? second : second + 1};
    }
    const int half = length_ / 2;
    return {below(half, 0), length_ - half + below(half, 1)};
  }

  int length_;  // T
  AddMarkers markers_;
  Random random_;
  SequenceShape shape_;
};

}  // namespace

void describe(AddConfig& config, OptionList& list) {
  list.add("length", config.length, "steps of a sequence (T of the papers)", between(2, 1e7));
  list.add("markers", config.markers,
           "halves: one marker in each half of the sequence; anywhere: two markers anywhere");
  describe(config.layout, list);
}

std::unique_ptr<Task> make_task(const AddConfig& config, std::uint64_t seed) {
  return make_sequence_task("add", config.layout, seed, std::make_unique<AddSet>(config, seed));
}

}  // namespace throughtime
