#include "learners/decay.h"
#include "train/option_tables.h"

namespace throughtime {
namespace {

Names learner_names() {
  Names names;
  for (const LearnerInfo& learner : all_learners()) names.push_back(learner.name);
  return names;
}
Names memory_names() { return {"full", "recompute"}; }
Names preset_names() { return {"custom", "paper", "ref", "plain", "original"}; }
Names rate_scaling_names() { return {"auto", "none", "sqrt", "linear"}; }
Names form_names() { return {"lambda", "gradient", "ogd"}; }
Names remainder_names() { return {"extra", "absorb"}; }
Names inner_state_names() { return {"restart", "continue"}; }
Names carry_names() { return {"windows", "rerun"}; }
Names mask_names() { return {"window", "sequence"}; }
Names intermediate_names() { return {"window_end", "every_step", "none"}; }

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
           "tbptt: steps/losses/stride from truncation K: paper 2K+1/K/K, ref 2K-1/K/K, plain K/K/K, original K/1/1",
           {},
           preset_names},
          {"learner.truncation", FIELD(int, learner.truncation), "tbptt presets: K; adaptive_tbptt: K_0, before the first estimate", at_least(0)},
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
          {"learner.delta", FIELD(double, learner.estimate.delta),
           "adaptive_tbptt: relative bias of the gradient that is tolerated", {.low = 0, .high = 1, .open_low = true, .open_high = true}},
          {"learner.shortest", FIELD(int, learner.estimate.shortest), "adaptive_tbptt: K_min", at_least(1)},
          {"learner.longest", FIELD(int, learner.estimate.longest), "adaptive_tbptt: K_max", at_least(1)},
          {"learner.lags", FIELD(int, learner.estimate.lags), "estimates: R, the largest lag", at_least(2)},
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
          {"learner.windows", FIELD(int, learner.windows), "fptt: K, windows of a sequence", at_least(0)},
          {"learner.window_length", FIELD(int, learner.window_length), "fptt: steps of a window, instead of K",
           at_least(0)},
          {"learner.remainder", FIELD(std::string, learner.remainder),
           "fptt: steps that K does not divide are one more window, or belong to the last", {}, remainder_names},
          {"learner.form", FIELD(std::string, learner.form),
           "fptt: running estimate lambda, Algorithm 2 to the letter, or no regulariser", {}, form_names},
          {"learner.alpha", FIELD(double, learner.alpha), "fptt: strength of the regulariser", above(0)},
          {"learner.alpha_growth", FIELD(double, learner.alpha_growth), "fptt: factor of alpha after each epoch", above(0)},
          {"learner.alpha_most", FIELD(double, learner.alpha_most), "fptt: bound of a growing alpha; 0: none", at_least(0)},
          {"learner.averaging", FIELD(double, learner.averaging), "fptt: b, weight of W in its average", between(0, 1)},
          {"learner.penalty", FIELD(double, learner.penalty), "fptt, lambda: m, multiple of alpha in the gradient",
           at_least(0)},
          {"learner.kappa", FIELD(double, learner.kappa), "fptt, gradient: weight of the last gradient", at_least(0)},
          {"learner.inner_iterations", FIELD(int, learner.inner_iterations), "fptt: steps of W on each window",
           at_least(1)},
          {"learner.inner_state", FIELD(std::string, learner.inner_state),
           "fptt: inner iterations restart at the window's first state, or go on from its last", {}, inner_state_names},
          {"learner.take_average", FIELD(bool, learner.take_average), "fptt: W <- its average at the end of an epoch"},
          {"learner.reset_multiplier", FIELD(bool, learner.reset_multiplier), "fptt: lambda <- 0 at the end of an epoch"},
          {"learner.carry", FIELD(std::string, learner.carry),
           "fptt: a stream goes on from the state of the windows, or of a rerun with the new weights", {}, carry_names},
          {"learner.masks", FIELD(std::string, learner.masks), "fptt: locked dropout masks are drawn per window or sequence",
           {}, mask_names},
          {"learner.intermediate", FIELD(std::string, learner.intermediate),
           "fptt, one target at the end: losses at the ends of windows, at every step, or none", {}, intermediate_names},
      });
}

}  // namespace throughtime
