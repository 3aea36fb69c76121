#pragma once

#include <string>

#include "train/files/result_file.h"

namespace throughtime {

/// The confusion of a result.json: that of the chosen weights (best on validation) where there are any, else of the
/// last. No classes: the result has none, or what it has is damaged.
Confusion confusion_of(const ResultFile& result);

/// An SVG: true classes down, predicted ones across, each cell as dark as its share of the true class. It takes the ink
/// of the page around it, so that it is legible on light and dark paper.
std::string confusion_svg(const Confusion& confusion);

}  // namespace throughtime
