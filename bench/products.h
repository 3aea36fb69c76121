#pragma once

#include <string>
#include <vector>

#include "bench/case.h"

namespace throughtime::bench {

/// The matrix products behind one weight matrix [wide, narrow] in one direction, over all rows of a case.
struct Product {
  enum class Form {
    map,       // [rows, inner] x [inner, outer]
    gradient,  // [outer, rows] x [rows, inner], summed over the groups of rows
  };
  std::string role;
  Form form = Form::map;
  int outer = 0;
  int inner = 0;
  int steps = 0;     // how many steps of B rows need it
  int together = 1;  // steps whose rows may share a product: 1 where a step waits for the one before, else a window

  /// Floating-point operations for `batch` rows.
  double operations(int batch) const { return 2.0 * outer * inner * steps * batch; }
};

/// Exactly the products that a case needs: a first state of zeros needs none forward, the first state of a window
/// none backward, inputs that are not trained no gradient.
std::vector<Product> products_of(const Case& chosen);

}  // namespace throughtime::bench
