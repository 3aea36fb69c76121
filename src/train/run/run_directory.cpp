#include "train/run/run_directory.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "throughtime/error.h"
#include "train/options/options.h"
#include "train/run/files.h"

namespace throughtime {
namespace {

constexpr const char* lock_name = ".lock";

/// What may change between two parts of a run: how long it goes on, what is written down and where its data lies now,
/// not what is computed. Stars stand for the name of a task.
constexpr const char* changeable_options[] = {"train.iterations",
                                              "train.epochs",
                                              "train.patience",
                                              "run.threads",
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

/// A lock alone is what a run leaves that was refused or killed before its first file.
bool holds_nothing(const std::filesystem::path& directory) {
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().filename() != lock_name) return false;
  return true;
}

}  // namespace

RunDirectory::~RunDirectory() {
  if (lock_ >= 0) close(lock_);
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
  if (force || holds_nothing(path_)) return;
  if (is_run())
    refuse(
        "run",
        "{} already holds a run; continue it with throughtime train --resume {}, overwrite it with --force, or choose "
        "another with --set run.directory=DIRECTORY",
        path_.string(), path_.string());
  refuse("run", "{} is not empty and holds no run; choose another with --set run.directory=DIRECTORY, or add --force",
         path_.string());
}

void RunDirectory::clear() {
  // A crash in between must not leave something that looks like the old run.
  std::filesystem::remove(config());
  for (const std::filesystem::path& old : {metrics(), metrics_table(), events(), log(), environment(), result()})
    std::filesystem::remove(old);
  std::filesystem::remove_all(task());
  std::filesystem::remove_all(path_ / "checkpoints");
  make_directories(path_);
}

void RunDirectory::lock() {
  make_directories(path_);
  const std::filesystem::path file = path_ / lock_name;
  lock_ = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock_ < 0) fail("run", "cannot write {}: {}", file.string(), std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    refuse("run", "another process is working in {}; wait until it ends", path_.string());
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
