#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "core/names.h"
#include "data/printable.h"
#include "data/tables/csv_records.h"
#include "data/tables/fields.h"
#include "data/tables/labelled_sequences.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "sequences";

/// A value that a column of numbers may begin with, right or wrong.
bool could_be_number(std::string_view text) {
  for (const std::string_view missing : {"", "nan", "inf", "-inf", "na", "n/a", "null", "none"})
    if (same_letters(text, missing)) return true;
  return number_of(text) || !other_notation(text).empty();
}

/// What the two kinds of tables share: a header whose columns are found by name, rows as long as it.
class NamedRows {
 public:
  NamedRows(ByteStream& stream, const SequenceFileOptions& options)
      : records_(stream, options.delimiter), delimiter_(options.delimiter) {
    if (!records_.next(fields_)) refuse_line(speaker, records_.name(), 1, "the file is empty");
    for (const std::string_view field : fields_) names_.emplace_back(trimmed(field));
  }

  const std::vector<std::string>& names() const { return names_; }

  /// Where the column of that name is, else of that number; `option` is how to name another one.
  std::size_t find(const std::string& name, const std::string& option) const {
    const auto found = std::ranges::find(names_, name);
    std::size_t number = names_.size();
    if (found == names_.end() && reads_as(name, number) && number < names_.size()) return number;
    if (found == names_.end()) refuse_missing(name, option);
    if (std::find(found + 1, names_.end(), name) != names_.end())
      refuse_line(speaker, records_.name(), 1, "two columns have the name {}", excerpt(name));
    return elements(found - names_.begin());
  }

  bool next() {
    if (!records_.next(fields_)) return false;
    if (fields_.size() != names_.size())
      refuse_line(speaker, records_.name(), line(), "the row has {} field{} instead of {}{}", fields_.size(),
                  fields_.size() == 1 ? "" : "s", names_.size(),
                  fields_.size() > names_.size()
                      ? "; numbers have a decimal point, and a text with a delimiter has quotes"
                      : "");
    return true;
  }
  std::uint64_t line() const { return records_.line(); }
  std::string_view text(std::size_t column) const { return trimmed(fields_[column]); }

  /// A text that must be there.
  std::string_view needed(std::size_t column) const {
    const std::string_view value = text(column);
    if (value.empty()) complain(column, "the value is missing; every row needs one");
    return value;
  }

  float number(std::size_t column) const {
    const std::string_view value = text(column);
    const std::optional<double> number = number_of(value);
    const float rounded = static_cast<float>(number.value_or(0));
    if (number && std::isfinite(rounded)) return rounded;
    if (value.empty()) complain(column, "the value is missing; fill the gap or leave the step out");
    if (const std::string wrong = other_notation(value); !wrong.empty())
      complain(column, fmt::format("{} {}", excerpt(value), wrong));
    complain(column, fmt::format("{} is no finite number; fill the gap or leave the step out", excerpt(value)));
  }

  [[noreturn]] void complain(std::size_t column, std::string_view problem) const {
    refuse_line(speaker, records_.name(), line(), "column {}: {}", excerpt(names_[column]), problem);
  }
  [[noreturn]] void complain(std::string_view problem) const {
    refuse_line(speaker, records_.name(), line(), "{}", problem);
  }

 private:
  [[noreturn]] void refuse_missing(const std::string& name, const std::string& option) const {
    const std::string where = records_.name();
    if (const std::string meant = names_.size() == 1 ? delimiter_in(names_[0], delimiter_) : ""; !meant.empty())
      refuse_line(speaker, where, 1, "the header {} has one column; say task.sequences.delimiter = \"{}\"",
                  excerpt(names_[0]), meant);
    for (const std::string& known : names_)
      if (same_letters(known, name))
        refuse_line(speaker, where, 1, "there is no column {}, but {}: capital letters count; say {} = \"{}\"",
                    excerpt(name), excerpt(known), option, printable(known));
    refuse_unknown_in(where, speaker, fmt::format("column of {}", option), name, names_);
  }

  CsvRecords records_;
  char delimiter_;
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
};

class SequenceRows {
 public:
  SequenceRows(ByteStream& stream, const SequenceFileOptions& options)
      : rows_(stream, options), id_(rows_.find(options.id_column(false), "task.sequences.id")) {
    if (options.labelled)
      for (const std::string& name : options.target_columns())
        targets_.push_back(rows_.find(name, "task.sequences.targets"));
    for (const std::string& name : options.inputs) inputs_.push_back(rows_.find(name, "task.sequences.inputs"));
    chosen_ = !options.inputs.empty();
    own_names_ = options.target_columns();
  }

  LabelledSequences read() {
    bool first = true;
    for (; rows_.next(); first = false) {
      if (first && !chosen_) choose_inputs();
      const std::size_t sequence = sequence_of_row();
      row_sequence_.push_back(sequence);
      ++lengths_[sequence];
      for (const std::size_t column : inputs_) row_values_.push_back(rows_.number(column));
    }
    if (first) rows_.complain("there is a header, but no row follows it");
    return finished();
  }

 private:
  /// All columns that begin with a number and have no other use, also not where targets are not read.
  void choose_inputs() {
    for (std::size_t i = 0; i < rows_.names().size(); ++i) {
      const std::string& name = rows_.names()[i];
      if (i == id_ || std::ranges::find(own_names_, name) != own_names_.end()) continue;
      const std::string_view text = rows_.text(i);
      if (could_be_number(text))
        inputs_.push_back(i);
      else
        result_.left_out.push_back(
            fmt::format("{} ({} in line {} is no number)", printable(name), excerpt(text), rows_.line()));
    }
    if (inputs_.empty()) rows_.complain("no column beside the id and the targets holds numbers");
  }

  std::size_t sequence_of_row() {
    const auto [place, is_new] = known_.try_emplace(std::string(rows_.needed(id_)), known_.size());
    if (is_new) {
      result_.ids.push_back(place->first);
      lengths_.push_back(0);
      for (const std::size_t column : targets_) result_.targets.emplace_back(rows_.needed(column));
      return place->second;
    }
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const std::string& before = result_.targets[place->second * targets_.size() + i];
      if (rows_.text(targets_[i]) != before)
        rows_.complain(targets_[i],
                       fmt::format("sequence {} has {} here and {} before; all its rows need the same",
                                   excerpt(place->first), excerpt(rows_.text(targets_[i])), excerpt(before)));
    }
    return place->second;
  }

  /// Brings the rows of a sequence together.
  LabelledSequences finished() {
    const std::size_t width = inputs_.size();
    for (const std::size_t column : inputs_) result_.columns.push_back(rows_.names()[column]);
    for (const std::size_t column : targets_) result_.target_names.push_back(rows_.names()[column]);
    for (const std::size_t length : lengths_) result_.begins.push_back(result_.begins.back() + length);
    result_.values.resize(row_values_.size());
    std::vector<std::size_t> next(result_.begins.begin(), result_.begins.end() - 1);
    for (std::size_t row = 0; row < row_sequence_.size(); ++row)
      std::copy_n(row_values_.begin() + static_cast<Index>(row * width), width,
                  result_.values.begin() + static_cast<Index>(next[row_sequence_[row]]++ * width));
    return std::move(result_);
  }

  NamedRows rows_;
  std::size_t id_;
  std::vector<std::size_t> targets_, inputs_;  // columns
  std::vector<std::string> own_names_;         // of the targets, read or not
  bool chosen_ = false;                        // the user named the inputs
  std::unordered_map<std::string, std::size_t> known_;
  std::vector<std::size_t> lengths_;       // [sequences]
  std::vector<std::size_t> row_sequence_;  // [rows]
  std::vector<float> row_values_;          // [rows, inputs]
  LabelledSequences result_;
};

}  // namespace

LabelledSequences read_sequence_rows(ByteStream& stream, const SequenceFileOptions& options) {
  return SequenceRows(stream, options).read();
}

LabelledSequences read_target_table(ByteStream& stream, const SequenceFileOptions& options) {
  NamedRows rows(stream, options);
  const std::size_t id = rows.find(options.id_column(true), "task.sequences.id");
  LabelledSequences table;
  std::vector<std::size_t> columns;
  for (const std::string& name : options.target_columns()) {
    columns.push_back(rows.find(name, "task.sequences.targets"));
    table.target_names.push_back(name);
  }
  std::unordered_map<std::string, std::uint64_t> known;
  while (rows.next()) {
    table.ids.emplace_back(rows.needed(id));
    const auto [place, is_new] = known.try_emplace(table.ids.back(), rows.line());
    if (!is_new) rows.complain(id, fmt::format("{} is in line {} too", excerpt(place->first), place->second));
    for (const std::size_t column : columns) table.targets.emplace_back(rows.needed(column));
  }
  if (table.ids.empty()) rows.complain("there is a header, but no row follows it");
  return table;
}

}  // namespace throughtime
