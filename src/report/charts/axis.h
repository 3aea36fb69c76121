#pragma once

#include <string>
#include <vector>

#include "report/charts/chart.h"

namespace throughtime {

struct Tick {
  double position = 0;  // 0 at the low end of the axis, 1 at its high end
  std::string label;
};

/// One axis of a chart: the range that holds all of its values, and where a value lies on it.
class Axis {
 public:
  /// The range of `values`; those that cannot be on this axis are ignored. `margin` is the share of the range that is
  /// added at either end.
  Axis(const std::vector<double>& values, bool logarithmic, double margin);

  double low() const { return low_; }
  double high() const { return high_; }
  bool logarithmic() const { return logarithmic_; }
  /// False where no value could be drawn.
  bool any() const { return any_; }

  /// 0 at the low end, 1 at the high end; NaN for a value that this axis cannot show.
  double position(double value) const;
  /// About `count` ticks at round numbers, in rising order.
  std::vector<Tick> ticks(int count) const;

 private:
  bool shows(double value) const;
  std::vector<Tick> linear_ticks(int count) const;
  std::vector<Tick> decade_ticks(int count) const;

  bool logarithmic_;
  bool any_ = false;
  double low_ = 0, high_ = 1;
};

/// A number with some significant digits, as short as it can be said: 0.001, 250, 67713, 1e-05 as "1e-5".
std::string short_number(double value, int digits = 4);

/// The axes of a chart with room for bands and reference lines.
Axis x_axis_of(const Chart& chart);
Axis y_axis_of(const Chart& chart);

/// A stretch of a curve without gaps, in positions on the axes; low and high are empty where it has no band.
struct Stretch {
  std::vector<double> x, y, low, high;
};
/// The stretches of a curve, thinned to what `columns` pixels can show without losing an extreme.
std::vector<Stretch> stretches_of(const Curve& curve, const Axis& x, const Axis& y, int columns);

}  // namespace throughtime
