#pragma once

#include "throughtime/cell.h"

/// A minimal gated unit; register it with throughtime::register_cell.
throughtime::CellType minimal_gated_cell();
