#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/adadelta.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/adadelta-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(adadelta, Adadelta, "Adadelta as in PyTorch: decay 0.9, epsilon 1e-6", "decay",
                               "epsilon")
