#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tables/row_format.h"
#include "throughtime/header_line.h"

namespace throughtime {

/// What a row of a stream is made of, by the names of its columns.
struct RowLayout {
  RowFormat format = RowFormat::csv;
  char delimiter = ',';
  HeaderLine header = HeaderLine::automatic;  // csv; automatic: a first row that is not all numbers is one
  int channels = 1;                           // raw: floats of a row
  std::string id;  // the column that says which stream a row belongs to; empty: there is one stream
  std::vector<std::string> inputs, targets;
};

/// One row as it was read.
struct StreamRow {
  std::string id;
  std::vector<float> inputs, targets;
  bool has_targets = false;  // all of them; one that is missing makes none
  bool ends = false;         // the stream of that id is over, and there is nothing else in the row
};

/// Turns records (RecordCutter) into rows. What is wrong with one is InvalidInput without a speaker or a place.
class RowParser {
 public:
  explicit RowParser(RowLayout layout);

  /// Bytes of a record; 0: lines.
  std::size_t block() const;
  /// Column names of a line of CSV, where the first record is one. Refuses a stream without the columns it must have.
  bool take_header(std::string_view record);
  void parse(std::string_view record, StreamRow& row);

  /// The columns in the order of the records; empty where there are none yet. A run that goes on without a header has
  /// them from its first part.
  const std::vector<std::string>& columns() const { return columns_; }
  void set_columns(std::vector<std::string> columns);

 private:
  void split(std::string_view line);
  void split_quoted(std::string_view line);
  void parse_csv(std::string_view line, StreamRow& row);
  void parse_json(std::string_view line, StreamRow& row);
  void parse_raw(std::string_view block, StreamRow& row);

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  RowLayout layout_;
  std::vector<std::string> columns_;
  std::size_t id_place_ = 0;
  std::vector<std::size_t> input_places_, target_places_;
  std::vector<std::size_t> same_input_;  // of each target: the input of that column; `none`: there is none
  std::vector<std::string_view> fields_;
};

}  // namespace throughtime
