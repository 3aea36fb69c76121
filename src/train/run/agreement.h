#pragma once

#include "train/options/config.h"

namespace throughtime {

/// Refuses, on every rank, where ranks were started with different configurations. What may differ from machine to
/// machine is left out: threads, and where data and runs lie.
void require_same_config(Communicator* ranks, const RunConfig& config);

/// The same for the data that the task has read, or generates.
void require_same_data(Communicator* ranks, Task& task, int batch);

}  // namespace throughtime
