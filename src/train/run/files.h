#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace throughtime {

/// A file that is written from its start or on from some byte. Every failure names the path and what the system said.
class OutputFile {
 public:
  /// Makes the file empty, or cuts it to its first `keep` bytes; refuses a file that is shorter than that.
  explicit OutputFile(std::filesystem::path path, std::uint64_t keep = 0);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Hands the bytes to the system before it returns.
  void write(std::string_view text);
  void write(std::span<const std::byte> bytes);
  /// Waits until they are on the disk.
  void sync();
  std::uint64_t size() const { return size_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// Replaces one name by another on the disk; both are in the same directory.
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);
/// Waits until names that were changed in a directory are on the disk.
void sync_directory(const std::filesystem::path& directory);
/// Writes a text file so that a reader sees the old or the new one, never a part.
void replace_file(const std::filesystem::path& path, std::string_view text);
/// The whole of a text file; refuses what cannot be read.
std::string read_file(const std::filesystem::path& path);
/// Makes a directory and those above it.
void make_directories(const std::filesystem::path& directory);

}  // namespace throughtime
