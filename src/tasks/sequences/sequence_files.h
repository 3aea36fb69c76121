#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/tables/labelled_sequences.h"
#include "throughtime/task_config.h"

namespace throughtime {

/// All files of the task `sequences`, one after the other, and how many sequences each has.
struct SequenceFiles {
  LabelledSequences sequences;
  std::vector<std::size_t> counts;
};
/// Refuses files whose columns differ.
SequenceFiles read_sequence_files(const SequencesConfig& config);

/// The sequences of a file or folder as that task reads them, with these inputs and without their targets.
LabelledSequences read_unlabelled(const SequencesConfig& config, const std::vector<std::string>& inputs,
                                  const std::string& path);

}  // namespace throughtime
