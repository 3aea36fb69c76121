#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "learners/adaptive_tbptt/burn_in.h"
#include "throughtime/engine.h"

namespace throughtime {

/// The parameter gradient of the last step's loss, truncated at every lag: g_k = BPTT(k, 1), the mean over the rows of
/// a window that starts from the zero state. One step of the tape after the other is pulled back into a growing sum.
class LagGradients {
 public:
  LagGradients(Engine& engine, int steps, int rows);

  /// Called with k = 0 ... steps - 1 and g_k [P]; the last one is the full gradient.
  using Visit = std::function<void(int lag, const std::vector<double>& gradient)>;
  void run(const Window& window, Buffer parameters, bool training, const Visit& visit);

  /// Bytes of a tape of that shape, without making it.
  static std::size_t tape_bytes(Engine& engine, int steps, int rows);

 private:
  Engine& engine_;
  std::unique_ptr<Tape> tape_;
  Buffer gradient_, cotangent_;  // [P], [B, S]
  std::vector<double> values_;
};

/// dH/dW of one step, with the state before it held fixed: the immediate derivative of the papers' sums.
class ImmediateJacobian {
 public:
  explicit ImmediateJacobian(Engine& engine);

  /// The row of a window whose last step is looked at. Brings the state there.
  void look_at(const Window& one_row, Buffer parameters, bool training);
  /// [state]: the length of each unit's derivative by the weights of its own layer.
  const std::vector<double>& row_lengths();
  /// The largest singular value, by way of every row: for small models only.
  double norm();
  /// Room for every row: `norm` allocates nothing after that.
  void reserve_norm();

 private:
  /// values [P]: the gradient of <unit_, state after the step>.
  void pull_back(std::span<double> values);
  /// Adds the squares of the derivatives of a layer's units, state numbers from `first` on, or of one of them.
  void add_rows(const Layer& layer, int first);
  void add_unit(const Layer& layer, int unit);

  Engine& engine_;
  BurnIn burn_in_;
  std::unique_ptr<Tape> tape_;
  Buffer parameters_, state_, cotangent_, gradient_;
  Window last_;
  std::vector<double> unit_, lengths_;  // [state]
  std::vector<double> values_;          // [P]
  std::vector<double> rows_, gram_;     // [state, P] and [state, state], for the norm
  std::vector<double> vector_, image_;  // [state], likewise
};

}  // namespace throughtime
