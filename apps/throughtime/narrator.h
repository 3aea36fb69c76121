#pragma once

#include <string>

#include "interrupt.h"
#include "study/trials.h"
#include "terminal.h"
#include "train/run/trainer.h"

namespace throughtime {

/// Ends a run when a signal asks for it; says nothing.
class StopWatch : public Observer {
 public:
  bool wants_stop() override { return InterruptWatch::signal() != 0; }

 private:
  InterruptWatch watch_;
};

/// Tells on stderr what runs and how far it is.
class Narrator final : public StopWatch {
 public:
  /// Of many validations about `lines` are shown.
  explicit Narrator(std::string directory, int lines = 20) : directory_(std::move(directory)), lines_(lines) {}
  void on_start(const RunPlan& plan, std::int64_t iteration) override;
  void on_progress(const Progress& progress) override;
  void on_validation(const Evaluation& evaluation) override;
  void on_averaging(std::int64_t iteration) override;
  void on_end(const RunResult& result) override;

 private:
  std::string directory_;
  RunPlan plan_;
  ProgressBar bar_;
  int lines_;
  std::int64_t told_part_ = -1;  // of the run, by the last validation that has a line
};

/// Says on stderr where the end of a run is no result (divergence), or its best weights were not chosen (unchosen).
void warn_of_end(const RunResult& result);

/// Throws Interrupted where a result says so, with how to go on.
void throw_if_interrupted(const RunResult& result, const std::string& directory);

/// Trains or takes over one run of a set, and says where it failed; a signal throws Interrupted, which says that the
/// same `command` goes on.
Outcome run_narrated_trial(const RunConfig& config, bool test, bool quiet, const std::string& command);

}  // namespace throughtime
