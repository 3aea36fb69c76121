#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "throughtime/saved.h"
#include "train/files/run_directory.h"
#include "train/run/trainer.h"

namespace throughtime {

/// Trains a configuration into a new run directory (run_directory(config)). `force` overwrites an old run; `test` false
/// leaves the test split alone. `ranks`: the processes that train together, which all come here; rank 0 alone writes.
/// `from`: a run that it begins with the best weights of (the last ones, where no validation chose any), and with what
/// that run knows of its data, such as a vocabulary.
RunResult train_run(const RunConfig& config, Observer& observer, bool force = false, bool test = true,
                    const std::shared_ptr<Communicator>& ranks = nullptr, const std::filesystem::path& from = {});

/// What a program that holds the weights itself does around a run.
struct RunHooks {
  FirstParameters first = {};                 // the run begins with them, and so does one that is resumed at once
  std::function<void(Trainer&)> before = {};  // with the trainer that is ready to run
  std::function<void(Trainer&)> after = {};   // however the run ended, unless it failed
};
/// Trains a configuration into a new run directory, or without any where `recorded` is false. Tests nothing.
RunResult train_run(const RunConfig& config, Observer& observer, const RunHooks& hooks, bool recorded);

/// Goes on from the last checkpoint of a run, bit for bit: interrupted plus resumed equals uninterrupted. `previous`
/// sets a damaged last checkpoint aside and goes on from the one before it. The number of ranks may be another.
RunResult resume_run(const std::filesystem::path& run, const std::vector<std::string>& overrides, Observer& observer,
                     bool previous = false, bool test = true, const std::shared_ptr<Communicator>& ranks = nullptr);

/// How much of a model a file of weights filled.
struct ImportShare {
  std::size_t copied = 0;              // parameters (named blocks of them) that were in the file
  std::vector<std::string> kept = {};  // those that were not
  std::size_t tensors = 0;             // of the file
  /// In words.
  std::string text() const;
};
/// Makes a run directory with a first checkpoint whose parameters are those of `weights`, to be resumed. It becomes a
/// run once that checkpoint is there.
ImportShare start_run_with(const RunConfig& config, const TensorFile& weights, bool force);
/// Puts `weights` in the place of the parameters of a run's last checkpoint. The run goes on where it was, with a
/// learner and an optimizer that begin anew: nothing of theirs belongs to these weights. Nor do the best ones so far,
/// which are forgotten.
ImportShare replace_parameters(const std::filesystem::path& run, const TensorFile& weights);

/// Refuses the run of a stream, which has no splits to evaluate on.
void require_splits(const std::filesystem::path& run);
/// A run with the parameters of its last, or best, checkpoint; needs the data of its task (trained_model.h does not).
/// `overrides` may say where that data lies now.
std::unique_ptr<Trainer> open_run(const std::filesystem::path& run, bool best,
                                  const std::vector<std::string>& overrides = {});
/// Whether those are the best ones.
bool takes_best(const std::filesystem::path& run, Checkpoint checkpoint);
/// The iteration after which that checkpoint was written; none where it does not say.
std::optional<std::int64_t> iteration_of_weights(const std::filesystem::path& run, bool best);
/// That checkpoint itself.
TensorFile load_checkpoint(const std::filesystem::path& run, bool best);

}  // namespace throughtime
