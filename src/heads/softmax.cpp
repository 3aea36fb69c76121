#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/softmax.cpp"
#include <hwy/foreach_target.h>

#include "heads/softmax-inl.h"
#include "throughtime/simd/head-inl.h"

THROUGHTIME_REGISTER_HEAD(softmax, Softmax, "cross-entropy with a label or a distribution over the classes")
