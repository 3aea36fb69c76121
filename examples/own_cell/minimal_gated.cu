#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"
#include "engine/cuda/cells/device_cell.cuh"
#include "minimal_gated-inl.h"

THROUGHTIME_CUDA_CELL(minimal_gated, MinimalGated)
