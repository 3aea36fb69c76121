#include "tasks/sequences/sequence_set.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tasks/batches.h"
#include "tasks/generated/streams.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

/// Batches of whole sequences. Where all have T steps they lie end to end in one source: row b begins at b * T. Where
/// lengths vary, each row is a source of its own, the batch is as long as its longest sequence, and all of them end
/// together: what lies before a shorter one is padding, and its state is zero where it begins.
class SequenceTask final : public Task {
 public:
  SequenceTask(std::string name, std::uint64_t seed, std::unique_ptr<SequenceSet> set)
      : name_(std::move(name)), seed_(seed), set_(std::move(set)), shape_(set_->shape()), order_(*set_, seed) {}

  InputConfig input() const override { return shape_.input; }
  HeadConfig head() const override { return shape_.head; }
  int steps() const override { return shape_.length; }
  int loss_steps() const override { return shape_.length - shape_.first_loss; }
  bool lengths_vary() const override { return shape_.lengths_vary; }
  bool terminal() const override { return shape_.one_target && shape_.first_loss == shape_.length - 1; }
  std::int64_t examples() const override { return set_->endless() ? 0 : set_->size(Split::train); }
  std::vector<Metric> metrics() const override { return set_->metrics(); }
  double baseline() const override { return set_->baseline(); }
  std::vector<double> baselines(Split split) const override { return set_->baselines(split); }
  std::string baseline_text() const override { return set_->baseline_text(); }
  std::vector<std::string> classes() const override { return set_->classes(); }
  std::vector<std::string> notes() const override { return set_->notes(); }
  std::string example_name(Split split, std::int64_t number) const override {
    return set_->name(split, static_cast<std::uint64_t>(number));
  }
  std::int64_t batches(Split split, int batch) const override { return order_.batches(split, batch); }
  bool has(Split split) const override { return set_->endless() || set_->size(split) > 0; }
  void save(const std::string& directory) const override { set_->save(directory); }
  void load(const std::string& directory) override { set_->load(directory); }

  const Window& make_batch(Split split, std::uint64_t iteration, int batch) override {
    require_rows(name_, batch);
    if (!has(split)) refuse(name_, "there are no examples in the {} split", split_name(split));
    if (batch != batch_.window.batch) resize_batch(batch);
    int shown = 0;
    std::fill(batch_.window.example.begin(), batch_.window.example.end(), -1);
    for (; shown < batch; ++shown) {
      const std::int64_t number = order_.number(split, iteration, shown, batch);
      if (number < 0) break;
      write(batch_, split, static_cast<std::uint64_t>(number), shown);
      if (!batch_.window.example.empty()) batch_.window.example[shown] = number;
    }
    if (shape_.lengths_vary)
      align(shown);
    else
      weigh(shown);
    batch_.window.mask_key = batch_mask_key(seed_, split, iteration);
    return batch_.window;
  }

  std::int64_t row_steps(int) const override { return shape_.length; }
  /// Random sequences, each up to a random step that has a loss; what lies before a sequence is padding.
  const Window& make_positions(std::uint64_t draw, int, int rows, int steps) override {
    require_rows(name_, rows);
    require_long_data(name_, steps, shape_.length);
    if (rows != places_.window.batch) resize(places_, rows, false);
    const Random random(seed_, Purpose::positions);
    const auto examples =
        set_->endless() ? std::uint64_t{1} << 40 : static_cast<std::uint64_t>(set_->size(Split::train));
    const auto count = elements(rows);
    Window& window = places_.window;
    window.steps = steps;
    window.source.resize(count);
    window.start.resize(count);
    window.weight.assign(elements(steps, rows), 0.0f);
    window.flags.assign(window.weight.size(), StepFlag::go_on);
    std::fill(window.weight.end() - rows, window.weight.end(), 1.0f);
    for (int row = 0; row < rows; ++row) {
      const auto sequence = static_cast<std::uint32_t>(row);
      const int length = write(places_, Split::train, random.below(examples, draw, sequence, 0), row);
      const int losses = std::min(length, loss_steps());
      const int last =
          length - losses + static_cast<int>(random.below(static_cast<std::uint64_t>(losses), draw, sequence, 1));
      window.source[row] = row;
      window.start[row] = last + 1 - steps;
      if (last < steps) window.flags[elements(steps - 1 - last, rows) + row] = StepFlag::reset;
    }
    window.mask_key = positions_mask_key(seed_, draw);
    return window;
  }

 private:
  /// Sequences laid end to end, and the window's part that does not change.
  struct Store {
    std::vector<float> values;         // [B, T, reals]
    std::vector<std::int32_t> tokens;  // [B, T]
    std::vector<std::int32_t> labels;  // [B, T] or [B]
    std::vector<float> targets;        // [B, T, outputs] or [B, outputs]
    std::vector<Source> sources;       // one of all rows, or one for each
    Window window;
  };

  /// Writes the sequence that a row shows; returns its length.
  int write(Store& store, Split split, std::uint64_t number, int row) {
    const int length = set_->length(split, number);
    set_->write(split, number, row, row_span(store, row, length));
    if (shape_.lengths_vary) shorten(store, row, length);
    return length;
  }

  /// The source of a row has as many steps as its sequence.
  void shorten(Store& store, int row, int length) {
    const auto first = elements(row, shape_.length), steps = elements(length);
    const auto part = [&](const auto& numbers, std::size_t width) {
      return std::span(numbers).subspan(first * width, steps * width);
    };
    Source& source = store.sources[row];
    source.steps = steps;
    source.values = part(store.values, elements(shape_.input.reals));
    if (!store.tokens.empty()) source.tokens = part(store.tokens, 1);
    if (shape_.one_target) return;
    if (shape_.labels) source.labels = part(store.labels, 1);
    source.target_values = part(store.targets, elements(source.target_width));
  }

  void resize(Store& store, int batch, bool one_source) {
    const auto rows = elements(batch);
    const std::size_t steps = elements(batch, shape_.length);
    const std::size_t targets = shape_.one_target ? rows : steps;
    const auto outputs = elements(shape_.head.outputs);
    store.values.resize(steps * elements(shape_.input.reals));
    store.tokens.resize(shape_.input.vocabulary > 0 ? steps : 0);
    store.labels.resize(shape_.labels ? targets : 0);
    store.targets.resize(shape_.labels ? 0 : targets * outputs);
    store.window.batch = batch;
    describe_sources(store, one_source ? 1 : rows);
    if (!shape_.one_target) return;
    store.window.targets.layout = TargetLayout::per_row;
    store.window.targets.width = shape_.labels ? 0 : shape_.head.outputs;
    store.window.targets.labels = store.labels;
    store.window.targets.values = store.targets;
  }

  void describe_sources(Store& store, std::size_t count) {
    const auto part = [&](const auto& numbers, std::size_t index) {
      const std::size_t size = numbers.size() / count;
      return std::span(numbers).subspan(index * size, size);
    };
    const auto steps = elements(store.window.batch, shape_.length);
    store.sources.assign(count, Source());
    for (std::size_t i = 0; i < count; ++i) {
      Source& source = store.sources[i];
      source.steps = steps / count;
      source.reals = shape_.input.reals;
      source.values = part(store.values, i);
      source.tokens = part(store.tokens, i);
      if (shape_.one_target) continue;
      source.labels = part(store.labels, i);
      source.target_width = shape_.labels ? 0 : shape_.head.outputs;
      source.target_values = part(store.targets, i);
    }
    store.window.sources = store.sources;
  }

  void resize_batch(int batch) {
    resize(batch_, batch, !shape_.lengths_vary);
    Window& window = batch_.window;
    const auto rows = elements(batch);
    window.steps = shape_.length;
    if (!set_->endless()) window.example.resize(rows);
    window.source.resize(shape_.lengths_vary ? rows : 0);
    std::iota(window.source.begin(), window.source.end(), 0);
    window.start.resize(rows);
    for (int row = 0; row < batch; ++row) window.start[row] = static_cast<std::int64_t>(row) * shape_.length;
    window.weight.resize(elements(batch, shape_.length));
    window.flags.assign(window.weight.size(), StepFlag::go_on);
    std::fill_n(window.flags.begin(), batch, StepFlag::reset);
    shown_ = -1;
  }

  SequenceSpan row_span(Store& store, int row, int steps) {
    const auto first = elements(row, shape_.length);
    const auto length = elements(steps);
    const auto reals = elements(shape_.input.reals);
    const auto outputs = elements(shape_.head.outputs);
    const std::size_t target = shape_.one_target ? elements(row) : first;
    const std::size_t count = shape_.one_target ? 1 : length;
    SequenceSpan span;
    span.values = std::span(store.values).subspan(first * reals, length * reals);
    if (!store.tokens.empty()) span.tokens = std::span(store.tokens).subspan(first, length);
    if (shape_.labels) {
      span.labels = std::span(store.labels).subspan(target, count);
    } else {
      span.targets = std::span(store.targets).subspan(target * outputs, count * outputs);
    }
    return span;
  }

  /// The first `shown` rows count, the others are left over.
  void weigh(int shown) {
    if (shown == shown_) return;
    shown_ = shown;
    Window& window = batch_.window;
    std::fill(window.weight.begin(), window.weight.end(), 0.0f);
    for (int step = shape_.first_loss; step < shape_.length; ++step)
      std::fill_n(window.weight.begin() + static_cast<std::ptrdiff_t>(step) * window.batch, shown, 1.0f);
  }

  /// The first `shown` rows end together, at the end of the window; the others are padding from end to end.
  void align(int shown) {
    Window& window = batch_.window;
    for (int row = shown; row < window.batch; ++row) shorten(batch_, row, 0);
    std::size_t longest = 0;
    for (const Source& source : batch_.sources) longest = std::max(longest, source.steps);
    window.steps = static_cast<int>(longest);
    window.weight.assign(elements(window.steps, window.batch), 0.0f);
    window.flags.assign(window.weight.size(), StepFlag::go_on);
    for (int row = 0; row < window.batch; ++row) {
      const int length = static_cast<int>(batch_.sources[row].steps), padding = window.steps - length;
      window.start[row] = -padding;
      if (length == 0) continue;
      window.flags[elements(padding, window.batch) + row] = StepFlag::reset;
      for (int step = window.steps - std::min(length, loss_steps()); step < window.steps; ++step)
        window.weight[elements(step, window.batch) + row] = 1.0f;
    }
  }

  std::string name_;
  std::uint64_t seed_;
  std::unique_ptr<SequenceSet> set_;
  SequenceShape shape_;
  SequenceOrder order_;
  Store batch_, places_;
  int shown_ = -1;  // rows with a weight; -1: not weighed yet
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
  if (count == 0) return -1;  // an empty split
  const std::uint64_t index = batch % count * static_cast<std::uint64_t>(rows) + static_cast<std::uint64_t>(row);
  if (index >= static_cast<std::uint64_t>(set_.size(split))) return -1;
  if (split != Split::train) return static_cast<std::int64_t>(index);
  shuffle(batch / count);
  return order_[index];
}

void SequenceOrder::shuffle(std::uint64_t pass) {
  if (!order_.empty() && shuffled_ == pass) return;
  order_.resize(elements(set_.size(Split::train)));
  std::iota(order_.begin(), order_.end(), 0u);
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i, pass, 0, i)]);
  shuffled_ = pass;
}

void describe(SequenceLayout& layout, OptionList& list) {
  list.add("stream", layout.stream, "lay the sequences end to end, as one endless stream per row");
  list.add("window", layout.window, "stream = true: steps of a window; 0: a whole sequence", between(0, 1e7));
  list.add("reset", layout.reset, "stream = true: set the state to zero where a sequence starts");
  list.add("history", layout.history, "stream = true: how many steps before a window a learner can look back on",
           between(0, 1e7));
}

std::unique_ptr<Task> make_sequence_task(const std::string& name, const SequenceLayout& layout, std::uint64_t seed,
                                         std::unique_ptr<SequenceSet> set) {
  if (!layout.stream) return std::make_unique<SequenceTask>(name, seed, std::move(set));
  if (set->shape().lengths_vary) refuse(name, "a stream is made of sequences of one length; these vary");
  return make_stream_task(name, layout.history, seed, stream_of_sequences(layout, seed, std::move(set)));
}

}  // namespace throughtime
