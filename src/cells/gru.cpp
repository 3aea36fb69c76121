#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/gru.cpp"
#include <hwy/foreach_target.h>

#include "cells/gru-inl.h"
#include "throughtime/simd/cell-inl.h"

THROUGHTIME_REGISTER_CELL(gru, Gru, "gated recurrent unit, reset after the product (PyTorch's form), gates r z n",
                          RowSteps::fused)
