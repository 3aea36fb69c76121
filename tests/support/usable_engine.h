#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "throughtime/engine.h"

namespace throughtime::testing {

/// The first line of a test, or its SetUp: skips it where that engine cannot compute. Tests try what was not tried yet.
inline void skip_without(const std::string& engine) {
  setenv("THROUGHTIME_CUDA_UNTRIED", "1", 1);
  const EngineType& type = find_engine(engine);
  if (!type.usable()) GTEST_SKIP() << type.missing();
}

}  // namespace throughtime::testing
