#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "throughtime/error.h"

namespace throughtime {

/// Bytes from a file, from stdin or from memory, read once from the front. What is packed with gzip or xz (told by its
/// first bytes, never by its name) comes out unpacked; damage is InvalidInput.
class ByteStream {
 public:
  /// `-` is stdin.
  static std::unique_ptr<ByteStream> open(const std::string& path);
  /// Reads `bytes`, which must outlive the stream, as a file of that name.
  static std::unique_ptr<ByteStream> over(std::span<const std::byte> bytes, std::string name = "memory");

  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Fills at most all of `into` and returns how much of it; 0 only at the end (or for an empty `into`).
  std::size_t read(std::span<std::byte> into) {
    const std::size_t count = take(into);
    offset_ += count;
    return count;
  }
  /// Bytes read so far, counted unpacked.
  std::uint64_t offset() const { return offset_; }
  const std::string& name() const { return name_; }

 protected:
  explicit ByteStream(std::string name) : name_(std::move(name)) {}
  virtual std::size_t take(std::span<std::byte> into) = 0;

 private:
  std::string name_;
  std::uint64_t offset_ = 0;
};

/// As many bytes as there are, up to all of `into`.
std::size_t read_up_to(ByteStream& stream, std::span<std::byte> into);
/// Fills `into`, or refuses a file that ends within `what`.
void read_exactly(ByteStream& stream, std::span<std::byte> into, std::string_view speaker, std::string_view what);
/// The next `count` bytes. Memory grows with what the file really holds, whatever a header says.
std::vector<std::uint8_t> read_bytes(ByteStream& stream, std::uint64_t count, std::string_view speaker,
                                     std::string_view what);
/// Reads over `count` bytes.
void skip_bytes(ByteStream& stream, std::uint64_t count, std::string_view speaker, std::string_view what);
/// Refuses a file that goes on.
void expect_end(ByteStream& stream, std::string_view speaker);

/// An unsigned number of `size` bytes, the least significant first or last.
std::uint64_t little_endian(const std::byte* bytes, int size);
std::uint64_t big_endian(const std::byte* bytes, int size);

/// Throws InvalidInput: `[idx] train-images, byte 4: message`.
template <class... Args>
[[noreturn]] void refuse_byte(std::string_view speaker, std::string_view file, std::uint64_t byte,
                              fmt::format_string<Args...> message, Args&&... args) {
  refuse(speaker, "{}, byte {}: {}", file, byte, fmt::format(message, std::forward<Args>(args)...));
}

/// Throws InvalidInput: `[csv] series.csv:12: message`. Lines count from 1.
template <class... Args>
[[noreturn]] void refuse_line(std::string_view speaker, std::string_view file, std::uint64_t line,
                              fmt::format_string<Args...> message, Args&&... args) {
  refuse(speaker, "{}:{}: {}", file, line, fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace throughtime
