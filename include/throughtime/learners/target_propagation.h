#pragma once

#include <cstdint>
#include <string>

#include "throughtime/choice.h"
#include "throughtime/learners/method.h"

namespace throughtime {

/// Alternating steps on H, theta and the duals; joint steps and duals; no duals.
enum class PropagationSolver { admm, alm, pm };
constexpr auto names_of(PropagationSolver) { return choice_names("admm", "alm", "pm"); }

/// How H moves: along its gradient, or to targets made in one sweep backwards.
enum class StateSolver { gradient, backward_sweep };
constexpr auto names_of(StateSolver) { return choice_names("gradient", "backward_sweep"); }

/// scaled: u += alpha lambda (h - hhat); literal: ... + u, as printed.
enum class DualStep { scaled, literal };
constexpr auto names_of(DualStep) { return choice_names("scaled", "literal"); }

/// H of a stretch: one run through it, blocks that start at zero, zeros, or kept for ever (batch mode).
enum class StateInit { chain, zero_start, zeros, persist };
constexpr auto names_of(StateInit) { return choice_names("chain", "zero_start", "zeros", "persist"); }

/// Losses and springs are summed over steps and blocks, or their means taken.
enum class LossScale { sum, mean };
constexpr auto names_of(LossScale) { return choice_names("sum", "mean"); }

/// Target propagation (TPROP, BTPROP). Defaults are the paper's mathematics; what its released code does differently is
/// named (docs/target-propagation.md).
struct TargetPropagationConfig {
  int block = 0;             // B, steps of a block; 1: TPROP
  double lambda = 1;         // weight of the springs between blocks
  double lambda_factor = 1;  // lambda is multiplied by it after each epoch
  PropagationSolver solver = PropagationSolver::admm;
  int state_steps = 1;  // n_H: descent steps on the free states H; alm: joint steps
  int theta_steps = 1;  // n_theta: descent steps on the parameters
  int rounds = 1;       // outer iterations on a stretch
  StateSolver h_solver = StateSolver::gradient;
  std::string state_optimizer = "adagrad";  // of H: a name of the optimizers
  double state_rate = 0.1;                  // its rate; eta of backward_sweep
  double state_epsilon = 1e-5;              // its epsilon; -1: the rule's own default
  double state_clip = 0;                    // largest norm of the gradient in H; 0: off
  bool state_reset = true;                  // its moments start again with every stretch
  DualStep dual = DualStep::scaled;
  double dual_rate = 1;            // alpha_u
  double dual_clip = 0;            // largest norm of the gradient in U; 0: off
  int first_dual_epoch = 1;        // duals stay 0 before it
  bool dual_before_theta = false;  // H, U, theta instead of H, theta, U
  StateInit init = StateInit::chain;
  bool first_free = false;    // the state entering a stretch is moved too
  bool carry_epochs = false;  // the carried state lives on from one epoch to the next
  LossScale loss_scale = LossScale::sum;
  int shard = 0;            // blocks at a time, times the rows of a stretch; 0: all, persist: 256
  int test_steps = 0;       // steps on past states in evaluations; 0: none
  std::int64_t memory = 0;  // MiB that the tables of H and U may take; 0: what the machine has
};

/// Refuses settings that cannot work on stretches of that shape.
void check_learner(const TargetPropagationConfig& config, const Model& model, const StretchShape& shape);
std::unique_ptr<Learner> make_learner(const TargetPropagationConfig& config, Trainee& trainee,
                                      const StretchShape& shape);
StreamNeeds stream_needs(const TargetPropagationConfig& config);
void describe(TargetPropagationConfig& config, OptionList& list);
/// What its ranks share: blocks.
SharedWork shared_work(const TargetPropagationConfig& config, const StretchShape& shape);
/// Steps on past states in evaluations; null where there are none (test_steps).
std::unique_ptr<StateRefiner> make_refiner(const TargetPropagationConfig& config, Engine& engine, int steps, int rows);

}  // namespace throughtime
