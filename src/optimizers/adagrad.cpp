#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/adagrad.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/adagrad-inl.h"
#include "optimizers/update-inl.h"

THROUGHTIME_REGISTER_OPTIMIZER(adagrad, Adagrad,
                               "Adagrad: rates fall with the sum of squares, epsilon 1e-10 outside the root", "epsilon")
