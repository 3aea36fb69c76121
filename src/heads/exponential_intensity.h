#pragma once

namespace throughtime {

// The time until the next event of a process whose intensity t after the last one is lambda(t) = exp(a + w t), with
// the density f(t) = lambda(t) exp(-Lambda(t)) and Lambda(t) = exp(a) (exp(w t) - 1) / w, at w = 0 its limit exp(a) t.
// With w < 0 the density is defective: with probability exp(exp(a) / w) there is no next event.

/// -log f(interval) and its derivatives.
struct IntervalLoss {
  double loss = 0;
  double d_a = 0;
  double d_w = 0;
};
IntervalLoss interval_loss(double a, double w, double interval);

/// The mean of the next interval given that there is a next event: finite for every w.
double expected_interval(double a, double w);

/// What the reference code of adaptive TBPTT calls the mean: the trapezoid rule for t f(t) with 1000 points on
/// [0, longest], not normalised.
double truncated_interval(double a, double w, double longest);

}  // namespace throughtime
