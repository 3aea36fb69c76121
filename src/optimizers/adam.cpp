#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/adam.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/adam-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(adam, Adam, "Adam with bias correction, epsilon outside the root", "beta1", "beta2",
                               "epsilon")
