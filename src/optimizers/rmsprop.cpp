#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/rmsprop.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/rmsprop-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(rmsprop, RmsProp,
                               "RMSProp as in PyTorch: mean square from 0, decay 0.99, epsilon 1e-8 outside the root",
                               "decay", "epsilon")
