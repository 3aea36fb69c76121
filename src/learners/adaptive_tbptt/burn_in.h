#pragma once

#include <memory>

#include "throughtime/engine.h"

namespace throughtime {

/// Brings rows from the zero state to where something is to be measured, keeping nothing on the way.
class BurnIn {
 public:
  BurnIn(Engine& engine, int rows);
  /// Makes `state` [B, S] the one after the first `steps` steps of `window`.
  void run(const Window& window, int steps, Buffer parameters, bool training, Buffer state);

 private:
  Engine& engine_;
  std::unique_ptr<Tape> tape_;
  Window part_;
};

}  // namespace throughtime
