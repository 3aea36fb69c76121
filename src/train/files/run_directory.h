#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/options/config.h"

namespace throughtime {

/// The files of one run. A directory is a run from the moment that its config.toml is there, which is written last.
class RunDirectory {
 public:
  /// The names of a directory that may not exist yet; nothing is read or written.
  explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;
  ~RunDirectory();

  const std::filesystem::path& path() const { return path_; }
  static constexpr const char* config_name = "config.toml";
  static constexpr const char* metrics_name = "metrics.jsonl";
  static constexpr const char* metrics_table_name = "metrics.csv";
  static constexpr const char* events_name = "events.out.tfevents.throughtime";
  static constexpr const char* log_name = "log.txt";
  static constexpr const char* environment_name = "environment.json";
  static constexpr const char* result_name = "result.json";
  static constexpr const char* dynamic_name = "dynamic.json";
  static constexpr const char* task_folder = "task";
  static constexpr const char* checkpoint_folder = "checkpoints";
  /// All files that a run writes there: what may be overwritten. Those in its folders have lists of their own.
  static constexpr const char* names[] = {config_name, metrics_name,     metrics_table_name, events_name,
                                          log_name,    environment_name, result_name,        dynamic_name};

  std::filesystem::path config() const { return path_ / config_name; }
  std::filesystem::path metrics() const { return path_ / metrics_name; }
  std::filesystem::path metrics_table() const { return path_ / metrics_table_name; }
  std::filesystem::path events() const { return path_ / events_name; }
  std::filesystem::path log() const { return path_ / log_name; }
  std::filesystem::path environment() const { return path_ / environment_name; }
  std::filesystem::path result() const { return path_ / result_name; }
  /// What a finished run gave while it went on learning, where throughtime reproduce asked.
  std::filesystem::path dynamic() const { return path_ / dynamic_name; }
  std::filesystem::path task() const { return path_ / task_folder; }
  std::filesystem::path columns() const { return task() / "columns.json"; }  // of a stream
  CheckpointStore checkpoints() const { return CheckpointStore(path_ / checkpoint_folder); }

  bool is_run() const { return std::filesystem::exists(config()); }
  /// Whether throughtime stream made it.
  bool is_stream() const { return std::filesystem::exists(columns()); }
  bool is_finished() const { return std::filesystem::exists(result()); }
  /// Refuses a directory that is no run, with what to do.
  void require_run() const;
  /// Refuses a directory that cannot be made into a new run: one with files that are not ours, and one with a run
  /// unless `force`. What a run left that was stopped before it had a configuration is no obstacle.
  void require_free(bool force) const;
  /// Makes an empty directory: removes the files of an old run, by their names, and no others.
  void clear();
  /// Keeps other processes out until this object goes; refuses where one is in already.
  void lock();
  /// The same, without a refusal: false where another process is in already.
  bool try_lock();
  /// Fails where the directory that was locked has lost its name: it was renamed or deleted.
  void require_in_place() const;
  /// The configuration that the run was started with, and overrides that may change while a run goes on and that the
  /// command of that name reads.
  RunConfig load_config(const std::vector<std::string>& overrides = {}, std::string_view command = "train") const;

 private:
  std::filesystem::path path_;
  int lock_ = -1, opened_ = -1;  // descriptors of the lock and of the directory
};

}  // namespace throughtime
