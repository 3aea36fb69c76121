#pragma once

#include "throughtime/learner.h"

namespace throughtime {

// The forms of back-propagation through time beside the plain one, whose settings are checked already.

std::unique_ptr<Learner> make_bptt_recompute(Trainee& trainee, const StretchShape& shape);
std::unique_ptr<Learner> make_bptt_aux(const BpttConfig& config, Trainee& trainee, const StretchShape& shape);

}  // namespace throughtime
