#pragma once

#include "throughtime/cell.h"

namespace throughtime {

/// A minimal gated unit; register it with register_cell.
CellType minimal_gated_cell();

}  // namespace throughtime
