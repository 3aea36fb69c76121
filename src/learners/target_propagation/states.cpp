#include "learners/target_propagation/states.h"

#include <algorithm>
#include <numeric>

#include "learners/support.h"

namespace throughtime {

OptimizerConfig state_rule(const TargetPropagationConfig& config) {
  OptimizerConfig rule;
  rule.name = config.state_optimizer;
  rule.epsilon = config.state_epsilon;
  return rule;
}

FreeStates::FreeStates(Engine& engine, const TargetPropagationConfig& config, Blocks& blocks)
    : engine_(engine), config_(config), blocks_(blocks), width_(engine.model().state_size()) {
  const int chain_steps = blocks.shard_blocks() * blocks.block();
  chain_ = engine.make_tape({.steps = chain_steps, .batch = blocks.rows(), .keep = Keep::nothing});
  table_ = engine.allocate(elements(blocks.table_rows(), width_));
  gradient_ = engine.allocate(table_.size);
  handed_ = engine.allocate(elements(blocks.shard_rows(), width_));
  running_ = engine.allocate(elements(blocks.rows(), width_));
  zeros_ = engine.allocate(elements(blocks.rows(), width_));
  handed_steps_.reserve(elements(blocks.shard_blocks()));
  handed_rows_.reserve(elements(blocks.shard_rows()));
  optimizer_ = engine.make_optimizer(state_rule(config), table_);
  reserve(part_, chain_steps, blocks.rows());
}

void FreeStates::begin(Buffer parameters, Buffer carried, BlockObjective& objective) {
  if (config_.state_reset) optimizer_->reset();
  const bool persists = config_.init == StateInit::persist;
  if (persists && filled_) return;
  filled_ = persists;
  if (config_.init == StateInit::chain || persists) {
    engine_.copy(carried, running_);
    return fill_chain(parameters, running_);
  }
  if (config_.init == StateInit::zeros) {
    engine_.fill(table_, 0);
  } else {
    objective.ends_from_zero(parameters, table_);
    put_border(blocks_.range().last, zeros_);
  }
  put_border(blocks_.range().first, carried);
}

void FreeStates::pass(Buffer parameters, Buffer carried) { fill_chain(parameters, carried); }

void FreeStates::put_border(int j, Buffer states) { engine_.scatter_rows(states, width_, blocks_.border(j), table_); }

/// h_{j+1} = E_j(h_j), one block after the other; `state` becomes the last of them.
void FreeStates::fill_chain(Buffer parameters, Buffer state) {
  for (int shard = 0; shard < blocks_.shards(); ++shard) {
    const BlockRange range = blocks_.range_of(shard);
    slice(blocks_.stretch(), range.first * blocks_.block(), blocks_.steps_of(range), part_);
    std::fill(part_.weight.begin(), part_.weight.end(), 0.0f);
    handed_steps_.clear();
    for (int block = 0; block < range.count(); ++block) handed_steps_.push_back(block * blocks_.block());
    handed_rows_.resize(elements(range.count(), blocks_.rows()));
    std::iota(handed_rows_.begin(), handed_rows_.end(), std::int64_t{range.first} * blocks_.rows());
    engine_.unroll({.window = part_,
                    .parameters = parameters,
                    .tape = *chain_,
                    .initial_state = state,
                    .final_state = state,
                    .states = handed_,
                    .state_steps = handed_steps_});
    engine_.scatter_rows(handed_, width_, handed_rows_, table_);
  }
  put_border(blocks_.range().last, state);
}

void FreeStates::descend(double gradient_scale) {
  if (!config_.first_free) engine_.scatter_rows(zeros_, width_, blocks_.border(blocks_.range().first), gradient_);
  engine_.apply_update({.target = table_,
                        .gradient = gradient_,
                        .optimizer = *optimizer_,
                        .rate = config_.state_rate,
                        .gradient_scale = gradient_scale,
                        .clip = {.norm = config_.state_clip}});
}

void FreeStates::archive(Archive& archive) {
  const Archive::Scope scope(archive, "states");
  if (config_.init == StateInit::persist) {
    archive.flag("filled", filled_);
    archive.buffer("table", engine_, table_);
  }
  if (!config_.state_reset) optimizer_->archive(archive, engine_);
}

}  // namespace throughtime
