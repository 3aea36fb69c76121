#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/files.h"

namespace throughtime {

/// CRC-32C (Castagnoli), as the frames of an event file use it.
std::uint32_t crc32c(std::span<const std::byte> bytes);

/// Writes a TensorBoard event file: a frame for every set of scalars.
class EventFile {
 public:
  /// A new file, or one that is cut to its first `keep` bytes and goes on.
  EventFile(const std::filesystem::path& path, std::uint64_t keep);

  /// One event at a step, `wall_time` in seconds since 1970.
  void scalars(std::int64_t step, double wall_time, const std::vector<std::pair<std::string, double>>& values);
  void sync() { file_.sync(); }
  std::uint64_t size() const { return file_.size(); }

 private:
  void frame(const std::string& event);
  OutputFile file_;
};

}  // namespace throughtime
