#pragma once

#include <gtest/gtest.h>

#include <string>

#include "throughtime/engine.h"

namespace throughtime::testing {

/// The first line of a test, or its SetUp: skips it where that engine cannot compute.
inline void skip_without(const std::string& engine) {
  const EngineType& type = find_engine(engine);
  if (!type.usable()) GTEST_SKIP() << type.missing();
}

}  // namespace throughtime::testing
