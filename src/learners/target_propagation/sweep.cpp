#include "learners/target_propagation/sweep.h"

#include "learners/support.h"

namespace throughtime {

TargetSweep::TargetSweep(Engine& engine, TargetBlocks& blocks)
    : engine_(engine), blocks_(blocks), width_(engine.model().state_size()) {
  tape_ = engine.make_tape({.steps = blocks.block(), .batch = blocks.rows(), .keep = Keep::state});
  targets_ = engine.allocate(static_cast<std::size_t>(blocks.table_rows()) * static_cast<std::size_t>(width_));
  for (Buffer* buffer : {&state_, &end_, &cotangent_, &next_, &dual_, &zeros_})
    *buffer = engine.allocate(static_cast<std::size_t>(blocks.rows()) * static_cast<std::size_t>(width_));
  loose_.reserve(static_cast<std::size_t>(blocks.rows()));
  reserve(part_, blocks.block(), blocks.rows());
}

void TargetSweep::run(const TargetPoint& point, double step) {
  engine_.copy(point.inputs, targets_);
  for (int block = blocks_.range().last - 1; block > blocks_.range().first; --block) visit(block, point, step);
}

void TargetSweep::visit(int block, const TargetPoint& point, double step) {
  slice(blocks_.stretch(), block * blocks_.block(), blocks_.steps_of({block, block + 1}), part_);
  engine_.gather_rows(point.inputs, width_, blocks_.border(block), state_);
  engine_.unroll(
      {.window = part_, .parameters = point.parameters, .tape = *tape_, .initial_state = state_, .final_state = end_});
  engine_.gather_rows(targets_, width_, blocks_.border(block + 1), next_);
  engine_.axpy(-1, end_, next_);
  if (point.duals) {
    engine_.gather_rows(point.duals, width_, blocks_.border(block), dual_);
    engine_.axpy(1, dual_, next_);
  }
  loosen(block);
  engine_.copy(next_, cotangent_);
  engine_.scale(cotangent_, -point.lambda);
  engine_.pull_back({.tape = *tape_,
                     .window = part_,
                     .parameters = point.parameters,
                     .end_cotangent = cotangent_,
                     .initial_cotangent = cotangent_});
  engine_.axpy(-step, cotangent_, state_);
  engine_.scatter_rows(state_, width_, blocks_.border(block), targets_);
}

/// Rows without a spring at the end of the block pull at nothing.
void TargetSweep::loosen(int block) {
  loose_.clear();
  for (int row = 0; row < blocks_.rows(); ++row)
    if (!blocks_.has_spring(block, row)) loose_.push_back(row);
  engine_.scatter_rows(zeros_, width_, loose_, next_);
}

}  // namespace throughtime
