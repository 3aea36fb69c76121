#include "train/predict/row_source.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <span>

#include "data/arrays/wav.h"
#include "data/tables/csv_records.h"
#include "data/tables/fields.h"
#include "tasks/series/series_table.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/predict/field_number.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "predict";

class CsvRows final : public RowSource {
 public:
  CsvRows(const WantedColumns& wanted, const std::string& path, const LineOptions& options)
      : path_(path),
        stream_(ByteStream::open(path)),
        records_(*stream_, options.delimiter, EmptyLine::record),
        delimiter_(options.delimiter) {
    while (early_.empty() && keep_row())
      if (early_.front().fields.empty()) early_.clear();  // nothing has begun yet
    if (early_.empty()) return;
    keep_row();
    width_ = early_.front().fields.size();
    line_ = early_.front().line;
    at_line([&] { find_columns(wanted, options.header); });
  }

  StepKind next(std::vector<double>& numbers) override {
    if (early_.empty()) {
      if (!records_.next(fields_)) return StepKind::end;
      line_ = records_.line();
    } else {
      kept_ = std::move(early_.front());
      early_.pop_front();
      fields_.assign(kept_.fields.begin(), kept_.fields.end());
      line_ = kept_.line;
    }
    if (fields_.empty()) return StepKind::new_sequence;
    at_line([&] { read_numbers(numbers); });
    return StepKind::step;
  }

  std::uint64_t line() const override { return line_; }
  std::string where(std::uint64_t line) const override { return fmt::format("{}, line {}", path_, line); }

 private:
  struct Row {
    std::vector<std::string> fields;
    std::uint64_t line = 0;
  };

  bool keep_row() {
    if (!records_.next(fields_)) return false;
    early_.push_back({{fields_.begin(), fields_.end()}, records_.line()});
    return true;
  }

  /// Says where what is refused stands.
  template <class Read>
  void at_line(Read read) const {
    try {
      read();
    } catch (const InvalidInput& error) {
      const std::string_view text = error.what();
      refuse(speaker, "{}: {}", where(line_), text.substr(text.find(' ') + 1));
    }
  }

  void find_columns(const WantedColumns& wanted, HeaderLine header) {
    std::vector<std::string> names;
    for (const std::string& field : early_.front().fields) names.emplace_back(trimmed(field));
    if (header == HeaderLine::yes || (header == HeaderLine::automatic && first_is_header(wanted, names))) {
      found_ = find_named(wanted, names, delimiter_);
      early_.pop_front();
      return;
    }
    std::optional<FoundColumns> found = find_numbered(wanted, width_);
    if (!found)
      refuse(speaker, "{} field{}, and no first line that names them; the model reads {}{}", width_,
             width_ == 1 ? "" : "s", fmt::join(wanted.needed(), ", "),
             width_ == 1 ? delimiter_hint(names.front(), delimiter_) : "");
    found_ = std::move(*found);
  }

  /// As training decides it, and by the names that the model knows.
  bool first_is_header(const WantedColumns& wanted, const std::vector<std::string>& names) const {
    const auto views = [](const std::vector<std::string>& texts) {
      return std::vector<std::string_view>(texts.begin(), texts.end());
    };
    const std::vector<std::string> second = early_.size() > 1 ? early_[1].fields : std::vector<std::string>();
    const std::vector<std::string> needed = wanted.needed();
    return names_columns(views(names), views(second)) || std::ranges::any_of(names, [&](const std::string& name) {
             return !number_of(name) && std::ranges::find(needed, name) != needed.end();
           });
  }

  void read_numbers(std::vector<double>& numbers) const {
    if (fields_.size() != width_)
      refuse(speaker, "the row has {} field{} instead of {}", fields_.size(), fields_.size() == 1 ? "" : "s", width_);
    numbers.clear();
    for (const std::size_t place : found_.places) numbers.push_back(field_number(trimmed(fields_[place]), delimiter_));
  }

  std::string path_;
  std::unique_ptr<ByteStream> stream_;
  CsvRecords records_;
  char delimiter_;
  std::deque<Row> early_;  // rows that were read to find the columns
  Row kept_;
  std::vector<std::string_view> fields_;  // of the row
  std::size_t width_ = 0;
  std::uint64_t line_ = 0;
};

FoundColumns columns_of_array(const WantedColumns& wanted, std::size_t columns, const std::string& path) {
  std::optional<FoundColumns> found = find_numbered(wanted, columns);
  if (!found)
    refuse(speaker, "{} has {} column{}, the model reads {}", path, columns, columns == 1 ? "" : "s",
           wanted.own.empty() ? fmt::format("{}", wanted.own_count)
                              : fmt::format("{}: {}", wanted.own_count, fmt::join(wanted.needed(), ", ")));
  return std::move(*found);
}

void put(std::span<const float> row, const std::vector<std::size_t>& places, std::vector<double>& numbers) {
  numbers.clear();
  for (const std::size_t place : places) numbers.push_back(row[place]);
}

class ArrayRows final : public RowSource {
 public:
  ArrayRows(const WantedColumns& wanted, const std::string& path, const SeriesConfig& config)
      : path_(path), table_(read_series(path, config, {})) {
    found_ = columns_of_array(wanted, table_.columns.size(), path);
  }

  std::optional<std::uint64_t> rows() const override { return table_.rows; }
  std::string where(std::uint64_t /*line*/) const override { return path_; }
  StepKind next(std::vector<double>& numbers) override {
    if (row_ == table_.rows) return StepKind::end;
    const std::size_t width = table_.columns.size();
    put(std::span(table_.values).subspan(row_++ * width, width), found_.places, numbers);
    return StepKind::step;
  }

 private:
  std::string path_;
  SeriesTable table_;
  std::size_t row_ = 0;
};

class AudioRows final : public RowSource {
 public:
  AudioRows(const WantedColumns& wanted, const std::string& path) : stream_(ByteStream::open(path)), wav_(*stream_) {
    found_ = columns_of_array(wanted, elements(wav_.channels()), path);
  }

  int rate() const override { return wav_.rate(); }
  std::optional<std::uint64_t> rows() const override { return wav_.frames(); }
  StepKind next(std::vector<double>& numbers) override {
    const std::size_t width = elements(wav_.channels());
    if (at_ == block_.size()) {
      block_ = wav_.read(block_frames);
      at_ = 0;
      if (block_.empty()) return StepKind::end;
    }
    put(std::span(block_).subspan(at_, width), found_.places, numbers);
    at_ += width;
    return StepKind::step;
  }

 private:
  static constexpr std::size_t block_frames = 1 << 14;
  std::unique_ptr<ByteStream> stream_;
  WavReader wav_;
  std::vector<float> block_;  // [frames, channels]
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> csv_rows(const WantedColumns& wanted, const std::string& path, const LineOptions& options) {
  return std::make_unique<CsvRows>(wanted, path, options);
}

std::unique_ptr<RowSource> array_rows(const WantedColumns& wanted, const std::string& path,
                                      const SeriesConfig& config) {
  return std::make_unique<ArrayRows>(wanted, path, config);
}

std::unique_ptr<RowSource> audio_rows(const WantedColumns& wanted, const std::string& path) {
  return std::make_unique<AudioRows>(wanted, path);
}

}  // namespace throughtime
