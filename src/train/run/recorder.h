#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "train/run/run_directory.h"
#include "train/run/tensorboard.h"
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

 private:
  OutputFile file_;
};

/// Writes a run down: metrics in three formats, a log, and checkpoints.
class Recorder final : public Observer {
 public:
  Recorder(const RunDirectory& directory, Trainer& trainer, const RecordLengths& lengths, RunLog& log);

  void on_start(const RunPlan& plan, std::int64_t iteration) override;
  void on_progress(const Progress& progress) override;
  void on_validation(const Evaluation& evaluation) override;
  void on_iteration(const IterationEnd& end) override;
  void on_end(const RunResult& result) override;

  /// Writes `last`, and `best` where the parameters are the best so far.
  void save_checkpoint(bool best);

 private:
  using Fields = std::vector<std::pair<std::string, double>>;
  void write(std::int64_t iteration, const Fields& fields);
  std::vector<std::string> columns() const;

  const RunDirectory& directory_;
  Trainer& trainer_;
  RunLog& log_;
  std::vector<std::string> columns_;  // of the table
  OutputFile metrics_, table_;
  EventFile events_;
};

/// What the other ranks do while rank 0 writes the run down: they take part in its checkpoints, and write nothing.
class Follower final : public Observer {
 public:
  /// `other` may want to stop the run.
  Follower(Trainer& trainer, Observer& other);
  void on_iteration(const IterationEnd& end) override;
  bool wants_stop() override { return other_.wants_stop(); }

 private:
  Trainer& trainer_;
  Observer& other_;
};

}  // namespace throughtime
