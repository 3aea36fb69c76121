#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/antisymmetric.cpp"
#include <hwy/foreach_target.h>

#include "cells/antisymmetric-inl.h"
#include "throughtime/simd/cell-inl.h"

THROUGHTIME_REGISTER_CELL(antisymmetric, Antisymmetric, "h + epsilon tanh(A h + V x + b), A = M - M^T - gamma I",
                          RowSteps::general, "step", "diffusion")
THROUGHTIME_REGISTER_CELL(antisymmetric_gated, AntisymmetricGated, "antisymmetric with an input gate that shares A",
                          RowSteps::general, "step", "diffusion")
