#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace throughtime {

/// Losses before the end of a sequence that has one target, there: fptt, and bptt with aux_losses.
struct TerminalConfig {
  std::string q = "auto";          // Q of a class: auto, examples, class_wrong, class_right, uniform
  int q_epoch = 20;                // class_wrong, class_right: uniform before this epoch
  std::string beta = "time";       // share of the target: time (t / T), window (p / K'), ref_index (p - 1 + 1 / K)
  std::string divergence = "sum";  // over classes; mean: divided by their number
  int one_hot_from = 0;            // Q is the label itself in windows p >= this; 0: in none
  bool skip_last = false;          // the last window is left out
};

/// Fixed Point Propagation. Defaults are the thesis' mathematics; names in quotes of the two released codes say so.
struct FppConfig {
  int steps = 0;                          // T, steps of a trajectory
  int buffer = 1000;                      // N, transitions that are kept
  double lambda = 1;                      // weight of the penalty on s_i - shat_i
  double lambda_growth = 1;               // factor of lambda per 1000 steps
  double lambda_most = 0;                 // and never more than this; 0: no bound
  std::string penalty = "sum_half";       // sum_half: lambda/2 |.|^2 per sample; mean: lambda times the mean square
  std::string penalise = "both";          // who feels the penalty: both, weights, states, none
  int updates = 1;                        // M, updates per step
  std::string order = "sequential";       // of the M updates: sequential, parallel
  double state_rate = 0.01;               // eta_s; 0: states are never changed
  std::string state_optimizer = "sgd";    // sgd, rmsprop (its mean square belongs to the cell)
  std::string state_gradient = "sample";  // of the sample's own loss, or of the batch_mean
  std::string batch = "streams";          // rows of an update: streams (one end for all), blocks (each its own)
  int blocks = 1;                         // trajectories of an update, where they are blocks
  std::string collisions = "add";         // blocks that touch one cell: add, overwrite (the last one stays)
  std::string sample = "uniform";         // ends of trajectories: uniform, newest (sliding T-BPTT)
  std::string ends = "weighted";          // where a trajectory may end: weighted (a target there), all
  bool newest = true;                     // the newest transition may be drawn
  std::string feed = "buffer";            // the next state comes from the buffer's cell, or from a running state
  std::string write_back = "each";        // states change in each of M updates, or only in the last
  std::string variant = "plain";          // plain, decay, random
  std::int64_t phase_steps = 0;           // decay, random: steps of a phase
  std::string decay = "halving";          // decay: T and M by phase: halving, subtractive
  std::string chance = "additive";  // random: p by phase: additive (1 - q/5), multiplicative (0.8^q), divided (1.2^-q)
  bool fixed = false;               // fill the buffer once, then learn from it alone
  std::string start = "stored";  // sliding_tbptt: first state of a window: stored, shifted (the last of the one before)
};

/// How the decay of gradients is estimated: adaptive_tbptt, and tbptt where it logs estimates (docs/adaptive-tbptt.md).
struct EstimateConfig {
  double delta = 0.1;  // the relative bias that is tolerated
  int shortest = 2;    // K_min
  int longest = 100;   // K_max
  int lags = 0;        // R; 0: 100, or what a row of the data has after the burn-in
  int tail = 0;        // tau: beta comes from the lags tau ... R; 0: the integer part of 0.9 R
  int positions = 0;   // S; 0: as many as the batch has rows
  int burn_in = 20;    // steps from the zero state before the R cells
  int repeats = 1;     // estimates behind one choice of K: the integer part of their mean
  int every = 0;       // updates between estimates; 0: once per epoch
  bool first = true;   // estimate before the first update, as Algorithm 1; false: K_0 until the next one is due
  int logged = 0;      // further estimates that are only logged, for bars; they do not count as data
  std::string decay = "regression";        // regression (Eq. 22), max (Eq. 21), quantile
  double quantile = 0.1;                   // alpha of the quantile
  std::string norm = "euclidean";          // of dL/dh: euclidean, per_layer, weighted
  std::string gradient_size = "norms";     // C_k: norms (of 1.6), vectors (of their sum), exact (parameter gradient)
  bool dropout = true;                     // on during estimates
  std::vector<std::string> variants = {};  // of the released code: decay_variant_names()
};

/// Target propagation (TPROP, BTPROP). Defaults are the paper's mathematics; what its released code does differently is
/// named (docs/target-propagation.md).
struct TargetPropagationConfig {
  int block = 0;                            // B, steps of a block; 1: TPROP
  double lambda = 1;                        // weight of the springs between blocks
  double lambda_factor = 1;                 // lambda is multiplied by it after each epoch
  std::string solver = "admm";              // admm, alm (joint steps), pm (no duals)
  int state_steps = 1;                      // n_H: descent steps on the free states H; alm: joint steps
  int theta_steps = 1;                      // n_theta: descent steps on the parameters
  int rounds = 1;                           // outer iterations on a stretch
  std::string h_solver = "gradient";        // how H moves: gradient, backward_sweep
  std::string state_optimizer = "adagrad";  // of H
  double state_rate = 0.1;                  // its rate; eta of backward_sweep
  double state_epsilon = 1e-5;              // its epsilon; -1: the rule's own default
  double state_clip = 0;                    // largest norm of the gradient in H; 0: off
  bool state_reset = true;                  // its moments start again with every stretch
  std::string dual = "scaled";              // scaled (u += alpha lambda (h - hhat)), literal (... + u, as printed)
  double dual_rate = 1;                     // alpha_u
  double dual_clip = 0;                     // largest norm of the gradient in U; 0: off
  int first_dual_epoch = 1;                 // duals stay 0 before it
  bool dual_before_theta = false;           // H, U, theta instead of H, theta, U
  std::string init = "chain";               // H of a stretch: chain, zero_start, zeros, persist (batch mode)
  bool first_free = false;                  // the state entering a stretch is moved too
  bool carry_epochs = false;                // the carried state lives on from one epoch to the next
  std::string loss_scale = "sum";           // over steps and springs; mean: per step and per block
  int shard = 0;                            // blocks at a time, times the rows of a stretch; 0: all, persist: 256
  int test_steps = 0;                       // steps on past states in evaluations; 0: none
  std::int64_t memory = 0;                  // MiB that the tables of H and U may take; 0: what the machine has
};

/// Declared once here; each learner reads the fields it knows.
struct LearnerConfig {
  std::string name = "bptt";
  std::string memory = "full";        // bptt: full, recompute
  std::string preset = "custom";      // tbptt: custom, paper, ref, plain, original, double-tf, buffer
  int truncation = 0;                 // tbptt presets: K
  int steps = 0;                      // tbptt: cells in a window
  int losses = 0;                     // tbptt: its last steps that carry a loss
  int stride = 0;                     // tbptt: steps between windows
  int chunk = 0;                      // tbptt: no window looks back over a multiple of this many steps; 0: off
  bool ref_stream = false;            // tbptt with chunk: the released code's stale states at the ends of a chunk
  std::string rate_scaling = "auto";  // tbptt: the rate times none, sqrt(K) or K; auto: sqrt if adaptive, else none
  bool clip_by_losses = false;        // tbptt: the clip norm is divided by the losses of a window
  EstimateConfig estimate;            // adaptive_tbptt; tbptt where estimates are logged

  int windows = 0;                  // fptt: K, windows of a sequence; or window_length
  int window_length = 0;            // fptt: steps of a window, instead of K
  std::string remainder = "extra";  // fptt: steps that K does not divide: extra (one more window), absorb (the last)
  std::string form = "lambda";      // fptt: lambda, gradient (Algorithm 2 to the letter), ogd (no regulariser)
  double alpha = 0.1;               // fptt: strength of the regulariser
  double alpha_growth = 1;          // fptt: alpha is multiplied by it after each epoch
  double alpha_most = 0;            // fptt: and never exceeds this; 0: no bound
  double averaging = 0.5;           // fptt: b, the weight of W in W-bar
  double penalty = 1;               // fptt: m, multiple of alpha in the gradient (lambda form)
  double kappa = 1;                 // fptt: weight of the last gradient (gradient form): 1, or 0.5 as printed
  int inner_iterations = 1;         // fptt: steps of W on each window
  std::string inner_state = "restart";  // fptt: they start at the window's first state: restart, or go on: continue
  bool take_average = false;            // fptt: W <- W-bar at the end of an epoch
  bool reset_multiplier = false;        // fptt: lambda <- 0 at the end of an epoch
  std::string carry = "windows";        // fptt: state for a stretch that continues: windows, rerun
  std::string masks = "window";         // fptt: locked dropout masks are drawn per window, or per sequence
  std::string intermediate = "auto";    // fptt, one target at the end: auto (window_end), window_end, every_step, none
  bool rate_by_windows = false;         // fptt: the rate is divided by 2 K'
  bool rate_by_length = false;          // fptt: the rate is multiplied by the stretch's share of the longest one
  bool aux_losses = false;              // bptt: the same losses at the ends of `windows`, one step on their mean
  TerminalConfig terminal;              // fptt, bptt with aux_losses

  FppConfig fpp;                   // fpp, sliding_tbptt
  TargetPropagationConfig target;  // target_propagation
};

}  // namespace throughtime
