#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "support/engine_run.h"
#include "support/numeric.h"

namespace throughtime::testing {

/// A window that is pulled back in two parts, the later one first, has the gradients of one that is pulled back whole.
inline void expect_parts_add_up(const Problem& problem, const EngineConfig& engine, const std::vector<int>& cuts,
                                double tolerance) {
  EngineRun run(problem, engine);
  run.unroll();
  const PulledBack whole = run.pull_back();
  for (const int cut : cuts) {
    const PulledBack late = run.pull_back({.first = cut});
    const PulledBack both =
        run.pull_back({.last = cut, .add_to = late.gradient, .end_cotangent = late.initial_cotangent});
    EXPECT_LT(relative_error(both.gradient, whole.gradient), tolerance) << cut;
    EXPECT_LT(relative_error(both.initial_cotangent, whole.initial_cotangent), tolerance) << cut;
  }
}

}  // namespace throughtime::testing
