#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace throughtime {

/// Where the kernel tells of memory; tests write files of their own.
struct MemoryFiles {
  std::filesystem::path proc = "/proc";
  std::filesystem::path cgroups = "/sys/fs/cgroup";
};

inline constexpr std::uint64_t unknown_memory = UINT64_MAX;

/// Bytes that this process can still take without swapping or being killed: what the machine has left, or what its
/// control groups (versions 1 and 2, every level above it too) leave it, whichever is less. Pages of files count as
/// left. The environment variable THROUGHTIME_MEMORY bounds the bytes of this process. unknown_memory: nobody tells.
std::uint64_t available_memory(const MemoryFiles& files = {});

/// Bytes that this process has touched and holds; 0: nobody tells.
std::uint64_t resident_memory(const MemoryFiles& files = {});

/// "3.0 MiB" or "1.5 GiB".
std::string amount_text(double bytes);

/// Refuses what needs more than is left: both numbers in one line, before any of it is touched. Small amounts pass
/// without a look. `what` is a subject: "a tape of 7 steps". `left_bytes` tells what is; else this process asks for
/// itself.
void require_memory(
    std::string_view speaker, std::string_view what, double bytes,
    const std::function<std::uint64_t()>& left_bytes = [] { return available_memory(); });

}  // namespace throughtime
