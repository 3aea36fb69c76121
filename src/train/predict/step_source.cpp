#include "train/predict/step_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <streambuf>
#include <utility>

#include "core/files.h"
#include "data/tables/fields.h"
#include "data/tables/point_process.h"
#include "data/text/text.h"
#include "tasks/events/event_inputs.h"
#include "tasks/series/series_table.h"
#include "tasks/shared_options.h"
#include "tasks/text/text_options.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/predict/series_steps.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "predict";

/// A name that is the number of a column.
bool is_column_number(const std::string& name) {
  std::size_t number = 0;
  return reads_as(name, number);
}

bool is_series(const RunConfig& config) { return config.task.name == "series"; }

/// The bytes of a file, unpacked, for those who read lines.
class StreamBuffer final : public std::streambuf {
 public:
  explicit StreamBuffer(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

 private:
  int_type underflow() override {
    const std::size_t count = stream_->read(std::as_writable_bytes(std::span(block_)));
    setg(block_.data(), block_.data(), block_.data() + count);
    return count == 0 ? traits_type::eof() : traits_type::to_int_type(block_.front());
  }

  std::unique_ptr<ByteStream> stream_;
  std::array<char, 1 << 16> block_;
};

class LineSteps final : public StepSource {
 public:
  LineSteps(const Predictor& predictor, std::istream& lines, const LineOptions& options)
      : lines_(lines), reader_(predictor, options) {}
  LineSteps(const Predictor& predictor, const std::string& path, const LineOptions& options)
      : file_(std::make_unique<StreamBuffer>(ByteStream::open(path))),
        file_lines_(file_.get()),
        lines_(file_lines_),
        reader_(predictor, options) {
    lines_.exceptions(std::ios::badbit);  // hands on what the file's reader throws
  }

  StepKind next(Step& step) override {
    while (std::getline(lines_, line_)) {
      if (std::exchange(first_, false) && line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);
      if (!line_.empty() && line_.back() == '\r') line_.pop_back();
      if (line_.empty()) {
        reader_.skip();
        return StepKind::new_sequence;
      }
      if (reader_.read(line_, step)) return StepKind::step;
    }
    if (lines_.bad()) fail(speaker, "cannot read all of the input: {}", std::strerror(errno));
    return StepKind::end;
  }

 private:
  std::unique_ptr<StreamBuffer> file_;
  std::istream file_lines_{nullptr};
  std::istream& lines_;
  StepReader reader_;
  std::string line_;
  bool first_ = true;
};

/// The tokens of a running text.
class TextSteps final : public StepSource {
 public:
  TextSteps(const Predictor& predictor, const std::string& path, const TextOptions& options) {
    if (predictor.vocabulary() == nullptr)
      refuse(speaker, "the run has no vocabulary: {} cannot be read as text", path);
    tokens_ = encode_text(path, options, *predictor.vocabulary());
  }

  StepKind next(Step& step) override {
    if (at_ == tokens_.size()) return StepKind::end;
    step = {.token = tokens_[at_++]};
    return StepKind::step;
  }

 private:
  std::vector<std::int32_t> tokens_;
  std::size_t at_ = 0;
};

/// The events of a table.
class EventSteps final : public StepSource {
 public:
  EventSteps(const Predictor& predictor, const std::string& path, const PointProcessConfig& config)
      : scale_(config.scale), resets_(config.reset_sequences) {
    if (predictor.vocabulary() == nullptr || predictor.reals() != 2)
      refuse(speaker, "{} holds events; they are for runs of task.name = \"point_process\"", path);
    Vocabulary marks = *predictor.vocabulary();
    events_ = read_event_table(*ByteStream::open(path), marks, delimiter_of("point_process", config.delimiter));
  }

  StepKind next(Step& step) override {
    if (event_ == events_.times.size()) return StepKind::end;
    const bool first = event_ == events_.begins[sequence_];
    if (first && resets_ && event_ > 0 && !std::exchange(announced_, true)) return StepKind::new_sequence;
    const std::array<float, 2> inputs = event_inputs(events_, event_, first, scale_);
    step = {.token = events_.marks[event_], .reals = {inputs.begin(), inputs.end()}, .time = events_.times[event_]};
    announced_ = false;
    if (++event_ == events_.begins[sequence_ + 1]) ++sequence_;
    return StepKind::step;
  }

 private:
  double scale_;
  bool resets_;
  EventSequences events_;
  std::size_t event_ = 0, sequence_ = 0;
  bool announced_ = false;  // that a sequence begins
};

/// What is read of a recording, as the task of the run reads it.
SeriesLayout layout_of(const RunConfig& config, const Predictor& predictor) {
  SeriesLayout layout;
  const SeriesConfig& series = config.task.series;
  if (is_series(config)) {
    layout.wanted.known = series.known;
    layout.wanted.numbered = !series.inputs.empty() || std::ranges::any_of(series.known, is_column_number);
    layout.missing = series.missing;
    std::ranges::copy_if(series.horizon, std::back_inserter(layout.ahead), [](int steps) { return steps > 0; });
  }
  layout.wanted.own_count = elements(predictor.reals()) - series.known.size() * layout.ahead.size();
  layout.wanted.own = predictor.input_names();  // the known ones as they are later stand behind the others
  if (!layout.wanted.own.empty()) layout.wanted.own.resize(layout.wanted.own_count);
  layout.wanted.levels = predictor.missing_levels();
  if (predictor.names().scales) layout.rate = predictor.names().scales->rate;
  return layout;
}

bool holds_numbers(StepFormat format) {
  return format == StepFormat::npy || format == StepFormat::wav || format == StepFormat::raw;
}

}  // namespace

const std::vector<std::string>& StepSource::levels() const {
  static const std::vector<std::string> none;
  return none;
}

StepFormat step_format_of(const RunConfig& config, const std::string& path) {
  const std::string ending = data_ending_of(path);
  if (ending == ".jsonl" || ending == ".ndjson") return StepFormat::jsonl;
  if (ending == ".npy" || ending == ".npz") return StepFormat::npy;
  if (ending == ".wav") return StepFormat::wav;
  if (ending == ".f32" || ending == ".raw" || ending == ".bin") return StepFormat::raw;
  if (config.task.name == "text") return StepFormat::text;
  if (config.task.name == "point_process") return StepFormat::events;
  return StepFormat::csv;
}

std::unique_ptr<StepSource> line_steps(const Predictor& predictor, std::istream& lines, const LineOptions& options) {
  return std::make_unique<LineSteps>(predictor, lines, options);
}

LineOptions line_options(const RunConfig& config, StepFormat format) {
  const SeriesConfig& series = config.task.series;
  LineOptions lines{.format = format == StepFormat::jsonl ? LineFormat::jsonl : LineFormat::csv,
                    .delimiter = delimiter_of("series", series.delimiter)};
  if (!is_series(config)) return lines;
  lines.header = series.header;
  lines.numbered = !series.inputs.empty();
  lines.missing = series.missing;
  lines.known = series.known;
  return lines;
}

std::unique_ptr<StepSource> open_steps(const RunConfig& config, const Predictor& predictor, const std::string& path,
                                       StepFormat format) {
  const std::string file = npz_file_of(path);
  if (const std::string trouble = file_trouble(file); !trouble.empty())
    refuse(speaker, "cannot read {}: {}", file, trouble);
  if (holds_numbers(format) && predictor.reads_tokens())
    refuse(speaker, "{} holds numbers, and the model reads tokens: give it text, or one token per line", path);
  const SeriesLayout layout = layout_of(config, predictor);
  const auto recorded = [&](std::unique_ptr<RowSource> rows) -> std::unique_ptr<StepSource> {
    return std::make_unique<SeriesSteps>(std::move(rows), layout);
  };
  LineOptions lines = line_options(config, format);
  if (data_ending_of(path) == ".tsv") lines.delimiter = '\t';
  switch (format) {
    case StepFormat::csv:
      if (is_series(config)) return recorded(csv_rows(layout.wanted, path, lines));
      break;
    case StepFormat::jsonl:
      break;
    case StepFormat::text:
      return std::make_unique<TextSteps>(predictor, path, text_options(config.task.text));
    case StepFormat::wav:
      return recorded(audio_rows(layout.wanted, path));
    case StepFormat::npy:
    case StepFormat::raw:
      return recorded(array_rows(layout.wanted, path, config.task.series));
    case StepFormat::events:
      return std::make_unique<EventSteps>(predictor, path, config.task.point_process);
  }
  return std::make_unique<LineSteps>(predictor, path, lines);
}

}  // namespace throughtime
