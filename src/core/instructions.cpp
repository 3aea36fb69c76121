#include "core/instructions.h"

#include <hwy/highway.h>

#include <cstdlib>

#include "throughtime/choice.h"

namespace throughtime {

namespace {

constexpr const char* variable = "THROUGHTIME_ISA";

enum class WidestSet { avx2, sse4, portable };
constexpr auto names_of(WidestSet) { return choice_names("avx2", "sse4", "portable"); }

std::int64_t targets_above(WidestSet widest) {
  constexpr std::int64_t above_avx2 = HWY_AVX3 | HWY_AVX3_DL;
  constexpr std::int64_t above_sse4 = above_avx2 | HWY_AVX2;
  switch (widest) {
    case WidestSet::avx2:
      return above_avx2;
    case WidestSet::sse4:
      return above_sse4;
    case WidestSet::portable:
      break;
  }
  return above_sse4 | HWY_SSE4 | HWY_SSSE3 | HWY_NEON;
}

}  // namespace

void limit_instructions() {
  static const bool done = [] {
    const char* widest = std::getenv(variable);
    if (widest && *widest) hwy::DisableTargets(targets_above(choice_of<WidestSet>(widest, "instructions", variable)));
    return true;
  }();
  static_cast<void>(done);
}

std::string instruction_set() {
  limit_instructions();
  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  return hwy::TargetName(supported & -supported);
}

}  // namespace throughtime
