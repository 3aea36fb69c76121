#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "throughtime/index.h"

namespace throughtime {

/// A store of steps laid end to end, in host memory that outlives its use by the engine.
/// Inputs are reals, tokens, or both side by side; labels and target values are optional.
struct Source {
  std::size_t steps = 0;
  int reals = 0;                         // D: numbers per step
  int target_width = 0;                  // numbers per step in `target_values`
  std::span<const float> values;         // [steps, D]
  std::span<const std::int32_t> tokens;  // [steps], or empty
  std::span<const std::int32_t> labels;  // [steps], or empty
  std::span<const float> target_values;  // [steps, target_width], or empty
  std::int64_t first = 0;                // position of its first step; a stream has dropped what was before it
};

/// Where the targets of a window come from.
enum class TargetLayout {
  none,      // no targets: predictions only
  source,    // labels or target values of the source, at the position of the input
  per_step,  // labels [L, B] or values [L, B, width], in the window
  per_row,   // labels [B] or values [B, width], the same at every step of a row
};

/// Targets given with the window: hard labels, or reals (regression values, soft distributions).
struct Targets {
  TargetLayout layout = TargetLayout::source;
  int width = 0;                         // numbers per entry of `values`
  std::span<const std::int32_t> labels;  // used when not empty
  std::span<const float> values;         // used when not empty
};

/// What happens to a row's state before a step: nothing, it becomes zero, or the row sleeps through the step.
enum class StepFlag : std::uint8_t { go_on, reset, hold };

/// L consecutive steps of B rows, each row from its own place: a gather. Row b at step l reads position
/// start[b] + l of sources[source[b]]. A learner cuts long windows into short ones with `slice`.
///
/// Positions before 0 are padding (input zero), so that a ragged batch is aligned at its end. A row that begins with
/// padding has no loss before its first reset after it; every part of such a window obeys this too. Positions after a
/// source's last step are refused, and so are those that a stream has dropped.
///
/// A row that is held at a step sleeps through it: its state stays, its input does not matter, it has no loss, and
/// cotangents pass as they are. So streams whose rows arrive at different times share a batch.
struct Window {
  int steps = 0;                     // L
  int batch = 0;                     // B
  std::span<const Source> sources;   // at least one
  std::vector<std::int32_t> source;  // [B], or empty: all rows read sources[0]
  std::vector<std::int64_t> start;   // [B]
  Targets targets;
  std::vector<float> weight;          // [L, B]: the head is evaluated only where it is not 0
  std::vector<StepFlag> flags;        // [L, B], or empty: all rows go on at every step
  std::vector<std::int64_t> example;  // [B], or empty: which of a finite number of examples a row shows; -1: none
  std::uint64_t mask_key = 0;         // key of the dropout masks
  std::int64_t mask_step = 0;         // step 0 of this window is that step of the key's masks
  int mask_row = 0;                   // row 0 of this window is that row of the key's masks
  bool continues = false;             // rows go on where the previous stretch ended

  bool resets_at(int step, int row) const { return flag_at(step, row) == StepFlag::reset; }
  bool holds_at(int step, int row) const { return flag_at(step, row) == StepFlag::hold; }
  StepFlag flag_at(int step, int row) const {
    return flags.empty() ? StepFlag::go_on : flags[elements(step, batch) + row];
  }
  float weight_at(int step, int row) const { return weight[elements(step, batch) + row]; }
};

/// Copies steps [first, first + length) of `whole` into `part` without allocating once `part` has had that
/// size: starts and mask steps move along, so the part sees the same inputs, targets and masks.
void slice(const Window& whole, int first, int length, Window& part);

/// Refuses a window whose shapes do not fit together, or that reads outside its sources. `width` of soft
/// targets, ranges of labels and tokens are checked by the engine, which knows the model.
void validate(const Window& window);

}  // namespace throughtime
