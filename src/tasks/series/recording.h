#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tasks/series/series_table.h"

namespace throughtime {

/// What the files of a series hold: what a model reads and what it is asked for, with as many rows, nothing missing.
struct Recording {
  SeriesTable inputs, known, levels;        // levels: the target columns
  std::vector<std::uint8_t> silent_levels;  // [rows, target columns]: what was missing, where that has no loss
  std::size_t missing = 0;                  // values that were held
  std::vector<std::string> left_out;        // a text about each column that holds no numbers
  int rate = 0;                             // frames per second, where the inputs are audio
};

/// Refuses options that these files give no meaning to.
Recording read_recording(const SeriesConfig& config);

}  // namespace throughtime
