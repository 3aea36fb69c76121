#include "throughtime/arrays.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tasks/arrays/array_files.h"
#include "tasks/batches.h"
#include "tasks/series/columns.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "arrays";

const ArrayPart& part_of(const ArrayData& data, Split split) { return data.parts[static_cast<std::size_t>(split)]; }

/// The part that a baseline is judged on: the test's where there is one.
const ArrayPart& judged_part(const ArrayData& data) {
  for (const Split split : {Split::test, Split::validation})
    if (!part_of(data, split).sequences.empty()) return part_of(data, split);
  return part_of(data, Split::train);
}

/// What does not depend on how sequences are laid out.
InputConfig input_of(const ArrayData& data) { return {.reals = data.reals, .vocabulary = data.vocabulary}; }
HeadConfig head_of(const ArrayData& data) {
  return {.name = data.labels ? "softmax" : "regression", .outputs = data.outputs};
}
std::vector<Metric> metrics_of(const ArrayData& data) {
  if (data.labels) return {Metric::accuracy, Metric::cross_entropy};
  return {Metric::mse};
}
std::string baseline_text_of(const ArrayData& data) { return data.labels ? "the most frequent class" : "the mean"; }

double share_of_most_frequent(const ArrayData& data) {
  std::vector<std::int64_t> counts(elements(data.outputs));
  for (const Source& source : part_of(data, Split::train).sequences)
    for (const std::int32_t label : source.labels) ++counts[elements(label)];
  const auto favourite = static_cast<std::int32_t>(std::ranges::max_element(counts) - counts.begin());
  double right = 0, all = 0;
  for (const Source& source : judged_part(data).sequences) {
    right += static_cast<double>(std::ranges::count(source.labels, favourite));
    all += static_cast<double>(source.labels.size());
  }
  return right / all;
}

double error_of_mean(const ArrayData& data) {
  const std::size_t width = elements(data.outputs);
  std::vector<double> mean(width);
  double rows = 0;
  for (const Source& source : part_of(data, Split::train).sequences) {
    for (std::size_t i = 0; i < source.target_values.size(); ++i) mean[i % width] += source.target_values[i];
    rows += static_cast<double>(source.target_values.size() / width);
  }
  for (double& each : mean) each /= rows;
  double sum = 0, count = 0;
  for (const Source& source : judged_part(data).sequences) {
    for (std::size_t i = 0; i < source.target_values.size(); ++i)
      sum += std::pow(source.target_values[i] - mean[i % width], 2);
    count += static_cast<double>(source.target_values.size());
  }
  return sum / count;
}

double baseline_of(const ArrayData& data) { return data.labels ? share_of_most_frequent(data) : error_of_mean(data); }

/// One recording for each part, read in columns.
class RecordingTask final : public ColumnTask {
 public:
  RecordingTask(std::shared_ptr<const ArrayData> data, int window, std::uint64_t seed)
      : ColumnTask(speaker, seed, {.window = window, .evaluation_columns = 1}),
        data_(std::move(data)),
        baseline_(baseline_of(*data_)) {
    for (const Split split : {Split::train, Split::validation, Split::test})
      if (!part_of(*data_, split).sequences.empty()) source(split) = part_of(*data_, split).sequences.front();
  }

  InputConfig input() const override { return input_of(*data_); }
  HeadConfig head() const override { return head_of(*data_); }
  std::vector<Metric> metrics() const override { return metrics_of(*data_); }
  double baseline() const override { return baseline_; }
  std::string baseline_text() const override { return baseline_text_of(*data_); }
  void save(const std::string& directory) const override { write_arrays(*data_, directory); }

  const Window& make_batch(Split split, std::uint64_t iteration, int batch) override {
    const Window& window = ColumnTask::make_batch(split, iteration, batch);
    const ArrayPart& part = part_of(*data_, split);
    if (part.weights.empty()) return window;
    weighted_ = window;
    for (int step = 0; step < window.steps; ++step)
      for (int row = 0; row < batch; ++row)
        weighted_.weight[elements(step, batch) + elements(row)] =
            part.weights.front()[elements(window.start[elements(row)] + step)];
    return weighted_;
  }

 private:
  std::shared_ptr<const ArrayData> data_;
  double baseline_;
  Window weighted_;
};

/// Sequences of any lengths, one per row. A batch is as long as the longest sequence of its split; shorter ones are
/// aligned at its end, and what lies before them is padding.
class RaggedTask final : public Task {
 public:
  RaggedTask(std::shared_ptr<const ArrayData> data, std::uint64_t seed)
      : data_(std::move(data)), seed_(seed), random_(seed, Purpose::shuffle), baseline_(baseline_of(*data_)) {
    for (std::size_t part = 0; part < sources_.size(); ++part) {
      sources_[part] = data_->parts[part].sequences;
      if (!data_->one_target) continue;
      for (Source& source : sources_[part]) {  // a window has the targets of its rows
        source.labels = {};
        source.target_values = {};
        source.target_width = 0;
      }
    }
  }

  InputConfig input() const override { return input_of(*data_); }
  HeadConfig head() const override { return head_of(*data_); }
  int steps() const override { return longest(Split::train); }
  int loss_steps() const override { return terminal() ? 1 : steps(); }
  bool terminal() const override { return data_->one_target; }
  std::int64_t examples() const override { return count(Split::train); }
  std::vector<Metric> metrics() const override { return metrics_of(*data_); }
  double baseline() const override { return baseline_; }
  std::string baseline_text() const override { return baseline_text_of(*data_); }
  void save(const std::string& directory) const override { write_arrays(*data_, directory); }
  bool has(Split split) const override { return count(split) > 0; }
  std::int64_t batches(Split split, int batch) const override { return (count(split) + batch - 1) / batch; }
  std::int64_t row_steps(int) const override { return steps(); }

  const Window& make_batch(Split split, std::uint64_t iteration, int batch) override {
    require_rows(speaker, batch);
    if (!has(split)) refuse(speaker, "there are no sequences in the {} part", split_name(split));
    resize(batch_, split, batch, longest(split));
    batch_.window.example.resize(elements(batch));
    for (int row = 0; row < batch; ++row) {
      const std::int64_t number = number_of(split, iteration, row, batch);
      batch_.window.example[elements(row)] = number;
      const Source& shown = part_of(*data_, split).sequences[elements(std::max<std::int64_t>(0, number))];
      const auto last = static_cast<std::int64_t>(shown.steps) - 1;
      aim(batch_, split, row, std::max<std::int64_t>(0, number), last);
      if (number >= 0) weigh(split, row, number);
    }
    batch_.window.mask_key = batch_mask_key(seed_, split, iteration);
    return batch_.window;
  }

  const Window& make_positions(std::uint64_t draw, int, int rows, int steps) override {
    require_rows(speaker, rows);
    require_long_data(speaker, steps, row_steps(rows));
    const Random random(seed_, Purpose::positions);
    resize(places_, Split::train, rows, steps);
    for (int row = 0; row < rows; ++row) {
      const auto sequence = static_cast<std::uint32_t>(row);
      const auto number = random.below(static_cast<std::uint64_t>(examples()), draw, sequence, 0);
      const std::size_t length = part_of(*data_, Split::train).sequences[number].steps;
      const std::size_t last = terminal() ? length - 1 : random.below(length, draw, sequence, 1);
      aim(places_, Split::train, row, static_cast<std::int64_t>(number), static_cast<std::int64_t>(last));
    }
    std::fill(places_.window.weight.end() - rows, places_.window.weight.end(), 1.0f);
    places_.window.mask_key = positions_mask_key(seed_, draw);
    return places_.window;
  }

 private:
  struct Store {
    Window window;
    std::vector<std::int32_t> labels;  // [B], of one target
    std::vector<float> targets;        // [B, outputs], likewise
  };

  std::int64_t count(Split split) const { return static_cast<std::int64_t>(part_of(*data_, split).sequences.size()); }
  int longest(Split split) const {
    std::size_t longest = 0;
    for (const Source& source : part_of(*data_, split).sequences) longest = std::max(longest, source.steps);
    return static_cast<int>(longest);
  }

  void resize(Store& store, Split split, int batch, int steps) const {
    Window& window = store.window;
    const auto rows = elements(batch);
    window.steps = steps;
    window.batch = batch;
    window.sources = sources_[static_cast<std::size_t>(split)];
    window.source.resize(rows);
    window.start.resize(rows);
    window.weight.assign(elements(steps, batch), 0.0f);
    window.flags.assign(window.weight.size(), StepFlag::go_on);
    if (!data_->one_target) return;
    store.labels.resize(data_->labels ? rows : 0);
    store.targets.resize(data_->labels ? 0 : rows * elements(data_->outputs));
    window.targets.layout = TargetLayout::per_row;
    window.targets.width = data_->labels ? 0 : data_->outputs;
    window.targets.labels = store.labels;
    window.targets.values = store.targets;
  }

  /// Row `row` shows a sequence up to its step `last`, at the window's end.
  void aim(Store& store, Split split, int row, std::int64_t number, std::int64_t last) const {
    Window& window = store.window;
    const auto r = elements(row), outputs = elements(data_->outputs);
    const Source& source = part_of(*data_, split).sequences[elements(number)];
    window.source[r] = static_cast<std::int32_t>(number);
    window.start[r] = last + 1 - window.steps;
    if (last < window.steps) window.flags[elements(window.steps - 1 - last, window.batch) + r] = StepFlag::reset;
    if (!data_->one_target) return;
    if (data_->labels)
      store.labels[r] = source.labels.front();
    else
      std::copy_n(source.target_values.begin(), outputs,
                  store.targets.begin() + static_cast<std::ptrdiff_t>(r * outputs));
  }

  void weigh(Split split, int row, std::int64_t number) {
    Window& window = batch_.window;
    const ArrayPart& part = part_of(*data_, split);
    const auto length = static_cast<int>(part.sequences[elements(number)].steps);
    for (int step = data_->one_target ? length - 1 : 0; step < length; ++step)
      window.weight[elements(window.steps - length + step, window.batch) + elements(row)] =
          part.weights.empty() ? 1.0f : part.weights[elements(number)][elements(step)];
  }

  /// The sequence of a row; -1: none, the last batch has fewer than rows. Training shows them in another order in every
  /// pass.
  std::int64_t number_of(Split split, std::uint64_t iteration, int row, int rows) {
    const auto pass = static_cast<std::uint64_t>(batches(split, rows));
    const auto index = static_cast<std::int64_t>(iteration % pass) * rows + row;
    if (index >= count(split)) return -1;
    if (split != Split::train) return index;
    shuffle(iteration / pass);
    return order_[elements(index)];
  }

  void shuffle(std::uint64_t pass) {
    if (!order_.empty() && shuffled_ == pass) return;
    order_.resize(elements(count(Split::train)));
    std::iota(order_.begin(), order_.end(), 0u);
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i, pass, 0, i)]);
    shuffled_ = pass;
  }

  std::shared_ptr<const ArrayData> data_;
  std::uint64_t seed_;
  Random random_;
  double baseline_;
  std::array<std::vector<Source>, 3> sources_;  // what windows read
  std::vector<std::uint32_t> order_;            // of pass `shuffled_`
  std::uint64_t shuffled_ = 0;
  Store batch_, places_;
};

/// Checks one sequence; `where` says which.
class SequenceCheck {
 public:
  SequenceCheck(const ArrayData& data, const Source& source, std::string where)
      : data_(data), source_(source), where_(std::move(where)) {}

  void run(std::span<const float> weights) const {
    if (source_.steps == 0) refuse(speaker, "{} has no steps", where_);
    require_size("inputs", source_.values.size(), source_.steps * elements(data_.reals));
    require_size("tokens", source_.tokens.size(), data_.vocabulary > 0 ? source_.steps : 0);
    const std::size_t targets = data_.one_target ? 1 : source_.steps;
    require_size("labels", source_.labels.size(), data_.labels ? targets : 0);
    require_size("target values", source_.target_values.size(), data_.labels ? 0 : targets * elements(data_.outputs));
    require_finite("inputs", source_.values, data_.reals);
    require_finite("targets", source_.target_values, data_.outputs);
    require_below("a token", source_.tokens, data_.vocabulary);
    require_below("a label", source_.labels, data_.outputs);
    for (std::size_t step = 0; step < weights.size(); ++step)
      if (!(weights[step] >= 0) || !std::isfinite(weights[step]))
        refuse(speaker, "{}: a weight must be finite and at least 0, got {} at step {}", where_, weights[step], step);
  }

 private:
  void require_size(const char* what, std::size_t size, std::size_t wanted) const {
    if (size != wanted) refuse(speaker, "{} must have {} {}, got {}", where_, wanted, what, size);
  }
  void require_finite(const char* what, std::span<const float> values, int width) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]))
        refuse(speaker, "{}: {} must be finite numbers, got {} at step {}, column {}", where_, what, values[i],
               i / elements(width), i % elements(width));
  }
  void require_below(const char* what, std::span<const std::int32_t> numbers, int bound) const {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] < 0 || numbers[i] >= bound)
        refuse(speaker, "{}: {} must be between 0 and {}, got {} at step {}", where_, what, bound - 1, numbers[i], i);
  }

  const ArrayData& data_;
  const Source& source_;
  std::string where_;
};

void validate_part(const ArrayData& data, Split split) {
  const ArrayPart& part = part_of(data, split);
  const std::string name = split_name(split);
  if (data.recording && part.sequences.size() > 1)
    refuse(speaker, "the {} part must be one recording, got {}", name, part.sequences.size());
  if (!part.weights.empty() && part.weights.size() != part.sequences.size())
    refuse(speaker, "the {} part has weights for {} of its {} sequences", name, part.weights.size(),
           part.sequences.size());
  double sum = 0;
  for (std::size_t i = 0; i < part.sequences.size(); ++i) {
    const std::span<const float> weights = part.weights.empty() ? std::span<const float>() : part.weights[i];
    if (!part.weights.empty() && weights.size() != part.sequences[i].steps)
      refuse(speaker, "sequence {} of the {} part must have {} weights, got {}", i, name, part.sequences[i].steps,
             weights.size());
    SequenceCheck(data, part.sequences[i], fmt::format("sequence {} of the {} part", i, name)).run(weights);
    const std::size_t first = data.one_target && !weights.empty() ? weights.size() - 1 : 0;
    sum = std::accumulate(weights.begin() + static_cast<std::ptrdiff_t>(first), weights.end(), sum);
  }
  if (!part.weights.empty() && !(sum > 0)) refuse(speaker, "every weight of the {} part is zero", name);
}

}  // namespace

void validate(const ArrayData& data) {
  if (data.reals < 1 && data.vocabulary < 1) refuse(speaker, "a step must have numbers or a token");
  require_range(speaker, "outputs", data.outputs, 1, 1 << 24);
  if (part_of(data, Split::train).sequences.empty()) refuse(speaker, "there are no sequences to train on");
  if (data.recording && data.one_target) refuse(speaker, "a recording has a target for each step, not one for all");
  for (const Split split : {Split::train, Split::validation, Split::test}) validate_part(data, split);
}

void describe(ArraysConfig& config, OptionList& list) {
  list.add("path", config.path,
           "a directory of NumPy's files: train_inputs.npy, train_targets.npy or train_labels.npy, ... "
           "(docs/tasks.md)");
  list.add("length", config.length, "for one long recording: steps of a window", between(1, 1e7));
  list.add("classes", config.classes, "number of classes; 0: the targets are numbers", between(0, 1 << 24));
  list.add("vocabulary", config.vocabulary, "number of different tokens; 0: the inputs have no tokens",
           between(0, 1 << 24));
}

std::unique_ptr<Task> make_task(const ArraysConfig& config, std::uint64_t seed) {
  if (!config.memory && config.path.empty())
    refuse(speaker, "there is no data: set task.arrays.path to a directory of .npy files");
  std::shared_ptr<const ArrayData> data = config.memory ? config.memory : read_arrays(config);
  validate(*data);
  if (data->recording) return std::make_unique<RecordingTask>(std::move(data), config.length, seed);
  return std::make_unique<RaggedTask>(std::move(data), seed);
}

}  // namespace throughtime
