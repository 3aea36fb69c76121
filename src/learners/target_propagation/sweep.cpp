#include "learners/target_propagation/sweep.h"

#include "learners/support.h"

namespace throughtime {

BackwardSweep::BackwardSweep(Engine& engine, Blocks& blocks)
    : engine_(engine), blocks_(blocks), width_(engine.model().state_size()) {
  tape_ = engine.make_tape({.steps = blocks.block(), .batch = blocks.rows(), .keep = Keep::state});
  targets_ = engine.allocate(elements(blocks.table_rows(), width_));
  for (Buffer* buffer : {&state_, &end_, &cotangent_, &next_, &dual_, &zeros_})
    *buffer = engine.allocate(elements(blocks.rows(), width_));
  loose_.reserve(elements(blocks.rows()));
  reserve(part_, blocks.block(), blocks.rows());
}

void BackwardSweep::run(const ObjectivePoint& point, double step) {
  engine_.copy(point.inputs, targets_);
  for (int block = blocks_.range().last - 1; block > blocks_.range().first; --block) visit(block, point, step);
}

void BackwardSweep::visit(int block, const ObjectivePoint& point, double step) {
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
void BackwardSweep::loosen(int block) {
  loose_.clear();
  for (int row = 0; row < blocks_.rows(); ++row)
    if (!blocks_.has_spring(block, row)) loose_.push_back(row);
  engine_.scatter_rows(zeros_, width_, loose_, next_);
}

}  // namespace throughtime
