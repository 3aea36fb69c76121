#pragma once

#include <cstdint>
#include <memory>

#include "throughtime/archive.h"
#include "throughtime/engine.h"
#include "throughtime/learners/terminal_losses.h"

namespace throughtime {

/// What a table of predictions must hold.
struct PriorShape {
  int classes = 0;
  int windows = 0;  // K' at most
  int batch = 0;
  std::int64_t examples = 0;  // of the training data; 0: they have no numbers
  int first_epoch = 1;        // per class: uniform before it
};

/// Q of the paper: what the net itself predicted earlier for a window, the uniform distribution at first. No gradient
/// flows through it.
class PriorPredictions {
 public:
  virtual ~PriorPredictions() = default;
  /// Whether `keep` wants to be called.
  virtual bool wants_predictions() const { return true; }
  /// Makes Q ready for a stretch, between two training steps.
  virtual void begin(const Window& stretch) = 0;
  /// Q [classes] of a row in window number `window` (0, 1, ...).
  virtual const float* of(const Window& stretch, int row, int window) const = 0;
  /// Takes the predictions `rows` [B, classes] at the end of a window; nothing is read back here.
  virtual void keep(const Window& stretch, int window, Buffer rows) = 0;
  virtual void end_epoch() = 0;
  virtual void archive(Archive& archive) = 0;
};

/// `automatic`: `examples` where they have numbers, else `uniform`.
std::unique_ptr<PriorPredictions> make_prior(PriorKind kind, Engine& engine, const PriorShape& shape);

}  // namespace throughtime
