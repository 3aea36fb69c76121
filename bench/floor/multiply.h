#pragma once

#include <compare>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

namespace throughtime::bench {

/// C [m, n] (+)= A [m, k] x B [k, n], row-major and dense.
struct ProductShape {
  int m = 0, n = 0, k = 0;
  bool add = false;

  auto operator<=>(const ProductShape&) const = default;  // NOLINT(modernize-use-nullptr): it means the 0 inside
  double operations() const { return 2.0 * m * n * k; }
};

/// The way to compute one shape that was the fastest on this machine, on one thread.
struct Multiplication {
  ProductShape shape;
  std::string library;
  double seconds = 0;
  std::function<void(const float* a, const float* b, float* c)> run;
};

/// Tries every library and layout that may be good for the shape. The layout of the operands is the one that the
/// library likes best: packing costs nothing here. A shape is tried once in the life of the program (not thread-safe).
const Multiplication& fastest_multiplication(const ProductShape& shape);

/// Keeps library calls of the calling thread on that thread.
void stay_on_this_thread();

struct AlignedDelete {
  void operator()(float* memory) const { std::free(memory); }
};
using Operand = std::unique_ptr<float[], AlignedDelete>;
/// `size` small numbers of both signs, aligned to a cache line.
Operand make_operand(std::size_t size);

}  // namespace throughtime::bench
