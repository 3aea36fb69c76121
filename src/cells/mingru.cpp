#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/mingru.cpp"
#include <hwy/foreach_target.h>

#include "cells/mingru-inl.h"
#include "throughtime/simd/cell-inl.h"

THROUGHTIME_REGISTER_CELL(mingru, MinGru, "minimal gated recurrent unit, gates from the input alone, rows z n",
                          RowSteps::fused)
