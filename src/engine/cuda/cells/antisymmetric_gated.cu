#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"
#include "cells/antisymmetric-inl.h"
#include "engine/cuda/cells/device_cell.cuh"

THROUGHTIME_CUDA_CELL(antisymmetric_gated, AntisymmetricGated)
