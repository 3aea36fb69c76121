#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "train/options/config.h"

namespace throughtime {

/// What is done with runs that are finished, each in its own process, before its checkpoints go.
struct FurtherWork {
  std::function<bool(const RunConfig&)> done = {};  // or never asked for
  /// False: it was stopped, and is begun again with the same set.
  std::function<bool(const RunConfig&, const std::function<bool()>& wants_stop)> work = {};

  bool left(const RunConfig& config) const { return done && !done(config); }
};

/// How the runs of a set are worked off.
struct JobOptions {
  int jobs = 1;                  // runs at a time
  bool keep_checkpoints = true;  // of finished runs
  FurtherWork further = {};
};

/// How far a set of runs is.
struct JobsProgress {
  std::size_t runs = 0;
  std::size_t finished = 0;
  std::size_t working = 0;
  double share = 0;  // of all iterations, from 0 to 1
};

/// How one run ended.
struct JobEnd {
  std::string failure;       // empty: it has a result
  bool interrupted = false;  // it has no answer and may go on: it was stopped, refused, or its process was lost
};

/// Hears how far the runs of a set are; the default hears nothing.
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  /// Before the first of them; what was finished before counts.
  virtual void on_start(const JobsProgress&) {}
  /// Several times a second.
  virtual void on_progress(const JobsProgress&) {}
  /// `how`: what went wrong, in words; empty: nothing did.
  virtual void on_end(const JobsProgress&, std::size_t /*job*/, const std::string& /*how*/) {}
  /// Asked often, in every process: true ends all runs at their next iteration.
  virtual bool wants_stop() { return false; }
};

/// Trains or takes over every run of a set, each in a process of its own (on a device: a thread), `jobs` at a time;
/// ends in the order of the configurations. One that fails says so in its end, and the others go on: a loss that is no
/// number is an answer, a process that crashed or was refused is none. An observer that wants to stop stops all of them
/// at their next iteration, with a checkpoint; the same set goes on from there. A device that fails ends all of them,
/// at the last checkpoints they could write, and is thrown on (DeviceFailure) when the last one has ended.
std::vector<JobEnd> run_jobs(const std::vector<RunConfig>& configs, const JobOptions& options, JobObserver& observer);

}  // namespace throughtime
