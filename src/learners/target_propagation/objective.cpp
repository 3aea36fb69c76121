#include "learners/target_propagation/objective.h"

#include <numeric>

#include "throughtime/index.h"

namespace throughtime {

BlockObjective::BlockObjective(Engine& engine, Blocks& blocks, int losses, bool state_only)
    : engine_(engine), blocks_(blocks), width_(engine.model().state_size()) {
  TapeShape shape{.steps = blocks.block(), .batch = blocks.shard_rows(), .keep = Keep::gradient, .losses = losses};
  tape_ = engine.make_tape(shape);
  shape.keep = Keep::state;
  if (state_only) state_tape_ = engine.make_tape(shape);
  shape.keep = Keep::nothing;
  silent_ = engine.make_tape(shape);
  const std::size_t states = elements(blocks.shard_rows(), width_);
  for (Buffer* buffer : {&starts_, &ends_, &residual_, &cotangent_, &scratch_, &zeros_})
    *buffer = engine.allocate(states);
  square_ = engine.allocate(1);
  spring_square_ = engine.allocate(1);
  last_rows_.resize(elements(blocks.rows()));
}

std::size_t BlockObjective::activation_bytes() const {
  return tape_->activation_bytes() + silent_->activation_bytes() + (state_tape_ ? state_tape_->activation_bytes() : 0);
}

void BlockObjective::differentiate(const ObjectivePoint& point, const ObjectiveGradients& wanted) {
  Tape& tape = wanted.theta || !state_tape_ ? *tape_ : *state_tape_;
  if (wanted.states) engine_.fill(wanted.states, 0);
  clear_sums();
  for (int i = 0; i < blocks_.shards(); ++i) {
    const BlockShard& shard = blocks_.shard(i);
    unroll(shard, point, tape, true, wanted);
    stretch_springs(shard, point);
    pull_back(shard, point, tape, i == 0, wanted);
    if (wanted.last_state && i + 1 == blocks_.shards()) keep_last_state(shard, wanted.last_state);
  }
}

void BlockObjective::unroll(const BlockShard& shard, const ObjectivePoint& point, Tape& tape, bool counted,
                            const ObjectiveGradients& wanted) {
  engine_.gather_rows(point.inputs, width_, shard.entry, starts_);
  engine_.unroll({.window = counted ? shard.window : shard.silent,
                  .parameters = point.parameters,
                  .tape = tape,
                  .initial_state = starts_,
                  .final_state = ends_,
                  .loss_sum = counted ? wanted.loss_sum : Buffer(),
                  .correct_sum = counted ? wanted.correct_sum : Buffer(),
                  .penalties = counted ? wanted.penalties : Buffer()});
}

/// residual_ <- r_j, 0 in rows without a spring; counts |r_j - u_j|^2.
void BlockObjective::stretch_springs(const BlockShard& shard, const ObjectivePoint& point) {
  engine_.gather_rows(point.held_to, width_, shard.exit, residual_);
  engine_.axpy(-1, ends_, residual_);
  engine_.scatter_rows(zeros_, width_, shard.loose, residual_);
  engine_.dot(residual_, residual_, square_);
  engine_.axpy(1, square_, spring_square_);
  springs_ += blocks_.shard_rows() - static_cast<int>(shard.loose.size());
  if (!point.duals) return;
  engine_.gather_rows(point.duals, width_, shard.entry, scratch_);
  engine_.axpy(1, scratch_, residual_);
  engine_.scatter_rows(zeros_, width_, shard.loose, residual_);
}

void BlockObjective::pull_back(const BlockShard& shard, const ObjectivePoint& point, Tape& tape, bool first,
                               const ObjectiveGradients& wanted) {
  engine_.copy(residual_, cotangent_);
  engine_.scale(cotangent_, -point.lambda);
  engine_.pull_back({.tape = tape,
                     .window = shard.window,
                     .parameters = point.parameters,
                     .gradient = wanted.theta,
                     .add = !first,
                     .end_cotangent = cotangent_,
                     .initial_cotangent = wanted.states ? cotangent_ : Buffer()});
  if (!wanted.states) return;
  engine_.scatter_add_rows(cotangent_, width_, shard.entry, wanted.states);
  engine_.scale(residual_, point.lambda);
  engine_.scatter_add_rows(residual_, width_, shard.exit, wanted.states);
}

void BlockObjective::keep_last_state(const BlockShard& shard, Buffer state) {
  std::iota(last_rows_.begin(), last_rows_.end(), std::int64_t{shard.range.count() - 1} * blocks_.rows());
  engine_.gather_rows(ends_, width_, last_rows_, state);
}

void BlockObjective::clear_sums() {
  engine_.fill(spring_square_, 0);
  springs_ = 0;
}

void BlockObjective::residuals(const ObjectivePoint& point, Buffer table) {
  clear_sums();
  for (int i = 0; i < blocks_.shards(); ++i) {
    const BlockShard& shard = blocks_.shard(i);
    unroll(shard, point, *silent_, false, {});
    stretch_springs(shard, point);
    engine_.scatter_rows(residual_, width_, shard.entry, table);
  }
}

void BlockObjective::ends_from_zero(Buffer parameters, Buffer table) {
  for (int i = 0; i < blocks_.shards(); ++i) {
    const BlockShard& shard = blocks_.shard(i);
    engine_.unroll({.window = shard.silent, .parameters = parameters, .tape = *silent_, .final_state = ends_});
    engine_.scatter_rows(ends_, width_, shard.exit, table);
  }
}

}  // namespace throughtime
