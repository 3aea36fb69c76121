#pragma once

#include <filesystem>
#include <vector>

#include "train/run/origin.h"

namespace throughtime {

/// Where the running scale of a column begins.
struct FirstScale {
  double mean = 0;
  double deviation = 0;  // 0: not known
};

/// The scales that the weights of another run were trained with, of each column; none where they cannot go on in a
/// stream of this configuration: one of the two does not scale, or they read other columns.
struct FirstScales {
  std::vector<FirstScale> inputs, targets;
};
FirstScales first_scales(const Origin& origin, const std::filesystem::path& run, const RunConfig& stream);

}  // namespace throughtime
