#pragma once

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "data/byte_stream.h"
#include "data/printable.h"
#include "data/text/text.h"
#include "data/utf8.h"

namespace throughtime {

/// Cuts a text into tokens and calls `sink(token, offset of its first byte)` for each in order. Reads blocks; a token
/// that a block cuts is carried into the next one.
template <class Sink>
class Tokenizer {
 public:
  Tokenizer(ByteStream& stream, const TextOptions& options, Sink& sink)
      : stream_(stream), options_(options), sink_(sink), block_(block_size) {}

  void run() {
    bool last = false;
    while (!last) {
      const std::size_t got = read_up_to(stream_, std::as_writable_bytes(std::span(block_).subspan(kept_)));
      last = got == 0;
      std::string_view text(block_.data(), kept_ + got);
      if (start_ == 0 && !last && text.starts_with("\xef\xbb\xbf")) advance(text, 3);
      const std::size_t rest = options_.unit == TokenUnit::words ? cut_words(text, last) : cut_characters(text, last);
      start_ += text.size() - rest;
      std::memmove(block_.data(), text.data() + text.size() - rest, rest);
      kept_ = rest;
    }
    if (in_line_ && newlines_) end_line(start_);
  }

 private:
  static constexpr std::size_t block_size = 1 << 16, longest_word = 1 << 15;
  static constexpr std::array<bool, 256> is_space = [] {
    std::array<bool, 256> table{};
    for (const unsigned char space : {' ', '\t', '\n', '\v', '\f', '\r'}) table[space] = true;
    return table;
  }();

  void advance(std::string_view& text, std::size_t count) {
    text.remove_prefix(count);
    start_ += count;
  }

  void emit(std::string_view token, std::uint64_t offset) {
    sink_(token, offset);
    in_line_ = line_has_tokens_ = true;
  }

  void end_line(std::uint64_t offset) {
    if (!options_.end_of_line.empty() && (line_has_tokens_ || !options_.skip_empty_lines))
      sink_(options_.end_of_line, offset);
    in_line_ = line_has_tokens_ = false;
    newlines_ = true;
  }

  /// Returns how many bytes at the end wait for more.
  std::size_t cut_words(std::string_view text, bool last) {
    const auto space = [text](std::size_t at) { return is_space[static_cast<unsigned char>(text[at])]; };
    std::size_t at = 0;
    while (at < text.size()) {
      if (space(at)) {
        in_line_ = true;
        if (text[at] == '\n') end_line(start_ + at);
        ++at;
        continue;
      }
      std::size_t end = at + 1;
      while (end < text.size() && !space(end)) ++end;
      if (end - at > longest_word)
        refuse_byte("text", stream_.name(), start_ + at, "a word of more than {} bytes; is this a text file?",
                    longest_word);
      if (end == text.size() && !last) return end - at;
      emit(text.substr(at, end - at), start_ + at);
      at = end;
    }
    return 0;
  }

  std::size_t cut_characters(std::string_view text, bool last) {
    constexpr std::size_t longest_end = 4;  // bytes of a code point; a line ends in fewer
    std::size_t at = 0;
    while (at < text.size()) {
      if (!last && text.size() - at < longest_end) return text.size() - at;
      if (text[at] == '\r' && text.substr(at, 2) == "\r\n") ++at;
      if (text[at] == '\n') {
        end_line(start_ + at);
        ++at;
        continue;
      }
      const std::size_t length = code_point_length(text.substr(at, longest_end));
      if (length == 0) refuse_byte("text", stream_.name(), start_ + at, "invalid UTF-8");
      emit(text.substr(at, length), start_ + at);
      at += length;
    }
    return 0;
  }

  ByteStream& stream_;
  const TextOptions& options_;
  Sink& sink_;
  std::vector<char> block_;
  std::size_t kept_ = 0;     // bytes at the front of the block that were left over
  std::uint64_t start_ = 0;  // offset of the block in the text
  bool in_line_ = false;     // the current line holds at least one byte
  bool line_has_tokens_ = false;
  bool newlines_ = false;  // there was at least one
};

}  // namespace throughtime
