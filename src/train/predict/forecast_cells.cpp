#include "train/predict/forecast_cells.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "data/tables/fields.h"
#include "heads/exponential_intensity.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

std::size_t most_probable(std::span<const double> probabilities) {
  return elements(std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin());
}

/// "truth" alone, or one for each of several columns.
std::vector<std::string> prefixed(const std::string& prefix, const std::vector<std::string>& names) {
  if (names.size() == 1) return {prefix};
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(prefix + "_" + name);
  return all;
}

}  // namespace

ForecastCells::ForecastCells(const RunConfig& config, const Model& model, const ModelNames& names)
    : model_(model),
      names_(names),
      interval_unit_(config.task.name == "point_process" ? 1 / config.task.point_process.scale : 1) {}

std::vector<std::string> ForecastCells::truth_names() const {
  switch (model_.head().target) {
    case TargetKind::label_or_distribution:
      return {"truth"};
    case TargetKind::label_and_interval:
      return {"truth_mark", "truth_interval"};
    default:
      return prefixed("truth", names_.outputs);
  }
}

std::vector<std::string> ForecastCells::forecast_names() const {
  switch (model_.head().target) {
    case TargetKind::label_or_distribution:
      return {"forecast", "probability"};
    case TargetKind::label_and_interval:
      return {"mark", "probability", "interval"};
    default:
      return prefixed("forecast", names_.outputs);
  }
}

std::vector<Cell> ForecastCells::truth(const RowTarget<float>& target) const {
  switch (model_.head().target) {
    case TargetKind::label_or_distribution:
      if (target.label >= 0 || target.values == nullptr) return {names_.outputs[elements(target.label)]};
      return {
          names_.outputs[elements(std::max_element(target.values, target.values + model_.outputs()) - target.values)]};
    case TargetKind::label_and_interval:
      return {names_.outputs[elements(target.label)], target.values[0] * interval_unit_};
    default:
      break;
  }
  std::vector<double> values(target.values, target.values + model_.target_width());
  if (names_.scales) undo_scales(names_.scales->targets, values);
  return {values.begin(), values.end()};
}

std::vector<Cell> ForecastCells::forecast(std::span<const double> predictions) const {
  const std::span<const double> classes = predictions.first(elements(model_.classes()));
  switch (model_.head().target) {
    case TargetKind::label_or_distribution:
      return {names_.outputs[most_probable(predictions)], predictions[most_probable(predictions)]};
    case TargetKind::label_and_interval: {
      const std::size_t mark = most_probable(classes);
      const double interval = expected_interval(predictions[classes.size()], predictions[classes.size() + 1]);
      return {names_.outputs[mark], predictions[mark], interval * interval_unit_};
    }
    default:
      break;
  }
  std::vector<double> values(predictions.begin(), predictions.end());
  if (names_.scales) undo_scales(names_.scales->targets, values);
  return {values.begin(), values.end()};
}

std::string CellLines::header() const {
  if (format_ == AnswerFormat::jsonl) return "";
  std::vector<std::string> cells;
  for (const std::string& name : names_) cells.push_back(csv_field(name));
  return fmt::format("{}\n", fmt::join(cells, ","));
}

std::string CellLines::line(const std::vector<Cell>& cells) const {
  if (format_ == AnswerFormat::jsonl) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < cells.size(); ++i)
      std::visit([&](const auto& value) { object[names_[i]] = value; }, cells[i]);
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  std::vector<std::string> fields;
  for (const Cell& cell : cells)
    fields.push_back(std::visit(
        [](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
            return csv_field(value);
          else
            return fmt::format("{}", value);
        },
        cell));
  return fmt::format("{}\n", fmt::join(fields, ","));
}

std::vector<double> numbers_of(const std::vector<Cell>& cells) {
  std::vector<double> numbers;
  for (const Cell& cell : cells) {
    if (std::holds_alternative<std::string>(cell))
      refuse("predict", "'{}' is no number: this answer has names in it, which csv and jsonl can hold",
             std::get<std::string>(cell));
    const std::int64_t* count = std::get_if<std::int64_t>(&cell);
    numbers.push_back(count != nullptr ? static_cast<double>(*count) : std::get<double>(cell));
  }
  return numbers;
}

}  // namespace throughtime
