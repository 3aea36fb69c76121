#include "train/predict/answer_writer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/tables/fields.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* speaker = "predict";

/// The indices of the `count` largest predictions, the largest first.
std::vector<std::size_t> largest(const std::vector<double>& predictions, std::size_t count) {
  std::vector<std::size_t> order(predictions.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return predictions[a] > predictions[b]; });
  order.resize(std::min(count, order.size()));
  return order;
}

}  // namespace

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
    for (const std::string& name : predictor_.output_names()) names.push_back(csv_field(name));
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string AnswerWriter::line(const std::vector<double>& predictions) const {
  return format_ == LineFormat::jsonl ? json_line(predictions) : csv_line(predictions);
}

std::string AnswerWriter::csv_line(const std::vector<double>& predictions) const {
  std::vector<std::string> cells;
  for (const std::size_t index : largest(predictions, top_)) {
    cells.push_back(csv_field(predictor_.output_names()[index]));
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
