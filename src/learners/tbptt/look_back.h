#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "throughtime/archive.h"
#include "throughtime/window.h"

namespace throughtime {

/// Cuts windows that may begin before the current stretch, where it continues the ones before it. Rows read on at
/// contiguous positions, so the inputs are found by moving `start` back; reset flags of the last steps are remembered.
/// Steps are counted from the start of the stretch: the one before it is -1.
class LookBack {
 public:
  /// Looks back `steps` steps at most; `speaker` is named in errors.
  LookBack(std::string_view speaker, int steps, int batch);

  /// A new stretch: forgets the past, or refuses rows that do not go on where they ended.
  void begin(const Window& stretch);
  /// Steps known before the stretch, at most `steps`.
  int history() const { return history_; }
  /// Copies steps [first, first + length), first >= -history(). Steps before the stretch have weight zero.
  void cut(const Window& stretch, int first, int length, Window& part);
  /// The stretch is over: remembers its end.
  void finish(const Window& stretch);
  void archive(Archive& archive);

 private:
  void cut_targets(const Window& stretch, int past, int length, Window& part);

  std::string_view speaker_;
  int steps_;
  int batch_;
  int history_ = 0;
  std::vector<StepFlag> flags_;       // [history, B]: of the past
  std::vector<std::int64_t> next_;    // [B]: where each row goes on
  std::vector<std::int32_t> source_;  // [B], or empty
  std::vector<std::int32_t> labels_;  // room for targets per step that begin in the past
  std::vector<float> values_;
};

}  // namespace throughtime
