#pragma once

#include <memory>

#include "learners/target_propagation/objective.h"

namespace throughtime {

/// The duals U, u_j in row j of a table like that of H.
///   scaled    u_j += alpha_u lambda (h_{j+1} - E_j(h_j))
///   literal   u_j += alpha_u lambda (h_{j+1} - E_j(h_j) + u_j), as the paper prints it: u grows even where h = E
class Duals {
 public:
  Duals(Engine& engine, const TargetPropagationConfig& config, const Blocks& blocks);

  void clear() { engine_.fill(table_, 0); }
  /// One step at the point, whose lambda is that of the objective times `gradient_scale`. `room` is a table to work in.
  void ascend(ObjectivePoint point, double gradient_scale, BlockObjective& objective, Buffer room);

  Buffer table() const { return table_; }
  void archive(Archive& archive) { archive.buffer("duals", engine_, table_); }

 private:
  Engine& engine_;
  TargetPropagationConfig config_;
  Buffer table_;
  std::unique_ptr<OptimizerState> steps_;  // plain steps
};

}  // namespace throughtime
