#pragma once

#include <string>
#include <vector>

#include "study/jobs.h"

namespace throughtime {

/// run_jobs with a line on stderr that tells how far they are. `title`: what they are together. A signal stops all of
/// them, with a checkpoint, and throws Interrupted.
std::vector<JobEnd> run_shown_jobs(const std::vector<RunConfig>& configs, const JobOptions& options,
                                   const std::string& title, bool quiet);

}  // namespace throughtime
