#include "data/tables/csv_records.h"

#include "data/printable.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "csv";
constexpr std::size_t longest_record = 16 << 20;  // more is a quote that was never closed

}  // namespace

CsvRecords::CsvRecords(ByteStream& stream, char delimiter, EmptyLine empty_line)
    : stream_(stream), delimiter_(delimiter), empty_line_(empty_line), block_(1 << 16) {
  if (delimiter == '"' || delimiter == '\n' || delimiter == '\r')
    refuse(speaker, "the delimiter must be neither a quote nor the end of a line, got {}", excerpt({&delimiter, 1}));
  filled_ = read_up_to(stream_, std::as_writable_bytes(std::span(block_)));
  if (std::string_view(block_.data(), filled_).starts_with("\xef\xbb\xbf")) at_ = 3;
}

bool CsvRecords::next(std::vector<std::string_view>& fields) {
  std::uint64_t empty_line = 0;
  fields.clear();
  while (true) {
    if (peek() == end) return false;
    record_line_ = line_;
    text_.clear();
    ends_.clear();
    bool more = true;
    while (more) {
      more = read_field();
      ends_.push_back(text_.size());
    }
    if (!text_.empty() || ends_.size() > 1) break;
    if (empty_line_ == EmptyLine::record) return true;
    if (empty_line == 0) empty_line = record_line_;
  }
  if (empty_line != 0)
    refuse_line(speaker, name(), empty_line, "the line is empty: take it out, or write nan where a value is missing");
  std::size_t begin = 0;
  for (const std::size_t field_end : ends_) {
    fields.push_back(std::string_view(text_).substr(begin, field_end - begin));
    begin = field_end;
  }
  return true;
}

bool CsvRecords::refill() {
  at_ = 0;
  filled_ = stream_.read(std::as_writable_bytes(std::span(block_)));
  return filled_ > 0;
}

void CsvRecords::append(int letter) {
  if (text_.size() == longest_record)
    refuse_line(speaker, name(), record_line_, "a row of more than 16 MiB; does a quote not close?");
  text_ += static_cast<char>(letter);
}

bool CsvRecords::read_field() {
  bool closed = false;
  if (peek() == '"') {
    read_quoted();
    closed = true;
  }
  while (true) {
    const int letter = peek();
    if (letter == end) return false;
    ++at_;
    if (letter == static_cast<unsigned char>(delimiter_)) return true;
    if (letter == '\n') {
      ++line_;
      return false;
    }
    if (letter == '\r' && peek() == '\n') continue;
    if (closed) refuse_line(speaker, name(), line_, "a delimiter must follow a closing quote");
    append(letter);
  }
}

void CsvRecords::read_quoted() {
  const std::uint64_t opened = line_;
  ++at_;
  while (true) {
    const int letter = peek();
    if (letter == end) refuse_line(speaker, name(), opened, "a quote is opened and never closed");
    ++at_;
    if (letter == '"') {
      if (peek() != '"') return;
      ++at_;
    }
    if (letter == '\n') ++line_;
    append(letter);
  }
}

}  // namespace throughtime
