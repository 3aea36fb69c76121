#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/groups.h"
#include "reproduce/atlas.h"

namespace throughtime {

/// The curve that shows a measure: its own metric where the runs have a curve of it, else the validations behind a
/// number of the result ("best.test_mse": "validation_mse"), else the training loss. Empty where there is none of them.
std::string curve_behind(const Measure& measure, const std::vector<RunGroup>& groups);

/// Where the picture of claim `index` is kept: RESULTS/fptt/figure-1.quick.claim-2.svg for the second.
std::filesystem::path curve_path(const std::filesystem::path& results, const std::string& name, Scale scale,
                                 std::size_t index);

/// Keeps a picture of each claim that did not hold, and removes those of the others. `groups` are the result's runs.
void store_curves(const ResultSpec& spec, const StoredResult& stored, const std::vector<RunGroup>& groups,
                  const std::filesystem::path& results);

}  // namespace throughtime
