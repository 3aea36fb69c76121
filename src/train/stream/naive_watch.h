#pragma once

#include <cstdint>

#include "throughtime/archive.h"

namespace throughtime {

/// Notices forecasts that have been worse than naive ones for long. Errors are compared in windows: one that is a tenth
/// or more above the naive error is worse, and the first that is not ends the stretch of bad ones.
class NaiveWatch {
 public:
  enum class News { none, worse, better };

  /// `patience`: forecasts of a bad stretch before it is news, and then again at ten times as many; 0: never.
  NaiveWatch(int window, std::int64_t patience) : window_(window), patience_(patience) {}

  /// Squared errors of one forecast, and what is to be said after it.
  News add(double error, double naive);
  /// Forecasts of the bad stretch, 0 outside of one; and their mean errors.
  std::int64_t worse() const { return stretch_.count; }
  double error() const { return stretch_.error / static_cast<double>(stretch_.count); }
  double naive() const { return stretch_.naive / static_cast<double>(stretch_.count); }
  /// Whether the stretch has been news.
  bool warned() const { return said_ > 0; }
  /// Ten times the naive error: that is no bad luck.
  bool diverged() const { return warned() && stretch_.error > 10 * stretch_.naive; }
  void archive(Archive& archive);

 private:
  struct Sums {
    std::int64_t count = 0;
    double error = 0, naive = 0;
  };
  int window_;
  std::int64_t patience_;
  Sums open_, stretch_;    // the window that is being filled; the bad ones before it
  std::int64_t said_ = 0;  // length of the stretch when it was news last
};

}  // namespace throughtime
