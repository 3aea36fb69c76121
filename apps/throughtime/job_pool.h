#pragma once

#include <string>
#include <vector>

#include "train/run/trials.h"

namespace throughtime {

/// How the runs of a set are worked off.
struct JobOptions {
  std::string title;  // of the line that tells how far they are
  int jobs = 1;       // runs at a time
  bool quiet = false;
  bool keep_checkpoints = true;  // of finished runs
};

/// Trains or takes over every run of a set, each in a process of its own, `jobs` at a time; outcomes in the order of
/// the configurations. One that fails says so in its outcome, and the others go on: a loss that is no number is an
/// answer, a process that crashed or was refused is none (`interrupted`: the run may go on). A signal stops all of them
/// at their next iteration, with a checkpoint, and throws Interrupted; the same set goes on from there.
std::vector<Outcome> run_jobs(const std::vector<RunConfig>& configs, const JobOptions& options);

}  // namespace throughtime
