#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace throughtime {

/// Bytes of a live stream: stdin (`-`), a file, or a named pipe. Never waits longer than it is told to, so that its
/// owner can look at clocks and signals.
class RowFeed {
 public:
  /// `follow`: the end of a file, or of a writer of a named pipe, is no end: more may come. A file that another one has
  /// replaced, or that was cut short, is read from its front again.
  RowFeed(std::string path, bool follow);
  ~RowFeed();
  RowFeed(const RowFeed&) = delete;
  RowFeed& operator=(const RowFeed&) = delete;

  enum class State { bytes, nothing_yet, begins_again, end };
  /// Appends what there is to `into`, at most 64 KiB; waits for it at most `milliseconds`, or until a signal comes.
  State read(std::string& into, int milliseconds);
  const std::string& name() const { return path_; }
  /// Whether the same bytes can be had again from the front: a file that was named, not stdin and no pipe.
  bool repeatable() const { return kind_ == Kind::file; }

 private:
  enum class Kind { pipe, named_pipe, file };
  void open();
  State at_end(int milliseconds);
  bool replaced() const;

  std::string path_;
  bool follow_;
  Kind kind_ = Kind::pipe;
  int descriptor_ = -1;
  std::int64_t taken_ = 0;   // bytes of the file
  std::vector<char> block_;  // where they arrive: a string would be filled with zeros first
};

/// Cuts bytes into records: lines, or blocks of a fixed size.
class RecordCutter {
 public:
  static constexpr std::size_t longest_line = 1 << 20;
  /// `block` 0: lines, without their LF or CRLF.
  explicit RecordCutter(std::size_t block) : block_(block) {}

  /// Where new bytes go.
  std::string& bytes();
  /// The next whole record, valid until `bytes` is called; `overlong` where a line was too long and is cut off.
  bool next(std::string_view& record, bool& overlong);
  /// What is left when no more bytes come.
  std::string_view rest() const { return std::string_view(text_).substr(at_); }

 private:
  std::size_t block_;
  std::string text_;
  std::size_t at_ = 0;         // of the first byte that is in no record yet
  std::size_t looked_at_ = 0;  // no line ends before it
  bool dropping_ = false;      // the front of an overlong line is gone
};

}  // namespace throughtime
