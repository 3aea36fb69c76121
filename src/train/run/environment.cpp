#include "train/run/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <hwy/highway.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <toml++/toml.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "core/instructions.h"
#include "core/launch.h"
#include "throughtime/index.h"

// Known when the build is configured.
#ifndef THROUGHTIME_VERSION
#define THROUGHTIME_VERSION "unknown"
#endif
#ifndef THROUGHTIME_COMMIT
#define THROUGHTIME_COMMIT "unknown"
#endif

namespace throughtime {
namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string system_name() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

std::string now_text() { return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(std::time(nullptr))); }

/// A word as a shell reads it back.
std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

/// The command line of this process; empty where the system does not tell.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; std::getline(file, word, '\0');) {
    if (!text.empty()) text += ' ';
    text += shell_word(word);
  }
  return text;
}

}  // namespace

std::string version() { return THROUGHTIME_VERSION; }
std::string commit() { return THROUGHTIME_COMMIT; }

std::size_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return elements(usage.ru_maxrss) * 1024;
}

std::string environment_json(const RunPlan& plan) {
  const nlohmann::ordered_json environment = {
      {"version", version()},
      {"commit", commit()},
      {"started", now_text()},
      {"command", command_line()},
      {"compiler", compiler()},
      {"system", system_name()},
      {"processor", processor()},
      {"cores", std::thread::hardware_concurrency()},
      {"instructions", instruction_set()},
      {"engine", plan.engine},
      {"threads", plan.threads},
      {"ranks", plan.ranks},
      {"mpi", mpi_text()},
      {"libraries",
       {{"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
        {"highway", fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
        {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                      NLOHMANN_JSON_VERSION_PATCH)},
        {"toml++", fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH)}}},
  };
  return environment.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace throughtime
