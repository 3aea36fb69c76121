#pragma once

#include <memory>
#include <string>

#include "throughtime/arrays.h"
#include "throughtime/task_config.h"

namespace throughtime {

// Arrays as files of NumPy in a directory: SPLIT_inputs.npy [steps, D], _tokens [steps], _labels or _targets (one for
// each step, or one for each sequence), _weights [steps], and _lengths [sequences], the steps of each; without it a
// part is one recording. SPLIT is train, validation or test.

std::shared_ptr<const ArrayData> read_arrays(const ArraysConfig& config);
void write_arrays(const ArrayData& data, const std::string& directory);

}  // namespace throughtime
