#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cells/rnn.cpp"
#include <hwy/foreach_target.h>

#include "cells/rnn-inl.h"
#include "throughtime/simd/cell-inl.h"

THROUGHTIME_REGISTER_CELL(rnn_tanh, RnnTanh, "simple recurrence, tanh", RowSteps::fused)
THROUGHTIME_REGISTER_CELL(rnn_relu, RnnRelu, "simple recurrence, rectifier", RowSteps::fused)
THROUGHTIME_REGISTER_CELL(rnn_logistic, RnnLogistic, "simple recurrence, logistic", RowSteps::fused)
THROUGHTIME_REGISTER_CELL(rnn_linear, RnnLinear, "simple recurrence, no activation", RowSteps::fused)
