#pragma once

#include <chrono>

#include "throughtime/c.h"
#include "train/run/trainer.h"

namespace throughtime::c {

/// Tells a callback what a run does, and asks it whether to go on.
class ProgressCaller final : public Observer {
 public:
  ProgressCaller(tt_progress progress, void* user) : progress_(progress), user_(user) {}

  void on_start(const RunPlan& plan, std::int64_t iteration) override;
  void on_progress(const Progress& progress) override;
  void on_validation(const Evaluation& evaluation) override;
  bool wants_stop() override;
  /// The end, however it came.
  void tell_end(const RunResult& result);

 private:
  using Clock = std::chrono::steady_clock;
  void tell(const std::string& event);

  tt_progress progress_;  // null: nobody listens
  void* user_;
  bool stop_ = false;
  Clock::time_point asked_ = Clock::now();
};

}  // namespace throughtime::c
