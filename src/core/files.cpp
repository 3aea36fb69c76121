#include "core/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "throughtime/error.h"

namespace throughtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view partial_prefix = ".throughtime-", partial_suffix = ".partial";
constexpr int partial_attempts = 100;

[[noreturn]] void fail_with_errno(const char* what, const fs::path& path, const char* speaker = "run") {
  const int error = errno;
  const bool full = error == ENOSPC || error == EDQUOT;
  const char* advice = !full                                ? ""
                       : speaker == std::string_view("run") ? "; make room and resume the run"
                                                            : "; make room";
  fail(speaker, "cannot {} {}: {}{}", what, path.string(), std::strerror(error), advice);
}

/// Short, so that it fits where the longest name does.
fs::path random_name_beside(const fs::path& path) {
  std::random_device random;
  return path.parent_path() / fmt::format("{}{:08x}{:08x}{}", partial_prefix, random(), random(), partial_suffix);
}

/// Not fs::directory_iterator, which ends the process where there is no memory.
std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(directory.c_str()), closedir);
  if (open == nullptr) return names;
  while (const dirent* entry = readdir(open.get())) names.emplace_back(entry->d_name);
  return names;
}

fs::path directory_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

}  // namespace

OutputFile::OutputFile(fs::path path, std::uint64_t keep) : path_(std::move(path)), size_(keep) {
  // O_NONBLOCK: a pipe that lies there must be refused, not waited for.
  descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor_ < 0 && (errno == ELOOP || errno == ENXIO))
    refuse("run", "{} is a link or a pipe, where a run has a file of its own; nothing was written", path_.string());
  if (descriptor_ < 0) fail_with_errno("write", path_);
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  const bool regular = known && S_ISREG(status.st_mode);
  const bool complete = regular && static_cast<std::uint64_t>(status.st_size) >= keep;
  const bool cut =
      complete && ftruncate(descriptor_, static_cast<off_t>(keep)) == 0 && lseek(descriptor_, 0, SEEK_END) >= 0;
  if (cut) return;
  const int error = errno;
  close(descriptor_);
  if (known && !regular)
    refuse("run", "{} is no regular file, where a run has one of its own; nothing was written", path_.string());
  if (known && !complete)
    refuse("run", "{} has {} bytes, the checkpoint was written when it had {}; put the file back, or start a new run",
           path_.string(), status.st_size, keep);
  errno = error;
  fail_with_errno("cut", path_);
}

OutputFile::OutputFile(fs::path path, int descriptor, const char* speaker)
    : path_(std::move(path)), speaker_(speaker), descriptor_(descriptor) {
  if (descriptor_ < 0) fail_with_errno("write", path_, speaker_);
}

OutputFile::~OutputFile() { close(descriptor_); }

void OutputFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {  // a pipe that its other users do not wait for
      pollfd waiting = {descriptor_, POLLOUT, 0};
      poll(&waiting, 1, -1);
      continue;
    }
    if (count < 0) fail_with_errno("write", path_, speaker_);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    size_ += static_cast<std::uint64_t>(count);
  }
}

void OutputFile::sync() {
  if (fsync(descriptor_) != 0) fail_with_errno("sync", path_, speaker_);
}

NewFile::NewFile(fs::path path, const char* speaker) : path_(std::move(path)), speaker_(speaker) {
  int descriptor = -1;
  for (int i = 0; descriptor < 0 && i < partial_attempts; ++i) {
    partial_ = random_name_beside(path_);
    descriptor = open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0 && errno != EEXIST) break;
  }
  try {
    file_ = std::make_unique<OutputFile>(path_, descriptor, speaker);
  } catch (const std::bad_alloc&) {  // there is no object yet that would clear it away
    unlink(partial_.c_str());
    close(descriptor);
    throw;
  }
}

NewFile::~NewFile() {
  if (!partial_.empty()) unlink(partial_.c_str());
}

void NewFile::publish() {
  file_->sync();
  if (rename(partial_.c_str(), path_.c_str()) != 0) fail_with_errno("replace", path_, speaker_);
  partial_.clear();
  sync_directory(directory_of(path_));
}

void replace_file(const fs::path& path, std::string_view text) {
  NewFile fresh(path);
  fresh.file().write(text);
  fresh.publish();
}

void write_output(const fs::path& path, const std::function<void(OutputFile&)>& write) {
  constexpr const char* speaker = "output";
  struct stat named {
  }, standard{};
  const bool there = stat(path.c_str(), &named) == 0;
  const bool to_stdout = there && fstat(STDOUT_FILENO, &standard) == 0 && named.st_dev == standard.st_dev &&
                         named.st_ino == standard.st_ino;
  if (to_stdout) {
    std::fflush(stdout);
    OutputFile file(path, dup(STDOUT_FILENO), speaker);
    write(file);
  } else if (there && !S_ISREG(named.st_mode)) {
    OutputFile file(path, open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY), speaker);
    write(file);
  } else {
    NewFile fresh(path, speaker);
    write(fresh.file());
    fresh.publish();
  }
}

void write_output(const fs::path& path, std::string_view text) {
  write_output(path, [&](OutputFile& file) { file.write(text); });
}

void move_file(const fs::path& from, const fs::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) fail_with_errno("replace", to);
}

void link_file(const fs::path& from, const fs::path& to) {
  const fs::path other = random_name_beside(to);
  if (link(from.c_str(), other.c_str()) != 0) {
    const bool impossible = errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK;
    if (!impossible) fail_with_errno("link", from);
    return replace_file(to, read_file(from));
  }
  const bool moved = rename(other.c_str(), to.c_str()) == 0;
  const int error = errno;
  unlink(other.c_str());  // it stays where both were names of one file already
  errno = error;
  if (!moved) fail_with_errno("replace", to);
}

void sync_directory(const fs::path& directory) {
  const int descriptor = open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 && errno == EACCES) return;  // one may write in it and not look at it
  if (descriptor < 0) fail_with_errno("open", directory);
  // Some file systems cannot sync a directory and say so; renames are then as safe as they get.
  const bool failed = fsync(descriptor) != 0 && errno != EINVAL;
  const int error = errno;
  close(descriptor);
  errno = error;
  if (failed) fail_with_errno("sync", directory);
}

void make_directory(const fs::path& directory) {
  if (mkdir(directory.c_str(), 0777) == 0) return sync_directory(directory_of(directory));
  if (errno != EEXIST) fail_with_errno("make the directory", directory);
  std::error_code ignored;
  if (!fs::is_directory(fs::symlink_status(directory, ignored)))
    refuse("run", "{} is a link or a file, where a directory should be; nothing was written", directory.string());
}

void make_directories(const fs::path& directory) {
  std::error_code ignored;
  if (directory.empty() || fs::is_directory(directory, ignored)) return;
  make_directories(directory.parent_path());
  make_directory(directory);
}

bool is_leftover(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(partial_prefix) && name.ends_with(partial_suffix);
}

void remove_files(const fs::path& directory, std::span<const char* const> names) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(directory, error))) return;
  for (const char* name : names)
    if (unlink((directory / name).c_str()) != 0 && errno != ENOENT) fail_with_errno("remove", directory / name);
  for (const std::string& name : names_in(directory))
    if (is_leftover(name)) unlink((directory / name).c_str());
  sync_directory(directory);
  rmdir(directory.c_str());  // fails where something is left in it
}

std::string file_trouble(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return "it is a directory, not a file";
  return fs::exists(path, ignored) ? "" : "there is no such file";
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (const std::string trouble = file_trouble(path); !trouble.empty())
    refuse("run", "cannot read {}: {}", path.string(), trouble);
  if (!file) refuse("run", "cannot read {}: it cannot be opened", path.string());
  try {
    return {std::istreambuf_iterator<char>(file), {}};
  } catch (const std::ios_base::failure& error) {
    fail("run", "cannot read all of {}: {}", path.string(), error.code().message());
  }
}

}  // namespace throughtime
