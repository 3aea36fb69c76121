#pragma once

#include <cstddef>

namespace throughtime::cpu {

// Sums of a window of one row that are made where the flat vectors have them: weights and gradients lie there without
// padding, [rows, columns]. Everything else is padded to whole registers. The order of a sum depends on the shape
// alone.

/// gradient [groups * rows, columns] = or += the sum over steps of d[step][row] * x[step][column]; the d of a group
/// begins `block` numbers behind that of the group before.
struct RowWeightGradient {
  int steps = 0, groups = 1, rows = 0, columns = 0;
  const float* d = nullptr;
  std::size_t d_stride = 0, block = 0;
  const float* x = nullptr;
  std::size_t x_stride = 0;
  float* gradient = nullptr;
  bool add = false;
};

/// Gradients of the biases and of the weights of a narrow input: of each of `groups` groups of `rows` gates, whose
/// cotangents begin `block` numbers apart.
struct RowGateGradient {
  int steps = 0, groups = 0, rows = 0;
  const float* d = nullptr;
  std::size_t d_stride = 0, block = 0;
  float* bias = nullptr;     // [groups * rows]
  float* another = nullptr;  // that receives the same; null: there is none
  bool add = false;
  int inputs = 0;  // 0: no weights
  const float* x = nullptr;
  std::size_t x_stride = 0;
  float* weights = nullptr;  // [groups * rows, inputs]
};

struct RowProducts {
  /// z [outputs] = bias + W h, with W [outputs, hidden].
  void (*outputs)(int outputs, int hidden, const float* h, const float* weights, const float* bias, float* z) = nullptr;
  /// d_h [hidden, padded] = W^T d_z; zero in the padding.
  void (*send_back)(int outputs, int hidden, const float* d_z, const float* weights, float* d_h) = nullptr;
  void (*weight_gradient)(const RowWeightGradient&) = nullptr;
  void (*gate_gradient)(const RowGateGradient&) = nullptr;
};

RowProducts row_products();

/// The gradient of a layer, by what its rows of weights read; of what is null there is none.
struct RowLayerGradient {
  RowGateGradient gates;            // biases, and the weights of a narrow input
  RowWeightGradient input;          // the weights of a wide one
  RowWeightGradient recurrent;      // of the state
  RowGateGradient recurrent_gates;  // the second bias, where its gates have cotangents of their own

  void run(const RowProducts& products) const {
    products.gate_gradient(gates);
    if (input.gradient) products.weight_gradient(input);
    if (recurrent.gradient) products.weight_gradient(recurrent);
    if (recurrent_gates.bias) products.gate_gradient(recurrent_gates);
  }
};

}  // namespace throughtime::cpu
