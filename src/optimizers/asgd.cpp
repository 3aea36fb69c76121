#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/asgd.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/asgd-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(asgd, Asgd, "gradient steps with a running average of the weights in moment 0",
                               "average_from")
