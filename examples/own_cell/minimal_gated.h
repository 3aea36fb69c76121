#pragma once

#include "throughtime/cell.h"

namespace throughtime {

/// A minimal gated unit; register it with register_cell.
CellType minimal_gated_cell();

namespace cuda {
/// Its kernels for a GPU (CellType::device); null where they were not compiled.
const DeviceCell* minimal_gated_device_cell();
}  // namespace cuda

}  // namespace throughtime
