#include "learners/target_propagation/duals.h"

#include "throughtime/index.h"

namespace throughtime {

Duals::Duals(Engine& engine, const TargetPropagationConfig& config, const Blocks& blocks)
    : engine_(engine), config_(config) {
  table_ = engine.allocate(elements(blocks.table_rows(), engine.model().state_size()));
  OptimizerConfig plain;
  plain.name = "sgd";
  steps_ = engine.make_optimizer(plain, table_);
}

void Duals::ascend(ObjectivePoint point, double gradient_scale, BlockObjective& objective, Buffer room) {
  point.duals = config_.dual == DualStep::literal ? table_ : Buffer();
  engine_.fill(room, 0);
  objective.residuals(point, room);
  engine_.apply_update({.target = table_,
                        .gradient = room,
                        .optimizer = *steps_,
                        .rate = config_.dual_rate,
                        .gradient_scale = -point.lambda * gradient_scale,
                        .clip = {.norm = config_.dual_clip}});
}

}  // namespace throughtime
