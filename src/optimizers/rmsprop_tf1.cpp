#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/rmsprop_tf1.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/rmsprop_tf1-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(
    rmsprop_tf1, RmsPropTf1, "RMSProp as in TensorFlow 1: mean square from 1, decay 0.9, epsilon 1e-10 inside the root",
    "decay", "epsilon")
