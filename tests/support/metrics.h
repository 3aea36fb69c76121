#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "support/scratch.h"

namespace throughtime::testing {

/// The lines of a run's metrics.jsonl without what depends on the clock.
inline std::string metrics_without_times(const std::filesystem::path& run) {
  std::istringstream lines(text_of(run / "metrics.jsonl"));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    nlohmann::ordered_json object = nlohmann::ordered_json::parse(line);
    for (const char* key : {"seconds", "steps_per_second"}) object.erase(key);
    text += object.dump() + "\n";
  }
  return text;
}

}  // namespace throughtime::testing
