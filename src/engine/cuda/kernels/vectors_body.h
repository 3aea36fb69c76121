// What each element of the operations of vectors.h is, for host and device.
#pragma once

#include <cstddef>

#include "engine/cuda/kernels/vectors.h"
#include "engine/cuda/numbers.h"

namespace throughtime::cuda {

// y[i] <- value(factor, x[i], y[i]); an operation says what it reads.
struct FillOperation {
  static constexpr bool reads_x = false, reads_y = false;
  static THROUGHTIME_INLINE float value(float factor, float, float) { return factor; }
};
struct CopyOperation {
  static constexpr bool reads_x = true, reads_y = false;
  static THROUGHTIME_INLINE float value(float, float x, float) { return x; }
};
struct ScaleOperation {
  static constexpr bool reads_x = false, reads_y = true;
  static THROUGHTIME_INLINE float value(float factor, float, float y) { return factor * y; }
};
struct AxpyOperation {
  static constexpr bool reads_x = true, reads_y = true;
  static THROUGHTIME_INLINE float value(float factor, float x, float y) { return y + factor * x; }
};

/// An operation over whole vectors.
template <class Operation>
struct Stream {
  std::size_t count = 0;
  const float* factor = nullptr;  // [1]; null: 0
  const float* x = nullptr;
  float* y = nullptr;
};

inline Stream<FillOperation> stream_of(const Fill& call) { return {call.count, call.value, nullptr, call.x}; }
inline Stream<CopyOperation> stream_of(const Copy& call) { return {call.count, nullptr, call.from, call.to}; }
inline Stream<ScaleOperation> stream_of(const Scale& call) { return {call.count, call.factor, nullptr, call.x}; }
inline Stream<AxpyOperation> stream_of(const Axpy& call) { return {call.count, call.factor, call.x, call.y}; }

template <class Operation>
THROUGHTIME_INLINE void write_element(const Stream<Operation>& call, std::size_t i) {
  const float factor = call.factor ? *call.factor : 0.0f;
  const float x = Operation::reads_x ? call.x[i] : 0.0f, y = Operation::reads_y ? call.y[i] : 0.0f;
  call.y[i] = Operation::value(factor, x, y);
}

THROUGHTIME_INLINE void write_cell(const MoveRows& call, std::size_t entry, int column) {
  const std::size_t here = entry * call.width + column;
  const std::size_t there = static_cast<std::size_t>(call.indices[entry]) * call.width + column;
  if (!call.scatter)
    call.to[here] = call.from[there];
  else if (!call.keep || call.keep[entry] != 0)
    call.to[there] = call.from[here];
}

}  // namespace throughtime::cuda
