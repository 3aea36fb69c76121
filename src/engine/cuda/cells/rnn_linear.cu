#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"
#include "cells/rnn-inl.h"
#include "engine/cuda/cells/device_cell.cuh"

THROUGHTIME_CUDA_CELL(rnn_linear, RnnLinear)
