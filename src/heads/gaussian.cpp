#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/gaussian.cpp"
#include <hwy/foreach_target.h>

#include "heads/gaussian-inl.h"
#include "throughtime/simd/head-inl.h"

THROUGHTIME_REGISTER_HEAD(gaussian, Gaussian,
                          "mean and deviation of each target: -log density of a normal distribution, mean over targets")
