#pragma once

#include <memory>
#include <vector>

#include "learners/target_propagation/objective.h"

namespace throughtime {

/// The other way to move H: the inputs of the blocks stay where they are, and a table of targets of its own is made in
/// one sweep from the last block to the first,
///   target_j = h_j - eta d/dh_j [ l_j(h_j) + lambda/2 |target_{j+1} - E_j(h_j) + u_j|^2 ].
/// With h_{j+1} = E_j(h_j), u = 0 and eta lambda = 1 the gradient in theta is then the one of full back-propagation
/// over the stretch, for any B; with eta lambda = c, credit from m blocks ahead is weighted c^m.
class BackwardSweep {
 public:
  BackwardSweep(Engine& engine, Blocks& blocks);

  /// Fills targets() from the point's inputs; `step` is eta.
  void run(const ObjectivePoint& point, double step);
  Buffer targets() const { return targets_; }
  std::size_t activation_bytes() const { return tape_->activation_bytes(); }

 private:
  void visit(int block, const ObjectivePoint& point, double step);
  void loosen(int block);

  Engine& engine_;
  Blocks& blocks_;
  int width_;                       // S
  std::unique_ptr<Tape> tape_;      // of one block
  Buffer targets_;                  // table
  Buffer state_, end_, cotangent_;  // [R, S]
  Buffer next_, dual_, zeros_;
  std::vector<std::int64_t> loose_;
  Window part_;
};

}  // namespace throughtime
