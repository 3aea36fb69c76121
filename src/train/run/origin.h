#pragma once

#include <filesystem>
#include <string>

#include "train/run/trained_model.h"
#include "train/run/trainer.h"

namespace throughtime {

/// What another run hands over to one that begins with its weights (--from): the best ones, or the last ones where
/// validation chose none.
class Origin {
 public:
  /// Refuses a run without a checkpoint. `speaker`: who refuses a model of another shape.
  Origin(const std::filesystem::path& run, std::string speaker);

  const RunConfig& config() const { return model_.config(); }
  /// Whether a stream left these weights.
  bool is_stream() const;
  /// Where the run's task saved what belongs to its model.
  const std::string& saved_task() const { return model_.task_directory(); }
  /// The same for a run with this configuration; empty: it has another task, or those are the weights of a stream,
  /// which saves none.
  std::string task_directory(const RunConfig& config) const;
  /// Puts the weights in the place of the first ones; refuses another number, order or shape of parameters.
  FirstParameters first();
  /// Whose weights they are, for the log.
  std::string text() const;

 private:
  void require_fit(const ParameterLayout& wanted) const;

  std::string run_, speaker_;
  bool best_;
  TrainedModel model_;
};

}  // namespace throughtime
