#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/sgd.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/sgd-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(sgd, Sgd, "plain gradient steps")
