#pragma once

#include <cstdint>

#include "throughtime/choice.h"

namespace throughtime {

/// What running scales make of the past (docs/streams.md).
enum class Scaling {
  robust,      // as `forgetting`; wild values count little, and a scale that no longer fits is measured anew
  forgetting,  // rows fade exponentially
  all,         // every row counts as much as any other, for ever
};
constexpr auto names_of(Scaling) { return choice_names("robust", "forgetting", "all"); }

struct ScaleOptions {
  bool active = true;  // not: values stay what they are
  Scaling scaling = Scaling::robust;
  std::int64_t memory = 10'000;  // rows that are remembered: robust, forgetting
  std::int64_t rows = 0;         // after that many they stay as they are; 0: never
};

}  // namespace throughtime
