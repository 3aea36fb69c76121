#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "bench/case.h"
#include "bench/metered_engine.h"
#include "bench/onednn.h"
#include "throughtime/throughtime.h"

namespace throughtime::bench {

/// A case on an engine of this library, through the public headers only.
class Workload {
 public:
  /// `whole`: false: what a case of Kind::phi or Kind::tprop is compared with; a recipe without weight drop.
  Workload(const Case& chosen, const EngineConfig& engine, bool whole = true);
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  /// One run of the case: see Kind.
  void run();
  std::size_t activation_bytes() const;
  /// Updates of the parameters in one run.
  int updates() const;
  /// Sum of the weighted losses of all runs so far: a finite number, if all is well.
  double loss_sum() const;
  /// What a peer needs to learn from the same: of a `bptt` or `windows` case.
  CaseNumbers numbers() const;
  /// Of the last window of such a case.
  std::vector<double> gradient() const { return engine_->read(gradient_); }
  /// Waits until the engine has done all runs so far.
  void finish() { engine_->finish(); }
  /// What was asked of the engine so far.
  MeteredEngine& engine() { return *engine_; }

 private:
  void make_parts(bool norms);
  void make_learner_of_case();
  void make_learner_of_recipe();
  void fill_add_task();
  void fill_language();
  void make_target_learner(bool whole);
  void fill_stream();
  void cut_into_windows();

  Case case_;
  Model model_;
  std::unique_ptr<MeteredEngine> engine_;
  std::unique_ptr<Tape> tape_;
  std::unique_ptr<OptimizerState> optimizer_;
  Buffer parameters_, gradient_, state_, loss_sum_, norms_;
  std::vector<float> inputs_;        // [B, T, 2]
  std::vector<float> sums_;          // [B, 1]
  std::vector<std::int32_t> words_;  // [B, T + 1]
  std::vector<Source> sources_;
  Window whole_;
  std::vector<Window> parts_;         // [K]
  std::unique_ptr<Trainee> trainee_;  // of a case that is a learner's
  std::unique_ptr<Learner> learner_;
  mutable double learner_loss_ = 0;  // of all runs so far
};

}  // namespace throughtime::bench
