#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "support/scratch.h"

namespace throughtime::testing {

/// What a run directory of these tests says.
struct WrittenRun {
  std::string learner = "bptt";
  int seed = 1;
  double test = 0.5;
  std::vector<double> losses = {2, 1};  // one for every ten iterations
  double best_test = -1;  // of the weights that validation chose, at iteration 10; below 0: there were no validations
  std::string question = "length = 20";  // lines of [task]
  double naive = 0.167;
};

/// Writes the files that a finished run of the mean squared error leaves.
inline void write_run(const ScratchDirectory& scratch, const std::string& directory, const WrittenRun& run) {
  const std::string name = std::filesystem::path(directory).filename().string();
  scratch.write(directory + "/config.toml",
                fmt::format("[task]\nname = \"add\"\n{}\n\n[learner]\nname = \"{}\"\n\n[train]\nbatch = 8\nseed = "
                            "{}\n\n[run]\nname = '{}'\n",
                            run.question, run.learner, run.seed, name));
  std::string metrics;
  for (std::size_t i = 0; i < run.losses.size(); ++i)
    metrics += fmt::format("{{\"iteration\":{},\"train_loss\":{},\"rate\":0.1,\"seconds\":{}}}\n", 10 * (i + 1),
                           run.losses[i], 0.5 * static_cast<double>(i + 1));
  scratch.write(directory + "/metrics.jsonl", metrics);
  scratch.write(directory + "/environment.json", "{\"version\":\"0.1.0\",\"libraries\":{\"fmt\":\"9.1.0\"}}\n");
  const std::string best = run.best_test < 0 ? "" : fmt::format("\"iteration\":10,\"test_mse\":{}", run.best_test);
  scratch.write(directory + "/result.json",
                fmt::format("{{\"name\":\"run\",\"iterations\":{},\"updates\":100,\"seconds\":2.0,\"metric\":\"mse\","
                            "\"baseline\":{},\"metrics\":{{\"test_loss\":{},\"test_mse\":{}}},\"best\":{{{}}},\"end\":"
                            "\"finished\"}}\n",
                            10 * run.losses.size(), run.naive, run.test, run.test, best));
}

}  // namespace throughtime::testing
