#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "throughtime/window.h"

namespace throughtime {

/// One part of the data of a caller: sequences that lie in its memory, which outlives every use of them.
struct ArrayPart {
  std::vector<Source> sequences;                // targets per step, or one: labels [1], target_values [outputs]
  std::vector<std::span<const float>> weights;  // [steps] of each sequence, or none: every step counts as much
};

/// What a caller has in its memory, instead of files: the data of the task `arrays`.
struct ArrayData {
  int reals = 0;                           // numbers of a step
  int vocabulary = 0;                      // 0: no tokens
  int outputs = 1;                         // classes, or numbers of a target
  bool labels = false;                     // targets are classes, else numbers
  bool one_target = false;                 // a sequence has one target, asked for at its last step
  bool recording = false;                  // each part is one long sequence, which is read in columns
  std::array<ArrayPart, 3> parts;          // train, validation, test; the last two may be empty
  std::shared_ptr<const void> owner = {};  // of the memory, where it is not the caller's
};

/// Refuses data that no model can learn from: shapes that do not fit, numbers that are not finite, labels and tokens
/// out of range, weights below 0.
void validate(const ArrayData& data);

}  // namespace throughtime
