#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "train/files/run_directory.h"
#include "train/files/tensorboard.h"
#include "train/run/trained_model.h"
#include "train/run/trainer.h"

namespace throughtime {

/// Lengths of the files that grow with a run; a checkpoint holds them, so that a resumed run can cut them back.
struct RecordLengths {
  std::uint64_t metrics = 0, table = 0, events = 0;
  void archive(Archive& archive);
};

/// Lines of a log with the time in front.
class RunLog {
 public:
  explicit RunLog(const std::filesystem::path& path);
  void line(const std::string& text);
  /// What ended a run; a full disk, which takes no log either, must not hide it.
  void error(const std::exception& error);

 private:
  OutputFile file_;
};

/// One number of a line of metrics.
struct MetricField {
  std::string name;
  double value = 0;
  bool count = false;  // a whole number
};
using MetricFields = std::vector<MetricField>;

/// Everything of a new run but its metrics; refuses a directory that is taken, unless `force`. `save_task` writes into
/// a folder what belongs to the model beside its weights, `before_config` what else must be there in a run. config.toml
/// comes last: with it the directory is a run, and all before it is on the disk.
void begin_run(RunDirectory& directory, bool force, const RunConfig& config, const ModelInterface& interface,
               const RunPlan& plan, const std::function<void(const std::string& folder)>& save_task,
               const std::function<void()>& before_config = {});

/// Shows a checkpoint's state to its owner; returns how long the run's files were then.
RecordLengths load_state(const TensorFile& file, const std::function<void(Archive&)>& owner);

/// What a run writes while it learns, from batches or from a stream: lines of metrics in three formats, checkpoints.
class RunFiles {
 public:
  /// `position`: what lines are numbered by ("iteration", "rows"); `columns`: the table's, after that one. Files go on
  /// after `lengths`.
  RunFiles(const RunDirectory& directory, const RunConfig& config, std::string position,
           std::vector<std::string> columns, const RecordLengths& lengths);

  /// One JSON object, one row of the table and one event; each in a single write, so that a reader sees whole lines.
  void write_metrics(std::int64_t at, const MetricFields& fields);
  /// A checkpoint with what `owner` shows. It is on the disk when this returns, and so is every line before it. Of
  /// several ranks all come here, and the first one writes.
  void save_checkpoint(std::int64_t at, const std::function<void(Archive&)>& owner, bool best = false,
                       const std::map<std::string, std::string>& more = {}, Communicator* ranks = nullptr);

 private:
  const RunDirectory& directory_;
  const RunConfig& config_;
  std::string position_;
  std::vector<std::string> columns_;
  OutputFile metrics_, table_;
  EventFile events_;
};

}  // namespace throughtime
