#include "train/predict/step_source.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <streambuf>
#include <utility>

#include "core/files.h"
#include "data/arrays/wav.h"
#include "data/tables/point_process.h"
#include "data/text/text.h"
#include "tasks/events/event_inputs.h"
#include "tasks/series/series_table.h"
#include "tasks/shared_options.h"
#include "tasks/text/text_options.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "predict";

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

/// The columns of a table that a model reads: by name, by number, or all of them where they are as many.
std::vector<std::size_t> input_columns(const Predictor& predictor, std::size_t columns, const std::string& path) {
  std::vector<std::size_t> chosen;
  const std::vector<std::string>& names = predictor.input_names();
  for (std::size_t column = 0; columns == elements(predictor.reals()) && column < columns; ++column)
    chosen.push_back(column);
  if (!chosen.empty()) return chosen;
  for (const std::string& name : names) {
    const bool number = !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == std::string::npos;
    if (number && std::stoul(name) < columns) chosen.push_back(std::stoul(name));
  }
  if (chosen.empty() || chosen.size() < names.size())
    refuse(speaker, "{} has {} column{}, the model reads {}", path, columns, columns == 1 ? "" : "s",
           predictor.reals());
  return chosen;
}

void put(std::span<const float> row, const std::vector<std::size_t>& columns, Step& step) {
  step = {};
  for (const std::size_t column : columns) step.reals.push_back(row[column]);
}

/// The rows of a file that is read whole.
class TableSteps final : public StepSource {
 public:
  TableSteps(const Predictor& predictor, const std::string& path, const SeriesConfig& config)
      : table_(read_series(path, config, {})), columns_(input_columns(predictor, table_.columns.size(), path)) {}

  StepKind next(Step& step) override {
    if (row_ == table_.rows) return StepKind::end;
    const std::size_t width = table_.columns.size();
    put(std::span(table_.values).subspan(row_++ * width, width), columns_, step);
    return StepKind::step;
  }

 private:
  SeriesTable table_;
  std::vector<std::size_t> columns_;
  std::size_t row_ = 0;
};

/// The frames of a recording, a block of them in memory at a time.
class AudioSteps final : public StepSource {
 public:
  AudioSteps(const Predictor& predictor, const std::string& path)
      : stream_(ByteStream::open(path)),
        wav_(*stream_),
        columns_(input_columns(predictor, elements(wav_.channels()), path)) {}

  int rate() const override { return wav_.rate(); }
  std::optional<std::uint64_t> steps() const override { return wav_.frames(); }
  StepKind next(Step& step) override {
    const std::size_t width = elements(wav_.channels());
    if (at_ == block_.size()) {
      block_ = wav_.read(block_frames);
      at_ = 0;
      if (block_.empty()) return StepKind::end;
    }
    put(std::span(block_).subspan(at_, width), columns_, step);
    at_ += width;
    return StepKind::step;
  }

 private:
  static constexpr std::size_t block_frames = 1 << 14;
  std::unique_ptr<ByteStream> stream_;
  WavReader wav_;
  std::vector<std::size_t> columns_;
  std::vector<float> block_;  // [frames, channels]
  std::size_t at_ = 0;
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

bool holds_numbers(StepFormat format) {
  return format == StepFormat::npy || format == StepFormat::wav || format == StepFormat::raw;
}

}  // namespace

StepFormat step_format_of(const RunConfig& config, const std::string& path, StepFormat fallback) {
  const std::string ending = data_ending_of(path);
  if (ending == ".jsonl" || ending == ".ndjson") return StepFormat::jsonl;
  if (ending == ".npy" || ending == ".npz") return StepFormat::npy;
  if (ending == ".wav") return StepFormat::wav;
  if (ending == ".f32" || ending == ".raw" || ending == ".bin") return StepFormat::raw;
  if (config.task.name == "text") return StepFormat::text;
  if (config.task.name == "point_process") return StepFormat::events;
  return ending == ".csv" || ending == ".tsv" ? StepFormat::csv : fallback;
}

std::unique_ptr<StepSource> line_steps(const Predictor& predictor, std::istream& lines, const LineOptions& options) {
  return std::make_unique<LineSteps>(predictor, lines, options);
}

LineOptions line_options(const RunConfig& config, StepFormat format) {
  const bool series = config.task.name == "series";
  LineOptions lines{.format = format == StepFormat::jsonl ? LineFormat::jsonl : LineFormat::csv};
  if (series) lines.header = config.task.series.header;
  lines.numbered = series && !config.task.series.inputs.empty();
  if (series) lines.delimiter = delimiter_of("series", config.task.series.delimiter);
  return lines;
}

std::unique_ptr<StepSource> open_steps(const RunConfig& config, const Predictor& predictor, const std::string& path,
                                       StepFormat format) {
  const std::string file = npz_file_of(path);
  if (const std::string trouble = file_trouble(file); !trouble.empty())
    refuse(speaker, "cannot read {}: {}", file, trouble);
  if (holds_numbers(format) && predictor.reads_tokens())
    refuse(speaker, "{} holds numbers, and the model reads tokens: give it text, or one token per line", path);
  switch (format) {
    case StepFormat::csv:
    case StepFormat::jsonl:
      break;
    case StepFormat::text:
      return std::make_unique<TextSteps>(predictor, path, text_options(config.task.text));
    case StepFormat::wav:
      return std::make_unique<AudioSteps>(predictor, path);
    case StepFormat::npy:
    case StepFormat::raw:
      return std::make_unique<TableSteps>(predictor, path, config.task.series);
    case StepFormat::events:
      return std::make_unique<EventSteps>(predictor, path, config.task.point_process);
  }
  LineOptions lines = line_options(config, format);
  if (data_ending_of(path) == ".tsv") lines.delimiter = '\t';
  return std::make_unique<LineSteps>(predictor, path, lines);
}

}  // namespace throughtime
