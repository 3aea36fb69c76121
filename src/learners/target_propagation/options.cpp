#include "learners/target_propagation/options.h"

#include <unistd.h>

#include <algorithm>

#include "core/registry.h"
#include "learners/target_propagation/blocks.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "target_propagation";

void check_numbers(const TargetPropagationConfig& config, const StretchShape& shape) {
  if (config.block < 1 || config.block > shape.steps)
    refuse(speaker, "block (B) must be between 1 and the steps of a stretch ({}), got {}", shape.steps, config.block);
  if (shape.steps % config.block != 0)
    refuse(speaker, "block (B) must divide the steps of a stretch ({}, the length of the task), got {}", shape.steps,
           config.block);
  if (!(config.lambda >= 0)) refuse(speaker, "lambda must be 0 or positive, got {}", config.lambda);
  if (config.solver != PropagationSolver::pm && config.lambda == 0)
    refuse(speaker, "lambda must be positive where there are duals (solver = {}), got 0; pm has none",
           name_of(config.solver));
  if (!(config.lambda_factor > 0)) refuse(speaker, "lambda_factor must be positive, got {}", config.lambda_factor);
  if (!(config.state_rate >= 0)) refuse(speaker, "state_rate must be 0 or positive, got {}", config.state_rate);
  if (!(config.dual_rate >= 0)) refuse(speaker, "dual_rate must be 0 or positive, got {}", config.dual_rate);
  require_range(speaker, "state_steps", config.state_steps, config.solver == PropagationSolver::alm ? 1 : 0, 1'000'000);
  require_range(speaker, "theta_steps", config.theta_steps, 1, 1'000'000);
  require_range(speaker, "rounds", config.rounds, 1, 1'000'000);
  require_range(speaker, "shard", config.shard, 0, 1'000'000'000);
}

int tables_of(const TargetPropagationConfig& config) {
  return 2 + find_optimizer(config.state_optimizer).moments + (config.solver == PropagationSolver::pm ? 0 : 1) +
         (config.h_solver == StateSolver::backward_sweep ? 1 : 0);
}

}  // namespace

void check_settings(const TargetPropagationConfig& config, const StretchShape& shape) {
  check_numbers(config, shape);
  if (config.h_solver == StateSolver::backward_sweep &&
      (config.init != StateInit::chain || config.solver == PropagationSolver::alm))
    refuse(speaker, "backward_sweep needs init = chain and a solver other than alm, got {} and {}",
           name_of(config.init), name_of(config.solver));
  if (config.init == StateInit::persist && (shape.stretches != 1 || shape.usual_steps > 0 || shape.examples != 0))
    refuse(speaker,
           "init = persist keeps a state for every block of the data, so that one stretch must be all of it, in every "
           "epoch the same: a task of one recording with a length of at least {} steps, got {}",
           shape.row_steps, shape.steps);
}

std::size_t table_bytes(const TargetPropagationConfig& config, const Model& model, const StretchShape& shape,
                        std::size_t number_bytes) {
  return elements(tables_of(config)) * elements(Blocks::table_rows(shape, config.block), model.state_size()) *
         number_bytes;
}

void require_room(const TargetPropagationConfig& config, const Model& model, const StretchShape& shape,
                  std::size_t number_bytes, std::uint64_t left, std::string_view whose) {
  const std::uint64_t limit = config.memory > 0 ? elements(config.memory) << 20 : left;
  const std::size_t needed = table_bytes(config, model, shape, number_bytes);
  if (needed > limit)
    refuse(speaker, "{} tables of {} states of {} numbers need {} MiB, and there are {} ({}); take a larger block",
           tables_of(config), Blocks::table_rows(shape, config.block), model.state_size(),
           (needed + (1u << 20) - 1) >> 20, limit >> 20, config.memory > 0 ? "memory" : whose);
}

/// Tables are measured in the smallest numbers of any engine and against all of the machine; when the learner is made,
/// in those of its own engine and against what that has left.
void check_learner(const TargetPropagationConfig& config, const Model& model, const StretchShape& shape) {
  check_settings(config, shape);
  require_room(config, model, shape, sizeof(float), elements(sysconf(_SC_PHYS_PAGES), sysconf(_SC_PAGE_SIZE)),
               "the machine's memory");
}

StreamNeeds stream_needs(const TargetPropagationConfig&) {
  refuse(speaker,
         "a stream is learned from as it comes, and target propagation optimises over many blocks at once; take "
         "tbptt, or fpp, whose states are variables too");
}

SharedWork shared_work(const TargetPropagationConfig& config, const StretchShape& shape) {
  const int blocks = (shape.steps + config.block - 1) / config.block;
  const int at_a_time = config.shard > 0 ? std::min(config.shard, blocks) : blocks;
  return {shape.batch * at_a_time, "blocks",
          "train.batch, learner.target_propagation.block and learner.target_propagation.shard"};
}

void describe(TargetPropagationConfig& config, OptionList& list) {
  list.add("block", config.block, "B, the steps of a block, at least 1; it must divide the length of the task",
           at_least(0));
  list.add("lambda", config.lambda, "weight of the penalty between blocks; positive unless solver = pm", at_least(0));
  list.add("lambda_factor", config.lambda_factor, "lambda is multiplied by this after each epoch", above(0));
  list.add("solver", config.solver,
           "admm: steps on the states H, the parameters theta and the duals U in turn; alm: joint steps on H and "
           "theta, then U; pm: no duals");
  list.add("state_steps", config.state_steps,
           "gradient steps on the states H in each round; solver = alm: joint steps, at least 1", between(0, 1e6));
  list.add("theta_steps", config.theta_steps, "gradient steps on the parameters in each round", between(1, 1e6));
  list.add("rounds", config.rounds, "how often the solver goes over each batch", between(1, 1e6));
  list.add("h_solver", config.h_solver,
           "gradient: H follows its gradient; backward_sweep: targets are computed in one sweep from the last block to "
           "the first");
  list.add_name("state_optimizer", config.state_optimizer, "update rule of the states H",
                names_of_rows(all_optimizers()));
  list.add("state_rate", config.state_rate,
           "learning rate of the states H; h_solver = backward_sweep: eta, the step of the sweep", at_least(0));
  list.add("state_epsilon", config.state_epsilon,
           "epsilon of H's update rule, from 1e-30 on; -1: the rule's own default", between(-1, 1));
  list.add("state_clip", config.state_clip, "clip the gradient of the states H to this norm; 0: off", at_least(0));
  list.add("state_reset", config.state_reset, "reset the optimizer of the states H for every batch");
  list.add("dual", config.dual,
           "scaled: the scaled step of ADMM on the duals; literal: the step that the paper prints");
  list.add("dual_rate", config.dual_rate, "alpha_u, the step size of the duals", at_least(0));
  list.add("dual_clip", config.dual_clip, "clip the gradient of the duals U to this norm; 0: off", at_least(0));
  list.add("first_dual_epoch", config.first_dual_epoch, "duals stay zero before this epoch", at_least(1));
  list.add("dual_before_theta", config.dual_before_theta,
           "update the duals U before the parameters theta: in the order H, U, theta instead of H, theta, U");
  list.add("init", config.init,
           "where the states H start in each batch. chain: from one forward pass; zero_start: from blocks that start "
           "at zero; zeros: at zero; persist: H is kept for ever (batch mode)");
  list.add("first_free", config.first_free, "optimise the state before the first block too");
  list.add("carry_epochs", config.carry_epochs, "start a new epoch from the last state of the one before");
  list.add("loss_scale", config.loss_scale,
           "sum: losses and penalties are summed over steps and blocks; mean: they are averaged");
  list.add("shard", config.shard,
           "how many blocks of each row are worked on at a time; 0: all; with init = persist: 256", between(0, 1e9));
  list.add("test_steps", config.test_steps,
           "evaluations: gradient steps on the state before each block, once the block has been scored; 0: none",
           at_least(0));
  list.add("memory", config.memory, "how many MiB the tables of H and U may take; 0: as much as the machine has",
           at_least(0));
}

}  // namespace throughtime
