#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/anchored.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/anchored-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(
    anchored, Anchored,
    "the step of dynamic evaluation: back to the trained weights, in moment 1, by the size of "
    "gradients in moment 0",
    "epsilon")
