#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/targets.h"
#include "support/scratch.h"
#include "throughtime/task.h"

namespace throughtime::testing {

inline std::int32_t token_at(const Window& window, int step, int row) { return place_at(window, step, row).token(); }

/// The label of a row, whatever the layout.
inline std::int32_t label_at(const Window& window, int step, int row) {
  if (window.targets.layout == TargetLayout::per_row) return window.targets.labels[static_cast<std::size_t>(row)];
  const Place place = place_at(window, step, row);
  return place.source->labels[static_cast<std::size_t>(place.index)];
}

inline float value_at(const Window& window, int step, int row, int column = 0) {
  return place_at(window, step, row).reals()[column];
}

inline float target_at(const Window& window, int step, int row, int column = 0) {
  const Targets& targets = window.targets;
  if (targets.layout == TargetLayout::per_row)
    return targets.values[static_cast<std::size_t>(row * targets.width + column)];
  const Place place = place_at(window, step, row);
  return place.source->target_values[static_cast<std::size_t>(place.index * place.source->target_width + column)];
}

/// Everything that a model sees of a window and is asked for, as one list of numbers.
inline std::vector<double> contents(const Window& window) {
  std::vector<double> all = {static_cast<double>(window.steps), static_cast<double>(window.batch),
                             static_cast<double>(window.continues)};
  for (int row = 0; row < window.batch; ++row) {
    for (int step = 0; step < window.steps; ++step) {
      const Place place = place_at(window, step, row);
      all.push_back(window.weight_at(step, row));
      all.push_back(window.resets_at(step, row));
      all.push_back(place.padding);
      if (place.padding) continue;
      if (!place.source->tokens.empty()) all.push_back(place.token());
      for (int column = 0; column < place.source->reals; ++column) all.push_back(place.reals()[column]);
      if (window.weight_at(step, row) == 0) continue;
      const bool labels = !window.targets.labels.empty() || !place.source->labels.empty();
      all.push_back(labels ? label_at(window, step, row) : target_at(window, step, row));
    }
  }
  return all;
}

inline std::vector<double> contents(Task& task, Split split, std::uint64_t iteration, int batch) {
  const Window& window = task.make_batch(split, iteration, batch);
  validate(window);
  return contents(window);
}

/// The directory of real data sets that holds `file`; empty where there is none.
inline std::string real_data(const std::string& file) {
  const char* directory = std::getenv("THROUGHTIME_DATA");
  if (directory == nullptr || !std::filesystem::exists(std::filesystem::path(directory) / file)) return "";
  return directory;
}

}  // namespace throughtime::testing

/// Skips a test where a real data set is absent.
#define REQUIRE_REAL_DATA(directory, file)                               \
  const std::string directory = ::throughtime::testing::real_data(file); \
  if (directory.empty()) GTEST_SKIP() << "$THROUGHTIME_DATA has no " << (file)
