#pragma once

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "command/command_run.h"

namespace throughtime {

using testing::lines_in;
using testing::Outcome;
using testing::text_of;
using testing::write_text;

inline const char* const small =
    "[task]\nname = \"series\"\nseries.inputs = [\"y\"]\n[model]\nhidden = 4\n[learner]\nname = \"tbptt\"\n"
    "[learner.tbptt]\npreset = \"original\"\ntruncation = 3\n[optimizer]\nrate = 0.01\n[stream]\nmetrics_every = "
    "10\n[run]\nthreads = "
    "1\n";

inline std::string value(int t) { return std::to_string(std::sin(0.4 * t) + 0.01 * (t % 7)); }

/// A header and rows [first, last) of a wave.
inline std::string series(int first, int last, const std::string& header = "y\n") {
  std::string text = header;
  for (int t = first; t < last; ++t) text += value(t) + "\n";
  return text;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline std::string metrics_without_times(const std::filesystem::path& run) {
  std::string text;
  for (const std::string& line : lines_of(text_of(run / "metrics.jsonl"))) {
    auto object = nlohmann::ordered_json::parse(line);
    object.erase("seconds");
    text += object.dump() + "\n";
  }
  return text;
}

class Stream : public testing::CommandTest {
 protected:
  void SetUp() override { config_file(small, "small"); }

  /// `throughtime stream ARGUMENTS` on a text as stdin, through a pipe.
  Outcome stream(const std::string& arguments, const std::string& text) const {
    write_text(path("input"), text);
    return shell("cat input | " + std::string(THROUGHTIME_COMMAND) + " stream " + arguments);
  }
};

}  // namespace throughtime
