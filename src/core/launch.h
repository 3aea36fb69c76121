#pragma once

#include <memory>
#include <string>

#include "throughtime/communicator.h"

namespace throughtime {

/// How many ranks a launcher such as mpirun says it has started, from the environment; 1 where it says nothing.
int launched_ranks();

// In src/mpi/, or in src/no_mpi/ where the build found no MPI.

/// The other ranks, null where there are none; called once. Refuses to be one of several without MPI: each would train
/// alone.
std::shared_ptr<Communicator> join_ranks();
/// Which MPI is built in, as text for people: "Open MPI 4.1.4", or "none".
std::string mpi_text();

}  // namespace throughtime
