#include "tasks/series/series_rivals.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr int most_lags = 48;
constexpr std::size_t most_features = 256;
constexpr std::size_t most_rows = 200'000;  // the last ones of the training part: more change nothing but the time
constexpr double penalty = 1e-3;            // of a coefficient, as a share of its feature's own variance

/// The symmetric positive system A x = b, n unknowns, by Cholesky's factors, in place of A.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / a[j * n + j];
    }
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

/// A linear forecast: features are deviations from what they are at row t, so that a level that drifts away from the
/// training part is followed.
struct LinearForecast {
  std::vector<std::span<const double>> seen;
  std::span<const double> level;
  int lags = 1;
  bool from_last = false;  // the target's own level is seen: what is fitted is its change
  std::vector<double> weights;

  std::size_t features() const { return seen.size() * elements(lags) + 1; }
  void read(std::size_t t, std::vector<double>& x) const {
    x.clear();
    for (const std::span<const double> column : seen)
      for (int lag = 0; lag < lags; ++lag) {
        const std::size_t row = t - std::min(t, elements(lag));
        x.push_back(from_last && column.data() == level.data() && lag > 0 ? column[row] - column[t] : column[row]);
      }
    x.push_back(1);
  }
  double operator()(std::size_t t) const {
    std::vector<double> x;
    read(t, x);
    double sum = from_last ? level[t] : 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += weights[i] * x[i];
    return sum;
  }
};

/// The lags of `ridge` over that many columns.
int lags_of(std::size_t columns, std::size_t training_rows, int horizon) {
  columns = std::max<std::size_t>(1, columns);
  const std::size_t examples = training_rows - std::min(training_rows, elements(horizon));
  return static_cast<int>(std::min({elements(most_lags), most_features / columns, examples / (4 * columns)}));
}

/// Reads the past where it is known; else the inputs, the row's own among them.
MakeForecast linear_forecast(const RivalRules& rules, std::vector<std::span<const double>> inputs) {
  return [rules, inputs = std::move(inputs)](RivalData data, int horizon) {
    const bool past = rules.sees_past(horizon);
    if (!past) data.seen = inputs;
    const int ahead = past ? std::max(horizon, 1) : horizon;
    const int lags = ridge_lags(data, ahead);
    if (lags == 0) return naive_forecast(rules)(data, horizon);
    return ahead > horizon ? one_row_before(ridge(data, ahead, lags)) : ridge(data, horizon, lags);
  };
}

}  // namespace

MakeForecast naive_forecast(const RivalRules& rules) {
  return [rules](const RivalData& data, int horizon) {
    return rules.sees_past(horizon) ? last_value(data, horizon) : training_mean(data);
  };
}

std::vector<SimpleForecast> simple_forecasts(const RivalRules& rules, std::size_t training_rows,
                                             const std::vector<std::span<const double>>& inputs) {
  const bool any_past = rules.sees_past(rules.horizons.back()), all_past = rules.sees_past(rules.horizons.front());
  std::vector<SimpleForecast> all;
  if (any_past && rules.season > 0)
    all.push_back({"seasonal",
                   fmt::format("the value a season of {} steps before{}", rules.season,
                               all_past ? "" : "; at horizon 0 the mean"),
                   [rules](const RivalData& data, int horizon) {
                     return rules.sees_past(horizon) ? seasonal_value(data, horizon, rules.season)
                                                     : training_mean(data);
                   }});
  if (any_past)
    all.push_back(
        {"mean", "the mean of the training part", [](const RivalData& data, int) { return training_mean(data); }});
  const int past_lags = any_past ? lags_of(1, training_rows, std::max(1, rules.horizons.back())) : 0;
  const int input_lags = all_past ? 0 : lags_of(inputs.size(), training_rows, 0);
  std::vector<std::string> read;
  if (past_lags > 0) read.push_back(fmt::format("the last {} values of the target", past_lags));
  if (input_lags > 0)
    read.push_back(fmt::format("{}the last {} rows of inputs", past_lags > 0 ? "at horizon 0 of " : "", input_lags));
  if (!read.empty())
    all.push_back(
        {"ridge", fmt::format("a linear function of {}", fmt::join(read, "; ")), linear_forecast(rules, inputs)});
  return all;
}

RivalForecast last_value(const RivalData& data, int horizon) {
  return [level = data.level, horizon](std::size_t t) { return level[horizon > 0 || t == 0 ? t : t - 1]; };
}

RivalForecast seasonal_value(const RivalData& data, int horizon, int season) {
  const int back = (std::max(horizon, 1) + season - 1) / season * season;
  return [level = data.level, horizon, back](std::size_t t) {
    const std::size_t target = t + elements(horizon);
    return target >= elements(back) ? level[target - elements(back)] : level[t];
  };
}

RivalForecast training_mean(const RivalData& data) {
  double sum = 0;
  for (std::size_t row = 0; row < data.training_rows; ++row) sum += data.level[row];
  return [mean = sum / static_cast<double>(data.training_rows)](std::size_t) { return mean; };
}

RivalForecast one_row_before(RivalForecast forecast) {
  return [forecast = std::move(forecast)](std::size_t t) { return forecast(t - std::min<std::size_t>(t, 1)); };
}

int ridge_lags(const RivalData& data, int horizon) { return lags_of(data.seen.size(), data.training_rows, horizon); }

RivalForecast ridge(const RivalData& data, int horizon, int lags) {
  LinearForecast linear{.seen = data.seen, .level = data.level, .lags = lags};
  for (const std::span<const double> column : data.seen)
    linear.from_last = linear.from_last || column.data() == data.level.data();
  const std::size_t n = linear.features(), ahead = elements(horizon);
  const std::size_t end = data.training_rows - std::min(data.training_rows, ahead);
  std::vector<double> a(n * n), b(n), x;
  for (std::size_t t = end - std::min(end, most_rows); t < end; ++t) {
    linear.read(t, x);
    const double wanted = data.level[t + ahead] - (linear.from_last ? data.level[t] : 0);
    for (std::size_t i = 0; i < n; ++i) {
      b[i] += x[i] * wanted;
      for (std::size_t j = 0; j <= i; ++j) a[i * n + j] += x[i] * x[j];
    }
  }
  for (std::size_t i = 0; i + 1 < n; ++i) a[i * n + i] *= 1 + penalty;
  linear.weights = solve(std::move(a), std::move(b));
  return linear;
}

}  // namespace throughtime
