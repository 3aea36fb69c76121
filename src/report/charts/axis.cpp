#include "report/charts/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

/// A drawing works with numbers that it can subtract and divide.
constexpr double largest = 1e300;

/// The power of ten with 1, 2 or 5 in front that is at least `size`.
double round_step(double size) {
  const double decade = std::pow(10.0, std::floor(std::log10(size)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= size * (1 - 1e-9)) return factor * decade;
  return 10 * decade;
}

void add(std::vector<double>& values, const std::vector<double>& more) {
  values.insert(values.end(), more.begin(), more.end());
}

/// Keeps the first, the lowest, the highest and the last point of every pixel column.
Stretch thinned(const Stretch& stretch, int columns) {
  const std::size_t size = stretch.x.size();
  if (size <= 4 * elements(columns)) return stretch;
  Stretch result;
  const auto keep = [&](std::size_t i) {
    result.x.push_back(stretch.x[i]);
    result.y.push_back(stretch.y[i]);
    if (!stretch.low.empty()) {
      result.low.push_back(stretch.low[i]);
      result.high.push_back(stretch.high[i]);
    }
  };
  const auto column_of = [&](std::size_t i) { return std::floor(stretch.x[i] * columns); };
  for (std::size_t begin = 0; begin < size;) {
    std::size_t end = begin, lowest = begin, highest = begin;
    for (; end < size && column_of(end) == column_of(begin); ++end) {
      if (stretch.y[end] < stretch.y[lowest]) lowest = end;
      if (stretch.y[end] > stretch.y[highest]) highest = end;
    }
    std::vector<std::size_t> chosen = {begin, lowest, highest, end - 1};
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const std::size_t i : chosen) keep(i);
    begin = end;
  }
  return result;
}

void require_lengths(const Curve& curve) {
  if (curve.x.size() != curve.y.size())
    refuse("chart", "curve '{}' must have as many y as x ({}), got {}", curve.label, curve.x.size(), curve.y.size());
  if (curve.low.size() != curve.high.size() || (!curve.low.empty() && curve.low.size() != curve.x.size()))
    refuse("chart", "the band of curve '{}' must have as many edges as points ({}), got {} and {}", curve.label,
           curve.x.size(), curve.low.size(), curve.high.size());
}

}  // namespace

bool Axis::shows(double value) const { return std::abs(value) <= largest && (!logarithmic_ || value > 1e-300); }

Axis::Axis(const std::vector<double>& values, bool logarithmic, double margin) : logarithmic_(logarithmic) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!shows(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  any_ = low <= high;
  if (!any_) {
    low_ = logarithmic ? 0.1 : 0;
    return;
  }
  if (logarithmic) {
    const double room = high > low ? margin * std::log10(high / low) : 0.5;
    low_ = low * std::pow(10, -room);
    high_ = high * std::pow(10, room);
    return;
  }
  const double room = high > low ? margin * (high - low) : (high == 0 ? 1 : 0.1 * std::abs(high));
  low_ = low - room;
  high_ = high + room;
  // What is never negative starts at zero unless that would waste the picture.
  if (margin > 0 && low >= 0 && low < 0.3 * high) low_ = 0;
}

double Axis::position(double value) const {
  if (!shows(value)) return std::numeric_limits<double>::quiet_NaN();
  return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
}

std::vector<Tick> Axis::linear_ticks(int count) const {
  const double step = round_step((high_ - low_) / std::max(count, 1));
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 12);
  const bool plain = decimals <= 5 && std::max(std::abs(low_), std::abs(high_)) < 1e6;
  std::vector<Tick> ticks;
  // Counted from the first one, since a step may be too small to change a large number.
  const double first = std::ceil(low_ / step - 1e-9);
  for (int i = 0; i <= 2 * count + 2; ++i) {
    const double value = (first + i) * step;
    if (value > high_ + 1e-9 * (high_ - low_)) break;
    const double rounded = std::abs(value) < 1e-9 * step ? 0 : value;
    ticks.push_back({position(rounded), plain ? fmt::format("{:.{}f}", rounded, decimals) : short_number(rounded)});
  }
  return ticks;
}

std::vector<Tick> Axis::decade_ticks(int count) const {
  const int first = static_cast<int>(std::floor(std::log10(low_))),
            last = static_cast<int>(std::ceil(std::log10(high_)));
  const double decades = std::log10(high_ / low_);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / std::max(count, 1))));
  std::vector<double> factors = {1};
  if (decades * 3 <= count)
    factors = {1, 2, 5};
  else if (decades * 2 <= count)
    factors = {1, 3};
  std::vector<Tick> ticks;
  for (int power = first; power <= last; ++power) {
    if (power % stride != 0) continue;
    for (const double factor : factors) {
      const double value = factor * std::pow(10.0, power);
      if (value >= low_ * (1 - 1e-9) && value <= high_ * (1 + 1e-9))
        ticks.push_back({position(value), short_number(value)});
    }
  }
  return ticks;
}

std::vector<Tick> Axis::ticks(int count) const {
  if (!logarithmic_) return linear_ticks(count);
  const std::vector<Tick> ticks = decade_ticks(count);
  return ticks.size() >= 2 ? ticks : linear_ticks(count);
}

std::string short_number(double value, int digits) {
  // Whole numbers of everyday size are said in full.
  if (std::abs(value) < 1e6 && std::abs(value) >= std::pow(10.0, digits)) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.{}g}", value, digits);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text;
  return fmt::format("{}e{}", text.substr(0, exponent), std::stoi(text.substr(exponent + 1)));
}

Axis x_axis_of(const Chart& chart) {
  std::vector<double> values;
  bool points = false;
  for (const Curve& curve : chart.curves) {
    require_lengths(curve);
    points = points || curve.points;
    for (std::size_t i = 0; i < curve.x.size(); ++i)
      if (std::isfinite(curve.y[i]) && (!chart.log_y || curve.y[i] > 0)) values.push_back(curve.x[i]);
  }
  return {values, chart.log_x, points ? 0.03 : 0};
}

Axis y_axis_of(const Chart& chart) {
  std::vector<double> values;
  for (const Curve& curve : chart.curves) {
    add(values, curve.y);
    for (const double low : curve.low) values.push_back(chart.never_negative ? std::max(low, 0.0) : low);
    add(values, curve.high);
    for (const Spot& spot : curve.chosen) values.push_back(spot.y);
  }
  for (const ReferenceLine& reference : chart.references) values.push_back(reference.y);
  return {values, chart.log_y, 0.05};
}

std::vector<Stretch> stretches_of(const Curve& curve, const Axis& x, const Axis& y, int columns) {
  std::vector<Stretch> stretches;
  bool open = false;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const double across = x.position(curve.x[i]), up = y.position(curve.y[i]);
    if (!std::isfinite(across) || !std::isfinite(up)) {
      open = false;
      continue;
    }
    if (!open) stretches.emplace_back();
    open = true;
    Stretch& stretch = stretches.back();
    stretch.x.push_back(across);
    stretch.y.push_back(up);
    if (curve.low.empty()) continue;
    // A band that leaves a logarithmic axis at the bottom ends at the picture's edge.
    const double low = y.position(curve.low[i]), high = y.position(curve.high[i]);
    stretch.low.push_back(std::isfinite(low) ? std::max(low, 0.0) : (curve.low[i] <= 0 ? 0.0 : up));
    stretch.high.push_back(std::isfinite(high) ? high : up);
  }
  for (Stretch& stretch : stretches) stretch = thinned(stretch, columns);
  return stretches;
}

}  // namespace throughtime
