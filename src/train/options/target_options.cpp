#include "train/options/option_tables.h"

namespace throughtime {
namespace {

Names solver_names() { return {"admm", "alm", "pm"}; }
Names h_solver_names() { return {"gradient", "backward_sweep"}; }
Names dual_names() { return {"scaled", "literal"}; }
Names init_names() { return {"chain", "zero_start", "zeros", "persist"}; }
Names loss_scale_names() { return {"sum", "mean"}; }
Names rule_names() { return names_of(all_optimizers()); }

}  // namespace

void add_target_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"learner.tprop_block", FIELD(int, learner.target.block),
           "target_propagation: B, steps of a block; it must divide the steps of a stretch", at_least(0)},
          {"learner.tprop_lambda", FIELD(double, learner.target.lambda),
           "target_propagation: weight of the springs; positive unless tprop_solver = pm", at_least(0)},
          {"learner.tprop_lambda_factor", FIELD(double, learner.target.lambda_factor),
           "target_propagation: factor of lambda after each epoch", above(0)},
          {"learner.tprop_solver",
           FIELD(std::string, learner.target.solver),
           "target_propagation: alternate H, theta, duals; joint steps and duals; no duals",
           {},
           solver_names},
          {"learner.tprop_state_steps", FIELD(int, learner.target.state_steps),
           "target_propagation: steps on the free states H; alm: joint steps", at_least(0)},
          {"learner.tprop_theta_steps", FIELD(int, learner.target.theta_steps),
           "target_propagation: steps on the parameters", at_least(1)},
          {"learner.tprop_rounds", FIELD(int, learner.target.rounds),
           "target_propagation: outer iterations on a stretch", at_least(1)},
          {"learner.tprop_h_solver",
           FIELD(std::string, learner.target.h_solver),
           "target_propagation: H moves along its gradient, or targets are made in one sweep backwards",
           {},
           h_solver_names},
          {"learner.tprop_state_optimizer",
           FIELD(std::string, learner.target.state_optimizer),
           "target_propagation: update rule of H",
           {},
           rule_names},
          {"learner.tprop_state_rate", FIELD(double, learner.target.state_rate),
           "target_propagation: rate of H; eta of backward_sweep", at_least(0)},
          {"learner.tprop_state_epsilon", FIELD(double, learner.target.state_epsilon),
           "target_propagation: epsilon of H's rule; -1: its own default", at_least(-1)},
          {"learner.tprop_state_clip", FIELD(double, learner.target.state_clip),
           "target_propagation: largest norm of the gradient in H; 0: off", at_least(0)},
          {"learner.tprop_state_reset", FIELD(bool, learner.target.state_reset),
           "target_propagation: the moments of H start again with every stretch"},
          {"learner.tprop_dual",
           FIELD(std::string, learner.target.dual),
           "target_propagation: scaled dual step, or the one that the paper prints",
           {},
           dual_names},
          {"learner.tprop_dual_rate", FIELD(double, learner.target.dual_rate), "target_propagation: alpha_u",
           at_least(0)},
          {"learner.tprop_dual_clip", FIELD(double, learner.target.dual_clip),
           "target_propagation: largest norm of the gradient in U; 0: off", at_least(0)},
          {"learner.tprop_first_dual_epoch", FIELD(int, learner.target.first_dual_epoch),
           "target_propagation: duals stay zero before this epoch", at_least(1)},
          {"learner.tprop_dual_before_theta", FIELD(bool, learner.target.dual_before_theta),
           "target_propagation: H, U, theta instead of H, theta, U"},
          {"learner.tprop_init",
           FIELD(std::string, learner.target.init),
           "target_propagation: H of a stretch from one run through it, from blocks that start at zero, zero, or kept "
           "for ever "
           "(batch mode)",
           {},
           init_names},
          {"learner.tprop_first_free", FIELD(bool, learner.target.first_free),
           "target_propagation: the state that enters a stretch is moved too"},
          {"learner.tprop_carry_epochs", FIELD(bool, learner.target.carry_epochs),
           "target_propagation: a new epoch goes on from the last state of the one before"},
          {"learner.tprop_loss_scale",
           FIELD(std::string, learner.target.loss_scale),
           "target_propagation: losses and springs are summed, or their means taken",
           {},
           loss_scale_names},
          {"learner.tprop_shard", FIELD(int, learner.target.shard),
           "target_propagation: blocks of each row that are worked on at a time; 0: all, with tprop_init = persist 256",
           at_least(0)},
          {"learner.tprop_test_steps", FIELD(int, learner.target.test_steps),
           "target_propagation: steps on the state before each block that an evaluation has seen; 0: none",
           at_least(0)},
          {"learner.tprop_memory", FIELD(std::int64_t, learner.target.memory),
           "target_propagation: MiB that the tables of H and U may take; 0: what the machine has", at_least(0)},
      });
}

}  // namespace throughtime
