#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reproduce/runs/cost.h"

namespace throughtime {

/// Something that is not run, and why.
struct LeftOut {
  std::string what;
  std::string why;
};

/// All results of a scale, as they are worked off.
struct Programme {
  std::vector<ResultSpec> results;  // the cheapest first, so that most answers come early; unknown costs last
  std::vector<double> seconds;      // of one core, one for each; NaN: not known
  std::vector<LeftOut> left_out;    // results that cannot be run, or whose claims that scale cannot decide
  std::vector<LeftOut> undecided;   // claims of the results that are run which need full scale
};
/// `costs` and what is stored under `results` say what a result takes.
Programme programme_of(const std::vector<ResultSpec>& specs, Scale scale, const Costs& costs,
                       const std::filesystem::path& results);

/// What is left before result number `next`, in words: "about 80 min left on 2 cores"; results without a known
/// cost are counted beside it.
std::string left_text(const Programme& programme, std::size_t next, int cores);

}  // namespace throughtime
