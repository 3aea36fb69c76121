#pragma once

#include <cstddef>
#include <cstdint>

namespace throughtime::cuda {

struct Context;

// The plain vector operations of an engine. Numbers that change from call to call come by pointer.

struct Fill {
  std::size_t count = 0;
  const float* value = nullptr;  // [1]; null: zero
  float* x = nullptr;
};
void issue(const Context&, const Fill&);

struct Copy {
  std::size_t count = 0;
  const float* from = nullptr;
  float* to = nullptr;
};
void issue(const Context&, const Copy&);

struct Scale {
  std::size_t count = 0;
  const float* factor = nullptr;
  float* x = nullptr;
};
void issue(const Context&, const Scale&);

struct Axpy {
  std::size_t count = 0;
  const float* factor = nullptr;
  const float* x = nullptr;
  float* y = nullptr;
};
void issue(const Context&, const Axpy&);

constexpr int most_partials = 256;

/// result [1] = <x, y>, in double, in a fixed order. `partial` [most_partials].
struct Dot {
  std::size_t count = 0;
  const float* x = nullptr;
  const float* y = nullptr;
  double* partial = nullptr;
  float* result = nullptr;
};
void issue(const Context&, const Dot&);

/// rows[i] = table[indices[i]]; with `scatter` table[indices[i]] = rows[i] where keep[i] is not 0 (the host keeps the
/// last of equal indices).
struct MoveRows {
  int entries = 0, width = 0, scatter = 0;
  const std::int64_t* indices = nullptr;
  const std::uint8_t* keep = nullptr;
  const float* from = nullptr;
  float* to = nullptr;
};
void issue(const Context&, const MoveRows&);

}  // namespace throughtime::cuda
