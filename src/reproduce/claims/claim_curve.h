#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/charts/curves.h"
#include "reproduce/results/stored.h"

namespace throughtime {

/// The curve that shows a measure: its own metric where the runs have a curve of it, else the validations behind a
/// number of the result ("best.test_mse": "validation_mse"), else the training loss. Empty where there is none of them.
std::string curve_behind(const Measure& measure, const std::vector<RunGroup>& groups);

/// The curves of a claim's arms, with the paper's values as lines where they are heights of that curve and the claim
/// below; nothing of it where the runs have no such curve. `groups` are the result's runs.
Chart claim_chart(const Claim& claim, const std::vector<RunGroup>& groups);
/// One for each claim that was run, and one for claims with the same curves.
std::vector<Chart> claim_charts(const ResultSpec& spec, const StoredResult& stored,
                                const std::vector<RunGroup>& groups);
/// Whether two pictures have the same curves.
bool same_curves(const Chart& first, const Chart& second);

/// Where the picture of claim `index` is kept: RESULTS/fptt/figure-1.quick.claim-2.svg for the second.
std::filesystem::path curve_path(const std::filesystem::path& results, const std::string& name, Scale scale,
                                 std::size_t index);

/// Keeps a picture of each claim that did not hold, and removes those of the others.
void store_curves(const ResultSpec& spec, const StoredResult& stored, const std::vector<RunGroup>& groups,
                  const std::filesystem::path& results);

}  // namespace throughtime
