#pragma once

#include "throughtime/optimizer.h"

namespace throughtime {

// One function per optimizer, in the file of its name.
OptimizerType sgd_optimizer();
OptimizerType momentum_optimizer();
OptimizerType adam_optimizer();
OptimizerType rmsprop_optimizer();
OptimizerType rmsprop_tf1_optimizer();
OptimizerType adagrad_optimizer();
OptimizerType adadelta_optimizer();
OptimizerType asgd_optimizer();

/// The setting, or the optimizer's own default where it was left at -1.
inline double value_or(double setting, double own_default) { return setting == -1 ? own_default : setting; }

}  // namespace throughtime
