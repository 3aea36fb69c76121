#include <algorithm>
#include <cstring>

#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

void multiply_by_mask(const Context& context, const DropoutSite& site, const Window& window, Slice& slice, int lane,
                      int step, int row, float* values, int width) {
  const std::span<float> mask(slice.mask.data() + elements(lane) * slice.mask_stride, elements(width));
  write_mask<float>(site, window.mask_key, mask_step_at(context.model.config().dropout, window, step),
                    window.mask_row + slice.first + row, mask);
  for (int i = 0; i < width; ++i) values[i] *= mask[i];
}

void zero_reset_rows(const Window& window, const Slice& slice, Rows rows, int step, std::size_t stride, float* values) {
  for (int r = rows.begin; r < rows.end; ++r)
    if (window.resets_at(step, slice.first + r)) std::fill_n(values + r * stride, stride, 0.0f);
}

bool resets_rows(const Window& window, const Slice& slice, Rows rows, int step) {
  if (window.flags.empty()) return false;
  bool any = false;
  for (int r = rows.begin; r < rows.end; ++r) any |= window.resets_at(step, slice.first + r);
  return any;
}

bool copy_state_with_resets(const Context& context, const Window& window, Slice& slice, Rows rows, std::size_t k,
                            int step, int slot) {
  if (!resets_rows(window, slice, rows, step)) return false;
  const std::size_t hidden = slice.layers[k].hidden, plane = slice.rows * hidden;
  for (int tensor = 0; tensor < context.model.layers()[k].cell->shape.states; ++tensor) {
    float* to = slice.work[k].state.data() + tensor * plane;
    std::memcpy(to + rows.begin * hidden, slice.state(static_cast<int>(k), tensor, slot) + rows.begin * hidden,
                rows.count() * hidden * sizeof(float));
    zero_reset_rows(window, slice, rows, step, hidden, to);
  }
  return true;
}

bool holds_rows(const Window& window, const Slice& slice, Rows rows, int step) {
  if (window.flags.empty()) return false;
  bool any = false;
  for (int r = rows.begin; r < rows.end; ++r) any |= window.holds_at(step, slice.first + r);
  return any;
}

namespace {

/// Calls visit(offset of a held row in a plane, tensor) for each of them and each tensor of layer k's state.
template <class Visit>
void for_each_held(const Context& context, const Window& window, const Slice& slice, Rows rows, std::size_t k, int step,
                   const Visit& visit) {
  for (int tensor = 0; tensor < context.model.layers()[k].cell->shape.states; ++tensor)
    for (int r = rows.begin; r < rows.end; ++r)
      if (window.holds_at(step, slice.first + r)) visit(r * slice.layers[k].hidden, tensor);
}

}  // namespace

void keep_held_states(const Context& context, const Window& window, Slice& slice, Rows rows, std::size_t k, int step,
                      int slot) {
  for_each_held(context, window, slice, rows, k, step, [&](std::size_t row, int tensor) {
    std::copy_n(slice.state(static_cast<int>(k), tensor, slot) + row, slice.layers[k].hidden,
                slice.state(static_cast<int>(k), tensor, slot + 1) + row);
  });
}

void set_held_cotangents_aside(const Context& context, const Window& window, Slice& slice, Rows rows, std::size_t k,
                               int step) {
  LayerWork& work = slice.work[k];
  const std::size_t hidden = slice.layers[k].hidden, plane = slice.rows * hidden;
  for_each_held(context, window, slice, rows, k, step, [&](std::size_t row, int tensor) {
    float* own = work.cotangent.data() + tensor * plane + row;
    std::copy_n(own, hidden, work.held.data() + tensor * plane + row);
    std::fill_n(own, hidden, 0.0f);
  });
}

void put_held_cotangents_back(const Context& context, const Window& window, Slice& slice, Rows rows, std::size_t k,
                              int step) {
  LayerWork& work = slice.work[k];
  const std::size_t hidden = slice.layers[k].hidden, plane = slice.rows * hidden;
  for_each_held(context, window, slice, rows, k, step, [&](std::size_t row, int tensor) {
    std::copy_n(work.held.data() + tensor * plane + row, hidden, work.cotangent.data() + tensor * plane + row);
  });
}

}  // namespace throughtime::cpu
