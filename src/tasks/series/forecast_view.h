#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "throughtime/task.h"

namespace throughtime {

/// One target of a forecast. A model gives out (level - base - mean) / deviation, where the base is 0, or what a change
/// begins with.
struct ForecastTarget {
  std::string name;  // "OT", or "OT +24" where there are several horizons
  std::string column;
  int horizon = 0;
  double mean = 0;
  double deviation = 1;
  double scale = 1;  // the deviation of the column in the training part: what scaled errors are divided by
};

/// The targets of a task in the numbers of its recording.
class ForecastView {
 public:
  virtual ~ForecastView() = default;
  virtual const std::vector<ForecastTarget>& targets() const = 0;
  /// What target `target` of a step of a split is.
  virtual double level(Split split, std::int64_t step, std::size_t target) const = 0;
  /// What the model's output is added to: 0 where it predicts the level itself.
  virtual double base(Split split, std::int64_t step, std::size_t target) const = 0;
  /// The row of the recording that a step of a split is.
  virtual std::int64_t row(Split split, std::int64_t step) const = 0;
  /// The coefficient of Metric::pre_emphasis_esr; 0: it is not measured.
  virtual double pre_emphasis() const { return 0; }
};

}  // namespace throughtime
