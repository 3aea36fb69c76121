#pragma once

#include <string>
#include <vector>

#include "throughtime/engine.h"

namespace throughtime {

/// Losses at the ends of windows, for tasks that ask for one target at the end of a sequence. At time t of T the target
/// counts with beta = t / T. A class then is a distribution, beta onehot + (1 - beta) Q, whose cross-entropy is the
/// paper's beta CE + (1 - beta) Div; Q is the uniform distribution. A number keeps its loss, times beta.
class IntermediateLosses {
 public:
  enum class Kind { none, window_end, every_step };

  IntermediateLosses(const std::string& kind, const Model& model, int longest_window, int batch);

  /// Whether `stretch` asks for its targets only at the last step, one target per row, so that earlier windows would
  /// have no loss.
  bool apply_to(const Window& stretch) const;
  /// Gives `part`, steps [first, first + part.steps) of `stretch`, its weights and targets.
  void write(const Window& stretch, int first, Window& part);

 private:
  void write_distributions(const Window& stretch, int first, Window& part);

  Kind kind_;
  int classes_ = 0;            // 0: the head's targets are numbers
  std::vector<float> values_;  // [L, B, classes]
};

}  // namespace throughtime
