#include "train/stream/prequential.h"

#include <algorithm>
#include <limits>

#include "throughtime/index.h"

namespace throughtime {
namespace {

double mean(double sum, double count) { return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN(); }

}  // namespace

void PrequentialMean::add(double error) {
  if (last_.size() < window_)
    last_.push_back(error);
  else
    last_[elements(count_) % window_] = error;
  sum_ += error;
  ++count_;
}

double PrequentialMean::rolling() const {
  double sum = 0;  // anew each time: no rounding piles up over an endless stream
  for (const double error : last_) sum += error;
  return mean(sum, static_cast<double>(last_.size()));
}

double PrequentialMean::cumulative() const { return mean(sum_, static_cast<double>(count_)); }

void PrequentialMean::archive(Archive& archive) {
  archive.integer("count", count_);
  archive.number_list("last", last_, std::min(window_, elements(count_)), at_least(0));
  archive.number("sum", sum_, at_least(0));
  last_.reserve(window_);
}

}  // namespace throughtime
