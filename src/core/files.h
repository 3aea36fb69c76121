#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

// Every file that the library writes is written here. Links are never followed where we write.
namespace throughtime {

/// A file that is written from its start or on from some byte. Every failure names the path and what the system said.
class OutputFile {
 public:
  /// Makes the file empty, or cuts it to its first `keep` bytes; refuses a file that is shorter than that, a link, and
  /// whatever else is no regular file.
  explicit OutputFile(std::filesystem::path path, std::uint64_t keep = 0);
  /// Takes over what is open for writing already; a descriptor below 0 is an open that failed.
  OutputFile(std::filesystem::path path, int descriptor, const char* speaker);
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
  const char* speaker_ = "run";
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// A file that gets its name once it is whole and on the disk: until then it has a random one in the same directory.
/// What is not published goes with this object.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path, const char* speaker = "run");
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  OutputFile& file() { return *file_; }
  /// Takes the place of what had the name. Both are safe when this returns: the bytes and the name.
  void publish();

 private:
  std::filesystem::path path_, partial_;
  const char* speaker_;
  std::unique_ptr<OutputFile> file_;
};

/// Writes a text file so that a reader sees the old or the new one, never a part.
void replace_file(const std::filesystem::path& path, std::string_view text);
/// Writes what a user named: a regular file, or a link to one, is replaced in the same way; into a device, a pipe or
/// our own stdout it is written as it is.
void write_output(const std::filesystem::path& path, const std::function<void(OutputFile&)>& write);
void write_output(const std::filesystem::path& path, std::string_view text);

/// Replaces one name by another; both are in the same directory.
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);
/// Makes `to` another name of the file `from`, which keeps its own; a copy where the file system has no second names.
/// As after `move_file`, the name is on the disk once the directory is synced.
void link_file(const std::filesystem::path& from, const std::filesystem::path& to);
/// Waits until names that were changed in a directory are on the disk.
void sync_directory(const std::filesystem::path& directory);
/// Makes a directory in one that is there; refuses a link in its place. It is on the disk when this returns.
void make_directory(const std::filesystem::path& directory);
/// Makes a directory and those above it.
void make_directories(const std::filesystem::path& directory);

/// Whether a file is a `NewFile` that a crash left behind.
bool is_leftover(const std::filesystem::path& path);
/// Removes the files of these names and what a crash left behind, and the directory if it is empty then. Other files
/// stay, and so does everything behind a link.
void remove_files(const std::filesystem::path& directory, std::span<const char* const> names);

/// Why a path cannot be read as a file, for a message: there is none, or it is a directory. Empty: it can be tried.
std::string file_trouble(const std::filesystem::path& path);
/// The whole of a text file; refuses what cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace throughtime
