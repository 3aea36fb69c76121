#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "throughtime/forwarding_engine.h"

namespace throughtime::bench {

/// An engine that counts what a learner asks of it and, while told to, how long that takes.
class MeteredEngine final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  void unroll(const UnrollCall& call) override {
    timed(work_seconds_, [&] { ForwardingEngine::unroll(call); });
  }
  void pull_back(const PullBackCall& call) override {
    ++gradients_;
    gradient_steps_ += call.window.steps;
    timed(work_seconds_, [&] { ForwardingEngine::pull_back(call); });
  }
  void apply_update(const UpdateCall& call) override {
    ++updates_;
    timed(update_seconds_, [&] { ForwardingEngine::apply_update(call); });
  }

  /// Looks at the clock from now on, or no longer: a look costs something where calls are short.
  void watch_clock(bool watched) { watched_ = watched; }
  std::int64_t gradients() const { return gradients_; }
  std::int64_t gradient_steps() const { return gradient_steps_; }  // steps pulled back
  std::int64_t updates() const { return updates_; }
  double update_share() const { return update_seconds_ / (update_seconds_ + work_seconds_); }

 private:
  template <class Call>
  void timed(double& seconds, Call&& call) {
    if (!watched_) return call();
    finish();
    const auto begin = std::chrono::steady_clock::now();
    call();
    finish();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  bool watched_ = false;
  std::int64_t gradients_ = 0, gradient_steps_ = 0, updates_ = 0;
  double work_seconds_ = 0, update_seconds_ = 0;  // unrolling and pulling back; updates
};

}  // namespace throughtime::bench
