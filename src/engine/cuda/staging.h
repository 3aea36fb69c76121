#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/kernels/inputs.h"
#include "engine/recorder/recorder.h"
#include "throughtime/model.h"
#include "throughtime/window.h"

namespace throughtime::cuda {

/// Inputs of a window, place l * B + b. All pointers are of the device; absent ones are null.
struct StagedInputs {
  const std::int32_t* tokens = nullptr;  // [N]; -1: padding
  const float* values = nullptr;         // [N, reals]
};

/// The places of a window that carry a loss, in order, with their targets.
struct StagedLosses {
  int entries = 0;
  std::span<const std::int32_t> host_places;  // valid until the recorder's next flush
  const std::int32_t* places = nullptr;       // [entries]
  const float* weights = nullptr;             // [entries]
  const std::int32_t* labels = nullptr;       // [entries]; -1: none
  const float* values = nullptr;
  const std::int32_t* value_entry = nullptr;  // [entries]; null: entry i is the i-th target
  int target_width = 0;                       // 0: no values
};

/// Copies what a device needs of a window into the recorder's arena.
class Staging {
 public:
  Staging(const Model& model, CallRecorder& recorder) : model_(model), recorder_(recorder) {}

  /// The most bytes that one call with this window puts there.
  std::size_t bytes_of(const Window& window) const;

  StagedInputs inputs(const Window& window);
  /// Null where no row is reset or held.
  const std::uint8_t* flags(const Window& window);
  /// Of steps [first, last); with targets where the loss is wanted.
  StagedLosses losses(const Window& window, int first, int last, bool with_targets);
  const MaskNumbers* mask(const Window& window);
  /// What |h_l - h_{l-1}|^2 of each place is multiplied by in the slowness penalty (engine/penalties.h): [L, B].
  const float* difference_factors(const Window& window);
  /// Tokens of steps [first, last), sorted: all of AddSortedRows but where the rows are, which count from the first
  /// step's first.
  AddSortedRows tokens(const Window& window, int first, int last);
  /// The same for rows that are added to the rows of a table.
  AddSortedRows rows(std::span<const std::int64_t> indices, std::int64_t table_rows);
  /// 1 where no later index is the same, else 0.
  void mark_last(std::span<const std::int64_t> indices, std::int64_t table_rows, std::uint8_t* last);

 private:
  template <class Key>
  AddSortedRows sorted(int entries, std::int64_t keys, Key key);
  void labels(const Window& window, std::span<const std::int32_t> places, StagedLosses& losses);
  void values(const Window& window, std::span<const std::int32_t> places, StagedLosses& losses);

  const Model& model_;
  CallRecorder& recorder_;
  std::vector<std::int32_t> counts_;  // per token, zero between calls
};

}  // namespace throughtime::cuda
