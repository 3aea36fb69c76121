#pragma once

#include <string>

#include "engine/cuda/device_cell.h"

namespace throughtime::cuda {

/// The kernels of the built-in cell of that name; null where it has none.
const DeviceCell* find_device_cell(const std::string& name);

}  // namespace throughtime::cuda
