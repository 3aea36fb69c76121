#include "engine/penalties.h"

#include "engine/cpu/passes.h"
#include "throughtime/index.h"

namespace throughtime::cpu {

void scale_differences(const Context& context, const Window& window, Slice& slice) {
  const double strength = context.model.config().penalties.slowness / context.model.top_hidden();
  for (std::size_t row = 0; row < slice.slowness.size(); ++row)
    slice.slowness[row] = static_cast<float>(strength * difference_scale(window, slice.first + static_cast<int>(row)));
}

void sum_slowness(const Context& context, const Window& window, Slice& slice, int begin, int end, int base) {
  const int top = static_cast<int>(slice.layers.size()) - 1;
  const std::size_t stride = slice.layers.back().hidden;
  for (int l = begin; l < end; ++l)
    for (int row = 0; row < slice.rows; ++row) {
      if (!has_difference(window, l, slice.first + row)) continue;
      const float* before = slice.state(top, 0, l - base) + row * stride;
      const float* after = slice.state(top, 0, l - base + 1) + row * stride;
      double squares = 0;
      for (int i = 0; i < context.model.top_hidden(); ++i) {
        const double difference = static_cast<double>(after[i]) - before[i];
        squares += difference * difference;
      }
      slice.penalties[1] += squares * slice.slowness[elements(row)] * window.weight_at(l, slice.first + row);
    }
}

void add_slowness(const Context& context, const Window& window, Slice& slice, Rows rows, int step, float sign,
                  float* d_top) {
  const int top = static_cast<int>(slice.layers.size()) - 1;
  const std::size_t stride = slice.layers.back().hidden;
  d_top += rows.begin * stride;
  for (int row = rows.begin; row < rows.end; ++row, d_top += stride) {
    if (!has_difference(window, step, slice.first + row)) continue;
    const float factor = sign * 2 * slice.slowness[elements(row)] * window.weight_at(step, slice.first + row);
    const float* before = slice.state(top, 0, step) + row * stride;
    const float* after = slice.state(top, 0, step + 1) + row * stride;
    for (int i = 0; i < context.model.top_hidden(); ++i) d_top[i] += factor * (after[i] - before[i]);
  }
}

}  // namespace throughtime::cpu
