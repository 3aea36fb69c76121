#include "data/tables/point_process.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/files.h"
#include "data/sets.h"
#include "tasks/events/event_inputs.h"
#include "tasks/events/point_scores.h"
#include "tasks/model_names.h"
#include "tasks/series/columns.h"
#include "tasks/shared_options.h"
#include "tasks/shares.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "point_process";
const std::vector<double> own_shares = {0.7, 0.1, 0.2};
constexpr int features = 2;  // beside the mark: 1 at the first event of a sequence, and the time since the last event

/// Where the events are: two files of lines each (book orders), or one table each.
struct EventFiles {
  bool lines = false;
  std::vector<std::string> paths;  // lines: times and marks of the training part, then of the other one
  std::size_t parts() const { return lines ? paths.size() / 2 : paths.size(); }
};

/// Options that these files give no meaning to.
void refuse_unread(const PointProcessConfig& config) {
  if (!config.splits.empty() && config.files.size() != 1)
    refuse(speaker, "task.point_process.splits cuts one file of your own; here {} are the parts",
           config.files.empty() ? "the book orders" : fmt::format("{} files", config.files.size()));
  if (config.fold != 1 && !config.files.empty())
    refuse(speaker, "task.point_process.fold is one of the book orders; here task.point_process.files names {}",
           config.files.front());
}

EventFiles files_of(const PointProcessConfig& config) {
  refuse_unread(config);
  EventFiles files{.lines = config.files.empty(), .paths = config.files};
  if (files.lines) {
    require_range(speaker, "task.point_process.fold", config.fold, 1, 5);
    const std::string directory = data_directory(config.data);
    for (const char* part : {"train", "test"})
      for (const char* kind : {"time", "event"})
        files.paths.push_back(
            require_data_file(directory, fmt::format("book_order/{}-{}-{}.txt", kind, config.fold, part)));
    return files;
  }
  if (files.paths.size() > 3)
    refuse(speaker,
           "task.point_process.files must name one file, two (train, test) or three (train, validation, test), got {}",
           files.paths.size());
  for (const std::string& path : files.paths)
    if (const std::string trouble = file_trouble(path); path != "-" && !trouble.empty())
      refuse(speaker, "cannot read {}: {}; task.point_process.files must name CSV files", path, trouble);
  return files;
}

int evaluation_columns_of(const PointProcessConfig& config) {
  if (config.evaluation_columns > 0) return config.evaluation_columns;
  return config.files.empty() ? 64 : 1;
}

/// What a model reads and is asked for: one row per event that has a next one in its sequence.
struct EventRows {
  std::vector<std::int32_t> marks, next_marks;  // [rows]
  std::vector<float> inputs;                    // [rows, features]
  std::vector<float> intervals;                 // [rows]: until the next event, scaled
  std::vector<std::uint8_t> first;              // [rows]: 1 = the first event of a sequence

  void add(const EventSequences& events, double scale);
};

float scaled(double interval, double scale) {
  const auto value = static_cast<float>(interval * scale);
  if (!std::isfinite(value))
    refuse(speaker, "an interval of {} times task.point_process.scale ({}) is no number that a 32-bit float can hold",
           interval, scale);
  return value;
}

void EventRows::add(const EventSequences& events, double scale) {
  for (std::size_t sequence = 0; sequence < events.sequences(); ++sequence) {
    const std::size_t begin = events.begins[sequence], end = events.begins[sequence + 1];
    for (std::size_t event = begin; event + 1 < end; ++event) {
      const float after = scaled(events.times[event + 1] - events.times[event], scale);
      first.push_back(event == begin);
      marks.push_back(events.marks[event]);
      next_marks.push_back(events.marks[event + 1]);
      const std::array<float, features> read = event_inputs(events, event, event == begin, scale);
      inputs.insert(inputs.end(), read.begin(), read.end());
      intervals.push_back(after);
    }
  }
}

/// Predict the mark and the time of the next event. Sequences are laid end to end and cut into columns.
class PointProcessTask final : public ColumnTask {
 public:
  PointProcessTask(const PointProcessConfig& config, std::uint64_t seed)
      : ColumnTask(std::string(speaker), seed,
                   {.window = config.length, .evaluation_columns = evaluation_columns_of(config)}),
        config_(config),
        files_(files_of(config)),
        delimiter_(delimiter_of(speaker, config.delimiter)),
        shares_(shares_of(speaker, config.splits, own_shares)) {
    if (!(config.scale > 0) || !std::isfinite(config.scale))
      refuse(speaker, "task.point_process.scale must be a positive number, got {}", config.scale);
    if (files_.lines) {
      for (const char* mark : {"1", "2"}) marks_.add(mark);
      marks_.freeze();
    }
    read();
  }

  InputConfig input() const override { return {.reals = features, .vocabulary = marks()}; }
  HeadConfig head() const override { return {.name = "point_process", .outputs = marks() + 2}; }
  std::vector<Metric> metrics() const override {
    std::vector<Metric> all = {Metric::nll, Metric::time_rmse, Metric::mark_error};
    if (config_.published_metric)
      all.insert(all.end(), {Metric::published_nll, Metric::published_time_rmse, Metric::published_mark_error});
    return all;
  }

  std::vector<std::string> notes() const override {
    if (marks() != 1 || marks_.token(0) != unmarked) return {};
    return {"the files have no column `mark`: all events are alike"};
  }

  double baseline() const override { return baselines(judged_split()).front(); }
  std::string baseline_text() const override {
    const std::vector<double> values = baselines(judged_split());
    return fmt::format("constant rate, frequencies of the marks; time_rmse {:.4g}, mark_error {:.4g}", values[1],
                       values[2]);
  }

  /// A constant rate and the frequencies of the marks, both of the training part (one event more of each mark, so that
  /// none is impossible).
  std::vector<double> baselines(Split split) const override {
    const Source& train = source(Split::train);
    std::vector<double> predictions(elements(marks()), 1.0);
    double duration = 0;
    for (const float interval : train.target_values) duration += interval;
    for (const std::int32_t mark : train.labels) predictions[mark] += 1;
    for (double& share : predictions) share /= static_cast<double>(train.steps) + marks();
    const double rate = static_cast<double>(train.steps) / duration;
    predictions.insert(predictions.end(), {std::log(rate), 0.0});

    const int batch = evaluation_batch(1);
    const std::int64_t length = column_steps(split, batch);
    const std::span<const float> intervals = source(split).target_values;
    const std::span<const std::int32_t> labels = source(split).labels;
    const auto place = [&](std::int64_t step, int row) { return elements(row * length + step); };
    double longest = 0;
    for (std::int64_t step = 0; config_.published_metric && step < length; ++step)
      for (int row = 0; row < batch; ++row) longest = std::max<double>(longest, intervals[place(step, row)]);
    PointScores scores(marks(), longest);
    for (std::int64_t step = 0; step < length; ++step)
      for (int row = 0; row < batch; ++row) {
        const std::size_t at = place(step, row);
        const double loss = rate * intervals[at] - std::log(rate) - std::log(predictions[labels[at]]);
        scores.add(step, 1.0, loss, predictions.data(), labels[at], intervals[at]);
      }
    std::vector<double> values;
    for (const Metric metric : metrics()) values.push_back(scores.score(metric));
    return values;
  }

  void save(const std::string& directory) const override { marks_.save(vocabulary_path(directory)); }
  void load(const std::string& directory) override {
    Vocabulary saved = Vocabulary::load(vocabulary_path(directory));
    if (saved == marks_) return;
    marks_ = std::move(saved);
    read();
  }

 private:
  int marks() const { return static_cast<int>(marks_.size()); }

  /// The training part first: its marks are those that the others may have.
  void read() {
    for (EventRows& rows : rows_) rows = {};
    for (std::size_t part = 0; part < files_.parts(); ++part) {
      rows_[part].add(read_part(part), config_.scale);
      marks_.freeze();
    }
    for (const Split split : {Split::train, Split::validation, Split::test}) use(split);
    double duration = 0;
    for (const float interval : source(Split::train).target_values) duration += interval;
    if (!(duration > 0))
      refuse(speaker, "{} has {} events to learn from and no time passes between them; a rate needs some",
             files_.paths.front(), source(Split::train).steps);
  }

  EventSequences read_part(std::size_t part) {
    if (!files_.lines) return read_event_table(*ByteStream::open(files_.paths[part]), marks_, delimiter_);
    return read_event_lines(*ByteStream::open(files_.paths[2 * part]), *ByteStream::open(files_.paths[2 * part + 1]),
                            marks_);
  }

  /// Three files are the three parts; of two, the second is halved into validation and test; one is cut by the shares.
  void use(Split split) {
    const auto index = static_cast<std::size_t>(split);
    const std::size_t parts = files_.parts();
    const EventRows& rows = rows_[std::min(index, parts - 1)];
    const auto count = static_cast<std::int64_t>(rows.marks.size());
    std::vector<std::int64_t> cuts = {0, 0, count / 2, count / 2 * 2};
    if (parts == 1) cuts = cut_by(shares_, count);
    const bool whole = parts == 3 || (parts == 2 && split == Split::train);
    const auto begin = elements(whole ? 0 : cuts[index]);
    const auto end = elements(whole ? count : cuts[index + 1]);
    Source& part = source(split);
    part.steps = end - begin;
    part.reals = features;
    part.target_width = 1;
    part.values = std::span(rows.inputs).subspan(begin * features, part.steps * features);
    part.tokens = std::span(rows.marks).subspan(begin, part.steps);
    part.labels = std::span(rows.next_marks).subspan(begin, part.steps);
    part.target_values = std::span(rows.intervals).subspan(begin, part.steps);
    if (config_.reset_sequences) resets(split) = std::span(rows.first).subspan(begin, part.steps);
  }

  PointProcessConfig config_;
  EventFiles files_;
  char delimiter_;
  std::vector<double> shares_;
  Vocabulary marks_;
  std::array<EventRows, 3> rows_;  // of each part
};

}  // namespace

std::array<float, features> event_inputs(const EventSequences& events, std::size_t event, bool first, double scale) {
  if (first) return {1.0f, 0.0f};
  return {0.0f, scaled(events.times[event] - events.times[event - 1], scale)};
}

void describe(PointProcessConfig& config, OptionList& list) {
  list.add("length", config.length, "steps of a window", between(1, 1e7));
  list.add("files", config.files,
           "train, validation and test file; train and test file; or one file, which `splits` cuts; none: the book "
           "orders of the paper");
  list.add("splits", config.splits, "one file: its shares for train, validation, test; none: 0.7 0.1 0.2",
           between(0, 1));
  list.add("delimiter", config.delimiter, "the character between the fields of a CSV file, or `tab`");
  list.add("fold", config.fold, "book orders: which of the five folds", between(1, 5));
  list.add("scale", config.scale, "all intervals are multiplied by this", above(0));
  list.add("reset_sequences", config.reset_sequences,
           "true: set the state to zero where a sequence starts; false: the state goes on, and only an input tells the "
           "model");
  list.add("published_metric", config.published_metric,
           "also report the biased metric of the adaptive TBPTT paper: losses of whole chunks of 100 steps, divided by "
           "all steps");
  list.add("evaluation_columns", config.evaluation_columns,
           "how many rows an evaluation cuts the data into, to read them side by side; 0: 64 for book orders, else 1",
           between(0, 65536));
}

std::unique_ptr<Task> make_task(const PointProcessConfig& config, std::uint64_t seed) {
  return std::make_unique<PointProcessTask>(config, seed);
}

ModelNames point_process_names(const std::string& directory, const Model& model) {
  return vocabulary_names(directory, model, {"log_intensity", "growth"});
}

}  // namespace throughtime
