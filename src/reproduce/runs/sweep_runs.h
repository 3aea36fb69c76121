#pragma once

#include "reproduce/runs/undertaking.h"

namespace throughtime {

/// The runs that choose the settings of each arm, before any that is judged.
struct SweepRuns {
  std::vector<Part> parts;                                // arm by arm, point by point, seed by seed
  std::map<std::string, std::vector<SweepPoint>> points;  // of each arm; one point: nothing to choose, no runs
  int jobs = 1;
};

/// None where the result has no sweep, or at quick scale, which takes the settings of the file.
SweepRuns undertake_sweep(const ResultSpec& spec, const ReproduceRequest& request);

/// The best point of each arm by the measure of the sweep; `ends` are those of the parts, which all have an answer. A
/// run that broke is worse than every other. Finished runs become known.
SweepChoices choose(const ResultSpec& spec, const SweepRuns& runs, const std::vector<JobEnd>& ends,
                    const KnownRuns& known);

}  // namespace throughtime
