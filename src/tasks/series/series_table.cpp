#include "tasks/series/series_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/files.h"
#include "core/names.h"
#include "data/arrays/npy.h"
#include "data/arrays/raw.h"
#include "data/arrays/wav.h"
#include "data/tables/csv.h"
#include "data/tables/fields.h"
#include "data/unpack.h"
#include "tasks/shared_options.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

SeriesTable from_csv(const std::string& path, char delimiter, const SeriesConfig& config,
                     const std::vector<std::string>& columns) {
  std::vector<std::string> needed = config.known;
  if (config.target_path.empty()) needed.insert(needed.end(), config.targets.begin(), config.targets.end());
  CsvTable table = read_csv(path, {.delimiter = delimiter,
                                   .delimiter_option = "task.series.delimiter",
                                   .header = config.header,
                                   .columns = columns,
                                   .needed = std::move(needed),
                                   .missing = config.missing != MissingValues::refuse});
  return {std::move(table.columns), table.rows, std::move(table.values), std::move(table.left_out),
          std::move(table.places)};
}

SeriesTable from_array(NumberArray array, const std::string& path) {
  if (array.shape.empty() || array.shape.size() > 2)
    refuse("series", "{} must be an array [steps] or [steps, columns], got {} dimensions", path, array.shape.size());
  const std::size_t columns = array.shape.size() == 2 ? array.shape[1] : 1;
  return {numbered(columns), array.shape[0], std::move(array.values)};
}

SeriesTable from_raw(const std::string& path, int channels, Gaps gaps) {
  require_range("series", "task.series.channels", channels, 1, 1'000'000);
  std::vector<float> values = read_float32(path, gaps);
  const auto width = elements(channels);
  if (values.size() % width != 0)
    refuse("series", "{} holds {} numbers, which is no multiple of task.series.channels = {}", path, values.size(),
           channels);
  return {numbered(width), values.size() / width, std::move(values)};
}

}  // namespace

std::string npz_file_of(const std::string& path) {
  const std::size_t colon = path.rfind(".npz:");
  return colon == std::string::npos ? path : path.substr(0, colon + 4);
}

std::string data_ending_of(const std::string& path) { return data_ending(npz_file_of(path)); }

SeriesTable read_series(const std::string& path, const SeriesConfig& config, const std::vector<std::string>& columns) {
  const std::string file = npz_file_of(path);
  if (file.empty()) refuse("series", "task.series.path must name a file (CSV, NPY, NPZ, WAV or raw float32)");
  if (const std::string trouble = file_trouble(file); file != "-" && !trouble.empty())
    refuse("series", "cannot read {}: {}; name it with task.series.path (--set task.series.path=FILE)", file, trouble);
  const Gaps gaps = config.missing == MissingValues::refuse ? Gaps::refused : Gaps::kept;
  if (file != path) return from_array(read_npz(file, path.substr(file.size() + 1), gaps), path);
  const std::string ending = data_ending_of(file);
  if (file == "-" || ending == ".csv" || ending == ".txt")
    return from_csv(file, delimiter_of("series", config.delimiter), config, columns);
  if (ending == ".tsv") return from_csv(file, '\t', config, columns);
  if (ending == ".npy") return from_array(read_npy(file, gaps), path);
  if (ending == ".npz") refuse("series", "say which array of {} is meant: {}:name", path, path);
  if (ending == ".wav") {
    Audio audio = read_wav(file);
    const auto channels = elements(audio.channels);
    const std::size_t rows = audio.samples.size() / channels;
    return {.columns = numbered(channels), .rows = rows, .values = std::move(audio.samples), .rate = audio.rate};
  }
  if (ending == ".f32" || ending == ".raw" || ending == ".bin") return from_raw(file, config.channels, gaps);
  refuse("series", "{}: the ending must tell the format: .csv, .tsv, .txt, .npy, .npz:name, .wav, .f32, .raw or .bin",
         path);
}

SeriesTable select_columns(const SeriesTable& table, const std::vector<std::string>& columns, const std::string& path) {
  if (columns.empty()) return table;
  std::unordered_map<std::string_view, std::size_t> known;  // there may be very many columns
  for (std::size_t i = 0; i < table.columns.size(); ++i) known.emplace(table.columns[i], i);
  SeriesTable selected{.rows = table.rows, .left_out = table.left_out, .rate = table.rate};
  std::vector<std::size_t> places;
  for (const std::string& name : columns) {
    auto found = known.find(name);
    std::size_t number = 0;
    if (found == known.end() && reads_as(name, number))
      if (const auto place = std::ranges::find(table.places, number); place != table.places.end())
        found = known.find(table.columns[elements(place - table.places.begin())]);
    if (found == known.end()) {
      const std::string nearest = nearest_name(name, table.columns);
      refuse("series", "{} has no column '{}';{} it has: {}", path, name,
             nearest.empty() ? "" : fmt::format(" did you mean '{}'?", nearest), fmt::join(table.columns, ", "));
    }
    places.push_back(found->second);
    selected.columns.push_back(table.columns[found->second]);
  }
  selected.values.reserve(table.rows * columns.size());
  for (std::size_t row = 0; row < table.rows; ++row)
    for (const std::size_t place : places) selected.values.push_back(table.values[row * table.columns.size() + place]);
  return selected;
}

std::vector<std::uint8_t> hold_missing(SeriesTable& table, const std::string& path) {
  const std::size_t width = table.columns.size();
  std::vector<std::uint8_t> missing;
  for (std::size_t column = 0; column < width; ++column) {
    const auto at = [&](std::size_t row) -> float& { return table.values[row * width + column]; };
    std::size_t first = 0;
    while (first < table.rows && std::isnan(at(first))) ++first;
    if (first == table.rows) refuse("series", "column '{}' of {} has no value at all", table.columns[column], path);
    float last = at(first);
    for (std::size_t row = 0; row < table.rows; ++row) {
      if (!std::isnan(at(row))) {
        last = at(row);
        continue;
      }
      missing.resize(table.values.size());
      missing[row * width + column] = 1;
      at(row) = last;
    }
  }
  return missing;
}

}  // namespace throughtime
