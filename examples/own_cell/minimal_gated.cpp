// Makes a cell of the formulas. Highway includes this file again, by its name, for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "minimal_gated.cpp"
#include <hwy/foreach_target.h>

#include "minimal_gated-inl.h"
#include "throughtime/simd/cell-inl.h"

THROUGHTIME_REGISTER_CELL(minimal_gated, MinimalGated, "minimal gated unit, the gate after the product, rows f n",
                          RowSteps::fused)
