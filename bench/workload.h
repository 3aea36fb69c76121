#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "bench/case.h"
#include "throughtime/throughtime.h"

namespace throughtime::bench {

/// A case on this library's `cpu` engine, through the public headers only.
class Workload {
 public:
  /// `norms`: of a phi case; false: the pull-back alone.
  Workload(const Case& chosen, int threads, bool norms = true);
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  /// One run of the case: see Kind.
  void run();
  std::size_t activation_bytes() const { return tape_->activation_bytes(); }
  /// Sum of the weighted losses of all runs so far: a finite number, if all is well.
  double loss_sum() const { return engine_->read(loss_sum_)[0]; }

 private:
  void fill_add_task();
  void fill_language();
  void cut_into_windows();

  Case case_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tape> tape_;
  std::unique_ptr<OptimizerState> optimizer_;
  Buffer parameters_, gradient_, state_, loss_sum_, norms_;
  std::vector<float> inputs_;               // [B, T, 2]
  std::vector<float> sums_;                 // [B, 1]
  std::vector<std::int32_t> words_;         // [B, T + 1]
  std::vector<Source> sources_;
  Window whole_;
  std::vector<Window> parts_;               // [K]
};

}  // namespace throughtime::bench
