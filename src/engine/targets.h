#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "throughtime/head.h"
#include "throughtime/index.h"
#include "throughtime/model.h"
#include "throughtime/window.h"

namespace throughtime {

/// Where a row of a window reads at one step.
struct Place {
  const Source* source = nullptr;
  std::int64_t index = 0;  // among the steps that the source holds
  bool padding = false;    // outside the source: the input is zero

  std::int32_t token() const { return source->tokens[index]; }
  std::int64_t position() const { return source->first + index; }
  const float* reals() const { return source->values.data() + elements(index, source->reals); }
};

inline int source_of(const Window& window, int row) { return window.source.empty() ? 0 : window.source[row]; }

inline Place place_at(const Window& window, int step, int row) {
  const Source& source = window.sources[source_of(window, row)];
  const std::int64_t index = window.start[row] + step - source.first;
  return {&source, index, index < 0 || index >= static_cast<std::int64_t>(source.steps)};
}

/// The loss weights of all rows at one step.
inline std::span<const float> weights_at(const Window& window, int step) {
  return std::span(window.weight).subspan(elements(step, window.batch), elements(window.batch));
}

/// The target of one row in the window's own numbers: a label, or `values` [outputs], or what label_and_interval means;
/// neither where there is none. A head that takes either prefers labels. Expects a window that passed check_targets.
RowTarget<float> row_target(const Model& model, const Window& window, int step, int row);

/// The same in the engine's number type; `scratch` [target width] receives values that must be converted.
template <class Real>
RowTarget<Real> row_target(const Model& model, const Window& window, int step, int row, Real* scratch) {
  const RowTarget<float> target = row_target(model, window, step, row);
  if constexpr (std::is_same_v<Real, float>) {
    return target;
  } else {
    if (!target.values) return {target.label, nullptr, target.levels};
    for (int i = 0; i < model.target_width(); ++i) scratch[i] = target.values[i];
    return {target.label, scratch, target.levels};
  }
}

/// Refuses sources that do not fit the model's input, tokens out of range and reals that are no finite numbers, naming
/// step, row and place. Does not allocate unless it refuses.
void check_inputs(const Model& model, const Window& window);

/// Refuses targets of the wrong kind or width, labels and probabilities out of range and values that are no finite
/// numbers, wherever the loss weight of steps [first, last) is not zero. Does not allocate unless it refuses.
void check_targets(const Model& model, const Window& window, int first, int last);

}  // namespace throughtime
