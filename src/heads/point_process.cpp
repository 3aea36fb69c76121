#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/point_process.cpp"
#include <hwy/foreach_target.h>

#include "heads/point_process-inl.h"
#include "throughtime/simd/head-inl.h"

THROUGHTIME_REGISTER_HEAD(point_process, PointProcess,
                          "mark and time of the next event: softmax, and the intensity exp(a + w t) with one trained w")
