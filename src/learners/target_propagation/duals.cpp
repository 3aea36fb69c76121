#include "learners/target_propagation/duals.h"

namespace throughtime {

TargetDuals::TargetDuals(Engine& engine, const TargetPropagationConfig& config, const TargetBlocks& blocks)
    : engine_(engine), config_(config) {
  table_ = engine.allocate(static_cast<std::size_t>(blocks.table_rows()) *
                           static_cast<std::size_t>(engine.model().state_size()));
  OptimizerConfig plain;
  plain.name = "sgd";
  steps_ = engine.make_optimizer(plain, table_);
}

void TargetDuals::ascend(TargetPoint point, double gradient_scale, TargetObjective& objective, Buffer room) {
  point.duals = config_.dual == "literal" ? table_ : Buffer();
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
