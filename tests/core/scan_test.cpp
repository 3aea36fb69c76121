#include "core/scan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace throughtime {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Mostly zeros and a few numbers that are easily taken for something else.
std::vector<float> draw_numbers() {
  const auto odd = rc::gen::element(1.0f, -1.0f, -0.0f, 2.0f, 1e-42f, std::numeric_limits<float>::max(), infinity,
                                    -infinity, std::nanf(""));
  std::vector<float> values(*rc::gen::inRange<std::size_t>(0, 150), 0.0f);
  const int changes = values.empty() ? 0 : *rc::gen::inRange(0, 3);
  for (int i = 0; i < changes; ++i) values[*rc::gen::inRange<std::size_t>(0, values.size())] = *odd;
  return values;
}

RC_GTEST_PROP(Scan, AnswersWhatALookAtEachNumberWould, ()) {
  const std::vector<float> values = draw_numbers();
  const auto any = [&](auto&& is) { return std::any_of(values.begin(), values.end(), is); };
  RC_ASSERT(has_bad_number(values) == any([](float value) { return !std::isfinite(value); }));
  RC_ASSERT(has_nonzero(values) == any([](float value) { return value != 0; }));
  RC_ASSERT(has_outside(values, 0, 1) == any([](float value) { return !(value >= 0 && value <= 1); }));
}

RC_GTEST_PROP(Scan, FindsIntegersThatAreNoIndex, ()) {
  std::vector<std::int32_t> values(*rc::gen::inRange<std::size_t>(1, 150), 6);
  values[*rc::gen::inRange<std::size_t>(0, values.size())] = *rc::gen::element(-1, 0, 6, 7, INT32_MAX, INT32_MIN);
  RC_ASSERT(has_outside(values, 7) ==
            std::any_of(values.begin(), values.end(), [](std::int32_t value) { return value < 0 || value >= 7; }));
}

}  // namespace
}  // namespace throughtime
