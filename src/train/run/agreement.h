#pragma once

#include "train/options/config.h"

namespace throughtime {

/// Refuses, on every rank, where ranks were started with different configurations. What may differ from machine to
/// machine is left out: threads, and where data and runs lie.
void require_same_config(Communicator* ranks, const RunConfig& config);

/// The same for the data that the task has read, or generates.
void require_same_data(Communicator* ranks, Task& task, int batch);

/// Writes into a run's folder how much data the task has read, or generates, and a checksum of its first and last
/// megabyte; and refuses, where a run goes on, data that has changed. Where it lies may change.
void remember_data(const std::string& folder, Task& task, int batch);
void require_remembered_data(const std::string& folder, Task& task, int batch);

}  // namespace throughtime
