#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/quantile.cpp"
#include <hwy/foreach_target.h>

#include "heads/quantile-inl.h"
#include "throughtime/simd/head-inl.h"

THROUGHTIME_REGISTER_HEAD(quantile, Quantile,
                          "quantiles at the levels of the model: pinball loss, mean over targets and levels")
