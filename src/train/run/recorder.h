#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "train/files/run_files.h"
#include "train/run/trainer.h"

namespace throughtime {

/// Writes down what a trainer tells: metrics, a log, checkpoints and the result.
class Recorder final : public Observer {
 public:
  Recorder(const RunDirectory& directory, Trainer& trainer, const RecordLengths& lengths, RunLog& log);

  void on_start(const RunPlan& plan, std::int64_t iteration) override;
  void on_progress(const Progress& progress) override;
  void on_validation(const Evaluation& evaluation) override;
  void on_averaging(std::int64_t iteration) override;
  void on_iteration(const IterationEnd& end) override;
  void on_end(const RunResult& result) override;

  /// Writes `last`, and `best` where the parameters are the best so far. `ranks`: those that come here; null: this one.
  void save_checkpoint(bool best, Communicator* ranks);

 private:
  const RunDirectory& directory_;
  Trainer& trainer_;
  RunLog& log_;
  RunFiles files_;
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
