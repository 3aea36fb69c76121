#pragma once

#include <memory>
#include <string>

#include "bench/case.h"

namespace throughtime::bench {

/// The products of a case, timed alone: no activations, no tape. What remains of ours beyond it is ours to explain.
class Floor {
 public:
  virtual ~Floor() = default;
  /// All products of the case once, on the threads it was made for.
  virtual void run() = 0;
  /// Waits until all runs so far are done; products on the host are.
  virtual void finish() {}
  /// Which library multiplies which shape, and how fast: one line per product.
  virtual std::string description() const = 0;
};

/// Tries the libraries on every shape of the case and keeps the fastest; null when built without them (no_floor/), and
/// for a case that is a learner's.
std::unique_ptr<Floor> make_floor(const Case& chosen, int threads);

}  // namespace throughtime::bench
