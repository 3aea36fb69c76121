#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>

#include "support/metrics.h"
#include "support/scratch.h"
#include "train/checkpoint/checkpoint.h"

namespace throughtime::testing {

struct FaultyOutcome {
  int code = -1;
  std::string err;

  bool crashed() const { return code < 0 || code >= 124; }  // 124: `timeout` ended it; 128 and more: a signal did
  /// One line from the command, and no other.
  bool refused() const {
    return (code == 1 || code == 2) && err.starts_with("throughtime: ") && err.find('\n') == err.size() - 1;
  }
};

/// Runs `throughtime ARGUMENTS` in a directory with the library of faults; `variables`: THROUGHTIME_FAULT...=VALUE.
inline FaultyOutcome run_faulty(const std::filesystem::path& directory, const std::string& arguments,
                                const std::string& variables = "") {
  const std::string line = "cd '" + directory.string() + "' && timeout 60 env " + variables +
                           " LD_PRELOAD=" + THROUGHTIME_FAULT_LIBRARY + " " + THROUGHTIME_COMMAND + " " + arguments +
                           " </dev/null >out 2>err";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(directory / "err")};
}

/// How often each kind of call was made.
inline std::map<std::string, long> calls_of(const std::filesystem::path& file) {
  std::istringstream lines(text_of(file));
  std::map<std::string, long> calls;
  std::string kind;
  for (long count = 0; lines >> kind >> count;) calls[kind] = count;
  return calls;
}

/// Everything that a run has learned and told, without what depends on the clock.
inline std::string learned_in(const std::filesystem::path& run) {
  std::string text = metrics_without_times(run);
  for (const Tensor& tensor : read_tensors(run / "checkpoints/last.safetensors", true).tensors) {
    if (tensor.name.starts_with("throughtime.")) continue;
    text += tensor.name;
    text.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  }
  return text;
}

/// Files that were begun and never got their name.
inline int half_written_in(const std::filesystem::path& directory) {
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    found += entry.path().extension() == ".partial";
  return found;
}

/// A model that is trained in a moment, with validations and checkpoints on the way.
inline const char* const faulty_training =
    "[task.add]\nlength = 4\n[model]\nhidden = 4\n[train]\niterations = 12\nbatch = 4\nevaluate_every = 5\n"
    "evaluate_batches = 1\nreport_every = 2\n[run]\nthreads = 1\ncheckpoint_every = 4\n";

}  // namespace throughtime::testing
