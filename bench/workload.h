#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "bench/case.h"
#include "bench/metered_engine.h"
#include "throughtime/throughtime.h"

namespace throughtime::bench {

/// A case on this library's `cpu` engine, through the public headers only.
class Workload {
 public:
  Workload(const Case& chosen, int threads);
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  /// One run of the case: see Kind.
  void run();
  std::size_t activation_bytes() const { return learner_ ? learner_->activation_bytes() : tape_->activation_bytes(); }
  /// Sum of the weighted losses of all runs so far (fptt: mean since the last call): a finite number, if all is well.
  double loss_sum() { return learner_ ? learner_->take_mean_loss() : engine_->read(loss_sum_)[0]; }
  /// What was asked of the engine so far.
  MeteredEngine& engine() { return *engine_; }

 private:
  void make_parts();
  void make_learner_of_case();
  void fill_add_task();
  void fill_language();
  void cut_into_windows();

  Case case_;
  Model model_;
  std::unique_ptr<MeteredEngine> engine_;
  std::unique_ptr<Tape> tape_;
  std::unique_ptr<Trainee> trainee_;        // fptt
  std::unique_ptr<Learner> learner_;        // fptt
  std::unique_ptr<OptimizerState> optimizer_;
  Buffer parameters_, gradient_, state_, loss_sum_;
  std::vector<float> inputs_;               // [B, T, 2]
  std::vector<float> sums_;                 // [B, 1]
  std::vector<std::int32_t> words_;         // [B, T + 1]
  std::vector<Source> sources_;
  Window whole_;
  std::vector<Window> parts_;               // [K]
};

}  // namespace throughtime::bench
