// What each row or cell of the operations of penalties.h is, for host and device.
#pragma once

#include <cstddef>

#include "engine/cuda/kernels/group.h"
#include "engine/cuda/kernels/penalties.h"
#include "engine/cuda/numbers.h"

namespace throughtime::cuda {

template <class Group>
THROUGHTIME_INLINE void work_on_row(const Group& group, const RowSquares& call, std::size_t row) {
  const float factor = call.factors ? call.factors[row] : 1.0f;
  const float *a = call.a + row * call.width, *b = call.b ? call.b + row * call.width : nullptr;
  double squares = 0;
  if (factor != 0.0f)  // the same for all lanes
    for (int i = group.lane; i < call.width; i += group.lanes) {
      const double difference = b ? static_cast<double>(a[i]) - b[i] : a[i];
      squares += difference * difference;
    }
  squares = group.sum(squares);
  if (group.lane == 0) call.sums[row] = static_cast<float>(call.scale * factor * squares);
}

THROUGHTIME_INLINE void write_cell(const AddWeighedRows& call, std::size_t row, int column) {
  const std::size_t at = row * call.width + column;
  call.to[at] += static_cast<float>(call.scale) * call.factors[row] * call.from[at];
}

/// Rows are places: step * B + row of the batch.
THROUGHTIME_INLINE void write_cell(const PullDifferences& call, std::size_t place, int unit) {
  const std::size_t step = static_cast<std::size_t>(call.batch) * call.hidden;  // numbers from one to the next
  const std::size_t at = place * call.hidden + unit;
  float sum = 0.0f;
  if (call.own != 0 && call.factors[place] != 0.0f)
    sum += 2.0f * call.factors[place] * (call.states[at + step] - call.states[at]);
  if (place < static_cast<std::size_t>(call.behind) * call.batch) {
    const float factor = call.factors[place + call.batch];
    if (factor != 0.0f) sum -= 2.0f * factor * (call.states[at + 2 * step] - call.states[at + step]);
  }
  call.to[at] += sum;
}

}  // namespace throughtime::cuda
