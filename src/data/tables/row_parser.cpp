#include "data/tables/row_parser.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/names.h"
#include "data/byte_stream.h"
#include "data/printable.h"
#include "data/tables/fields.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

using Json = nlohmann::json;

template <class... Args>
[[noreturn]] void wrong(fmt::format_string<Args...> message, Args&&... args) {
  throw InvalidInput(fmt::format(message, std::forward<Args>(args)...));
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

float checked(const std::string& column, double value) {
  const auto number = static_cast<float>(value);
  if (!std::isfinite(number)) wrong("column {} must be a finite number, got {}", column, value);
  return number;
}

float number_in(const std::string& column, std::string_view text) {
  double value = 0;
  if (text.empty()) wrong("column {} is empty", column);
  if (!reads_as(text, value))
    wrong("column {} must be a number, got {}{}", column, excerpt(text),
          has_decimal_comma(text) ? "; numbers have a decimal point, such as 1.5" : "");
  return checked(column, value);
}

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}", i));
  return names;
}

}  // namespace

RowParser::RowParser(RowLayout layout) : layout_(std::move(layout)) {
  if (layout_.inputs.empty()) refuse("stream", "task.series.inputs must name the columns that the model reads");
  if (layout_.targets.empty()) layout_.targets = layout_.inputs;
  if (layout_.format == RowFormat::raw) set_columns(numbered(elements(layout_.channels)));
}

std::size_t RowParser::block() const {
  return layout_.format == RowFormat::raw ? elements(layout_.channels) * sizeof(float) : 0;
}

void RowParser::set_columns(std::vector<std::string> columns) {
  const auto place_of = [&](const std::string& name) {
    const auto found = std::find(columns.begin(), columns.end(), name);
    const bool one = found == columns.end() && columns.size() == 1;
    if (const std::string meant = one ? delimiter_in(columns[0], layout_.delimiter) : ""; !meant.empty())
      refuse("stream", "the header {} has one column; say task.series.delimiter = \"{}\"", excerpt(columns[0]), meant);
    if (found == columns.end()) refuse_unknown("stream", "column", name, columns);
    return elements(found - columns.begin());
  };
  // Columns that are refused change nothing.
  std::vector<std::size_t> inputs, targets;
  std::size_t id = 0;
  if (!columns.empty()) {
    for (const std::string& name : layout_.inputs) inputs.push_back(place_of(name));
    for (const std::string& name : layout_.targets) targets.push_back(place_of(name));
    if (!layout_.id.empty()) id = place_of(layout_.id);
  }
  same_input_.clear();
  for (const std::size_t place : targets) {
    const auto same = std::find(inputs.begin(), inputs.end(), place);
    same_input_.push_back(same == inputs.end() ? none : elements(same - inputs.begin()));
  }
  columns_ = std::move(columns);
  input_places_ = std::move(inputs);
  target_places_ = std::move(targets);
  id_place_ = id;
}

/// A line without quotes, as most are, is cut at its delimiters alone.
void RowParser::split(std::string_view line) {
  fields_.clear();
  const char *begin = line.data(), *const end = begin + line.size();
  for (const char* at = begin; at != end; ++at) {
    if (*at == '"') return split_quoted(line);
    if (*at != layout_.delimiter) continue;
    fields_.push_back(trimmed({begin, at}));
    begin = at + 1;
  }
  fields_.push_back(trimmed({begin, end}));
}

void RowParser::split_quoted(std::string_view line) {
  fields_.clear();
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (quoted || line[i] != layout_.delimiter)) continue;
    fields_.push_back(unquoted(trimmed(line.substr(begin, i - begin))));
    begin = i + 1;
  }
  if (quoted) wrong("a quote is opened and never closed");
}

bool RowParser::take_header(std::string_view record) {
  if (layout_.format != RowFormat::csv) return false;
  if (record.starts_with("\xef\xbb\xbf")) record.remove_prefix(3);
  split(record);
  const std::vector<std::string> names(fields_.begin(), fields_.end());
  if (!columns_.empty()) return names == columns_;  // a run that goes on: the same header again, or a row
  double value = 0;
  const bool numbers = std::all_of(names.begin(), names.end(), [&](const auto& name) { return reads_as(name, value); });
  const bool header = layout_.header == HeaderLine::yes || (layout_.header == HeaderLine::automatic && !numbers);
  set_columns(header ? names : numbered(names.size()));
  return header;
}

void RowParser::parse(std::string_view record, StreamRow& row) {
  row.id.clear();
  row.inputs.clear();
  row.targets.clear();
  row.ends = row.has_targets = false;
  switch (layout_.format) {
    case RowFormat::csv:
      return parse_csv(record, row);
    case RowFormat::jsonl:
      return parse_json(record, row);
    case RowFormat::raw:
      return parse_raw(record, row);
  }
}

void RowParser::parse_csv(std::string_view line, StreamRow& row) {
  split(line);
  if (fields_.size() != columns_.size()) wrong("{} columns are needed, got {}", columns_.size(), fields_.size());
  if (!layout_.id.empty()) {
    row.id = fields_[id_place_];
    if (row.id.empty()) wrong("column {}, which names the stream, is empty", layout_.id);
    const auto filled = std::count_if(fields_.begin(), fields_.end(), [](auto field) { return !field.empty(); });
    row.ends = filled == 1 && columns_.size() > 1;
    if (row.ends) return;
  }
  for (const std::size_t place : input_places_) row.inputs.push_back(number_in(columns_[place], fields_[place]));
  row.has_targets = std::none_of(target_places_.begin(), target_places_.end(),
                                 [&](std::size_t place) { return fields_[place].empty(); });
  if (!row.has_targets) return;
  for (std::size_t i = 0; i < target_places_.size(); ++i) {  // a column that is an input too has been read
    const std::size_t place = target_places_[i], input = same_input_[i];
    row.targets.push_back(input != none ? row.inputs[input] : number_in(columns_[place], fields_[place]));
  }
}

void RowParser::parse_json(std::string_view line, StreamRow& row) {
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object())
    wrong("a row must be a JSON object such as {{\"{}\": 1.5}}, got {}", layout_.inputs[0], excerpt(line));
  if (!layout_.id.empty()) {
    const auto id = object.find(layout_.id);
    if (id == object.end()) wrong("\"{}\", which names the stream, is missing", layout_.id);
    row.id = id->is_string() ? id->get<std::string>() : id->dump();
    const auto end = object.find("end");
    row.ends = end != object.end() && end->is_boolean() && end->get<bool>();
    if (row.ends) return;
  }
  const auto number = [&](const std::string& name, const Json& value) {
    if (!value.is_number()) wrong("\"{}\" must be a number, got {}", name, excerpt(value.dump()));
    return checked(name, value.get<double>());
  };
  for (const std::string& name : layout_.inputs) {
    if (!object.contains(name)) wrong("\"{}\" is missing", name);
    row.inputs.push_back(number(name, object[name]));
  }
  row.has_targets = std::all_of(layout_.targets.begin(), layout_.targets.end(), [&](const std::string& name) {
    return object.contains(name) && !object[name].is_null();
  });
  if (!row.has_targets) return;
  for (const std::string& name : layout_.targets) row.targets.push_back(number(name, object[name]));
}

void RowParser::parse_raw(std::string_view block, StreamRow& row) {
  const auto at = [&](std::size_t place) {
    const auto* bytes = reinterpret_cast<const std::byte*>(block.data()) + place * sizeof(float);
    return std::bit_cast<float>(static_cast<std::uint32_t>(little_endian(bytes, sizeof(float))));
  };
  if (!layout_.id.empty()) row.id = fmt::format("{}", checked(layout_.id, at(id_place_)));
  for (const std::size_t place : input_places_) row.inputs.push_back(checked(columns_[place], at(place)));
  for (const std::size_t place : target_places_) row.targets.push_back(checked(columns_[place], at(place)));
  row.has_targets = true;
}

}  // namespace throughtime
