#pragma once

#include <cstddef>
#include <string>

#include "train/run/trainer.h"

namespace throughtime {

/// The library's version ("0.1.0").
std::string version();
/// The commit it was built from; "unknown" where the sources were no repository when the build was configured.
std::string commit();
/// Largest resident memory of this process so far, in bytes.
std::size_t peak_memory_bytes();
/// What a run was made with, as JSON: version, commit, the time (UTC), the command line of this process, compiler,
/// processor, instruction set, threads, libraries.
std::string environment_json(const RunPlan& plan);

}  // namespace throughtime
