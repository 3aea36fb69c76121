#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

/// What an empty line is between two rows: a mistake, or a record without fields.
enum class EmptyLine { refused, record };

/// Cuts a stream into records of fields: quotes, quotes within quotes (doubled), newlines within quotes, LF and CRLF, a
/// byte-order mark. Empty lines may only stand at the end, unless they are records.
class CsvRecords {
 public:
  CsvRecords(ByteStream& stream, char delimiter, EmptyLine empty_line = EmptyLine::refused);

  /// False at the end. The fields are valid until the next call.
  bool next(std::vector<std::string_view>& fields);
  /// Where the latest record begins.
  std::uint64_t line() const { return record_line_; }
  const std::string& name() const { return stream_.name(); }

 private:
  static constexpr int end = -1;

  int peek() { return at_ < filled_ || refill() ? static_cast<unsigned char>(block_[at_]) : end; }
  bool refill();
  /// Appends one field to text_; true where the record has another one.
  bool read_field();
  void read_quoted();
  void append(int letter);

  ByteStream& stream_;
  char delimiter_;
  EmptyLine empty_line_;
  std::vector<char> block_;
  std::size_t at_ = 0, filled_ = 0;
  std::uint64_t line_ = 1, record_line_ = 1;
  std::string text_;               // of the record, without quotes and delimiters
  std::vector<std::size_t> ends_;  // of its fields in text_
};

}  // namespace throughtime
