#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "core/names.h"
#include "stream_answers.h"
#include "throughtime/error.h"
#include "train/run/predictor.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

struct PredictArguments {
  std::string run;
  std::string input;   // empty: stdin
  std::string format;  // empty: csv, or as a stream was learned from
  std::string output;  // empty: as the input
  int top = 0;
  bool best = false;
};

/// One step of a sequence as it was read.
struct Step {
  std::int32_t token = -1;
  std::vector<double> reals;
};

/// Turns lines into steps; the errors name the line.
class StepReader {
 public:
  StepReader(const Predictor& predictor, bool json) : predictor_(predictor), json_(json) {}

  /// Counts a line that holds no step.
  void skip() { ++line_; }
  /// False for a first line of column names.
  bool read(const std::string& line, Step& step) {
    ++line_;
    step = {};
    try {
      if (!(json_ ? read_json(line, step) : read_csv(line, step))) return false;
      predictor_.require_width(step.reals);
      return true;
    } catch (const Json::exception& error) {
      refuse("predict", "line {}: {}", line_, error.what());
    } catch (const InvalidInput& error) {
      const std::string_view text = error.what();
      refuse("predict", "line {}: {}", line_, text.substr(text.find(' ') + 1));
    }
  }

 private:
  static std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
  }

  static bool parse(const std::string& text, double& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  }

  bool read_csv(const std::string& line, Step& step) {
    // A model that reads words alone gets whole lines, whatever is in them.
    if (predictor_.reads_tokens() && predictor_.reals() == 0) {
      step.token = predictor_.token_id(trimmed(line));
      return true;
    }
    std::vector<std::string> fields;
    std::size_t begin = 0;
    while (begin <= line.size()) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      fields.push_back(trimmed(line.substr(begin, end - begin)));
      begin = end + 1;
    }
    double first = 0;
    if (line_ == 1 && !predictor_.reads_tokens() && !parse(fields.front(), first)) return choose_columns(fields);
    std::size_t next = 0;
    if (predictor_.reads_tokens()) step.token = predictor_.token_id(fields[next++]);
    for (; next < fields.size(); ++next) step.reals.push_back(number(fields[next]));
    pick(step.reals);
    return true;
  }

  static double number(const std::string& text) {
    double value = 0;
    if (!parse(text, value)) refuse("predict", "'{}' is not a finite number", text);
    return value;
  }

  /// Columns that carry the names of the training data are found by name, others by their place.
  bool choose_columns(const std::vector<std::string>& names) {
    for (const std::string& wanted : predictor_.input_names()) {
      const auto found = std::find(names.begin(), names.end(), wanted);
      if (found == names.end()) {
        chosen_.clear();
        break;
      }
      chosen_.push_back(static_cast<std::size_t>(found - names.begin()));
    }
    return false;
  }

  void pick(std::vector<double>& reals) const {
    if (chosen_.empty()) return;
    std::vector<double> picked;
    for (const std::size_t column : chosen_) {
      if (column >= reals.size())
        refuse("predict", "the line has {} columns, column {} is needed", reals.size(), column + 1);
      picked.push_back(reals[column]);
    }
    reals = std::move(picked);
  }

  /// [1, 2], {"input": [1, 2]}, "word", 17, or ["word", 1, 2].
  bool read_json(const std::string& line, Step& step) {
    Json value = Json::parse(line);
    if (value.is_object()) value = value.at("input");
    if (!value.is_array()) value = Json::array({value});
    std::size_t next = 0;
    if (predictor_.reads_tokens()) {
      if (value.empty()) refuse("predict", "the token is missing");
      const Json& token = value[next++];
      step.token = predictor_.token_id(token.is_string() ? token.get<std::string>() : token.dump());
    }
    for (; next < value.size(); ++next) {
      const Json& entry = value[next];
      if (!entry.is_number() || !std::isfinite(entry.get<double>()))
        refuse("predict", "{} is not a finite number", entry.dump());
      step.reals.push_back(entry.get<double>());
    }
    return true;
  }

  const Predictor& predictor_;
  bool json_;
  std::size_t line_ = 0;
  std::vector<std::size_t> chosen_;
};

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

std::string header_text(const Predictor& predictor, int top) {
  std::vector<std::string> names;
  for (int rank = 1; rank <= top; ++rank) {
    names.push_back(fmt::format("class_{}", rank));
    names.push_back(fmt::format("probability_{}", rank));
  }
  if (top == 0)
    for (const std::string& name : predictor.output_names()) names.push_back(quoted(name));
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string csv_text(const Predictor& predictor, const std::vector<double>& predictions, int top) {
  std::vector<std::string> cells;
  for (const std::size_t index : largest(predictions, static_cast<std::size_t>(top))) {
    cells.push_back(quoted(predictor.output_names()[index]));
    cells.push_back(fmt::format("{}", predictions[index]));
  }
  if (top == 0)
    for (const double value : predictions) cells.push_back(fmt::format("{}", value));
  return fmt::format("{}\n", fmt::join(cells, ","));
}

std::string json_text(const Predictor& predictor, const std::vector<double>& predictions, int top) {
  Json line = {{"prediction", predictions}};
  if (top > 0) {
    line = {{"top", Json::array()}};
    for (const std::size_t index : largest(predictions, static_cast<std::size_t>(top)))
      line["top"].push_back({{"class", predictor.output_names()[index]}, {"probability", predictions[index]}});
  }
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool is_json(const std::string& format) {
  if (format.empty()) return false;
  if (format != "csv" && format != "jsonl") refuse_unknown("predict", "format", format, {"csv", "jsonl"});
  return format == "jsonl";
}

void predict(const PredictArguments& arguments) {
  if (RunDirectory(arguments.run).is_stream()) {
    if (arguments.top > 0 || arguments.best)
      refuse("predict", "--top and --best are not for runs of throughtime stream");
    return predict_stream(arguments.run, arguments.input, arguments.format, arguments.output);
  }
  const bool json_in = is_json(arguments.format);
  const bool json_out = is_json(arguments.output.empty() ? arguments.format : arguments.output);
  TrainedModel trained(arguments.run, arguments.best);
  Predictor predictor(trained);
  if (arguments.top > 0 && !predictor.classifies())
    refuse("predict", "--top is for models that choose between classes; this one predicts numbers");
  std::ifstream file;
  if (!arguments.input.empty()) {
    file.open(arguments.input);
    if (!file) refuse("predict", "cannot read {}", arguments.input);
  }
  std::istream& input = arguments.input.empty() ? std::cin : file;

  if (!json_out) fmt::print("{}", header_text(predictor, arguments.top));
  StepReader reader(predictor, json_in);
  Step step;
  for (std::string line; std::getline(input, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) {
      predictor.reset();
      reader.skip();
      fmt::print("\n");
      continue;
    }
    if (!reader.read(line, step)) continue;
    const std::vector<double> predictions = predictor.step(step.token, step.reals);
    fmt::print("{}", json_out ? json_text(predictor, predictions, arguments.top)
                              : csv_text(predictor, predictions, arguments.top));
    if (arguments.input.empty()) std::fflush(stdout);  // whoever feeds a pipe waits for the answer
  }
}

}  // namespace

void add_predict_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("predict", "Read steps, carry the state, write what the model predicts");
  const auto arguments = std::make_shared<PredictArguments>();
  command->add_option("run", arguments->run, "Directory of the run")->required();
  command->add_option("input", arguments->input,
                      "File with one step per line, an empty line before a new sequence; else stdin");
  command->add_option("--format", arguments->format, "Of the input: csv or jsonl")->capture_default_str();
  command->add_option("--output", arguments->output, "Format of the output; else that of the input");
  command->add_option("--top", arguments->top, "Only the most probable classes")->check(CLI::NonNegativeNumber);
  command->add_flag("--best", arguments->best, "The checkpoint that was best on validation, not the last");
  command->callback([arguments] { predict(*arguments); });
}

}  // namespace throughtime
