// What each element of the operations of inputs.h is, for host and device: kernels call these per thread, tests as
// loops.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/cuda/kernels/group.h"
#include "engine/cuda/kernels/inputs.h"
#include "engine/cuda/kernels/philox.h"
#include "engine/cuda/numbers.h"

namespace throughtime::cuda {

/// Numbers of a place that its token gives.
THROUGHTIME_INLINE int token_width(const GatherInputs& call) {
  return call.embedding > 0 ? call.embedding : call.vocabulary;
}

THROUGHTIME_INLINE void write_cell(const GatherInputs& call, std::size_t place, int column) {
  const int tokens = token_width(call);
  float value = 0.0f;
  if (column >= tokens) {
    value = call.values[place * call.reals + (column - tokens)];
  } else {
    const std::int32_t token = call.tokens[place];
    if (call.embedding > 0)
      value = token < 0 ? 0.0f : call.table[static_cast<std::size_t>(token) * call.embedding + column];
    else
      value = token == column ? 1.0f : 0.0f;
  }
  call.x[place * (tokens + call.reals) + column] = value;
}

/// ApplyMask or DropWeights with what follows from its share, the same for all of its elements.
template <class Call>
struct MaskPlan {
  Call call;
  std::uint64_t threshold = 0;  // a word below it drops its element
  float survivor = 1;

  THROUGHTIME_INLINE float factor(std::uint32_t word) const { return word < threshold ? 0.0f : survivor; }
};

template <class Call>
MaskPlan<Call> make_mask_plan(const Call& call) {
  return {call, static_cast<std::uint64_t>(std::llround(call.share * 4294967296.0)),
          static_cast<float>(1.0 / (1.0 - call.share))};
}

THROUGHTIME_INLINE std::uint64_t mask_element(int layer, std::size_t quad) {
  return static_cast<std::uint64_t>(layer) << 32 | quad;
}

/// Elements [4 quad, 4 quad + 4) of an entry share the words of one counter.
THROUGHTIME_INLINE void write_cell(const MaskPlan<ApplyMask>& plan, std::size_t entry, int quad) {
  const ApplyMask& call = plan.call;
  const int place = call.places ? call.places[entry] : static_cast<int>(entry);
  const std::uint64_t step =
      call.per_sequence ? 0 : static_cast<std::uint64_t>(call.numbers->step + call.first_step + place / call.batch);
  const std::uint32_t row = static_cast<std::uint32_t>(call.numbers->row + place % call.batch);
  const RandomWords words = random_words(call.numbers->key, call.purpose, step, row,
                                         mask_element(call.layer, static_cast<std::size_t>(quad)));
  const int first = 4 * quad;
  float* values = call.values + entry * (call.stride ? call.stride : call.width) + first;
  float x[4];
  for (int i = 0; i < 4; ++i) x[i] = first + i < call.width ? values[i] : 0.0f;
  for (int i = 0; i < 4; ++i)
    if (first + i < call.width) values[i] = x[i] * plan.factor(words.word[i]);
}

/// Elements [4 quad, 4 quad + 4) of a block. Each is read before it is written: `base` may be `to`.
THROUGHTIME_INLINE void write_element(const MaskPlan<DropWeights>& plan, std::size_t quad) {
  const DropWeights& call = plan.call;
  const RandomWords words = random_words(call.numbers->key, call.purpose, 0, 0, mask_element(call.layer, quad));
  for (std::size_t i = 0; i < 4 && 4 * quad + i < call.count; ++i) {
    const std::size_t at = 4 * quad + i;
    call.to[at] = (call.base ? call.base[at] : 0.0f) + plan.factor(words.word[i]) * call.from[at];
  }
}

/// What the row of a token is multiplied by.
template <class Call>
THROUGHTIME_INLINE float token_factor(const MaskPlan<Call>& plan, std::int32_t token) {
  const Call& call = plan.call;
  const auto words = random_words(call.numbers->key, call.purpose, 0, 0,
                                  mask_element(call.layer, static_cast<std::size_t>(token) / 4));
  std::uint32_t word = words.word[0];
  for (int i = 1; i < 4; ++i) word = token % 4 == i ? words.word[i] : word;  // no place in memory is asked for
  return plan.factor(word);
}

THROUGHTIME_INLINE void write_cell(const MaskPlan<MaskTokens>& plan, std::size_t entry, int quad) {
  const MaskTokens& call = plan.call;
  const std::int32_t token = call.tokens[entry];
  if (token < 0) return;
  const float factor = token_factor(plan, token);
  float* values = call.values + entry * call.stride;
  for (int i = 4 * quad; i < 4 * quad + 4 && i < call.width; ++i) values[i] *= factor;
}

THROUGHTIME_INLINE void write_cell(const ZeroResets& call, std::size_t place, int unit) {
  const std::size_t at = place * call.hidden + unit;
  constexpr std::uint8_t reset = 1;  // StepFlag::reset
  call.to[at] = call.flags[place] == reset ? 0.0f : call.from[at];
}

/// Of tensor row / B in row row % B: the rows of all planes are counted through.
THROUGHTIME_INLINE void write_cell(const MoveStates& call, std::size_t row, int unit) {
  const std::size_t tensor = row / call.batch, b = row % call.batch;
  const std::size_t in_plane = tensor * call.plane + b * call.hidden + unit;
  const std::size_t in_row = b * call.state_size + tensor * call.hidden + unit;
  if (call.to_planes)
    call.to[in_plane] = call.from ? call.from[in_row] : 0.0f;
  else
    call.to[in_row] = call.from[in_plane];
}

THROUGHTIME_INLINE void write_cell(const SpreadBias& call, std::size_t row, int column) {
  float value = call.bias ? call.bias[column] : 0.0f;
  if (call.second) value += call.second[column];
  call.to[row * (call.stride ? call.stride : call.width) + column] = value;
}

/// Eight parts are read before the first is added: their order stays.
THROUGHTIME_INLINE void write_element(const SumParts& call, std::size_t i) {
  constexpr int batch = 8;
  float sum = call.add ? call.to[i] : 0.0f;
  for (int first = 0; first < call.parts; first += batch) {
    float part[batch];
    for (int k = 0; k < batch; ++k)
      part[k] = first + k < call.parts ? call.from[static_cast<std::size_t>(first + k) * call.count + i] : 0.0f;
    for (int k = 0; k < batch; ++k)
      if (first + k < call.parts) sum += part[k];
  }
  call.to[i] = sum;
}

/// The norm of one row of RowNorms; a group of lanes (group.h) shares it.
template <class Group>
THROUGHTIME_INLINE void work_on_row(const Group& group, const RowNorms& call, std::size_t row) {
  const float* numbers = call.rows + row * call.width;
  double squares = 0;
  walk(group, call.width, numbers, 0.0f, [&](int, const float* x) {
    for (int k = 0; k < Group::batch; ++k) squares += static_cast<double>(x[k]) * x[k];
  });
  squares = group.sum(squares);
  if (group.lane == 0) call.norms[row] = static_cast<float>(std::sqrt(squares));
}

}  // namespace throughtime::cuda
