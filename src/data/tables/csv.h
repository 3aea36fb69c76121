#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/byte_stream.h"
#include "throughtime/header_line.h"

namespace throughtime {

struct CsvOptions {
  char delimiter = ',';
  std::string delimiter_option = "delimiter";  // what its user calls it, for messages
  /// automatic: the first row is one when it holds no number, or a text above a number.
  HeaderLine header = HeaderLine::automatic;
  /// By name, else by number from 0; empty: all numeric ones. The table has them in this order, as they are called
  /// here.
  std::vector<std::string> columns;
  /// Where no columns are named: those that must be among the numeric ones, by name or number. Other columns may hold
  /// texts and decimal commas.
  std::vector<std::string> needed = {};
  /// A missing value is a NaN of the table; else it is refused.
  bool missing = false;
};

/// Numbers of a CSV file (not the `Table` that a terminal shows).
struct CsvTable {
  std::vector<std::string> columns;  // names; numbers from 0 without a header
  std::size_t rows = 0;
  std::vector<float> values;          // [rows, columns]
  std::vector<std::string> left_out;  // where no columns were asked for: a text about each that holds no numbers
  std::vector<std::size_t> places;    // [columns]: their numbers in the file, from 0
};

/// Where no columns are asked for, those whose first value is text (dates) are left out. A missing value, a text among
/// numbers, a number with thousands separators or a row of another length is refused with its line.
CsvTable read_csv(const std::string& path, const CsvOptions& options = {});
CsvTable read_csv(ByteStream& stream, const CsvOptions& options = {});

}  // namespace throughtime
