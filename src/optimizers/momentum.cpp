#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/momentum.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/momentum-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(momentum, Momentum, "heavy ball: v = mu v + g, W -= rate v", "momentum")
