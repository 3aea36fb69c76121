#include "data/tables/csv.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "core/names.h"
#include "data/printable.h"
#include "data/tables/csv_records.h"
#include "data/tables/fields.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "csv";
constexpr float nothing = std::numeric_limits<float>::quiet_NaN();

class TableReader {
 public:
  TableReader(ByteStream& stream, const CsvOptions& options) : records_(stream, options.delimiter), options_(options) {}

  CsvTable read() {
    read_first_rows();
    select_columns();
    for (const Row& row : early_) add_row(row);
    early_.clear();
    for (Row row; records_.next(row.fields);) {
      row.line = records_.line();
      add_row(row);
    }
    return finished();
  }

 private:
  using Fields = std::vector<std::string_view>;
  struct Row {
    Fields fields;
    std::uint64_t line = 0;
    std::vector<std::string> copies;  // what the fields of a row that is kept point to
  };

  /// Whether a column becomes part of the table, where the user named none.
  enum class Kind { undecided, number, text };
  struct Column {
    std::string name;
    Kind kind = Kind::undecided;
    std::uint64_t missing_line = 0;  // the first without a value while the column was undecided
    std::string why_text = "it has no value";
  };

  bool keep_row() {
    Row row;
    if (!records_.next(row.fields)) return false;
    row.line = records_.line();
    row.copies.assign(row.fields.begin(), row.fields.end());
    row.fields.assign(row.copies.begin(), row.copies.end());
    early_.push_back(std::move(row));
    return true;
  }

  /// Names the columns. Rows that were read to do so and hold data are left in early_.
  void read_first_rows() {
    if (!keep_row()) refuse_line(speaker, records_.name(), 1, "the file is empty");
    keep_row();
    has_header_ = options_.header == HeaderLine::yes ||
                  (options_.header == HeaderLine::automatic &&
                   names_columns(early_[0].fields, early_.size() > 1 ? early_[1].fields : Fields()));
    const Row& first = early_.front();
    for (std::size_t i = 0; i < first.fields.size(); ++i)
      columns_.push_back({has_header_ ? std::string(trimmed(first.fields[i])) : std::to_string(i)});
    if (has_header_) early_.erase(early_.begin());
    if (early_.empty()) refuse_line(speaker, records_.name(), 1, "there is a header, but no row follows it");
  }

  /// The column of that number; as many as there are where `name` is none.
  std::size_t numbered(const std::string& name) const {
    const bool digits = !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::min<std::size_t>(std::stoul(name), columns_.size()) : columns_.size();
  }

  void select_columns() {
    std::unordered_map<std::string_view, std::vector<std::size_t>> places;  // there may be very many columns
    for (std::size_t i = 0; i < columns_.size(); ++i) places[columns_[i].name].push_back(i);
    for (const std::string& wanted : options_.columns) {
      const auto found = places.find(wanted);
      if (found == places.end() && numbered(wanted) < columns_.size()) {
        selected_.push_back(numbered(wanted));
        continue;
      }
      if (found == places.end()) {
        std::vector<std::string> known;
        for (const Column& column : columns_) known.push_back(column.name);
        refuse_unknown_in(records_.name(), speaker, "column", wanted, known);
      }
      if (found->second.size() > 1)
        refuse_line(speaker, records_.name(), 1, "two columns have the name {}", excerpt(wanted));
      selected_.push_back(found->second.front());
    }
  }

  void add_row(const Row& row) {
    if (row.fields.size() != columns_.size())
      refuse_line(speaker, records_.name(), row.line, "the row has {} field{} instead of {}{}", row.fields.size(),
                  row.fields.size() == 1 ? "" : "s", columns_.size(), delimiter_hint("; say"));
    ++table_.rows;
    if (!options_.columns.empty()) {
      for (const std::size_t column : selected_) add_value(row, column);
      return;
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      decide(row, i);
      if (columns_[i].kind == Kind::number)
        add_value(row, i);
      else if (options_.missing)
        table_.values.push_back(nothing);  // it may become a column of numbers further down
    }
  }

  /// The first value that is not missing says what a column holds.
  void decide(const Row& row, std::size_t i) {
    Column& column = columns_[i];
    if (column.kind != Kind::undecided) return;
    const std::string_view text = trimmed(row.fields[i]);
    if (is_missing(text)) {
      if (column.missing_line == 0) column.missing_line = row.line;
      return;
    }
    refuse_groups(row, i);
    column.kind = number_of(text) ? Kind::number : Kind::text;
    if (column.kind == Kind::text) leave_out(row, i);
    if (column.kind == Kind::number && column.missing_line != 0 && !options_.missing)
      refuse_missing(column.missing_line, column);
  }

  void leave_out(const Row& row, std::size_t i) {
    Column& column = columns_[i];
    const std::string_view text = trimmed(row.fields[i]);
    if (is_needed(i)) refuse_no_number(row, i);
    const bool comma = has_decimal_comma(text);
    if (comma && first_comma_.empty()) {
      first_comma_ = notation_text(row, i);
      first_comma_line_ = row.line;
    }
    column.why_text =
        fmt::format("{} in line {} {}", excerpt(text), row.line, comma ? "has a decimal comma" : "is no number");
  }

  void add_value(const Row& row, std::size_t i) {
    const std::string_view text = trimmed(row.fields[i]);
    const std::optional<double> value = number_of(text);
    if (!value && is_missing(text)) {
      if (!options_.missing) refuse_missing(row.line, columns_[i]);
      table_.values.push_back(nothing);
      return;
    }
    refuse_groups(row, i);
    const float rounded = static_cast<float>(value.value_or(0));
    if (!value || !std::isfinite(rounded)) refuse_no_number(row, i);
    table_.values.push_back(rounded);
  }

  /// Whether the user asks for the column, by its name or, where none has that name, by its number.
  bool is_needed(std::size_t i) const {
    return std::ranges::any_of(options_.needed, [&](const std::string& wanted) {
      if (columns_[i].name == wanted) return true;
      return numbered(wanted) == i && std::ranges::find(columns_, wanted, &Column::name) == columns_.end();
    });
  }

  [[noreturn]] void refuse_no_number(const Row& row, std::size_t i) const {
    refuse_comma(row, i);
    refuse_line(speaker, records_.name(), row.line, "column {}: {} is no number that a 32-bit float can hold",
                excerpt(columns_[i].name), excerpt(trimmed(row.fields[i])));
  }

  void refuse_groups(const Row& row, std::size_t i) const {
    const std::string_view text = trimmed(row.fields[i]);
    if (has_thousands_separators(text)) refuse_line(speaker, records_.name(), row.line, "{}", notation_text(row, i));
  }

  void refuse_comma(const Row& row, std::size_t i) const {
    if (has_decimal_comma(trimmed(row.fields[i])))
      refuse_line(speaker, records_.name(), row.line, "{}", notation_text(row, i));
  }
  std::string notation_text(const Row& row, std::size_t i) const {
    const std::string_view text = trimmed(row.fields[i]);
    return fmt::format("column {}: {} {}", excerpt(columns_[i].name), excerpt(text), other_notation(text));
  }

  /// What may be wrong with a table of one column, behind `joint`.
  std::string delimiter_hint(std::string_view joint) const {
    const std::string meant = columns_.size() == 1 ? delimiter_in(columns_[0].name, options_.delimiter) : "";
    return meant.empty() ? "" : fmt::format("{} {} = \"{}\"", joint, options_.delimiter_option, meant);
  }

  [[noreturn]] void refuse_missing(std::uint64_t line, const Column& column) const {
    refuse_line(speaker, records_.name(), line,
                "column {}: the value is missing (task.series.missing = \"hold\" or \"skip\" goes on without it)",
                excerpt(column.name));
  }

  /// Takes the columns that turned out to be no numbers out of rows that have all columns.
  void keep_numbers() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < table_.values.size(); ++i)
      if (columns_[i % columns_.size()].kind == Kind::number) table_.values[kept++] = table_.values[i];
    table_.values.resize(kept);
  }

  CsvTable finished() {
    if (!options_.columns.empty()) {
      table_.columns = options_.columns;
      table_.places = selected_;
      return std::move(table_);
    }
    if (options_.missing) keep_numbers();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      if (column.kind != Kind::number) {
        table_.left_out.push_back(fmt::format("{} ({})", excerpt(column.name), column.why_text));
        continue;
      }
      table_.columns.push_back(column.name);
      table_.places.push_back(i);
    }
    if (table_.columns.empty() && !first_comma_.empty())
      refuse_line(speaker, records_.name(), first_comma_line_, "{}", first_comma_);
    if (table_.columns.empty() && options_.header == HeaderLine::no)
      refuse_line(speaker, records_.name(), 1,
                  "no column begins with a number; where the first line names the columns, say task.series.header = "
                  "\"yes\"");
    if (table_.columns.empty())
      refuse_line(speaker, records_.name(), 1, "no column holds numbers; is '{}' the right delimiter?{}",
                  options_.delimiter, delimiter_hint(" Say"));
    return std::move(table_);
  }

  CsvRecords records_;
  const CsvOptions& options_;
  std::vector<Row> early_;
  bool has_header_ = false;
  std::vector<Column> columns_;
  std::vector<std::size_t> selected_;
  std::string first_comma_;  // what to say of it where no column holds numbers
  std::uint64_t first_comma_line_ = 0;
  CsvTable table_;
};

}  // namespace

CsvTable read_csv(ByteStream& stream, const CsvOptions& options) { return TableReader(stream, options).read(); }

CsvTable read_csv(const std::string& path, const CsvOptions& options) {
  return read_csv(*ByteStream::open(path), options);
}

}  // namespace throughtime
