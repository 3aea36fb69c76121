#include "train/predict/sequence_answers.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "data/tables/fields.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

/// The outputs, the most probable one first.
std::vector<std::size_t> by_probability(const std::vector<double>& predictions) {
  std::vector<std::size_t> order(predictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t output) { return predictions[output]; });
  return order;
}

}  // namespace

SequenceAnswers::SequenceAnswers(const Predictor& predictor, LineFormat format, int top)
    : predictor_(predictor), format_(format), top_(std::min(elements(top), predictor.output_names().size())) {
  if (top > 0 && !predictor.classifies())
    refuse("predict", "--top is for models that choose between classes; this one predicts numbers");
}

std::string SequenceAnswers::header() const {
  if (format_ == LineFormat::jsonl) return "";
  std::vector<std::string> names = {"id"};
  for (std::size_t rank = 1; rank <= top_; ++rank) {
    names.push_back(fmt::format("class_{}", rank));
    names.push_back(fmt::format("probability_{}", rank));
  }
  if (top_ == 0 && predictor_.classifies()) names.emplace_back("class");
  if (top_ == 0)
    for (const std::string& name : predictor_.output_names()) names.push_back(csv_field(name));
  return fmt::format("{}\n", fmt::join(names, ","));
}

std::string SequenceAnswers::line(const std::string& id, const std::vector<double>& predictions) const {
  const std::vector<std::string>& names = predictor_.output_names();
  const std::vector<std::size_t> order = by_probability(predictions);
  const std::size_t shown = top_ > 0 ? top_ : names.size();
  if (format_ == LineFormat::jsonl) {
    Json line = {{"id", id}};
    if (predictor_.classifies()) line["class"] = names[order.front()];
    Json& values = line[predictor_.classifies() ? "probabilities" : "prediction"] = Json::object();
    for (std::size_t i = 0; i < shown; ++i) {
      const std::size_t output = top_ > 0 ? order[i] : i;
      values[names[output]] = predictions[output];
    }
    return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::vector<std::string> cells = {csv_field(id)};
  if (top_ == 0 && predictor_.classifies()) cells.push_back(csv_field(names[order.front()]));
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t output = top_ > 0 ? order[i] : i;
    if (top_ > 0) cells.push_back(csv_field(names[output]));
    cells.push_back(fmt::format("{}", predictions[output]));
  }
  return fmt::format("{}\n", fmt::join(cells, ","));
}

std::vector<double> predict_sequence(Predictor& predictor, const LabelledSequences& sequences, std::size_t sequence) {
  const std::size_t width = sequences.columns.size();
  std::vector<double> predictions;
  predictor.reset();
  for (std::size_t step = sequences.begins[sequence]; step < sequences.begins[sequence + 1]; ++step) {
    const auto first = sequences.values.begin() + static_cast<Index>(step * width);
    predictions = predictor.step(-1, {first, first + static_cast<Index>(width)});
  }
  return predictions;
}

}  // namespace throughtime
