#pragma once

#include <string>

#include "throughtime/learners/bptt.h"
#include "throughtime/learners/fpp.h"
#include "throughtime/learners/fptt.h"
#include "throughtime/learners/target_propagation.h"
#include "throughtime/learners/tbptt.h"

namespace throughtime {

/// Which method trains, and the settings of each: one file can hold those of several. A member has the name of its
/// method, which is also that of its table: `[learner.fptt]`.
struct LearnerConfig {
  std::string name = "bptt";
  BpttConfig bptt = {};
  TbpttConfig tbptt = {};
  AdaptiveTbpttConfig adaptive_tbptt = {};
  FpttConfig fptt = {};
  FppConfig fpp = {};
  SlidingTbpttConfig sliding_tbptt = {};
  TargetPropagationConfig target_propagation = {};
};

}  // namespace throughtime
