#pragma once

#include <string>

#include "report/charts/chart.h"
#include "train/diagnose/diagnosis.h"

namespace throughtime {

/// phi over the lag: single places, their mean, and the fitted tail.
Chart decay_chart(const Diagnosis& diagnosis, const std::string& title);
/// The relative bias over K: estimated, and measured where it was.
Chart bias_chart(const Diagnosis& diagnosis, const std::string& title);
/// Both of them in one SVG document, the bias above.
std::string diagnosis_svg(const Diagnosis& diagnosis, const std::string& name);

}  // namespace throughtime
