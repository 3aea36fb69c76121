#include "learners/adaptive_tbptt/decay.h"
#include "train/options/option_tables.h"

namespace throughtime {
namespace {

Names learner_names() {
  Names names;
  for (const LearnerInfo& learner : all_learners()) names.push_back(learner.name);
  return names;
}
Names memory_names() { return {"full", "recompute"}; }
Names preset_names() { return {"custom", "paper", "ref", "plain", "original", "double-tf", "buffer"}; }
Names rate_scaling_names() { return {"auto", "none", "sqrt", "linear"}; }
Names form_names() { return {"lambda", "gradient", "ogd"}; }
Names remainder_names() { return {"extra", "absorb"}; }
Names inner_state_names() { return {"restart", "continue"}; }
Names carry_names() { return {"windows", "rerun"}; }
Names mask_names() { return {"window", "sequence"}; }
Names intermediate_names() { return {"auto", "window_end", "every_step", "none"}; }
Names q_names() { return {"auto", "examples", "class_wrong", "class_right", "uniform"}; }
Names beta_names() { return {"time", "window", "ref_index"}; }
Names divergence_names() { return {"sum", "mean"}; }
Names fpp_penalty_names() { return {"sum_half", "mean"}; }
Names fpp_penalise_names() { return {"both", "weights", "states", "none"}; }
Names fpp_order_names() { return {"sequential", "parallel"}; }
Names fpp_state_optimizer_names() { return {"sgd", "rmsprop"}; }
Names fpp_state_gradient_names() { return {"sample", "batch_mean"}; }
Names fpp_batch_names() { return {"streams", "blocks"}; }
Names fpp_collision_names() { return {"add", "overwrite"}; }
Names fpp_sample_names() { return {"uniform", "newest"}; }
Names fpp_end_names() { return {"weighted", "all"}; }
Names fpp_feed_names() { return {"buffer", "running"}; }
Names fpp_write_back_names() { return {"each", "last"}; }
Names fpp_variant_names() { return {"plain", "decay", "random"}; }
Names fpp_decay_names() { return {"halving", "subtractive"}; }
Names fpp_chance_names() { return {"additive", "multiplicative", "divided"}; }
Names fpp_start_names() { return {"stored", "shifted"}; }

}  // namespace

void add_learner_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"learner.name", FIELD(std::string, learner.name), "training method", {}, learner_names},
          {"learner.memory",
           FIELD(std::string, learner.memory),
           "bptt: keep the full tape, or recompute it from about sqrt(T) states",
           {},
           memory_names},
          {"learner.preset",
           FIELD(std::string, learner.preset),
           "tbptt: steps/losses/stride from truncation K: paper 2K+1/K/K, ref 2K-1/K/K, plain K/K/K, original K/1/1, "
           "double-tf (2K-1)/(2K-1)/(2K-1), buffer K/K/K and the next K-1 losses flow in",
           {},
           preset_names},
          {"learner.truncation", FIELD(int, learner.truncation),
           "tbptt presets: K; adaptive_tbptt: K_0, before the first estimate", at_least(0)},
          {"learner.steps", FIELD(int, learner.steps), "tbptt custom: steps in a window", at_least(0)},
          {"learner.losses", FIELD(int, learner.losses), "tbptt custom: last steps of a window that carry a loss",
           at_least(0)},
          {"learner.stride", FIELD(int, learner.stride), "tbptt custom: steps from one window to the next",
           at_least(0)},
          {"learner.chunk", FIELD(int, learner.chunk),
           "tbptt: windows do not look back over multiples of this many steps of a stretch; 0: off", at_least(0)},
          {"learner.ref_stream", FIELD(bool, learner.ref_stream),
           "tbptt with learner.chunk: begin windows with the wrong states that the released code takes there"},
          {"learner.rate_scaling",
           FIELD(std::string, learner.rate_scaling),
           "tbptt: the rate times sqrt(K) or K (the losses of a window); auto: sqrt if adaptive, else none",
           {},
           rate_scaling_names},
          {"learner.clip_by_losses", FIELD(bool, learner.clip_by_losses),
           "tbptt: optimizer.clip divided by the losses of a window, as the released code of adaptive TBPTT"},
      });
}

void add_estimate_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"learner.delta",
           FIELD(double, learner.estimate.delta),
           "adaptive_tbptt: relative bias of the gradient that is tolerated",
           {.low = 0, .high = 1, .open_low = true, .open_high = true}},
          {"learner.shortest", FIELD(int, learner.estimate.shortest), "adaptive_tbptt: K_min", at_least(1)},
          {"learner.longest", FIELD(int, learner.estimate.longest), "adaptive_tbptt: K_max", at_least(1)},
          {"learner.lags", FIELD(int, learner.estimate.lags),
           "estimates: R, the largest lag; 0: 100, or what a row of the data has after the burn-in", at_least(0)},
          {"learner.tail", FIELD(int, learner.estimate.tail),
           "estimates: tau, beta comes from the lags tau to R; 0: the integer part of 0.9 R", at_least(0)},
          {"learner.positions", FIELD(int, learner.estimate.positions),
           "estimates: S, random places of the training data; 0: train.batch", between(0, 65536)},
          {"learner.burn_in", FIELD(int, learner.estimate.burn_in),
           "estimates: steps from the zero state before the R cells", between(0, 1e6)},
          {"learner.repeats", FIELD(int, learner.estimate.repeats),
           "adaptive_tbptt: estimates behind a choice, K is the integer part of their mean", between(1, 1000)},
          {"learner.estimate_every", FIELD(int, learner.estimate.every),
           "estimates: updates between them, between two stretches; 0: once per epoch", at_least(0)},
          {"learner.estimate_first", FIELD(bool, learner.estimate.first),
           "adaptive_tbptt: estimate before the first update (Algorithm 1), or begin with learner.truncation"},
          {"learner.logged_estimates", FIELD(int, learner.estimate.logged),
           "tbptt, adaptive_tbptt: estimates that are only logged, with their 95 % range", between(0, 10000)},
          {"learner.decay",
           FIELD(std::string, learner.estimate.decay),
           "estimates: beta by regression (Eq. 22), max (Eq. 21) or a quantile of the slopes",
           {},
           decay_names},
          {"learner.quantile", FIELD(double, learner.estimate.quantile), "quantile: alpha, the 1 - alpha quantile",
           between(0, 1)},
          {"learner.norm",
           FIELD(std::string, learner.estimate.norm),
           "estimates: of dL/dh, or summed over layers, or weighted by the size of dh/dW",
           {},
           phi_norm_names},
          {"learner.gradient_size",
           FIELD(std::string, learner.estimate.gradient_size),
           "estimates: C_k from mean norms, from the norm of summed mean vectors, or exact (small models)",
           {},
           gradient_size_names},
          {"learner.estimate_dropout", FIELD(bool, learner.estimate.dropout), "estimates: with dropout"},
          {"learner.variants",
           FIELD(Names, learner.estimate.variants),
           "estimates: what the released code does in another way (docs/adaptive-tbptt.md)",
           {},
           decay_variant_names},
      });
}

void add_fptt_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"learner.windows", FIELD(int, learner.windows), "fptt, aux_losses: K, windows of a sequence", at_least(0)},
          {"learner.window_length", FIELD(int, learner.window_length),
           "fptt, aux_losses: steps of a window, instead of K", at_least(0)},
          {"learner.remainder",
           FIELD(std::string, learner.remainder),
           "fptt: steps that K does not divide are one more window, or belong to the last",
           {},
           remainder_names},
          {"learner.form",
           FIELD(std::string, learner.form),
           "fptt: running estimate lambda, Algorithm 2 to the letter, or no regulariser",
           {},
           form_names},
          {"learner.alpha", FIELD(double, learner.alpha),
           "fptt: strength of the regulariser; positive unless form = ogd", at_least(0)},
          {"learner.alpha_growth", FIELD(double, learner.alpha_growth), "fptt: factor of alpha after each epoch",
           above(0)},
          {"learner.alpha_most", FIELD(double, learner.alpha_most), "fptt: bound of a growing alpha; 0: none",
           at_least(0)},
          {"learner.averaging", FIELD(double, learner.averaging), "fptt: b, weight of W in its average", between(0, 1)},
          {"learner.penalty", FIELD(double, learner.penalty), "fptt, lambda: m, multiple of alpha in the gradient",
           at_least(0)},
          {"learner.kappa", FIELD(double, learner.kappa), "fptt, gradient: weight of the last gradient", at_least(0)},
          {"learner.inner_iterations", FIELD(int, learner.inner_iterations), "fptt: steps of W on each window",
           at_least(1)},
          {"learner.inner_state",
           FIELD(std::string, learner.inner_state),
           "fptt: inner iterations restart at the window's first state, or go on from its last",
           {},
           inner_state_names},
          {"learner.take_average", FIELD(bool, learner.take_average), "fptt: W <- its average at the end of an epoch"},
          {"learner.reset_multiplier", FIELD(bool, learner.reset_multiplier),
           "fptt: lambda <- 0 at the end of an epoch"},
          {"learner.carry",
           FIELD(std::string, learner.carry),
           "fptt: a stream goes on from the state of the windows, or of a rerun with the new weights",
           {},
           carry_names},
          {"learner.masks",
           FIELD(std::string, learner.masks),
           "fptt: locked dropout masks are drawn per window or sequence",
           {},
           mask_names},
          {"learner.rate_by_windows", FIELD(bool, learner.rate_by_windows),
           "fptt: the rate is divided by twice the number of windows of the sequence"},
          {"learner.rate_by_length", FIELD(bool, learner.rate_by_length),
           "fptt: the rate is multiplied by the sequence's share of the longest one"},
      });
}

void add_terminal_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"learner.intermediate",
           FIELD(std::string, learner.intermediate),
           "fptt, one target at the end: losses at the ends of windows, at every step, or none; auto: window_end there",
           {},
           intermediate_names},
          {"learner.aux_losses", FIELD(bool, learner.aux_losses),
           "bptt: the losses of fptt at the ends of learner.windows windows, one update on their mean"},
          {"learner.q",
           FIELD(std::string, learner.terminal.q),
           "fptt, aux_losses: Q is the last epoch's prediction for the example, that for a wrongly or rightly "
           "classified "
           "example of the class in the batch before, or uniform; auto: examples where they are finite",
           {},
           q_names},
          {"learner.q_epoch", FIELD(int, learner.terminal.q_epoch), "q = class_*: uniform before this epoch",
           at_least(1)},
          {"learner.beta",
           FIELD(std::string, learner.terminal.beta),
           "fptt, aux_losses: share of the target: t / T, p / K', or p - 1 + 1 / K (a number's weight in the released "
           "code)",
           {},
           beta_names},
          {"learner.divergence",
           FIELD(std::string, learner.terminal.divergence),
           "fptt, aux_losses: Div is a sum over classes, or their mean",
           {},
           divergence_names},
          {"learner.one_hot_from", FIELD(int, learner.terminal.one_hot_from),
           "fptt, aux_losses: Q is the label in windows p >= this; 0: in none", at_least(0)},
          {"learner.skip_last", FIELD(bool, learner.terminal.skip_last),
           "fptt, aux_losses: the last window is never trained on"},
      });
}

void add_fpp_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"learner.fpp_steps", FIELD(int, learner.fpp.steps), "fpp, sliding_tbptt: T, steps of a trajectory",
           at_least(0)},
          {"learner.fpp_buffer", FIELD(int, learner.fpp.buffer), "fpp: N, transitions that are kept", at_least(1)},
          {"learner.fpp_lambda", FIELD(double, learner.fpp.lambda), "fpp: weight of the penalty", at_least(0)},
          {"learner.fpp_lambda_growth", FIELD(double, learner.fpp.lambda_growth),
           "fpp: factor of lambda per 1000 steps", above(0)},
          {"learner.fpp_lambda_most", FIELD(double, learner.fpp.lambda_most), "fpp: bound of a growing lambda; 0: none",
           at_least(0)},
          {"learner.fpp_penalty",
           FIELD(std::string, learner.fpp.penalty),
           "fpp: lambda/2 times the sum of squares per sample, or lambda times their mean",
           {},
           fpp_penalty_names},
          {"learner.fpp_penalise",
           FIELD(std::string, learner.fpp.penalise),
           "fpp: whose gradient holds the penalty",
           {},
           fpp_penalise_names},
          {"learner.fpp_updates", FIELD(int, learner.fpp.updates), "fpp: M, updates per step", at_least(1)},
          {"learner.fpp_order",
           FIELD(std::string, learner.fpp.order),
           "fpp: M updates one after the other, or M gradients at common values",
           {},
           fpp_order_names},
          {"learner.fpp_state_rate", FIELD(double, learner.fpp.state_rate),
           "fpp: step size of the states; 0: they stay", at_least(0)},
          {"learner.fpp_state_optimizer",
           FIELD(std::string, learner.fpp.state_optimizer),
           "fpp: update rule of the states",
           {},
           fpp_state_optimizer_names},
          {"learner.fpp_state_gradient",
           FIELD(std::string, learner.fpp.state_gradient),
           "fpp: a state descends its own sample's loss, or the mean of the batch",
           {},
           fpp_state_gradient_names},
          {"learner.fpp_batch",
           FIELD(std::string, learner.fpp.batch),
           "fpp: an update takes one end for all streams, or fpp_blocks trajectories",
           {},
           fpp_batch_names},
          {"learner.fpp_blocks", FIELD(int, learner.fpp.blocks), "fpp, blocks: trajectories of an update", at_least(1)},
          {"learner.fpp_collisions",
           FIELD(std::string, learner.fpp.collisions),
           "fpp, blocks: two gradients of one state are added, or the last one stays",
           {},
           fpp_collision_names},
          {"learner.fpp_sample",
           FIELD(std::string, learner.fpp.sample),
           "fpp: where trajectories end",
           {},
           fpp_sample_names},
          {"learner.fpp_ends",
           FIELD(std::string, learner.fpp.ends),
           "fpp: they end at steps with a target, or anywhere",
           {},
           fpp_end_names},
          {"learner.fpp_newest", FIELD(bool, learner.fpp.newest), "fpp: the newest transition may be drawn"},
          {"learner.fpp_feed",
           FIELD(std::string, learner.fpp.feed),
           "fpp: the next step goes on from the buffer's state, or from a state that no update touches",
           {},
           fpp_feed_names},
          {"learner.fpp_write_back",
           FIELD(std::string, learner.fpp.write_back),
           "fpp: states change in each of M updates, or in the last",
           {},
           fpp_write_back_names},
          {"learner.fpp_variant",
           FIELD(std::string, learner.fpp.variant),
           "fpp: plain, Decay-FPP or Random-FPP",
           {},
           fpp_variant_names},
          {"learner.fpp_phase_steps", FIELD(std::int64_t, learner.fpp.phase_steps),
           "fpp, decay and random: steps of a phase, a fifth of the run", at_least(0)},
          {"learner.fpp_decay",
           FIELD(std::string, learner.fpp.decay),
           "fpp, decay: how T falls and M rises",
           {},
           fpp_decay_names},
          {"learner.fpp_chance",
           FIELD(std::string, learner.fpp.chance),
           "fpp, random: how the chance of T steps falls",
           {},
           fpp_chance_names},
          {"learner.fpp_fixed", FIELD(bool, learner.fpp.fixed), "fpp: fill the buffer once, then learn from it alone"},
          {"learner.fpp_start",
           FIELD(std::string, learner.fpp.start),
           "sliding_tbptt: a window starts from the stored state, or from the last state of the window before",
           {},
           fpp_start_names},
      });
}

}  // namespace throughtime
