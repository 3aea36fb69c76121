#pragma once

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "throughtime/engine.h"

namespace throughtime {

/// The engines that can be used here, for help and messages: "reference or cpu".
inline std::string usable_engine_names() {
  std::vector<std::string> names;
  for (const EngineType* engine : usable_engines()) names.push_back(engine->name);
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace throughtime
