#include <algorithm>
#include <array>
#include <cmath>

#include "tasks/generated/streams.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

/// Bits of a random stream that are drawn 128 / width at a time and can be read anywhere.
class BitStream {
 public:
  /// `element` tells the streams of a row apart; width is 1 or 2 bits.
  BitStream(const Random& random, Split split, int row, std::uint64_t element, int width)
      : random_(random), split_(split), row_(static_cast<std::uint32_t>(row)), element_(element), width_(width) {}

  unsigned at(std::int64_t position) {
    const std::int64_t per_block = 128 / width_;
    const std::int64_t block = position / per_block;
    if (block != block_) {
      words_ = random_.words(split_iteration(split_, static_cast<std::uint64_t>(block)), row_, element_);
      block_ = block;
    }
    const auto bit = elements(position % per_block * width_);
    return words_[bit / 32] >> bit % 32 & ((1u << width_) - 1);
  }

 private:
  const Random& random_;
  Split split_;
  std::uint32_t row_;
  std::uint64_t element_;
  int width_;
  std::int64_t block_ = -1;
  std::array<std::uint32_t, 4> words_ = {};
};

double entropy(double p) { return -p * std::log(p) - (1 - p) * std::log1p(-p); }

/// Fair bits X; P(Y_t = 1) = 0.5 + 0.5 X_{t - first lag} - 0.25 X_{t - second lag}, with X = 0 before the start. Y_t is
/// asked for.
class StochasticWorld final : public StepStream {
 public:
  StochasticWorld(const StochasticWorldConfig& config, std::uint64_t seed)
      : config_(config), random_(seed, Purpose::task) {
    if (config.lags.size() != 2 || config.lags[0] < 0 || config.lags[1] < 0 || config.lags[0] == config.lags[1])
      refuse("stochastic_world", "task.stochastic_world.lags must be two different numbers of steps, such as [5, 12]");
    shape_ = {
        .window = config.length, .input = {.vocabulary = 2}, .head = {.name = "softmax", .outputs = 2}, .labels = true};
  }

  const StreamShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return {Metric::cross_entropy, Metric::accuracy}; }
  double baseline() const override { return entropy(5.0 / 8.0); }
  std::string baseline_text() const override { return "the mean of the targets"; }
  std::int64_t pass_steps(Split split, int) const override { return generated_pass(config_.steps, split); }
  bool starts_over() const override { return true; }

  void write(Split split, int row, int, std::int64_t first, const StepSpan& out) override {
    BitStream now(random_, split, row, 0, 1), early(now), late(now), chance(random_, split, row, 1, 2);
    const auto before = [](BitStream& bits, std::int64_t position) { return position < 0 ? 0u : bits.at(position); };
    for (std::size_t step = 0; step < out.steps(); ++step) {
      const std::int64_t position = first + static_cast<std::int64_t>(step);
      const unsigned quarters =
          2 + 2 * before(early, position - config_.lags[0]) - before(late, position - config_.lags[1]);
      out.tokens[step] = static_cast<std::int32_t>(now.at(position));
      out.labels[step] = chance.at(position) < quarters ? 1 : 0;
    }
  }

 private:
  StochasticWorldConfig config_;
  Random random_;
  StreamShape shape_;
};

}  // namespace

void describe(StochasticWorldConfig& config, OptionList& list) {
  list.add("length", config.length, "steps of a window", between(1, 1e7));
  list.add("lags", config.lags, "the two lags that the next observation depends on, two different numbers",
           between(0, 1e6));
  describe_generated_stream(config.steps, config.history, list);
}

std::unique_ptr<Task> make_task(const StochasticWorldConfig& config, std::uint64_t seed) {
  return make_stream_task("stochastic_world", config.history, seed, std::make_unique<StochasticWorld>(config, seed));
}

}  // namespace throughtime
