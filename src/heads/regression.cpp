#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/regression.cpp"
#include <hwy/foreach_target.h>

#include "heads/regression-inl.h"
#include "throughtime/simd/head-inl.h"

THROUGHTIME_REGISTER_HEAD(regression, Regression, "squared error, mean over outputs")
