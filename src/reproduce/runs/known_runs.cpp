#include "reproduce/runs/known_runs.h"

#include <fmt/format.h>

#include <span>

#include "core/files.h"
#include "throughtime/communicator.h"
#include "train/files/run_directory.h"

namespace throughtime {
namespace {

/// All of a configuration that decides what a run gives.
std::string essence(RunConfig config) {
  config.run.name.clear();
  config.run.directory.clear();
  config.run.threads = 0;  // their number decides nothing
  return resolved_config(config);
}

}  // namespace

/// Two configurations with one fingerprint would cost a look at the run, which tells them apart.
std::filesystem::path KnownRuns::file_of(const RunConfig& config) const {
  const std::string text = essence(config);
  return folder_ / fmt::format("{:016x}", fingerprint(std::as_bytes(std::span(text))));
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
  const std::filesystem::path file = file_of(config);
  const std::string place = std::filesystem::absolute(run_directory(config)).string();
  if (std::filesystem::exists(file) && read_file(file) == place) return;  // writing it again would sync it again
  make_directories(folder_);
  replace_file(file, place);
}

}  // namespace throughtime
