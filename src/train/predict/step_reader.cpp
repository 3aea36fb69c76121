#include "train/predict/step_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/names.h"
#include "data/printable.h"
#include "data/tables/fields.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* speaker = "predict";

double number(const std::string& text) {
  const std::optional<double> value = number_of(text);
  if (!value && has_thousands_separators(text))
    refuse(speaker, "{} has thousands separators; numbers are written without them, such as 1234.5", excerpt(text));
  if (!value) refuse(speaker, "{} is not a finite number", excerpt(text));
  return *value;
}

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

/// The number of a column by the digits that are its name; `count` where it is none of `count` columns.
std::size_t numbered_column(const std::string& name, std::size_t count) {
  if (name.empty() || name.size() > 9 || name.find_first_not_of("0123456789") != std::string::npos) return count;
  return std::min<std::size_t>(std::stoul(name), count);
}

}  // namespace

bool StepReader::read(const std::string& line, Step& step) {
  ++line_;
  step = {};
  try {
    if (!(options_.format == LineFormat::jsonl ? read_json(line, step) : read_csv(line, step))) return false;
    predictor_.require_width(step.reals);
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
    for (std::size_t i = 1; i < fields.size(); ++i) step.reals.push_back(number(fields[i]));
    return true;
  }
  if (!chosen_ && is_header(fields)) {
    choose_named(fields);
    return false;
  }
  if (!chosen_) choose_numbered(fields.size());
  for (const std::size_t column : columns_) {
    if (column >= fields.size())
      refuse(speaker, "the line has {} field{}, field {} is needed", fields.size(), fields.size() == 1 ? "" : "s",
             column + 1);
    step.reals.push_back(number(fields[column]));
  }
  if (columns_.empty())
    for (const std::string& field : fields) step.reals.push_back(number(field));
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
  for (const std::string& wanted : predictor_.input_names()) {
    auto place = elements(std::ranges::find(names, wanted) - names.begin());
    const bool alike = names.size() == elements(predictor_.reals());
    if (place == names.size() && (options_.numbered || alike)) place = numbered_column(wanted, names.size());
    if (place == names.size()) {
      const std::string nearest = nearest_name(wanted, names);
      refuse(speaker, "there is no column '{}', which the model reads;{} the file has {}", wanted,
             nearest.empty() ? "" : fmt::format(" did you mean {}?", excerpt(nearest)),
             excerpt(fmt::format("{}", fmt::join(names, ", "))));
    }
    columns_.push_back(place);
  }
}

/// Without a header: the columns that had these numbers in the training data, where that had no header either.
void StepReader::choose_numbered(std::size_t fields) {
  chosen_ = true;
  const std::vector<std::string>& names = predictor_.input_names();
  if (fields == elements(predictor_.reals())) return;
  for (const std::string& name : names)
    if (numbered_column(name, fields) == fields)
      refuse(speaker, "{} field{}, and no first line that names them; the model reads {}", fields,
             fields == 1 ? "" : "s", fmt::join(names, ", "));
  for (const std::string& name : names) columns_.push_back(numbered_column(name, fields));
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
    if (!entry.is_number() || !std::isfinite(entry.get<double>()))
      refuse(speaker, "{} is not a finite number", excerpt(entry.dump()));
    step.reals.push_back(entry.get<double>());
  }
  return true;
}

}  // namespace throughtime
