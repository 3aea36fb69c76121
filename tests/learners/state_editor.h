#pragma once

#include <map>
#include <string>
#include <vector>

#include "throughtime/archive.h"

namespace throughtime::testing {

/// Reads what a learner keeps, and puts other numbers into its buffers on the way.
class StateEditor final : public Archive {
 public:
  std::map<std::string, std::vector<double>> buffers;
  std::map<std::string, std::vector<double>> edits;
  std::map<std::string, std::vector<std::int64_t>> lists;

  void buffer(std::string_view name, Engine& engine, Buffer buffer) override {
    if (const auto edit = edits.find(scoped(name)); edit != edits.end()) engine.write(buffer, edit->second);
    buffers[scoped(name)] = engine.read(buffer);
  }
  void parameters(Engine&, Buffer) override {}
  void integers(std::string_view name, std::vector<std::int64_t>& values) override { lists[scoped(name)] = values; }
  void numbers(std::string_view, std::vector<double>&) override {}
};

}  // namespace throughtime::testing
