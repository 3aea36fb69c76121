#include <algorithm>
#include <cmath>

#include "tasks/sequences/sequence_set.h"
#include "throughtime/error.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

constexpr int copied = 10;  // symbols to remember

/// Ten symbols, T - 1 blanks, a delimiter, ten blanks; the target is blank until the ten symbols are repeated at the
/// end. Tokens 0 ... symbols - 1 are data, then come the blank and the delimiter.
class CopySet final : public SequenceSet {
 public:
  CopySet(const CopyConfig& config, std::uint64_t seed)
      : symbols_(config.symbols), delay_(config.length), random_(seed, Purpose::task) {
    require_range("copy", "task.copy.symbols", symbols_, 2, 65536);
    require_range("copy", "task.copy.length (the blanks to wait)", delay_, 1, 100'000'000);
    shape_ = {.length = delay_ + 2 * copied,
              .input = {.vocabulary = symbols_ + 2},
              .head = {.name = "softmax", .outputs = symbols_ + 2},
              .labels = true};
  }

  const SequenceShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return {Metric::cross_entropy, Metric::accuracy}; }
  /// Sure of the blanks, a fair guess at each symbol.
  double baseline() const override { return copied * std::log(symbols_) / shape_.length; }
  std::string baseline_text() const override { return "no memory of the symbols"; }

  void write(Split split, std::uint64_t number, int row, const SequenceSpan& out) const override {
    const std::uint64_t batch = split_iteration(split, number);
    const std::int32_t blank = symbols_, delimiter = symbols_ + 1;
    std::fill(out.tokens.begin(), out.tokens.end(), blank);
    std::fill(out.labels.begin(), out.labels.end(), blank);
    out.tokens[copied + delay_ - 1] = delimiter;
    const std::size_t recall = out.labels.size() - copied;
    for (std::size_t i = 0; i < copied; ++i) {
      const auto symbol = static_cast<std::int32_t>(
          random_.below(static_cast<std::uint64_t>(symbols_), batch, static_cast<std::uint32_t>(row), i));
      out.tokens[i] = out.labels[recall + i] = symbol;
    }
  }

 private:
  int symbols_;
  int delay_;  // T
  Random random_;
  SequenceShape shape_;
};

}  // namespace

void describe(CopyConfig& config, OptionList& list) {
  list.add("length", config.length,
           "blank steps between symbols and answer (T of the papers); a sequence has 20 steps more", between(1, 1e7));
  list.add("symbols", config.symbols, "how many different symbols there are to remember", between(2, 65536));
  describe(config.layout, list);
}

std::unique_ptr<Task> make_task(const CopyConfig& config, std::uint64_t seed) {
  return make_sequence_task("copy", config.layout, seed, std::make_unique<CopySet>(config, seed));
}

}  // namespace throughtime
