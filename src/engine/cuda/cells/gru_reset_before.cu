#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"
#include "cells/gru_reset_before-inl.h"
#include "engine/cuda/cells/device_cell.cuh"

THROUGHTIME_CUDA_CELL(gru_reset_before, GruResetBefore)
