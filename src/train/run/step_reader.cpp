#include "train/run/step_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* speaker = "predict";

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool parse(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

double number(const std::string& text) {
  double value = 0;
  if (!parse(text, value)) refuse(speaker, "'{}' is not a finite number", text);
  return value;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return fields;
}

/// The indices of the `count` largest predictions, the largest first.
std::vector<std::size_t> largest(const std::vector<double>& predictions, std::size_t count) {
  std::vector<std::size_t> order(predictions.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return predictions[a] > predictions[b]; });
  order.resize(std::min(count, order.size()));
  return order;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (const char letter : text) result += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return result + '"';
}

}  // namespace

bool StepReader::read(const std::string& line, Step& step) {
  ++line_;
  step = {};
  try {
    if (!(format_ == LineFormat::jsonl ? read_json(line, step) : read_csv(line, step))) return false;
    predictor_.require_width(step.reals);
    return true;
  } catch (const Json::exception& error) {
    refuse(speaker, "line {}: {}", line_, error.what());
  } catch (const InvalidInput& error) {
    const std::string_view text = error.what();
    refuse(speaker, "line {}: {}", line_, text.substr(text.find(' ') + 1));
  }
}

bool StepReader::read_csv(const std::string& line, Step& step) {
  // A model that reads words alone gets whole lines, whatever is in them.
  if (predictor_.reads_tokens() && predictor_.reals() == 0) {
    step.token = predictor_.token_id(trimmed(line));
    return true;
  }
  const std::vector<std::string> fields = fields_of(line);
  double first = 0;
  if (line_ == 1 && !predictor_.reads_tokens() && !parse(fields.front(), first)) return choose_columns(fields);
  std::size_t next = 0;
  if (predictor_.reads_tokens()) step.token = predictor_.token_id(fields[next++]);
  for (; next < fields.size(); ++next) step.reals.push_back(number(fields[next]));
  pick(step.reals);
  return true;
}

bool StepReader::choose_columns(const std::vector<std::string>& names) {
  for (const std::string& wanted : predictor_.input_names()) {
    const auto found = std::find(names.begin(), names.end(), wanted);
    if (found == names.end()) {
      chosen_.clear();
      break;
    }
    chosen_.push_back(elements(found - names.begin()));
  }
  return false;
}

void StepReader::pick(std::vector<double>& reals) const {
  if (chosen_.empty()) return;
  std::vector<double> picked;
  for (const std::size_t column : chosen_) {
    if (column >= reals.size())
      refuse(speaker, "the line has {} columns, column {} is needed", reals.size(), column + 1);
    picked.push_back(reals[column]);
  }
  reals = std::move(picked);
}

bool StepReader::read_json(const std::string& line, Step& step) {
  Json value = Json::parse(line);
  if (value.is_object()) value = value.at("input");
  if (!value.is_array()) value = Json::array({value});
  std::size_t next = 0;
  if (predictor_.reads_tokens()) {
    if (value.empty()) refuse(speaker, "the token is missing");
    const Json& token = value[next++];
    step.token = predictor_.token_id(token.is_string() ? token.get<std::string>() : token.dump());
  }
  for (; next < value.size(); ++next) {
    const Json& entry = value[next];
    if (!entry.is_number() || !std::isfinite(entry.get<double>()))
      refuse(speaker, "{} is not a finite number", entry.dump());
    step.reals.push_back(entry.get<double>());
  }
  return true;
}

AnswerWriter::AnswerWriter(const Predictor& predictor, LineFormat format, int top)
    : predictor_(predictor), format_(format), top_(std::min(elements(top), predictor.output_names().size())) {
  if (top > 0 && !predictor.classifies())
    refuse(speaker, "--top is for models that choose between classes; this one predicts numbers");
}

std::string AnswerWriter::header() const {
  if (format_ == LineFormat::jsonl) return "";
  std::vector<std::string> names;
  for (std::size_t rank = 1; rank <= top_; ++rank) {
    names.push_back(fmt::format("class_{}", rank));
    names.push_back(fmt::format("probability_{}", rank));
  }
  if (top_ == 0)
    for (const std::string& name : predictor_.output_names()) names.push_back(quoted(name));
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string AnswerWriter::line(const std::vector<double>& predictions) const {
  return format_ == LineFormat::jsonl ? json_line(predictions) : csv_line(predictions);
}

std::string AnswerWriter::csv_line(const std::vector<double>& predictions) const {
  std::vector<std::string> cells;
  for (const std::size_t index : largest(predictions, top_)) {
    cells.push_back(quoted(predictor_.output_names()[index]));
    cells.push_back(fmt::format("{}", predictions[index]));
  }
  if (top_ == 0)
    for (const double value : predictions) cells.push_back(fmt::format("{}", value));
  return fmt::format("{}\n", fmt::join(cells, ","));
}

std::string AnswerWriter::json_line(const std::vector<double>& predictions) const {
  Json line = {{"prediction", predictions}};
  if (top_ > 0) {
    line = {{"top", Json::array()}};
    for (const std::size_t index : largest(predictions, top_))
      line["top"].push_back({{"class", predictor_.output_names()[index]}, {"probability", predictions[index]}});
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace throughtime
