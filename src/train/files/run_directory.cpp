#include "train/files/run_directory.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "core/files.h"
#include "throughtime/error.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

constexpr const char* lock_name = ".lock";

/// What may change between two parts of a run: how long it goes on, what is written down, where its data lies now and
/// who computes, not what is computed. Stars stand for the name of a task.
constexpr const char* changeable_options[] = {"train.iterations",
                                              "train.epochs",
                                              "train.patience",
                                              "run.threads",
                                              "run.engine",
                                              "run.checkpoint_every",
                                              "task.data",
                                              "task.*.path",
                                              "task.*.target_path",
                                              "task.*.files",
                                              "stream.format",
                                              "stream.on_error",
                                              "stream.metrics_every",
                                              "stream.checkpoint_seconds",
                                              "stream.warn_rows",
                                              "run.rank_timeout"};

bool is_changeable(const std::string& key) {
  const std::size_t first = key.find('.'), last = key.rfind('.');
  const bool of_task = key.starts_with("task.") && first != last;
  const std::string pattern = of_task ? "task.*" + key.substr(last) : key;
  return std::find(std::begin(changeable_options), std::end(changeable_options), pattern) !=
         std::end(changeable_options);
}

/// What tasks and runs of streams write into the folder of the task. `--force` removes these names and no others there.
constexpr const char* task_names[] = {"interface.json",  "columns.json", "vocabulary.txt", "standardisation.json",
                                      "permutation.txt", "classes.json", "data.json"};

/// Whether a directory holds nothing but files of these names and what a crash left.
bool holds_only(const std::filesystem::path& directory, std::span<const char* const> names) {
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(directory)) {
    const bool known = std::ranges::count(names, entry.path().filename().string()) > 0 || is_leftover(entry.path());
    if (!known || !std::filesystem::is_regular_file(entry.symlink_status())) return false;
  }
  return true;
}

/// What a run leaves that was stopped before its first file, or in the middle of its beginning.
bool is_beginning(const std::filesystem::path& directory) {
  bool locked = false, empty = true;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    const bool folder = std::filesystem::is_directory(entry.symlink_status());
    const bool known =
        name == lock_name || std::ranges::count(RunDirectory::names, name) > 0 || is_leftover(entry.path());
    const bool ours = !folder                                   ? known
                      : name == RunDirectory::task_folder       ? holds_only(entry.path(), task_names)
                      : name == RunDirectory::checkpoint_folder ? holds_only(entry.path(), CheckpointStore::names)
                                                                : false;
    if (!ours) return false;
    empty = false;
    locked = locked || name == lock_name;
  }
  return empty || locked;
}

int open_lock(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / lock_name;
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor < 0) fail("run", "cannot write {}: {}", file.string(), std::strerror(errno));
  return descriptor;
}

}  // namespace

RunDirectory::~RunDirectory() {
  if (lock_ >= 0) close(lock_);
  if (opened_ >= 0) close(opened_);
}

void RunDirectory::require_run() const {
  if (is_run()) return;
  if (std::filesystem::is_directory(path_))
    refuse("run", "{} is no run: it has no config.toml; start one with throughtime train CONFIG", path_.string());
  refuse("run", "{} is no run: there is no such directory", path_.string());
}

void RunDirectory::require_free(bool force) const {
  if (!std::filesystem::exists(path_)) return;
  if (!std::filesystem::is_directory(path_)) refuse("run", "{} is not a directory", path_.string());
  const bool holds_run = is_run() && std::filesystem::exists(environment());
  if (force && holds_run) return;
  if (!is_run() && is_beginning(path_)) return;
  if (holds_run)
    refuse(
        "run",
        "{} already holds a run; continue it with throughtime train --resume {}, overwrite it with --force, or choose "
        "another with --set run.directory=DIRECTORY",
        path_.string(), path_.string());
  refuse("run", "{} is not empty and holds no run; choose another with --set run.directory=DIRECTORY", path_.string());
}

void RunDirectory::clear() {
  // Whatever happens in between, on the disk too, must not leave something that looks like the old run.
  if (is_run()) {
    std::filesystem::remove(config());
    sync_directory(path_);
  }
  remove_files(task(), task_names);
  checkpoints().clear();
  remove_files(path_, names);
}

bool RunDirectory::try_lock() {
  if (lock_ >= 0) return true;
  make_directories(path_);
  lock_ = open_lock(path_);
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(std::exchange(lock_, -1));
    return false;
  }
  opened_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Of a process that was killed while it wrote: nobody else can be writing now.
  for (const std::filesystem::path& folder : {path_, task(), checkpoints().directory()}) remove_files(folder, {});
  return true;
}

void RunDirectory::lock() {
  if (!try_lock()) refuse("run", "another process is working in {}; wait until it ends", path_.string());
}

void RunDirectory::require_in_place() const {
  struct stat held {
  }, named{};
  if (opened_ < 0 || fstat(opened_, &held) != 0) return;
  const bool same = stat(path_.c_str(), &named) == 0 && held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  if (same) return;
  fail("run",
       "{} was renamed or deleted while this process was working in it, so nothing more is written; where it was "
       "renamed, its last checkpoint can be resumed in its new place",
       path_.string());
}

RunConfig RunDirectory::load_config(const std::vector<std::string>& overrides, std::string_view command) const {
  require_run();
  RunConfig config = parse_config(read_file(this->config()), this->config().string());
  for (const std::string& assignment : overrides) {
    set_option(config, assignment, "--set");
    const std::string key = assignment.substr(0, assignment.find('='));
    if (!is_changeable(key))
      refuse("run", "{} cannot change while a run goes on; these can: {}", key, fmt::join(changeable_options, ", "));
  }
  require_used(overrides, {config}, command);
  make_paths_absolute(config, std::filesystem::current_path());
  return config;
}

}  // namespace throughtime
