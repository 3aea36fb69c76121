#pragma once

#include <cstddef>
#include <vector>

#include "engine/cpu/few_rows/row_products.h"
#include "throughtime/cell.h"
#include "throughtime/model.h"

namespace throughtime::cpu {

struct Context;
struct Slice;

/// What a window of one row asks of the kernels: their calls with every place and size in them, and the places that
/// states are copied between. A tape keeps its plan. It is made at the first window, and made anew where a window has
/// another number of steps, where weights lie elsewhere, or where the gradient goes elsewhere. Every other window runs
/// it as it is. What decides it is in the arguments of `aim` and `aim_gradient`, and nothing else.
class RowPlan {
 public:
  /// Room for the calls of that model: nothing is allocated later.
  explicit RowPlan(const Model& model);

  /// For windows of that many steps of the only slice of a tape, which stays the same. `back`: they may be pulled back.
  void aim(const Context& context, Slice& slice, int steps, bool back) {
    if (parameters_ != parameters_of(context) || steps_ != steps) make(context, slice, steps, back);
  }
  /// For their gradients, added to what is there or not. Afterwards, and for each of them.
  void aim_gradient(const Context& context, Slice& slice, float* gradient, bool add) {
    if (gradient_ != gradient || add_ != add) make_gradient(context, slice, gradient, add);
  }

  /// A tensor of a layer's state, of `size` numbers from `at` on in a row [S].
  struct Tensor {
    std::size_t at = 0, size = 0;
    float* before = nullptr;     // the first step
    float* after = nullptr;      // the last step
    float* cotangent = nullptr;  // carried back
  };
  struct RowLayer {
    int first_tensor = 0, last_tensor = 0;  // of all tensors
    RowForward forth;
    RowBackward back;
    const float* entering = nullptr;  // of `back`: from the layer above, or from the head where there is a loss
    std::size_t cotangents = 0;       // numbers of all its tensors, padded
    RowLayerGradient gradient;
  };
  /// What the first layer reads: `to` [steps][stride].
  struct Input {
    int vocabulary = 0, reals = 0;
    float* to = nullptr;
    std::size_t stride = 0;
  };
  /// The head of a step: its weights, and places for one loss after the other.
  struct Head {
    int outputs = 0, linear = 0, hidden = 0;  // of `outputs` those with weights come first; features
    const float* weight = nullptr;
    const float* bias = nullptr;
    const float* constants = nullptr;
    float* z = nullptr;         // [losses][stride]: outputs; what goes back from them
    float* features = nullptr;  // [losses][width]
    std::size_t stride = 0, width = 0;
    RowWeightGradient weight_gradient;
    RowGateGradient bias_gradient, constant_gradient;
  };
  std::vector<Tensor> tensors;
  std::vector<RowLayer> layers;
  Input input;
  Head head;

 private:
  static const float* parameters_of(const Context& context);
  void make(const Context& context, Slice& slice, int steps, bool back);
  void make_head(const Context& context, Slice& slice);
  void make_gradient(const Context& context, Slice& slice, float* gradient, bool add);

  const float* parameters_ = nullptr;
  int steps_ = 0;
  float* gradient_ = nullptr;  // null: no calls are made for gradients yet
  bool add_ = false;
};

}  // namespace throughtime::cpu
