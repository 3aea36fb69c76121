#include "core/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr double too_small_to_look = 1 << 20;
constexpr double mebibyte = 1 << 20;

/// The number behind a key at the start of a line (`key` may be empty: the file's first number).
std::optional<std::uint64_t> number_in(const std::filesystem::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const char* begin = line.c_str() + key.size();
    char* end = nullptr;
    const std::uint64_t value = std::strtoull(begin, &end, 10);
    return end == begin ? std::nullopt : std::optional(value);  // "max": no limit
  }
  return std::nullopt;
}

/// What one control group leaves: its limit less what is used, but for pages of files, which the kernel takes back.
std::uint64_t left_in(const std::filesystem::path& group, const char* limit_name, const char* used_name) {
  const std::optional<std::uint64_t> limit = number_in(group / limit_name, "");
  const std::optional<std::uint64_t> used = number_in(group / used_name, "");
  if (!limit || !used) return unknown_memory;
  std::uint64_t file_pages = 0;
  for (const char* key : {"inactive_file ", "active_file "})
    file_pages += number_in(group / "memory.stat", key).value_or(0);
  const std::uint64_t taken = *used - std::min(*used, file_pages);
  return *limit - std::min(*limit, taken);
}

/// The same over a group and all that it is in.
std::uint64_t left_along(std::filesystem::path root, const std::string& group, const char* limit_name,
                         const char* used_name) {
  std::uint64_t left = left_in(root, limit_name, used_name);
  for (const std::filesystem::path& name : std::filesystem::path(group).relative_path()) {
    root /= name;
    left = std::min(left, left_in(root, limit_name, used_name));
  }
  return left;
}

std::uint64_t left_in_groups(const MemoryFiles& files) {
  std::uint64_t left = unknown_memory;
  std::ifstream list(files.proc / "self/cgroup");
  // Lines `number:controllers:path`; version 2 has one, without controllers.
  for (std::string line; std::getline(list, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") left = std::min(left, left_along(files.cgroups, group, "memory.max", "memory.current"));
    if (controllers.find(",memory,") != std::string::npos)
      left =
          std::min(left, left_along(files.cgroups / "memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes"));
  }
  return left;
}

}  // namespace

std::string amount_text(double bytes) {
  return bytes < 1024 * mebibyte ? fmt::format("{:.1f} MiB", bytes / mebibyte)
                                 : fmt::format("{:.1f} GiB", bytes / mebibyte / 1024);
}

std::uint64_t resident_memory(const MemoryFiles& files) {
  std::ifstream file(files.proc / "self/statm");
  std::uint64_t virtual_pages = 0, pages = 0;
  file >> virtual_pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t available_memory(const MemoryFiles& files) {
  std::uint64_t left = unknown_memory;
  if (const auto kibibytes = number_in(files.proc / "meminfo", "MemAvailable:")) left = *kibibytes * 1024;
  left = std::min(left, left_in_groups(files));
  if (const char* bound = std::getenv("THROUGHTIME_MEMORY"); bound != nullptr && *bound != '\0') {
    const std::uint64_t most = std::strtoull(bound, nullptr, 10);
    left = std::min(left, most - std::min(most, resident_memory(files)));
  }
  return left;
}

void require_memory(std::string_view speaker, std::string_view what, double bytes,
                    const std::function<std::uint64_t()>& left_bytes) {
  if (bytes < too_small_to_look) return;
  const std::uint64_t left = left_bytes();
  if (left == unknown_memory || bytes <= static_cast<double>(left)) return;
  refuse(speaker, "{} needs {} of memory, {} are left; try a smaller train.batch, length of the task or model.hidden",
         what, amount_text(bytes), amount_text(static_cast<double>(left)));
}

}  // namespace throughtime
