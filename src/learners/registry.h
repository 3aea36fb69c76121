#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "throughtime/learner.h"

namespace throughtime {

// One function per training method, in the file of its name. The shape is already checked; the rest of the
// configuration is checked here.
std::unique_ptr<Learner> make_bptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);
std::unique_ptr<Learner> make_bptt_recompute(Trainee& trainee, const StretchShape& shape);
std::unique_ptr<Learner> make_bptt_aux(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);
std::unique_ptr<Learner> make_tbptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);
std::unique_ptr<Learner> make_adaptive_tbptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);
std::unique_ptr<Learner> make_fpp(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);
std::unique_ptr<Learner> make_sliding_tbptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);
std::unique_ptr<Learner> make_target_propagation(const LearnerConfig& config, Trainee& trainee,
                                                 const StretchShape& shape);
std::unique_ptr<Learner> make_fptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape);

// What a stream must offer them, where that is more than one step at a time.
StreamNeeds tbptt_stream(const LearnerConfig& config);
StreamNeeds adaptive_tbptt_stream(const LearnerConfig& config);
StreamNeeds fptt_stream(const LearnerConfig& config);
StreamNeeds target_propagation_stream(const LearnerConfig& config);

/// Refuses a stretch that is not valid, is longer than promised or has another batch.
void check_stretch(std::string_view speaker, const StretchShape& shape, const Window& stretch);

/// Sum of a window's loss weights: what its summed gradient is divided by. 0 where no step has a loss.
double sum_of_weights(std::string_view speaker, std::span<const float> weights);

/// Refuses a value of an option that is none of the names.
void require_known(std::string_view speaker, std::string_view what, const std::string& value,
                   const std::vector<std::string>& names);

/// Gives the window room for `steps` x `batch` entries, so that `slice` into it never allocates.
void reserve(Window& window, int steps, int batch);

}  // namespace throughtime
