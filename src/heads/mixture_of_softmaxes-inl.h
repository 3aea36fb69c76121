// Included once per instruction set: no #pragma once.
#if defined(THROUGHTIME_HEADS_MIXTURE_OF_SOFTMAXES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef THROUGHTIME_HEADS_MIXTURE_OF_SOFTMAXES_INL_H
#undef THROUGHTIME_HEADS_MIXTURE_OF_SOFTMAXES_INL_H
#else
#define THROUGHTIME_HEADS_MIXTURE_OF_SOFTMAXES_INL_H
#endif

#include "heads/mixture_layers.h"
#include "heads/softmax-inl.h"

THROUGHTIME_FORMULAS_BEGIN

/// log(exp(a) + exp(b)).
template <class N>
THROUGHTIME_INLINE N log_add(N a, N b) {
  const N top = larger(a, b);
  return top + log_one_plus_exponential(smaller(a, b) - top);
}

/// Yang et al. 2018: p = sum over experts e of pi_e softmax(W h_e + b), with pi = softmax(prior) and h_e = tanh(latent
/// e) of the features. y[0] are the logits of pi [E], y[1] what tanh is taken of [E, width]. Everything is computed in
/// logarithms, and of each expert relative to its largest logit.
struct MixtureOfSoftmaxes {
  static constexpr HeadShape shape = {.target = TargetKind::label_or_distribution};
  static constexpr auto layers = mixture_layers;

  /// What a row needs to know of each of its experts: numbers in double, a few per row.
  struct Experts {
    double* top;    // the largest logit
    double* total;  // sum of exp(logit - top)
    double* share;  // log of pi / total: exp(share + logit - top) is what the expert adds to p
    double* part;   // at the label: what it adds to log p; else its part of the loss
    THROUGHTIME_INLINE Experts(double* scratch, int experts)
        : top(scratch), total(top + experts), share(total + experts), part(share + experts) {}
  };

  /// y[0] becomes log pi and y[1] the tanh.
  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void spread(const LayeredRow<Real>& row) {
    const int experts = row.layers->branches;
    const std::size_t width = elements(row.layers->width);
    log_softmax(experts, row.y[0]);
    for (int e = 0; e < experts; ++e) {
      Real *y = row.y[1] + elements(e) * width, *x = row.x + elements(e) * row.x_stride;
      for (std::size_t at = 0; at < width; at += Access<N>::count()) {
        const N value = tanh(load_part(y + at, width - at, Real(0)));
        store_part(value, y + at, width - at);
        store_part(value, x + at, width - at);
      }
    }
  }

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void collect(const LayeredRow<Real>& row) {
    const std::size_t width = elements(row.layers->width);
    for (int e = 0; e < row.layers->branches; ++e) {
      Real* y = row.y[1] + elements(e) * width;
      const Real* d = row.x + elements(e) * row.x_stride;
      for (std::size_t at = 0; at < width; at += Access<N>::count()) {
        const N value = load_part(y + at, width - at, Real(0));
        store_part(load_part(d + at, width - at, Real(0)) * (N(1.0) - value * value), y + at, width - at);
      }
    }
  }

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE void predict(const LayeredRow<Real>& row, Real* predictions) {
    const Experts experts(row.scratch, row.layers->branches);
    const std::size_t count = elements(row.outputs);
    measure<N>(row, experts);
    take_shares_out_of_logarithms(experts, row.layers->branches);
    for (std::size_t at = 0; at < count; at += Access<N>::count()) {
      N sum(0.0);
      for (int e = 0; e < row.layers->branches; ++e)
        sum += N(experts.share[e]) * exponential(relative<N>(row, experts, e, at));
      store_part(sum, predictions + at, count - at);
    }
  }

  template <class N, class Real = typename Access<N>::Real>
  static THROUGHTIME_INLINE double loss(const LayeredRow<Real>& row, const RowTarget<Real>& target, Real weight,
                                        bool back, std::int32_t* likeliest) {
    return target.label >= 0 ? label_loss<N>(row, target.label, weight, back, likeliest)
                             : distribution_loss<N>(row, target.values, weight, back);
  }

 private:
  template <class Real>
  static THROUGHTIME_INLINE void log_softmax(int count, Real* z) {
    double top = static_cast<double>(z[0]), sum = 0;
    for (int i = 1; i < count; ++i) top = larger(top, static_cast<double>(z[i]));
    for (int i = 0; i < count; ++i) sum += std::exp(static_cast<double>(z[i]) - top);
    for (int i = 0; i < count; ++i) z[i] = static_cast<Real>(static_cast<double>(z[i]) - top - std::log(sum));
  }

  /// log(p + epsilon) of log p.
  static THROUGHTIME_INLINE double counted(const HeadLayers& layers, double log_p) {
    return layers.epsilon > 0 ? log_add(log_p, std::log(layers.epsilon)) : log_p;
  }

  /// Once per expert: a row has thousands of outputs that need them. Shares are no logarithms after it.
  static THROUGHTIME_INLINE void take_shares_out_of_logarithms(const Experts& experts, int count) {
    for (int e = 0; e < count; ++e) experts.share[e] = std::exp(experts.share[e]);
  }

  /// A register of an expert's logits relative to its largest one.
  template <class N, class Real>
  static THROUGHTIME_INLINE N relative(const LayeredRow<Real>& row, const Experts& experts, int e, std::size_t at) {
    const Real* z = row.z + elements(e) * row.z_stride;
    return load_part(z + at, elements(row.outputs) - at, static_cast<Real>(experts.top[e])) - N(experts.top[e]);
  }

  /// Tops, totals and shares of all experts.
  template <class N, class Real>
  static THROUGHTIME_INLINE void measure(const LayeredRow<Real>& row, const Experts& experts) {
    const std::size_t count = elements(row.outputs);
    for (int e = 0; e < row.layers->branches; ++e) {
      const Real* z = row.z + elements(e) * row.z_stride;
      experts.top[e] = static_cast<double>(largest_entry<N>(count, z));
      experts.total[e] = sum_row<N>(count, z, RowTarget<Real>(), static_cast<Real*>(nullptr)).exponentials;
      experts.share[e] = static_cast<double>(row.y[0][e]) - std::log(experts.total[e]);
    }
  }

  /// -log p of one output. With the expert's posterior g_e = pi_e softmax_e / p there, dloss/dz_e = g_e (softmax_e -
  /// one at the label), and dloss/d(logit of pi_e) = pi_e - g_e.
  template <class N, class Real>
  static THROUGHTIME_INLINE double label_loss(const LayeredRow<Real>& row, std::int32_t label, Real weight, bool back,
                                              std::int32_t* likeliest) {
    const int count = row.layers->branches;
    const Experts experts(row.scratch, count);
    double log_p = 0;
    for (int e = 0; e < count; ++e) {
      Real* z = row.z + elements(e) * row.z_stride;
      const RowSums sums = sum_row<N>(elements(row.outputs), z, RowTarget<Real>{label}, z);
      experts.total[e] = sums.exponentials;
      experts.share[e] = static_cast<double>(row.y[0][e]) - std::log(sums.exponentials);
      experts.part[e] = experts.share[e] - sums.distance;
      log_p = e == 0 ? experts.part[e] : log_add(log_p, experts.part[e]);
    }
    const double log_counted = counted(*row.layers, log_p);
    if (likeliest) *likeliest = most_likely<N>(row, experts);
    if (!back) return -log_counted;
    const double w = static_cast<double>(weight) * std::exp(log_p - log_counted);
    for (int e = 0; e < count; ++e) {
      const double posterior = std::exp(experts.part[e] - log_p);
      Real* z = row.z + elements(e) * row.z_stride;
      scale_row(elements(row.outputs), N(w * posterior / experts.total[e]), z);
      z[label] -= static_cast<Real>(w * posterior);
      row.y[0][e] = static_cast<Real>(w * (std::exp(static_cast<double>(row.y[0][e])) - posterior));
    }
    return -log_counted;
  }

  template <class N, class Real>
  static THROUGHTIME_INLINE void scale_row(std::size_t count, N factor, Real* z) {
    for (std::size_t at = 0; at < count; at += Access<N>::count())
      store_part(factor * load_part(z + at, count - at, Real(0)), z + at, count - at);
  }

  /// Of rows that hold exp(logit - top). Takes the shares out of their logarithms.
  template <class N, class Real>
  static THROUGHTIME_INLINE std::int32_t most_likely(const LayeredRow<Real>& row, const Experts& experts) {
    constexpr std::size_t most_lanes = 64;
    Real lanes[most_lanes];
    const std::size_t count = elements(row.outputs);
    std::size_t best = 0;
    Real largest = -1;
    take_shares_out_of_logarithms(experts, row.layers->branches);
    for (std::size_t at = 0; at < count; at += Access<N>::count()) {
      const std::size_t left = count - at;
      N sum(0.0);
      for (int e = 0; e < row.layers->branches; ++e)
        sum += N(experts.share[e]) * load_part(row.z + elements(e) * row.z_stride + at, left, Real(0));
      if (!(largest_of(sum) > largest)) continue;
      store_part(sum, lanes, left);
      for (std::size_t i = 0; i < Access<N>::count() && i < left; ++i)
        if (lanes[i] > largest) largest = lanes[i], best = at + i;
    }
    return static_cast<std::int32_t>(best);
  }

  /// log p of a register of outputs.
  template <class N, class Real>
  static THROUGHTIME_INLINE N log_mixture(const LayeredRow<Real>& row, const Experts& experts, std::size_t at) {
    N sum = N(experts.share[0]) + relative<N>(row, experts, 0, at);
    for (int e = 1; e < row.layers->branches; ++e)
      sum = log_add(sum, N(experts.share[e]) + relative<N>(row, experts, e, at));
    return sum;
  }

  /// -sum q log p. With r = q, times p / (p + epsilon), and the posteriors g_ec of each output c, G_e = sum over c of
  /// r_c g_ec: dloss/dz_ec = G_e softmax_ec - r_c g_ec, and dloss/d(logit of pi_e) = pi_e sum(r) - G_e.
  template <class N, class Real>
  static THROUGHTIME_INLINE double distribution_loss(const LayeredRow<Real>& row, const Real* q, Real weight,
                                                     bool back) {
    const int branches = row.layers->branches;
    const Experts experts(row.scratch, branches);
    const std::size_t count = elements(row.outputs);
    measure<N>(row, experts);
    for (int e = 0; e < branches; ++e) experts.part[e] = 0;
    RunningSum<N> loss, mass;
    for (std::size_t at = 0; at < count; at += Access<N>::count()) {
      const Portion<N> portion = portion_at<N>(row, experts, q, at);
      loss.add(keep_part(-portion.q * portion.log_counted, count - at));
      mass.add(keep_part(portion.r, count - at));
      for (int e = 0; back && e < branches; ++e)
        experts.part[e] +=
            static_cast<double>(sum_of(keep_part(portion.r * posterior<N>(row, experts, e, at, portion), count - at)));
    }
    if (!back) return loss.total();
    const double w = static_cast<double>(weight), whole = mass.total();
    for (std::size_t at = 0; at < count; at += Access<N>::count()) {
      const Portion<N> portion = portion_at<N>(row, experts, q, at);
      for (int e = 0; e < branches; ++e) {
        const N alone = exponential(relative<N>(row, experts, e, at)) * N(w * experts.part[e] / experts.total[e]);
        const N d = alone - N(w) * portion.r * posterior<N>(row, experts, e, at, portion);
        store_part(d, row.z + elements(e) * row.z_stride + at, count - at);
      }
    }
    for (int e = 0; e < branches; ++e) {
      const double pi = std::exp(static_cast<double>(row.y[0][e]));
      row.y[0][e] = static_cast<Real>(w * (pi * whole - experts.part[e]));
    }
    return loss.total();
  }

  /// A register of outputs with a distribution as their target.
  template <class N>
  struct Portion {
    N q, log_p, log_counted, r;
  };
  template <class N, class Real>
  static THROUGHTIME_INLINE Portion<N> portion_at(const LayeredRow<Real>& row, const Experts& experts, const Real* q,
                                                  std::size_t at) {
    Portion<N> portion;
    portion.q = portion.r = load_part(q + at, elements(row.outputs) - at, Real(0));
    portion.log_p = portion.log_counted = log_mixture<N>(row, experts, at);
    if (row.layers->epsilon > 0) {
      portion.log_counted = log_add(portion.log_p, N(std::log(row.layers->epsilon)));
      portion.r = portion.q * exponential(portion.log_p - portion.log_counted);
    }
    return portion;
  }
  template <class N, class Real>
  static THROUGHTIME_INLINE N posterior(const LayeredRow<Real>& row, const Experts& experts, int e, std::size_t at,
                                        const Portion<N>& portion) {
    return exponential(N(experts.share[e]) + relative<N>(row, experts, e, at) - portion.log_p);
  }
};

THROUGHTIME_FORMULAS_END

#endif  // THROUGHTIME_HEADS_MIXTURE_OF_SOFTMAXES_INL_H
