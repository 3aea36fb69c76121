#include "core/launch.h"
#include "throughtime/error.h"

namespace throughtime {

std::shared_ptr<Communicator> join_ranks() {
  if (launched_ranks() > 1)
    refuse(
        "ranks",
        "{} ranks were started, but this program was built without MPI; install Open MPI (libopenmpi-dev) and build it "
        "again with -DTHROUGHTIME_MPI=ON",
        launched_ranks());
  return nullptr;
}

std::string mpi_text() { return "none"; }

}  // namespace throughtime
