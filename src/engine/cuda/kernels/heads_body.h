// The losses of one row of outputs, for host and device: a group of lanes (group.h) works on it together.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#ifndef THROUGHTIME_NUMBERS
#define THROUGHTIME_NUMBERS "engine/cuda/numbers.h"
#endif
#include "engine/cuda/kernels/group.h"
#include "engine/cuda/kernels/heads.h"
#include "engine/cuda/numbers.h"

namespace throughtime::cuda {

/// The formulas' rows on registers (throughtime/simd) name it; a device has rows of its own.
template <class N>
struct Access;

}  // namespace throughtime::cuda

#include "heads/bernoulli-inl.h"
#include "heads/gaussian-inl.h"
#include "heads/interval_loss-inl.h"
#include "heads/quantile-inl.h"
#include "heads/regression-inl.h"

namespace throughtime::cuda {

THROUGHTIME_INLINE void write_cell(const MovePlaces& call, std::size_t entry, int column) {
  const std::size_t here = entry * call.width + column;
  const std::size_t there = static_cast<std::size_t>(call.places[entry]) * call.width + column;
  if (call.back)
    call.to[there] = call.from[here];
  else
    call.to[here] = call.from[there];
}

/// One row of a HeadLoss.
struct HeadRow {
  float* z;
  std::int32_t label = -1;
  const float* values = nullptr;
  float weight = 1;

  THROUGHTIME_INLINE HeadRow(const HeadLoss& call, std::size_t row) : z(call.z + row * call.outputs) {
    if (call.labels) label = call.labels[row];
    const std::size_t entry = call.value_entry ? static_cast<std::size_t>(call.value_entry[row]) : row;
    if (call.values) values = call.values + entry * call.target_stride;
    if (call.weights) weight = call.weights[row];
  }
};

/// What lane 0 writes of a row.
THROUGHTIME_INLINE void write_row(const HeadLoss& call, std::size_t row, double loss, bool correct, float weight) {
  if (call.losses) call.losses[row] = static_cast<float>(loss);
  if (call.correct) call.correct[row] = correct ? weight : 0.0f;
}

/// exp(x) for x <= 0, to |x| + 1 units in the last place: a probability's error stays below a unit of the largest
/// one's.
THROUGHTIME_INLINE float share_of_largest(float x) { return power_of_two(x * log2_of_e); }

/// What all lanes know of a row after it was read once.
struct RowSums {
  float largest = 0;
  double exponentials = 0;  // sum of exp(z - largest): at least 1
  double mass = 1;          // sum of q
  double product = 0;       // sum of q z
};

/// Sums over a row, and over its distribution q where there is one. A lane's sum of exponentials is relative to the
/// largest it has met, and shrinks when a larger one comes. The row goes to `stage` where there is one, in which each
/// lane finds again what it put there.
template <bool soft, class Group>
THROUGHTIME_INLINE RowSums sum_row(const Group& group, int count, const float* z, const float* q, float* stage) {
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  float largest = std::numeric_limits<float>::lowest();  // finite: an output may be -infinity
  double exponentials = 0, mass = 0, product = 0;
  walk(group, count, z, nothing, [&](int first, const float* x) {
    float top = largest;
    for (int k = 0; k < Group::batch; ++k) top = x[k] > top ? x[k] : top;
    if (top > largest) {
      exponentials *= share_of_largest(largest - top);
      largest = top;
    }
    float run = 0.0f;
    for (int k = 0; k < Group::batch; ++k) run += share_of_largest(x[k] - largest);
    exponentials += run;
    for (int k = 0; k < Group::batch; ++k) {
      const int i = first + k * group.lanes;
      if (i >= count) continue;
      if (stage) stage[i] = x[k];
      if constexpr (soft) mass += q[i], product += static_cast<double>(q[i]) * x[k];
    }
  });
  RowSums sums;
  sums.largest = group.largest(largest);
  sums.exponentials = group.sum(exponentials * share_of_largest(largest - sums.largest));
  if constexpr (soft) sums.mass = group.sum(mass), sums.product = group.sum(product);
  return sums;
}

/// Whether the label is the first of the largest outputs.
template <class Group>
THROUGHTIME_INLINE bool is_first_largest(const Group& group, const float* z, int label, float at_label, float largest) {
  if (label < 0 || at_label != largest) return false;
  bool earlier = false;
  walk(group, label, z, std::numeric_limits<float>::quiet_NaN(), [&](int, const float* x) {
    for (int k = 0; k < Group::batch; ++k) earlier |= x[k] == largest;
  });
  return !group.any(earlier);
}

/// What a row's cross-entropy says of it.
struct RowScore {
  double loss = 0;
  float largest = 0;
  bool correct = false;  // computed where asked for
};

/// Cross-entropy of the first `count` outputs with a label or, where it is negative and there may be one (`soft`), with
/// a distribution. `row.z` becomes weight * dloss/dz where asked for. All lanes know the score.
template <bool soft, class Group>
THROUGHTIME_INLINE RowScore cross_entropy(const Group& group, const HeadLoss& call, const HeadRow& row, int count,
                                          float* stage) {
  const int label = row.label;
  const float at_label = label >= 0 ? row.z[label] : 0.0f;
  const RowSums sums = soft && label < 0 ? sum_row<soft>(group, count, row.z, row.values, stage)
                                         : sum_row<false>(group, count, row.z, nullptr, stage);
  const float* z = stage ? stage : row.z;
  RowScore score{0, sums.largest, false};
  if (call.correct) score.correct = is_first_largest(group, z, label, at_label, sums.largest);
  group.meet();
  if (call.d_z) {
    const float weight = row.weight, mass = static_cast<float>(sums.mass);
    const float scale = weight * mass / static_cast<float>(sums.exponentials);
    const float* q = soft && label < 0 ? row.values : nullptr;
    walk(group, count, z, 0.0f, [&](int first, const float* x) {
      float own[Group::batch];
      for (int k = 0; k < Group::batch; ++k) {
        const int i = first + k * group.lanes;
        own[k] = soft && q && i < count ? weight * q[i] : 0.0f;
      }
      for (int k = 0; k < Group::batch; ++k) {
        const int i = first + k * group.lanes;
        if (i < count) row.z[i] = scale * share_of_largest(x[k] - sums.largest) - own[k];
      }
    });
    if (label >= 0 && (label & (group.lanes - 1)) == group.lane) row.z[label] -= weight;
  }
  // Right to the last bits near 1, and much shorter than a logarithm in double.
  const double logarithm = std::log1p(static_cast<float>(sums.exponentials - 1));
  const double largest = sums.largest;
  score.loss = label >= 0 ? logarithm + (largest - at_label) : sums.mass * (logarithm + largest) - sums.product;
  return score;
}

template <class Group>
THROUGHTIME_INLINE void predict_probabilities(const Group& group, float* z, int count, float* stage) {
  const RowSums sums = sum_row<false>(group, count, z, nullptr, stage);
  const float scale = 1.0f / static_cast<float>(sums.exponentials);
  walk(group, count, stage ? stage : z, 0.0f, [&](int first, const float* x) {
    for (int k = 0; k < Group::batch; ++k) {
      const int i = first + k * group.lanes;
      if (i < count) z[i] = scale * share_of_largest(x[k] - sums.largest);
    }
  });
}

// A head of a device: `loss` and `predict` of one row, by a group. One that reads a row several times `stages` it.

/// `soft`: there are distributions, which a row without a label takes.
template <bool soft>
struct DeviceSoftmax {
  static constexpr bool stages = true;

  template <class Group>
  static THROUGHTIME_INLINE void loss(const Group& group, const HeadLoss& call, std::size_t row, float* stage) {
    const HeadRow here(call, row);
    const RowScore score = cross_entropy<soft>(group, call, here, call.outputs, stage);
    if (group.lane == 0) write_row(call, row, score.loss, score.correct, here.weight);
  }
  template <class Group>
  static THROUGHTIME_INLINE void predict(const Group& group, const HeadPredict& call, std::size_t row, float* stage) {
    predict_probabilities(group, call.z + row * call.outputs, call.outputs, stage);
  }
};

/// z = [logits of the marks, a, w], w a trained number: three numbers in double, by one lane.
struct DevicePointProcess {
  static constexpr bool stages = true;

  template <class Group>
  static THROUGHTIME_INLINE void loss(const Group& group, const HeadLoss& call, std::size_t row, float* stage) {
    const HeadRow here(call, row);
    const int marks = call.outputs - 2;
    const RowScore mark = cross_entropy<false>(group, call, here, marks, stage);
    if (group.lane != 0) return;
    float* time = here.z + marks;
    const float a = time[0], w = call.constants > 0 ? call.constant_values[0] : time[1];
    const IntervalLoss interval = IntervalFormula::loss(a, w, here.values[0]);
    const bool correct = mark.correct && !(a > mark.largest) && !(w > mark.largest);
    write_row(call, row, mark.loss + interval.loss, correct, here.weight);
    time[0] = call.d_z ? static_cast<float>(here.weight * interval.d_a) : a;
    time[1] = call.d_z ? static_cast<float>(here.weight * interval.d_w) : w;
  }
  template <class Group>
  static THROUGHTIME_INLINE void predict(const Group& group, const HeadPredict& call, std::size_t row, float* stage) {
    float* z = call.z + row * call.outputs;
    predict_probabilities(group, z, call.outputs - 2, stage);
    if (group.lane == 0 && call.constants > 0) z[call.outputs - 1] = call.constant_values[0];
  }
};

/// A sum over outputs, each with a target of its own.
template <class Loss>
struct DeviceSeparable {
  static constexpr bool stages = false;

  template <class Group>
  static THROUGHTIME_INLINE void loss(const Group& group, const HeadLoss& call, std::size_t row, float*) {
    const HeadRow here(call, row);
    const double share = Loss::share(call.outputs);
    const float scale = static_cast<float>(here.weight * share);
    double sum = 0;
    walk(group, call.outputs, here.z, 0.0f, [&](int first, const float* x) {
      float y[Group::batch], run = 0.0f;
      for (int k = 0; k < Group::batch; ++k) {
        const int i = first + k * group.lanes;
        y[k] = i < call.outputs ? here.values[i] : 0.0f;
      }
      for (int k = 0; k < Group::batch; ++k) {
        const int i = first + k * group.lanes;
        if (i >= call.outputs) continue;
        run += Loss::loss(x[k], y[k]);
        if (call.d_z) here.z[i] = scale * Loss::slope(x[k], y[k]);
      }
      sum += run;
    });
    sum = group.sum(sum);
    if (group.lane == 0) write_row(call, row, share * sum, false, 0.0f);
  }
  template <class Group>
  static THROUGHTIME_INLINE void predict(const Group& group, const HeadPredict& call, std::size_t row, float*) {
    float* z = call.z + row * call.outputs;
    walk(group, call.outputs, z, 0.0f, [&](int first, const float* x) {
      for (int k = 0; k < Group::batch; ++k) {
        const int i = first + k * group.lanes;
        if (i < call.outputs) z[i] = Loss::mean(x[k]);
      }
    });
  }
};

/// A mean over targets or quantiles of a formula in double. What a lane reads of z no other lane writes.
struct DeviceGaussian {
  static constexpr bool stages = false;

  template <class Group>
  static THROUGHTIME_INLINE void loss(const Group& group, const HeadLoss& call, std::size_t row, float*) {
    const HeadRow here(call, row);
    const int targets = call.outputs / 2;
    const double share = 1.0 / targets;
    double sum = 0;
    for (int i = group.lane; i < targets; i += group.lanes) {
      const auto one = GaussianFormula::of(here.z[i], here.z[targets + i], here.values[i]);
      sum += one.loss;
      if (!call.d_z) continue;
      here.z[i] = static_cast<float>(one.d_mean * here.weight * share);
      here.z[targets + i] = static_cast<float>(one.d_raw * here.weight * share);
    }
    sum = group.sum(sum);
    if (group.lane == 0) write_row(call, row, share * sum, false, 0.0f);
  }
  template <class Group>
  static THROUGHTIME_INLINE void predict(const Group& group, const HeadPredict& call, std::size_t row, float*) {
    const int targets = call.outputs / 2;
    float* raw = call.z + row * call.outputs + targets;
    for (int i = group.lane; i < targets; i += group.lanes)
      raw[i] = static_cast<float>(GaussianFormula::deviation(raw[i]));
  }
};

struct DeviceQuantile {
  static constexpr bool stages = false;

  template <class Group>
  static THROUGHTIME_INLINE void loss(const Group& group, const HeadLoss& call, std::size_t row, float*) {
    const HeadRow here(call, row);
    const int targets = call.outputs / call.levels;
    const double share = 1.0 / call.outputs;
    double sum = 0;
    for (int i = group.lane; i < call.outputs; i += group.lanes) {
      const auto one = PinballFormula::of(here.z[i], here.values[i % targets], call.level_values[i / targets]);
      sum += one.loss;
      if (call.d_z) here.z[i] = static_cast<float>(one.d_z * here.weight * share);
    }
    sum = group.sum(sum);
    if (group.lane == 0) write_row(call, row, share * sum, false, 0.0f);
  }
  /// They are quantiles as they are.
  template <class Group>
  static THROUGHTIME_INLINE void predict(const Group&, const HeadPredict&, std::size_t, float*) {}
};

}  // namespace throughtime::cuda
