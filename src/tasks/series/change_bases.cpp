#include "tasks/series/change_bases.h"

#include <algorithm>

#include "throughtime/index.h"

namespace throughtime {

ChangeBases::ChangeBases(const Standardisation& scales, const std::vector<int>& horizons,
                         const std::vector<std::string>& columns)
    : targets_(scales.targets.size()), bases_(scales.targets.size(), 0.0) {
  const std::size_t width = std::max<std::size_t>(1, targets_.size() / std::max<std::size_t>(1, horizons.size()));
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const std::string& change_of = scales.targets[i].change_of;
    const auto place = std::ranges::find(columns, change_of);
    if (!change_of.empty() && place != columns.end()) targets_[i].column = elements(place - columns.begin());
    targets_[i].of_step_before = i / width < horizons.size() && horizons[i / width] == 0;
  }
}

std::span<const double> ChangeBases::take(std::span<const double> inputs, std::span<const double> beside) {
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (!knows(i)) continue;
    Target& target = targets_[i];
    const double level = target.column < inputs.size() ? inputs[target.column] : beside[target.column - inputs.size()];
    bases_[i] = target.of_step_before && begun_ ? target.level : level;
    target.level = level;
  }
  begun_ = true;
  return bases_;
}

}  // namespace throughtime
