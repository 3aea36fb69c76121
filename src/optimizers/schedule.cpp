#include <cmath>
#include <utility>

#include "throughtime/archive.h"
#include "throughtime/error.h"
#include "throughtime/optimizer.h"

namespace throughtime {

Schedule::Schedule(ScheduleConfig config, double base_rate) : config_(std::move(config)), base_rate_(base_rate) {
  if (!(base_rate >= 0 && std::isfinite(base_rate)))
    refuse("schedule", "the learning rate must be 0 or a positive number, got {}", base_rate);
  if (!(config_.factor > 0 && std::isfinite(config_.factor)))
    refuse("schedule", "factor must be a positive number, got {}", config_.factor);
  if (config_.patience < 0) refuse("schedule", "patience must be at least 0, got {}", config_.patience);
  for (const double epoch : config_.epochs)
    if (!(epoch >= 0)) refuse("schedule", "epochs must be 0 or positive numbers, got {}", epoch);
}

double Schedule::rate(std::int64_t update, double epoch) const {
  if (config_.rule == ScheduleRule::plateau) return base_rate_ * multiplier_;
  if (config_.rule == ScheduleRule::inverse_sqrt) return base_rate_ / std::sqrt(static_cast<double>(update));
  double rate = base_rate_;
  if (config_.rule == ScheduleRule::factor_at)
    for (const double change : config_.epochs)
      if (epoch >= change) rate *= config_.factor;
  return rate;
}

void Schedule::observe_validation(double loss) {
  if (config_.rule != ScheduleRule::plateau) return;
  // Written so that a loss that is no number counts as no improvement.
  if (seen_ ? loss < best_ : !std::isnan(loss)) {
    best_ = loss;
    seen_ = true;
    bad_ = 0;
    return;
  }
  if (++bad_ <= config_.patience) return;
  multiplier_ *= config_.factor;
  bad_ = 0;
}

void Schedule::archive(Archive& archive) {
  archive.number("multiplier", multiplier_, at_least(0));
  archive.number("best", best_);
  archive.flag("seen", seen_);
  archive.integer("bad", bad_, small_count());
}

}  // namespace throughtime
