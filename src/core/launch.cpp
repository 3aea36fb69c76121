#include "core/launch.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace throughtime {

int launched_ranks() {
  // Open MPI's mpirun; MPICH's and Intel's mpiexec, and srun with their protocol.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* text = std::getenv(name);
    int ranks = 0;
    if (text != nullptr && std::from_chars(text, text + std::strlen(text), ranks).ec == std::errc() && ranks > 0)
      return ranks;
  }
  return 1;
}

}  // namespace throughtime
