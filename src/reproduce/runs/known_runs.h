#pragma once

#include <filesystem>

#include "train/options/config.h"

namespace throughtime {

/// Runs that several results have in common are trained once. A folder holds a file for each finished run, called after
/// its configuration, that says where the run is.
class KnownRuns {
 public:
  explicit KnownRuns(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Gives a configuration the name and directory of a finished run that differs from it in nothing else, where one is
  /// known and still there. False: it stays as it was.
  bool take_over(RunConfig& config) const;
  /// The run of this configuration is finished.
  void remember(const RunConfig& config) const;

 private:
  std::filesystem::path file_of(const RunConfig& config) const;

  std::filesystem::path folder_;
};

}  // namespace throughtime
