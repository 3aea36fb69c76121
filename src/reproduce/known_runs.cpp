#include "reproduce/known_runs.h"

#include <fmt/format.h>

#include <cstdint>

#include "core/files.h"
#include "train/run/run_directory.h"

namespace throughtime {
namespace {

/// All of a configuration that decides what a run gives.
std::string essence(RunConfig config) {
  config.run.name.clear();
  config.run.directory.clear();
  config.run.threads = 0;  // their number decides nothing
  return resolved_config(config);
}

/// FNV-1a. Two texts with one number would cost a look at the run, which tells them apart.
std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0xcbf29ce484222325u;
  for (const char letter : text) number = (number ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return number;
}

}  // namespace

std::filesystem::path KnownRuns::file_of(const RunConfig& config) const {
  return folder_ / fmt::format("{:016x}", number_of(essence(config)));
}

bool KnownRuns::take_over(RunConfig& config) const {
  const std::filesystem::path file = file_of(config);
  if (!std::filesystem::exists(file)) return false;
  const RunDirectory directory(read_file(file));
  if (!directory.is_finished()) return false;
  const RunConfig known = directory.load_config();
  if (essence(known) != essence(config)) return false;
  config.run.name = known.run.name;
  config.run.directory = known.run.directory;
  return true;
}

void KnownRuns::remember(const RunConfig& config) const {
  make_directories(folder_);
  replace_file(file_of(config), std::filesystem::absolute(run_directory(config)).string());
}

}  // namespace throughtime
