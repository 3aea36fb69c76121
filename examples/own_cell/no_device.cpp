// Takes the place of minimal_gated.cu where nothing can be compiled for a GPU.
#include "minimal_gated.h"

namespace throughtime::cuda {

const DeviceCell* minimal_gated_device_cell() { return nullptr; }

}  // namespace throughtime::cuda
