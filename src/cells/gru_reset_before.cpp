#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/gru_reset_before.cpp"
#include <hwy/foreach_target.h>

#include "cells/gru_reset_before-inl.h"
#include "throughtime/simd/cell-inl.h"

THROUGHTIME_REGISTER_CELL(gru_reset_before, GruResetBefore,
                          "gated recurrent unit, reset before the product (Cho's form), gates r z n", RowSteps::general)
