#include "tasks/events/point_scores.h"

#include <algorithm>
#include <cmath>

#include "heads/exponential_intensity.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

// Of the reference code of adaptive TBPTT.
constexpr std::int64_t chunk_steps = 100;
constexpr std::int64_t skipped_steps = 20;

}  // namespace

bool PointScores::knows(Metric metric) {
  switch (metric) {
    case Metric::nll:
    case Metric::time_rmse:
    case Metric::mark_error:
    case Metric::published_nll:
    case Metric::published_time_rmse:
    case Metric::published_mark_error:
      return true;
    default:
      return false;
  }
}

void PointScores::add(std::int64_t step, double weight, double loss, const double* predictions, std::int32_t mark,
                      double interval) {
  const double a = predictions[marks_], w = predictions[marks_ + 1];
  const bool wrong = std::max_element(predictions, predictions + marks_) - predictions != mark;
  const double miss = expected_interval(a, w) - interval;
  all_.weight += weight;
  all_.loss += weight * loss;
  all_.squares += weight * miss * miss;
  if (wrong) all_.wrong += weight;
  if (longest_ > 0) add_published(step, weight, loss, predictions, wrong, interval);
}

void PointScores::add_published(std::int64_t step, double weight, double loss, const double* predictions, bool wrong,
                                double interval) {
  if (step != step_ && step % chunk_steps == 0) {
    if (step_ >= 0 && (step_ + 1) % chunk_steps == 0) chunks_loss_ += chunk_loss_;
    chunk_loss_ = 0;
  }
  step_ = step;
  chunk_loss_ += weight * loss;
  if (step < skipped_steps) return;
  const double a = predictions[marks_], w = predictions[marks_ + 1];
  if (last_mean_ < 0 || a != last_a_ || w != last_w_) {
    last_a_ = a, last_w_ = w;
    last_mean_ = truncated_interval(a, w, longest_);
  }
  const double miss = last_mean_ - interval;
  later_.weight += weight;
  later_.squares += weight * miss * miss;
  if (wrong) later_.wrong += weight;
}

double PointScores::score(Metric metric) const {
  switch (metric) {
    case Metric::nll:
      return all_.loss / all_.weight;
    case Metric::time_rmse:
      return std::sqrt(all_.squares / all_.weight);
    case Metric::mark_error:
      return all_.wrong / all_.weight;
    case Metric::published_nll:
      return (chunks_loss_ + ((step_ + 1) % chunk_steps == 0 ? chunk_loss_ : 0)) / all_.weight;
    case Metric::published_time_rmse:
      return std::sqrt(later_.squares / later_.weight);
    case Metric::published_mark_error:
      return later_.wrong / later_.weight;
    default:
      refuse("evaluate", "{} is no metric of a point process", metric_name(metric));
  }
}

}  // namespace throughtime
