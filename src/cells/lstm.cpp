#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/lstm.cpp"
#include <hwy/foreach_target.h>

#include "cells/lstm-inl.h"
#include "throughtime/simd/cell-inl.h"

THROUGHTIME_REGISTER_CELL(lstm, Lstm, "long short-term memory, gates i f g o", RowSteps::fused)
