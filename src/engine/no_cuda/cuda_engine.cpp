// The stub of the engine for GPUs, where the library is built without CUDA.
#include "engine/cuda/cuda_engine.h"

#include "throughtime/error.h"

namespace throughtime {

std::string cuda_absence() { return "this build has no CUDA engine; build it where nvcc 12 or later is found"; }

DeviceCounts cuda_counts() { return {}; }

std::unique_ptr<Engine> make_cuda_engine(const Model&, const EngineConfig&) { refuse("cuda", "{}", cuda_absence()); }

}  // namespace throughtime
