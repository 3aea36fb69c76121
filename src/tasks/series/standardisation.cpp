#include "tasks/series/standardisation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

std::string path_in(const std::string& directory) {
  return (std::filesystem::path(directory) / "standardisation.json").string();
}

nlohmann::json to_json(const std::vector<ColumnScale>& scales) {
  nlohmann::json list = nlohmann::json::array();
  for (const ColumnScale& scale : scales) {
    nlohmann::json entry = {{"column", scale.column}, {"mean", scale.mean}, {"deviation", scale.deviation}};
    if (scale.level_deviation != 0) entry["level_deviation"] = scale.level_deviation;
    if (!scale.change_of.empty()) entry["change_of"] = scale.change_of;
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<ColumnScale> from_json(const nlohmann::json& list, const std::string& path) {
  std::vector<ColumnScale> scales;
  for (const nlohmann::json& entry : list) {
    const ColumnScale scale{entry.at("column").get<std::string>(), entry.at("mean").get<double>(),
                            entry.at("deviation").get<double>(), entry.value("level_deviation", 0.0),
                            entry.value("change_of", std::string())};
    if (!std::isfinite(scale.mean) || !(scale.deviation > 0) || !std::isfinite(scale.deviation))
      refuse("series", "{}: column {} needs a finite mean and a positive deviation", path, scale.column);
    if (!(scale.level_deviation >= 0) || !std::isfinite(scale.level_deviation))
      refuse("series", "{}: the level_deviation of column {} must be a number of at least 0", path, scale.column);
    scales.push_back(scale);
  }
  return scales;
}

}  // namespace

void Standardisation::save(const std::string& directory) const {
  nlohmann::json document = {{"inputs", to_json(inputs)}, {"targets", to_json(targets)}};
  if (rate > 0) document["rate"] = rate;
  replace_file(path_in(directory), document.dump(2) + "\n");
}

Standardisation Standardisation::load(const std::string& directory) {
  const std::string path = path_in(directory);
  std::ifstream file(path);
  if (!file) refuse("series", "cannot read {}: the run has no standardisation saved", path);
  try {
    const nlohmann::json document = nlohmann::json::parse(file);
    return {from_json(document.at("inputs"), path), from_json(document.at("targets"), path),
            std::max(0, document.value("rate", 0))};
  } catch (const nlohmann::json::exception& error) {
    refuse("series", "{} is not a saved standardisation: {}", path, error.what());
  }
}

std::vector<ColumnScale> fit_scales(const std::vector<std::string>& columns, std::span<const float> values,
                                    std::size_t rows) {
  std::vector<ColumnScale> scales;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const auto at = [&](std::size_t row) { return static_cast<double>(values[row * columns.size() + column]); };
    double sum = 0, squares = 0;
    for (std::size_t row = 0; row < rows; ++row) sum += at(row);
    const double mean = sum / static_cast<double>(rows);
    for (std::size_t row = 0; row < rows; ++row) squares += (at(row) - mean) * (at(row) - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(rows));
    scales.push_back({columns[column], mean, deviation > 0 ? deviation : 1.0});
  }
  return scales;
}

void apply_scales(const std::vector<ColumnScale>& scales, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ColumnScale& scale = scales[i % scales.size()];
    values[i] = static_cast<float>((values[i] - scale.mean) / scale.deviation);
  }
}

void undo_scales(const std::vector<ColumnScale>& scales, std::span<double> values) {
  if (scales.empty()) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ColumnScale& scale = scales[i % scales.size()];
    values[i] = values[i] * scale.deviation + scale.mean;
  }
}

}  // namespace throughtime
