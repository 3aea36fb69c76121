#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "throughtime/task.h"

namespace throughtime {

/// A recording: one row of numbers per step.
struct SeriesTable {
  std::vector<std::string> columns;  // names; numbers from 0 where the file has none
  std::size_t rows = 0;
  std::vector<float> values;               // [rows, columns]
  std::vector<std::string> left_out = {};  // a text about each column of the file that holds no numbers
  std::vector<std::size_t> places = {};    // of a CSV file: which of its columns these are
  int rate = 0;                            // of audio: frames per second
};

/// Reads CSV (.csv, .tsv, .txt or `-`), NumPy (.npy, and `file.npz:name`), audio (.wav) or raw float32 (.f32, .raw,
/// .bin; config.channels numbers per step), packed or not. `columns` are the wanted ones; none: all.
SeriesTable read_series(const std::string& path, const SeriesConfig& config, const std::vector<std::string>& columns);

/// The ending that tells the format of a file: in small letters, without .gz and .xz, of `file.npz:name` that of the
/// file.
std::string data_ending_of(const std::string& path);
/// `file.npz` of `file.npz:name`; of another path the path itself.
std::string npz_file_of(const std::string& path);

/// Those columns of a table, in this order, by name, else by their number in the file; refuses one that it does not
/// have.
SeriesTable select_columns(const SeriesTable& table, const std::vector<std::string>& columns, const std::string& path);

/// Puts the last value of its column in the place of each that is missing (NaN), at the start of a column the first
/// one. Returns which they were, [rows, columns]; empty: none.
std::vector<std::uint8_t> hold_missing(SeriesTable& table, const std::string& path);

}  // namespace throughtime
