#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/bernoulli.cpp"
#include <hwy/foreach_target.h>

#include "heads/bernoulli-inl.h"
#include "throughtime/simd/head-inl.h"

THROUGHTIME_REGISTER_HEAD(bernoulli, Bernoulli, "independent yes or no per output, from logits, sum over outputs")
