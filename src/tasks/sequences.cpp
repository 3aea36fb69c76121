#include "tasks/sequences.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tasks/registry.h"
#include "tasks/streams.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

/// Batches of whole sequences, laid end to end in one source: row b begins at b * T.
class SequenceTask final : public Task {
 public:
  SequenceTask(std::string name, std::uint64_t seed, std::unique_ptr<SequenceSet> set)
      : name_(std::move(name)), seed_(seed), set_(std::move(set)), shape_(set_->shape()), order_(*set_, seed) {}

  InputConfig input() const override { return shape_.input; }
  HeadConfig head() const override { return shape_.head; }
  int steps() const override { return shape_.length; }
  int loss_steps() const override { return shape_.length - shape_.first_loss; }
  bool terminal() const override { return shape_.one_target && shape_.first_loss == shape_.length - 1; }
  std::int64_t examples() const override { return set_->endless() ? 0 : set_->size(Split::train); }
  std::vector<Metric> metrics() const override { return set_->metrics(); }
  double baseline() const override { return set_->baseline(); }
  std::string baseline_text() const override { return set_->baseline_text(); }
  std::int64_t batches(Split split, int batch) const override { return order_.batches(split, batch); }
  bool has(Split split) const override { return set_->endless() || set_->size(split) > 0; }
  void save(const std::string& directory) const override { set_->save(directory); }
  void load(const std::string& directory) override { set_->load(directory); }

  const Window& make_batch(Split split, std::uint64_t iteration, int batch) override {
    require_rows(name_, batch);
    if (!has(split)) refuse(name_, "there are no examples in the {} split", split_name(split));
    if (batch != window_.batch) resize(batch);
    int shown = 0;
    std::fill(window_.example.begin(), window_.example.end(), -1);
    for (; shown < batch; ++shown) {
      const std::int64_t number = order_.number(split, iteration, shown, batch);
      if (number < 0) break;
      set_->write(split, static_cast<std::uint64_t>(number), shown, row_span(shown));
      if (!window_.example.empty()) window_.example[static_cast<std::size_t>(shown)] = number;
    }
    weigh(shown);
    window_.mask_key = batch_mask_key(seed_, split, iteration);
    return window_;
  }

 private:
  void resize(int batch) {
    const auto rows = static_cast<std::size_t>(batch);
    const std::size_t steps = rows * static_cast<std::size_t>(shape_.length);
    const std::size_t targets = shape_.one_target ? rows : steps;
    const auto outputs = static_cast<std::size_t>(shape_.head.outputs);
    values_.resize(steps * static_cast<std::size_t>(shape_.input.reals));
    tokens_.resize(shape_.input.vocabulary > 0 ? steps : 0);
    labels_.resize(shape_.labels ? targets : 0);
    targets_.resize(shape_.labels ? 0 : targets * outputs);
    source_.steps = steps;
    source_.reals = shape_.input.reals;
    source_.values = values_;
    source_.tokens = tokens_;
    window_.steps = shape_.length;
    window_.batch = batch;
    window_.sources = {&source_, 1};
    if (shape_.one_target) {
      window_.targets.layout = TargetLayout::per_row;
      window_.targets.width = shape_.labels ? 0 : shape_.head.outputs;
      window_.targets.labels = labels_;
      window_.targets.values = targets_;
    } else {
      source_.labels = labels_;
      source_.target_width = shape_.labels ? 0 : shape_.head.outputs;
      source_.target_values = targets_;
    }
    if (!set_->endless()) window_.example.resize(rows);
    window_.start.resize(rows);
    for (int row = 0; row < batch; ++row) window_.start[row] = static_cast<std::int64_t>(row) * shape_.length;
    window_.weight.resize(steps);
    window_.reset.assign(steps, 0);
    std::fill_n(window_.reset.begin(), batch, std::uint8_t{1});
    shown_ = -1;
  }

  SequenceSpan row_span(int row) {
    const auto first = static_cast<std::size_t>(row) * static_cast<std::size_t>(shape_.length);
    const auto length = static_cast<std::size_t>(shape_.length);
    const auto reals = static_cast<std::size_t>(shape_.input.reals);
    const auto outputs = static_cast<std::size_t>(shape_.head.outputs);
    const std::size_t target = shape_.one_target ? static_cast<std::size_t>(row) : first;
    const std::size_t count = shape_.one_target ? 1 : length;
    SequenceSpan span;
    span.values = std::span(values_).subspan(first * reals, length * reals);
    if (!tokens_.empty()) span.tokens = std::span(tokens_).subspan(first, length);
    if (shape_.labels) {
      span.labels = std::span(labels_).subspan(target, count);
    } else {
      span.targets = std::span(targets_).subspan(target * outputs, count * outputs);
    }
    return span;
  }

  /// The first `shown` rows count, the others are left over.
  void weigh(int shown) {
    if (shown == shown_) return;
    shown_ = shown;
    std::fill(window_.weight.begin(), window_.weight.end(), 0.0f);
    for (int step = shape_.first_loss; step < shape_.length; ++step)
      std::fill_n(window_.weight.begin() + static_cast<std::ptrdiff_t>(step) * window_.batch, shown, 1.0f);
  }

  std::string name_;
  std::uint64_t seed_;
  std::unique_ptr<SequenceSet> set_;
  SequenceShape shape_;
  SequenceOrder order_;
  std::vector<float> values_;         // [B, T, reals]
  std::vector<std::int32_t> tokens_;  // [B, T]
  std::vector<std::int32_t> labels_;  // [B, T] or [B]
  std::vector<float> targets_;        // [B, T, outputs] or [B, outputs]
  int shown_ = -1;                    // rows with a weight; -1: not weighed yet
  Source source_;
  Window window_;
};

}  // namespace

std::int64_t SequenceOrder::batches(Split split, int rows) const {
  return set_.endless() ? 0 : (set_.size(split) + rows - 1) / rows;
}

std::int64_t SequenceOrder::number(Split split, std::uint64_t batch, int row, int rows) {
  if (set_.endless()) {
    split_iteration(split, batch);  // refuses what no split has
    return static_cast<std::int64_t>(batch);
  }
  const auto count = static_cast<std::uint64_t>(batches(split, rows));
  const std::uint64_t index = batch % count * static_cast<std::uint64_t>(rows) + static_cast<std::uint64_t>(row);
  if (index >= static_cast<std::uint64_t>(set_.size(split))) return -1;
  if (split != Split::train) return static_cast<std::int64_t>(index);
  shuffle(batch / count);
  return order_[index];
}

void SequenceOrder::shuffle(std::uint64_t pass) {
  if (!order_.empty() && shuffled_ == pass) return;
  order_.resize(static_cast<std::size_t>(set_.size(Split::train)));
  std::iota(order_.begin(), order_.end(), 0u);
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i, pass, 0, i)]);
  shuffled_ = pass;
}

std::unique_ptr<Task> make_sequence_task(const TaskConfig& config, std::uint64_t seed,
                                         std::unique_ptr<SequenceSet> set) {
  if (config.stream) return make_stream_task(config, seed, stream_of_sequences(config, seed, std::move(set)));
  return std::make_unique<SequenceTask>(config.name, seed, std::move(set));
}

}  // namespace throughtime
