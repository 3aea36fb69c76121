#include "tasks/generated/streams.h"

#include <algorithm>
#include <utility>

#include "tasks/batches.h"
#include "tasks/row_stores.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr std::int64_t endless_places = 1 << 16;  // of an endless stream, where random ones are drawn

class StreamTask final : public Task {
 public:
  StreamTask(std::string name, int history, std::uint64_t seed, std::unique_ptr<StepStream> stream)
      : name_(std::move(name)),
        seed_(seed),
        stream_(std::move(stream)),
        shape_(stream_->shape()),
        history_(history),
        capacity_(elements(2 * history_ + shape_.window)) {}

  InputConfig input() const override { return shape_.input; }
  HeadConfig head() const override { return shape_.head; }
  int steps() const override { return shape_.window; }
  std::vector<Metric> metrics() const override { return stream_->metrics(); }
  double baseline() const override { return stream_->baseline(); }
  std::vector<double> baselines(Split split) const override { return {stream_->baseline_of(split)}; }
  std::string baseline_text() const override { return stream_->baseline_text(); }
  bool has(Split split) const override { return stream_->has(split); }
  void save(const std::string& directory) const override { stream_->save(directory); }
  void load(const std::string& directory) override {
    stream_->load(directory);
    window_.batch = positions_.batch = 0;  // what was made before the load is void
  }

  std::int64_t batches(Split split, int batch) const override {
    const std::int64_t pass = stream_->pass_steps(split, batch);
    return (pass + shape_.window - 1) / shape_.window;
  }

  std::int64_t row_steps(int columns) const override { return stream_->pass_steps(Split::train, columns); }

  const Window& make_positions(std::uint64_t draw, int columns, int rows, int steps) override {
    require_rows(name_, rows);
    const std::int64_t pass = row_steps(columns);
    const std::int64_t length = pass > 0 ? pass : endless_places + steps;
    require_long_data(name_, steps, length);
    if (positions_.batch != rows || positions_.steps != steps) places_.resize(shape_, rows, elements(steps));
    one_source_per_row(positions_, rows);
    positions_.steps = steps;
    positions_.weight.assign(elements(steps, rows), 0.0f);
    positions_.flags.assign(positions_.weight.size(), StepFlag::go_on);
    for (int row = 0; row < rows; ++row) write_place(draw, columns, row, length);
    positions_.sources = places_.sources(elements(steps), 0);
    positions_.mask_key = positions_mask_key(seed_, draw);
    return positions_;
  }

  const Window& make_batch(Split split, std::uint64_t iteration, int batch) override {
    require_rows(name_, batch);
    if (!has(split)) refuse(name_, "there are no examples in the {} split", split_name(split));
    split_iteration(split, iteration);  // refuses what no split has
    if (batch != window_.batch) resize(batch);
    const Place place = place_of(split, iteration, batch);
    if (split != split_ || place.position != held_end_) jump(split, place.position);
    append(place);
    window_.mask_key = batch_mask_key(seed_, split, iteration);
    window_.mask_step = place.position;
    window_.continues = place.continues;
    return window_;
  }

 private:
  struct Place {
    std::int64_t position = 0;
    int steps = 0;
    bool continues = false;
  };

  Place place_of(Split split, std::uint64_t iteration, int batch) const {
    const auto number = static_cast<std::int64_t>(iteration);
    const std::int64_t pass = stream_->pass_steps(split, batch);
    if (pass == 0) return {number * shape_.window, shape_.window, number > 0};
    const std::int64_t windows = batches(split, batch);
    const std::int64_t first = number % windows * shape_.window;
    const int steps = static_cast<int>(std::min<std::int64_t>(shape_.window, pass - first));
    if (stream_->starts_over()) return {first, steps, first > 0};
    return {number / windows * pass + first, steps, number > 0};
  }

  static void one_source_per_row(Window& window, int batch) {
    window.batch = batch;
    window.source.resize(elements(batch));
    for (int row = 0; row < batch; ++row) window.source[row] = row;
    window.start.assign(elements(batch), 0);
  }

  static void copy_flags(const StepSpan& span, int row, Window& window) {
    for (std::size_t step = 0; step < span.steps(); ++step) {
      const std::size_t entry = step * window.start.size() + row;
      window.weight[entry] = span.weight[step];
      window.flags[entry] = span.flags[step];
    }
  }

  /// One random place that ends with a loss: drawn again, or moved back to the last loss before its end.
  void write_place(std::uint64_t draw, int columns, int row, std::int64_t length) {
    const Random random(seed_, Purpose::positions);
    const auto sequence = static_cast<std::uint32_t>(row);
    const auto steps = elements(positions_.steps);
    const auto places = static_cast<std::uint64_t>(length - positions_.steps + 1);
    for (std::uint64_t attempt = 0; attempt < 100; ++attempt) {
      const auto column =
          static_cast<int>(random.below(static_cast<std::uint64_t>(columns), draw, sequence, 2 * attempt));
      auto first = static_cast<std::int64_t>(random.below(places, draw, sequence, 2 * attempt + 1));
      StepSpan span = places_.span(row, 0, steps);
      stream_->write(Split::train, column, columns, first, span);
      const auto last =
          std::find_if(span.weight.rbegin(), span.weight.rend(), [](float weight) { return weight != 0; });
      const auto moved = static_cast<std::int64_t>(last - span.weight.rbegin());
      if (last == span.weight.rend() || moved > first) continue;
      if (moved > 0) {
        span = places_.span(row, 0, steps);
        stream_->write(Split::train, column, columns, first - moved, span);
      }
      std::fill(span.weight.begin(), span.weight.end() - 1, 0.0f);
      return copy_flags(span, row, positions_);
    }
    refuse(name_, "no step with a loss was found at 100 random places of {} steps", positions_.steps);
  }

  void resize(int batch) {
    stores_.resize(shape_, batch, capacity_);
    one_source_per_row(window_, batch);
    held_first_ = 0;
    held_end_ = -1;
  }

  /// Makes the steps before `position` readable again.
  void jump(Split split, std::int64_t position) {
    split_ = split;
    held_first_ = std::max<std::int64_t>(0, position - history_);
    held_end_ = held_first_;
    const auto past = elements(position - held_first_);
    for (int row = 0; row < window_.batch && past > 0; ++row) write_row(row, past);
    held_end_ = position;
  }

  /// Writes steps held_end_ ... of a row.
  StepSpan write_row(int row, std::size_t steps) {
    const StepSpan span = stores_.span(row, elements(held_end_ - held_first_), steps);
    stream_->write(split_, row, window_.batch, held_end_, span);
    return span;
  }

  void append(const Place& place) {
    const auto steps = elements(place.steps);
    if (elements(held_end_ - held_first_) + steps > capacity_) drop_past();
    window_.steps = place.steps;
    window_.weight.resize(steps * window_.start.size());
    window_.flags.resize(steps * window_.start.size());
    for (int row = 0; row < window_.batch; ++row) {
      copy_flags(write_row(row, steps), row, window_);
      window_.start[row] = place.position;
    }
    held_end_ += place.steps;
    window_.sources = stores_.sources(elements(held_end_ - held_first_), held_first_);
  }

  void drop_past() {
    const std::int64_t kept = std::min<std::int64_t>(history_, held_end_ - held_first_);
    stores_.move_to_front(elements(held_end_ - held_first_ - kept), elements(kept));
    held_first_ = held_end_ - kept;
  }

  std::string name_;
  std::uint64_t seed_;
  std::unique_ptr<StepStream> stream_;
  StreamShape shape_;
  std::int64_t history_;
  std::size_t capacity_;       // steps of a row in store
  RowStores stores_, places_;  // of batches; of random places
  Split split_ = Split::train;
  std::int64_t held_first_ = 0, held_end_ = -1;  // positions [held_first_, held_end_) are in store
  Window window_, positions_;
};

/// Keeps the sequence that each row is showing.
class SequenceStream final : public StepStream {
 public:
  SequenceStream(const SequenceLayout& layout, std::uint64_t seed, std::unique_ptr<SequenceSet> set)
      : set_(std::move(set)), sequence_(set_->shape()), order_(*set_, seed), reset_(layout.reset) {
    shape_ = {.window = layout.window > 0 ? layout.window : sequence_.length,
              .input = sequence_.input,
              .head = sequence_.head,
              .labels = sequence_.labels};
  }

  const StreamShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return set_->metrics(); }
  double baseline() const override { return set_->baseline(); }
  double baseline_of(Split split) const override { return set_->baseline_of(split); }
  std::string baseline_text() const override { return set_->baseline_text(); }
  bool has(Split split) const override { return set_->endless() || set_->size(split) > 0; }
  void save(const std::string& directory) const override { set_->save(directory); }
  void load(const std::string& directory) override {
    set_->load(directory);
    rows_.clear();
  }
  std::int64_t pass_steps(Split split, int rows) const override {
    return order_.batches(split, rows) * sequence_.length;
  }

  void write(Split split, int row, int rows, std::int64_t first, const StepSpan& out) override {
    if (rows_.size() != elements(rows)) rows_.assign(elements(rows), Row());
    for (std::size_t done = 0; done < out.steps();) {
      const std::int64_t position = first + static_cast<std::int64_t>(done);
      const auto step = elements(position % sequence_.length);
      const std::size_t count = std::min(out.steps() - done, elements(sequence_.length) - step);
      const Row& shown = show(split, row, rows, static_cast<std::uint64_t>(position / sequence_.length));
      copy_steps(shown, step, out, done, count);
      done += count;
    }
  }

 private:
  struct Row {
    Split split = Split::train;
    std::int64_t batch = -1;   // whose sequence is in store
    std::int64_t number = -1;  // of the sequence; -1: a row that is left over
    std::vector<float> values, targets;
    std::vector<std::int32_t> tokens, labels;
  };

  const Row& show(Split split, int row, int rows, std::uint64_t batch) {
    Row& shown = rows_[row];
    if (shown.batch == static_cast<std::int64_t>(batch) && shown.split == split) return shown;
    const auto length = elements(sequence_.length);
    const std::size_t targets = sequence_.one_target ? 1 : length;
    shown.split = split;
    shown.batch = static_cast<std::int64_t>(batch);
    shown.number = order_.number(split, batch, row, rows);
    shown.values.resize(length * elements(sequence_.input.reals));
    shown.tokens.resize(sequence_.input.vocabulary > 0 ? length : 0);
    shown.labels.resize(sequence_.labels ? targets : 0);
    shown.targets.resize(sequence_.labels ? 0 : targets * elements(sequence_.head.outputs));
    if (shown.number >= 0) {
      set_->write(split, static_cast<std::uint64_t>(shown.number), row,
                  {shown.values, shown.tokens, shown.labels, shown.targets});
    } else {
      std::fill(shown.values.begin(), shown.values.end(), 0.0f);
      std::fill(shown.tokens.begin(), shown.tokens.end(), 0);
    }
    return shown;
  }

  void copy_steps(const Row& shown, std::size_t step, const StepSpan& out, std::size_t to, std::size_t count) const {
    const auto reals = elements(sequence_.input.reals);
    const auto outputs = elements(sequence_.head.outputs);
    std::copy_n(shown.values.begin() + static_cast<std::ptrdiff_t>(step * reals), count * reals,
                out.values.begin() + static_cast<std::ptrdiff_t>(to * reals));
    if (!shown.tokens.empty())
      std::copy_n(shown.tokens.begin() + static_cast<std::ptrdiff_t>(step), count, out.tokens.begin() + to);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t entry = sequence_.one_target ? 0 : step + i;
      if (sequence_.labels) {
        out.labels[to + i] = shown.labels[entry];
      } else {
        std::copy_n(shown.targets.data() + entry * outputs, outputs, out.targets.data() + (to + i) * outputs);
      }
      const bool scored = step + i >= elements(sequence_.first_loss);
      out.weight[to + i] = scored && shown.number >= 0 ? 1.0f : 0.0f;
    }
    if (step == 0 && reset_) out.flags[to] = StepFlag::reset;
  }

  std::unique_ptr<SequenceSet> set_;
  SequenceShape sequence_;
  SequenceOrder order_;
  bool reset_;
  StreamShape shape_;
  std::vector<Row> rows_;
};

}  // namespace

std::unique_ptr<Task> make_stream_task(const std::string& name, int history, std::uint64_t seed,
                                       std::unique_ptr<StepStream> stream) {
  if (history < 0) refuse(name, "task.{}.history must be 0 or more, got {}", name, history);
  if (stream->shape().window < 1) refuse(name, "a window needs at least 1 step, got {}", stream->shape().window);
  return std::make_unique<StreamTask>(name, history, seed, std::move(stream));
}

std::unique_ptr<StepStream> stream_of_sequences(const SequenceLayout& layout, std::uint64_t seed,
                                                std::unique_ptr<SequenceSet> set) {
  return std::make_unique<SequenceStream>(layout, seed, std::move(set));
}

std::int64_t generated_pass(std::int64_t steps, Split split) {
  if (steps == 0 || split == Split::train) return steps;
  return std::max<std::int64_t>(1, steps / 4);
}

void describe_generated_stream(std::int64_t& steps, int& history, OptionList& list) {
  list.add("steps", steps, "steps of a row in one epoch (an evaluation takes a quarter of them); 0: endless",
           between(0, 1e12));
  list.add("history", history, "how many steps before a window a learner can look back on", between(0, 1e7));
}

}  // namespace throughtime
