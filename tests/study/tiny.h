#pragma once

#include <filesystem>
#include <string>

#include "train/options/config.h"

namespace throughtime::testing {

/// A run of a moment.
inline RunConfig tiny(const std::filesystem::path& directory) {
  RunConfig config;
  config.task.add.length = 4;
  config.model.hidden = {4};
  config.train.iterations = 20;
  config.train.batch = 4;
  config.train.evaluate_every = 10;
  config.run.threads = 1;
  config.run.name = "tiny";
  config.run.directory = directory.string();
  return config;
}

/// The same as a file, on the reference engine.
inline const std::string tiny_file =
    "[task]\nlength = 4\n[model]\nhidden = 4\n[train]\niterations = 20\nbatch = 4\nevaluate_every = 10\n"
    "[run]\nengine = \"reference\"\nthreads = 1\n";

}  // namespace throughtime::testing
