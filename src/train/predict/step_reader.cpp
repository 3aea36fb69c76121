#include "train/predict/step_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "data/printable.h"
#include "data/tables/fields.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/predict/column_finder.h"
#include "train/predict/field_number.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* speaker = "predict";

/// The fields of a line without the spaces around them; within quotes a delimiter is a letter, and two quotes are one.
std::vector<std::string> fields_of(const std::string& line, char delimiter) {
  std::vector<std::string> fields(1);
  bool quoted = false, was_quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char letter = line[at];
    if (letter == '"' && quoted && at + 1 < line.size() && line[at + 1] == '"') {
      fields.back() += line[++at];
    } else if (letter == '"' && (quoted || fields.back().empty())) {
      quoted = !quoted;
      was_quoted = true;
    } else if (letter == delimiter && !quoted) {
      if (!was_quoted) fields.back() = trimmed(fields.back());
      fields.emplace_back();
      was_quoted = false;
    } else {
      fields.back() += letter;
    }
  }
  if (quoted) refuse(speaker, "a quote is opened and never closed");
  if (!was_quoted) fields.back() = trimmed(fields.back());
  return fields;
}

bool is_number(const std::string& text) { return number_of(text).has_value(); }

/// A line has all that the model reads, each number in a column of its own.
WantedColumns wanted_of(const Predictor& predictor, const LineOptions& options) {
  return {.own = predictor.input_names(), .own_count = elements(predictor.reals()), .numbered = options.numbered};
}

}  // namespace

bool StepReader::read(const std::string& line, Step& step) {
  ++line_;
  step = {};
  try {
    if (!(options_.format == LineFormat::jsonl ? read_json(line, step) : read_csv(line, step))) return false;
    predictor_.require_width(step.reals);
    hold(step.reals);
    return true;
  } catch (const Json::exception& error) {
    refuse(speaker, "line {}: {}", line_, printable(error.what()));
  } catch (const InvalidInput& error) {
    const std::string_view text = error.what();
    refuse(speaker, "line {}: {}", line_, text.substr(text.find(' ') + 1));
  }
}

bool StepReader::read_csv(const std::string& line, Step& step) {
  // A model that reads tokens alone gets whole lines, whatever is in them.
  if (predictor_.reads_tokens() && predictor_.reals() == 0) {
    step.token = predictor_.token_id(line);
    return true;
  }
  const std::vector<std::string> fields = fields_of(line, options_.delimiter);
  if (predictor_.reads_tokens()) {
    step.token = predictor_.token_id(fields.front());
    for (std::size_t i = 1; i < fields.size(); ++i) step.reals.push_back(field_number(fields[i], options_.delimiter));
    return true;
  }
  if (!chosen_ && is_header(fields)) {
    choose_named(fields);
    return false;
  }
  if (!chosen_) choose_numbered(fields);
  for (const std::size_t column : columns_) {
    if (column >= fields.size())
      refuse(speaker, "the line has {} field{}, field {} is needed", fields.size(), fields.size() == 1 ? "" : "s",
             column + 1);
    step.reals.push_back(field_number(fields[column], options_.delimiter));
  }
  if (columns_.empty())
    for (const std::string& field : fields) step.reals.push_back(field_number(field, options_.delimiter));
  return true;
}

/// The first line, by itself: one without any number, or one with the names of the training data.
bool StepReader::is_header(const std::vector<std::string>& fields) const {
  if (options_.header != HeaderLine::automatic) return options_.header == HeaderLine::yes;
  if (std::none_of(fields.begin(), fields.end(), is_number)) return true;
  return std::any_of(fields.begin(), fields.end(), [&](const std::string& field) {
    return !is_number(field) && std::ranges::find(predictor_.input_names(), field) != predictor_.input_names().end();
  });
}

void StepReader::choose_named(const std::vector<std::string>& names) {
  chosen_ = true;
  for (const std::string& wanted : predictor_.input_names())
    for (const std::string& known : options_.known)
      if (wanted.starts_with(known + " +") && std::ranges::find(names, wanted) == names.end())
        refuse(speaker,
               "there is no column '{}'. Lines are answered one by one, so each needs '{}' as it will be; a file needs "
               "'{}' alone",
               wanted, known, known);
  columns_ = find_named(wanted_of(predictor_, options_), names, options_.delimiter).places;
}

/// Without a header: the columns that had these numbers in the training data, where that had no header either.
void StepReader::choose_numbered(const std::vector<std::string>& fields) {
  chosen_ = true;
  if (fields.size() == elements(predictor_.reals()) || predictor_.input_names().empty()) return;
  const std::optional<FoundColumns> found = find_numbered(wanted_of(predictor_, options_), fields.size());
  if (!found)
    refuse(speaker, "{} field{}, and no first line that names them; the model reads {}{}", fields.size(),
           fields.size() == 1 ? "" : "s", fmt::join(predictor_.input_names(), ", "),
           fields.size() == 1 ? delimiter_hint(fields.front(), options_.delimiter) : "");
  columns_ = found->places;
}

/// A missing value becomes the last one of its column.
void StepReader::hold(std::vector<double>& reals) {
  for (std::size_t i = 0; i < reals.size(); ++i) {
    if (!std::isnan(reals[i])) continue;
    const std::vector<std::string>& names = predictor_.input_names();
    const std::string which = i < names.size() ? fmt::format("column '{}': ", names[i]) : "";
    if (options_.missing == MissingValues::refuse) refuse(speaker, "{}the value is missing", which);
    if (last_.empty()) refuse(speaker, "{}the value is missing, and there is none before it", which);
    reals[i] = last_[i];
  }
  if (options_.missing != MissingValues::refuse) last_ = reals;
}

bool StepReader::read_json(const std::string& line, Step& step) {
  Json value = Json::parse(line, nullptr, false);
  if (value.is_discarded())
    refuse(speaker, "{} is no JSON; --input-format csv reads numbers between commas", excerpt(line));
  if (value.is_object() && !value.contains("input"))
    refuse(speaker, "{} has no \"input\"; a step is a list or {{\"input\": [...]}}", excerpt(line));
  if (value.is_object()) value = Json(value.at("input"));
  if (!value.is_array()) value = Json::array({value});
  std::size_t next = 0;
  if (predictor_.reads_tokens()) {
    if (value.empty()) refuse(speaker, "the token is missing");
    const Json& token = value[next++];
    step.token =
        token.is_string() ? predictor_.token_id(token.get<std::string>()) : predictor_.token_number(token.dump());
  }
  for (; next < value.size(); ++next) {
    const Json& entry = value[next];
    if (entry.is_null()) {
      step.reals.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    if (!entry.is_number() || !std::isfinite(entry.get<double>()))
      refuse(speaker, "{} is not a finite number", excerpt(entry.dump()));
    step.reals.push_back(entry.get<double>());
  }
  return true;
}

}  // namespace throughtime
