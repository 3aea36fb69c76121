#include "core/instructions.h"

#include <hwy/highway.h>

#include <cstdlib>
#include <string_view>

#include "throughtime/error.h"

namespace throughtime {

namespace {

std::int64_t disabled_targets(std::string_view limit) {
  constexpr std::int64_t above_avx2 = HWY_AVX3 | HWY_AVX3_DL;
  constexpr std::int64_t above_sse4 = above_avx2 | HWY_AVX2;
  if (limit == "avx2") return above_avx2;
  if (limit == "sse4") return above_sse4;
  if (limit == "portable") return above_sse4 | HWY_SSE4 | HWY_SSSE3 | HWY_NEON;
  refuse("instructions", "THROUGHTIME_ISA must be avx2, sse4 or portable, got '{}'", limit);
}

}  // namespace

void limit_instructions() {
  static const bool done = [] {
    const char* limit = std::getenv("THROUGHTIME_ISA");
    if (limit && *limit) hwy::DisableTargets(disabled_targets(limit));
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
