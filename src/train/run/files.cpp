#include "train/run/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "throughtime/error.h"

namespace throughtime {
namespace {

[[noreturn]] void fail_with_errno(const char* what, const std::filesystem::path& path) {
  const int error = errno;
  const char* advice = error == ENOSPC || error == EDQUOT ? "; make room and resume the run" : "";
  fail("run", "cannot {} {}: {}{}", what, path.string(), std::strerror(error), advice);
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, std::uint64_t keep) : path_(std::move(path)), size_(keep) {
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with_errno("write", path_);
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  const bool complete = known && static_cast<std::uint64_t>(status.st_size) >= keep;
  const bool cut =
      complete && ftruncate(descriptor_, static_cast<off_t>(keep)) == 0 && lseek(descriptor_, 0, SEEK_END) >= 0;
  if (cut) return;
  const int error = errno;
  close(descriptor_);
  if (known && !complete)
    refuse("run", "{} has {} bytes, the checkpoint was written when it had {}; put the file back, or start a new run",
           path_.string(), status.st_size, keep);
  errno = error;
  fail_with_errno("cut", path_);
}

OutputFile::~OutputFile() { close(descriptor_); }

void OutputFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno("write", path_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_ += static_cast<std::uint64_t>(count);
  }
}

void OutputFile::sync() {
  if (fsync(descriptor_) != 0) fail_with_errno("sync", path_);
}

void move_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) fail_with_errno("replace", to);
}

void sync_directory(const std::filesystem::path& directory) {
  const int descriptor = open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_with_errno("open", directory);
  // Some file systems cannot sync a directory and say so; renames are then as safe as they get.
  const bool failed = fsync(descriptor) != 0 && errno != EINVAL;
  const int error = errno;
  close(descriptor);
  errno = error;
  if (failed) fail_with_errno("sync", directory);
}

void replace_file(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path partial = path.string() + ".partial";
  {
    OutputFile file(partial);
    file.write(text);
    file.sync();
  }
  move_file(partial, path);
  sync_directory(path.parent_path());
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) refuse("run", "cannot read {}: no readable file", path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void make_directories(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) fail("run", "cannot make the directory {}: {}", directory.string(), error.message());
}

}  // namespace throughtime
