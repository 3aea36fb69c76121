#pragma once

#include <span>
#include <vector>

#include "engine/cpu/few_rows/row_products.h"
#include "engine/cpu/packing.h"
#include "engine/cpu/products.h"
#include "engine/cpu/tape.h"
#include "engine/cpu/threads/crew.h"
#include "engine/dropout.h"
#include "throughtime/engine.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

/// What the passes over slices share: the model, its packed weights and the kernels of this machine.
struct Context {
  const Model& model;
  const PackedModel& packed;
  const ProductKernels& products;
  const RowProducts& row_products;
  const std::vector<CellKernels<float>>& cells;
  const std::vector<RowKernels>& rows;
  const HeadKernels<float>& head;
  const float* parameters = nullptr;
};

/// The buffers of an UnrollCall, resolved; null: not asked for.
struct UnrollArrays {
  const Window& window;
  bool training = false;
  Keep keep = Keep::nothing;
  const float* initial_state = nullptr;
  float* final_state = nullptr;
  float* losses = nullptr;
  float* predictions = nullptr;
  bool correct = false;  // count right predictions
  float* states = nullptr;
  std::span<const int> state_steps = {};
};

/// The buffers of a PullBackCall, resolved.
struct PullBackArrays {
  const Window& window;
  bool training = false;
  int first = 0, last = 0;
  bool gradient = false;
  float* in_place = nullptr;     // the flat gradient, where the only slice writes into it; see written_in_place
  bool add = false;              // to what it holds
  bool layers_in_place = false;  // that slice sums up all of the layers' gradients there
  bool losses = false;
  bool head_ready = false;
  const float* end_cotangent = nullptr;
  const float* step_cotangents = nullptr;
  float* initial_cotangent = nullptr;
  float* tap_norms = nullptr;
  float* tap_vectors = nullptr;
};

/// Whether the gradient of a layer's recurrent weights lies in a slice as in the flat vector: then a slice that has no
/// others beside it sums it up there. A mask on the weights is in the way.
inline bool written_in_place(const Model& model, const Layer& layer) {
  return model.config().dropout.recurrent <= 0 && layer.weight_hh >= 0 && !layer.cell->fast_map.apply &&
         layer.hidden % kPad == 0;
}

/// Carries the rows of one slice through the window.
void unroll_slice(const Context& context, const UnrollArrays& call, Slice& slice, Crew& crew);

/// Carries cotangents back through the window; leaves the slice's share of the gradient in the slice.
void pull_back_slice(const Context& context, const PullBackArrays& call, Slice& slice, Crew& crew);

/// Whether the penalty on changes of the output sends something back.
inline bool penalises_slowness(const PullBackArrays& call, const Slice& slice) {
  return call.losses && call.training && !slice.slowness.empty();
}
/// Scales of the slowness penalty of all rows, before either direction; that penalty over steps [begin, end), whose
/// slots begin at step `base`, into the slice's sum.
void scale_differences(const Context& context, const Window& window, Slice& slice);
void sum_slowness(const Context& context, const Window& window, Slice& slice, int begin, int end, int base);
/// Adds `sign` times the derivative of that penalty by h_l - h_{l-1} to `d_top` [R][Hp].
void add_slowness(const Context& context, const Window& window, Slice& slice, Rows rows, int step, float sign,
                  float* d_top);

/// Writes the inputs of steps [begin, end) that the first layer sees, from `slot` on, and what lies before them:
/// tokens, reals, encoder, dropout.
void gather_inputs(const Context& context, const Window& window, bool training, Slice& slice, const Rows& rows,
                   int begin, int end, int slot);

/// The input of a layer at `slot`: its own copy, or the output of the layer below.
inline const float* layer_input(Slice& slice, std::size_t k, int slot) {
  const LayerTape& tape = slice.layers[k];
  if (tape.input.size() > 0) return tape.input.data() + elements(slot, slice.rows) * tape.inputs;
  return slice.state(static_cast<int>(k) - 1, 0, slot + 1);
}

/// Whether layer k goes through the steps of a slice as a single row, for which the cell does products and pointwise
/// work in one call.
bool runs_alone(const Context& context, const Slice& slice, std::size_t k);
/// Such a row's steps, from `slot` on, none of them held, and only the first may be reset: its state before is then in
/// the workspace. `keeps`: what the cell saves lies in slots of its own. `units`: of one step, those units alone. Of
/// this and the next: the call of the cell.
struct UnitRange {
  int first = 0, last = 0;  // whole panels of kPanel; last 0: all units
};
RowForward steps_forth(const Context& context, Slice& slice, std::size_t k, int steps, int slot, int saved_slot,
                       bool keeps, bool reset, UnitRange units = {});
/// Numbers from a step's gate cotangents to the next one's, in a workspace.
struct RowStrides {
  std::size_t d_input = 0, d_recurrent = 0;
};
RowStrides row_strides(const Layer& layer, const LayerTape& tape);
/// What of a step is done: the gates, or what goes back through the recurrent weights, of some units.
struct RowBackPart {
  UnitRange units = {};
  bool gates = true, products = true;
};
/// Back through its steps [first, last); gate cotangents go to the row blocks from `chunk_step` on.
RowBackward steps_back(const Context& context, Slice& slice, std::size_t k, int first, int last, int chunk_step,
                       RowStrides strides, bool reset, RowBackPart part = {});
inline void unroll_row(const Context& context, Slice& slice, std::size_t k, int steps, int slot, int saved_slot,
                       bool keeps, bool reset, UnitRange units = {}) {
  context.rows[k].forward(steps_forth(context, slice, k, steps, slot, saved_slot, keeps, reset, units));
}
inline void pull_back_row(const Context& context, Slice& slice, std::size_t k, int first, int last, int chunk_step,
                          RowStrides strides, bool reset, RowBackPart part = {}) {
  context.rows[k].backward(steps_back(context, slice, k, first, last, chunk_step, strides, reset, part));
}

/// How many rows of gate cotangents, of one step after the other, and whether the gradient is added to.
struct RowSpan {
  int steps = 0;
  bool add = false;
};
/// What makes the gradient of layer k, in the flat vector, from the gate cotangents in its workspace; `before`,
/// `input`: the outputs before and the inputs of each of their rows, padded as the tape's.
RowLayerGradient layer_gradient(const Context& context, std::size_t k, RowSpan span, const float* before,
                                const float* input, const Slice& slice, float* gradient);

/// Rows of [B, S], or zeros, into slot 0 of all layers; the states in `slot` into such rows.
void load_state(const Context& context, const float* from, Slice& slice);
void store_state(const Context& context, Slice& slice, int slot, float* to);
/// Gives steps with a loss their places in d_top, in their order.
void assign_loss_slots(const Window& window, Slice& slice);

/// values [width] *= the mask of row `row` of the slice at `step`.
void multiply_by_mask(const Context& context, const DropoutSite& site, const Window& window, Slice& slice, int lane,
                      int step, int row, float* values, int width);
/// The same for those rows of `values` [R][stride].
void mask_rows(const Context& context, const DropoutSite& site, const Window& window, Slice& slice, Rows rows, int step,
               float* values, std::size_t stride, int width);

/// Zeroes those of the rows in `values` [R][stride] that are reset before `step`.
void zero_reset_rows(const Window& window, const Slice& slice, Rows rows, int step, std::size_t stride, float* values);
/// Whether one of the rows is reset before `step`.
bool resets_rows(const Window& window, const Slice& slice, Rows rows, int step);
/// Copies layer k's state before `step`, which lies in `slot`, into its workspace with reset rows zeroed. Returns
/// false, and copies nothing, where no row of the slice is reset.
bool copy_state_with_resets(const Context& context, const Window& window, Slice& slice, Rows rows, std::size_t k,
                            int step, int slot);
/// Whether one of the rows is held at `step`.
bool holds_rows(const Window& window, const Slice& slice, Rows rows, int step);
/// Whether a row of the slice is reset or held at `step`.
inline bool has_flags(const Window& window, const Slice& slice, int step) {
  return resets_rows(window, slice, slice.all(), step) || holds_rows(window, slice, slice.all(), step);
}
/// Layer k's state before `step` (in `slot`) becomes the one after it for the rows that are held.
void keep_held_states(const Context& context, const Window& window, Slice& slice, Rows rows, std::size_t k, int step,
                      int slot);
/// Takes layer k's cotangents of held rows out of the way of `step`, and puts them back after it.
void set_held_cotangents_aside(const Context& context, const Window& window, Slice& slice, Rows rows, std::size_t k,
                               int step);
void put_held_cotangents_back(const Context& context, const Window& window, Slice& slice, Rows rows, std::size_t k,
                              int step);

/// What the head does in one pass over the weighted rows of steps [first, last); `slot` of step l is l - base.
struct HeadPass {
  const Window& window;
  bool training = false;
  int first = 0, last = 0, base = 0;
  float* losses = nullptr;
  float* predictions = nullptr;
  bool correct = false;       // add to the slice's count of right predictions
  bool d_hidden = false;      // leave dL/dh in slice.d_top
  bool d_parameters = false;  // add to the head's gradients in the slice
};
void run_head(const Context& context, const HeadPass& pass, Slice& slice, Crew& crew);
/// The same for the first `rows` rows that are gathered in slice.head, of a head with layers of its own: from their
/// features to losses and predictions, and where something goes back from there to slice.head.d_hidden.
void run_layered_rows(const Context& context, const HeadPass& pass, Slice& slice, Crew& crew, int rows);

/// C [rows, all columns] = start + A B over all panels of B, or panels [first, last), in blocks of depth that stay in
/// the cache.
void multiply_panels(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                     const ForwardPanels& panels, const float* bias, float* c, std::size_t c_stride, int first,
                     int last);
inline void multiply_panels(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                            const ForwardPanels& panels, const float* bias, float* c, std::size_t c_stride) {
  multiply_panels(products, rows, a, a_stride, panels, bias, c, c_stride, 0, panels.panels());
}
void multiply_panels(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                     const BackwardPanels& panels, float* c, std::size_t c_stride, bool accumulate);
/// The same for columns [first, last) of C, multiples of kPad.
void multiply_columns(const ProductKernels& products, int rows, const float* a, std::size_t a_stride,
                      const BackwardPanels& panels, float* c, std::size_t c_stride, bool accumulate, int first,
                      int last);

/// The gradient of a linear layer (+)= that of `rows` rows. Of this and the following: a part of the sums, each of
/// which is made by one thread, in the order of the rows.
void add_linear_gradient(Part part, const ProductKernels& products, int rows, const PackedLinear& linear,
                         const float* d, std::size_t d_stride, const float* x, std::size_t x_stride,
                         LinearGradient& sums, bool accumulate);

/// weights [outputs, inputs_padded] (+)= d^T x over `rows` rows; outputs are the first columns of d.
void add_weight_gradient(Part part, const ProductKernels& products, int rows, const float* d, std::size_t d_stride,
                         int outputs, const float* x, std::size_t x_stride, std::size_t inputs_padded, float* weights,
                         bool accumulate);

/// sums (+)= the rows of d.
void add_bias_gradient(Part part, const ProductKernels& products, int rows, const float* d, std::size_t d_stride,
                       Array& sums, bool accumulate);

}  // namespace throughtime::cpu
