// What each row or cell of the operations of mixture.h is, for host and device.
#pragma once

#include "engine/cuda/kernels/heads_body.h"
#include "engine/cuda/kernels/mixture.h"

namespace throughtime::cuda {

/// What the pieces of a loss hand on of each expert of a row, in double: they are few.
struct ExpertNumbers {
  double top;    // the largest logit
  double total;  // sum of exp(logit - top); on the way back what multiplies exp(logit - top) in dloss/dz
  double share;  // log of pi / total: exp(share + logit - top) is what the expert adds to p
  double part;   // exp(share); on the way back what is subtracted at the label
  double kept;   // log pi, which y[0] is no more on the way back
};
static_assert(sizeof(ExpertNumbers) == branch_numbers * sizeof(double));

THROUGHTIME_INLINE ExpertNumbers* experts_of(const HeadBranches& call, std::size_t row) {
  return reinterpret_cast<ExpertNumbers*>(call.numbers) + row * call.branches;
}
THROUGHTIME_INLINE const float* logits_of(const HeadBranches& call, std::size_t row, int expert) {
  return call.z + (row * call.branches + expert) * call.outputs;
}

/// A row and one of its experts, counted through. A short division: it is made for every output.
struct ExpertPlace {
  std::size_t row;
  int expert;
};
THROUGHTIME_INLINE ExpertPlace expert_at(const HeadBranches& call, std::size_t at) {
  const auto number = static_cast<std::uint32_t>(at), branches = static_cast<std::uint32_t>(call.branches);
  return {number / branches, static_cast<int>(number % branches)};
}

// ---- y to x, and back

template <class Group>
THROUGHTIME_INLINE void work_on_row(const Group& group, const WeighExperts& call, std::size_t row) {
  const int experts = call.rows.branches;
  float* y = call.rows.y[0] + row * experts;
  float largest = std::numeric_limits<float>::lowest();
  for (int e = group.lane; e < experts; e += group.lanes) largest = larger(y[e], largest);
  const double top = group.largest(largest);
  double sum = 0;
  for (int e = group.lane; e < experts; e += group.lanes) sum += std::exp(y[e] - top);
  const double logarithm = std::log(group.sum(sum));
  for (int e = group.lane; e < experts; e += group.lanes) y[e] = static_cast<float>(y[e] - top - logarithm);
}

THROUGHTIME_INLINE void write_cell(const SpreadExperts& call, std::size_t row, int column) {
  const std::size_t at = row * call.rows.branches * call.rows.width + column;
  call.rows.x[at] = call.rows.y[1][at] = tanh(call.rows.y[1][at]);
}

THROUGHTIME_INLINE void write_cell(const CollectExperts& call, std::size_t row, int column) {
  const std::size_t at = row * call.rows.branches * call.rows.width + column;
  const float value = call.rows.y[1][at];
  call.rows.y[1][at] = call.rows.x[at] * (1.0f - value * value);
}

// ---- a loss

template <class Group>
THROUGHTIME_INLINE void work_on_row(const Group& group, const MeasureExperts& call, std::size_t row) {
  const int outputs = call.rows.outputs;
  const RowSums sums = sum_row<false>(group, outputs, call.rows.z + row * outputs, nullptr, nullptr);
  if (group.lane != 0) return;
  const double log_pi = call.rows.y[0][row], share = log_pi - std::log(sums.exponentials);
  experts_of(call.rows, 0)[row] = {sums.largest, sums.exponentials, share, std::exp(share), log_pi};
}

/// A logit relative to the largest of its expert.
THROUGHTIME_INLINE float relative_logit(const HeadBranches& call, std::size_t row, int expert, int output) {
  return logits_of(call, row, expert)[output] - static_cast<float>(experts_of(call, row)[expert].top);
}

/// p of one output.
THROUGHTIME_INLINE float mixed_probability(const HeadBranches& call, std::size_t row, int output) {
  const ExpertNumbers* experts = experts_of(call, row);
  float sum = 0.0f;
  for (int e = 0; e < call.branches; ++e)
    sum += static_cast<float>(experts[e].part) * share_of_largest(relative_logit(call, row, e, output));
  return sum;
}

/// log p of one output: a sum of exponentials relative to the largest, which shrinks when a larger one comes.
THROUGHTIME_INLINE float mixed_logarithm(const HeadBranches& call, std::size_t row, int output) {
  const ExpertNumbers* experts = experts_of(call, row);
  float largest = std::numeric_limits<float>::lowest(), sum = 0.0f;
  for (int e = 0; e < call.branches; ++e) {
    const float term = static_cast<float>(experts[e].share) + relative_logit(call, row, e, output);
    if (term > largest) {
      sum = sum * exponential(largest - term) + 1.0f;
      largest = term;
    } else {
      sum += exponential(term - largest);
    }
  }
  return largest + std::log(sum);
}

THROUGHTIME_INLINE int label_of(const BranchesLoss& call, std::size_t row) {
  return call.loss.labels ? call.loss.labels[row] : -1;
}

THROUGHTIME_INLINE void write_cell(const MixExperts& mix, std::size_t row, int output) {
  const HeadBranches& rows = mix.call.rows;
  float& to = rows.mixed[row * rows.outputs + output];
  if (label_of(mix.call, row) < 0)
    to = mixed_logarithm(rows, row, output);
  else if (mix.call.loss.correct)
    to = mixed_probability(rows, row, output);
}

THROUGHTIME_INLINE void write_cell(const MixPredictions& mix, std::size_t row, int output) {
  const auto place = static_cast<std::size_t>(mix.call.places[row]);
  mix.call.to[place * mix.call.rows.outputs + output] = mixed_probability(mix.call.rows, row, output);
}

/// log(p + epsilon) of log p.
THROUGHTIME_INLINE double counted_logarithm(double log_p, double epsilon) {
  if (!(epsilon > 0)) return log_p;
  const double other = std::log(epsilon), top = log_p > other ? log_p : other;
  return top + std::log1p(std::exp((log_p > other ? other : log_p) - top));
}

/// An output with a share q of a distribution: what it adds to the loss, and r = q p / (p + epsilon).
struct OutputShare {
  double loss = 0;
  float r = 0;
};
THROUGHTIME_INLINE OutputShare share_of_output(const HeadBranches& rows, float q, float log_p) {
  if (q == 0.0f) return {};
  const double counted = counted_logarithm(log_p, rows.epsilon);
  const float r = rows.epsilon > 0 ? static_cast<float>(q * std::exp(log_p - counted)) : q;
  return {-static_cast<double>(q) * counted, r};
}

template <class Group>
THROUGHTIME_INLINE void settle_label(const Group& group, const BranchesLoss& call, const HeadRow& here,
                                     std::size_t row) {
  const HeadBranches& rows = call.rows;
  ExpertNumbers* experts = experts_of(rows, row);
  float largest = std::numeric_limits<float>::lowest();
  for (int e = group.lane; e < rows.branches; e += group.lanes)
    largest = larger(static_cast<float>(experts[e].share + relative_logit(rows, row, e, here.label)), largest);
  const double top = group.largest(largest);
  double sum = 0;
  for (int e = group.lane; e < rows.branches; e += group.lanes)
    sum += std::exp(experts[e].share + relative_logit(rows, row, e, here.label) - top);
  const double log_p = top + std::log(group.sum(sum)), counted = counted_logarithm(log_p, rows.epsilon);
  bool correct = false;
  if (call.loss.correct) {
    const float* mixed = rows.mixed + row * rows.outputs;
    float best = -1.0f;
    for (int i = group.lane; i < rows.outputs; i += group.lanes) best = larger(mixed[i], best);
    correct = is_first_largest(group, mixed, here.label, mixed[here.label], group.largest(best));
  }
  if (group.lane == 0) write_row(call.loss, row, -counted, correct, here.weight);
  if (!call.loss.d_z) return;
  const double weight = here.weight * std::exp(log_p - counted);
  for (int e = group.lane; e < rows.branches; e += group.lanes) {
    const double posterior = std::exp(experts[e].share + relative_logit(rows, row, e, here.label) - log_p);
    experts[e].total = weight * posterior / experts[e].total;
    experts[e].part = weight * posterior;
    rows.y[0][row * rows.branches + e] = static_cast<float>(weight * (std::exp(experts[e].kept) - posterior));
  }
}
template <class Group>
THROUGHTIME_INLINE void work_on_row(const Group& group, const SettleRow& settle, std::size_t row) {
  const HeadBranches& rows = settle.call.rows;
  const HeadRow here(settle.call.loss, row);
  if (here.label >= 0) return settle_label(group, settle.call, here, row);
  double loss = 0;
  for (int i = group.lane; i < rows.outputs; i += group.lanes)
    loss += share_of_output(rows, here.values[i], rows.mixed[row * rows.outputs + i]).loss;
  loss = group.sum(loss);
  if (group.lane == 0) write_row(settle.call.loss, row, loss, false, here.weight);
}

/// What an expert of a row adds to p at an output, as a share of p.
THROUGHTIME_INLINE float posterior_of(const HeadBranches& rows, std::size_t row, int expert, int output) {
  const float share = static_cast<float>(experts_of(rows, row)[expert].share);
  return exponential(share + relative_logit(rows, row, expert, output) - rows.mixed[row * rows.outputs + output]);
}

template <class Group>
THROUGHTIME_INLINE void work_on_row(const Group& group, const SettleExpert& settle, std::size_t at) {
  const HeadBranches& rows = settle.call.rows;
  const auto [row, expert] = expert_at(rows, at);
  const HeadRow here(settle.call.loss, row);
  if (here.label >= 0) return;
  double sum = 0, whole = 0;
  for (int i = group.lane; i < rows.outputs; i += group.lanes) {
    const float r = share_of_output(rows, here.values[i], rows.mixed[row * rows.outputs + i]).r;
    if (r == 0.0f) continue;
    whole += r;
    sum += r * posterior_of(rows, row, expert, i);
  }
  sum = group.sum(sum);
  whole = group.sum(whole);
  if (group.lane != 0) return;
  ExpertNumbers& own = experts_of(rows, row)[expert];
  own.total = here.weight * sum / own.total;
  rows.y[0][at] = static_cast<float>(here.weight * (std::exp(own.kept) * whole - sum));
}

THROUGHTIME_INLINE void write_cell(const PullBackExperts& back, std::size_t at, int output) {
  const HeadBranches& rows = back.call.rows;
  const auto [row, expert] = expert_at(rows, at);
  const HeadRow here(back.call.loss, row);
  const ExpertNumbers& own = experts_of(rows, row)[expert];
  const float relative = relative_logit(rows, row, expert, output);
  float d = static_cast<float>(own.total) * share_of_largest(relative);
  if (here.label >= 0) {
    if (output == here.label) d -= static_cast<float>(own.part);
  } else {
    const float r = share_of_output(rows, here.values[output], rows.mixed[row * rows.outputs + output]).r;
    if (r != 0.0f) d -= here.weight * r * posterior_of(rows, row, expert, output);
  }
  rows.z[at * rows.outputs + output] = d;
}

}  // namespace throughtime::cuda
