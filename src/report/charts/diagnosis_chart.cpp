#include "report/charts/diagnosis_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::size_t faint_curves = 20;  // single places in a chart

}  // namespace

Chart decay_chart(const Diagnosis& diagnosis, const std::string& title) {
  Chart chart{.title = title, .x_label = "lag k (steps)", .y_label = "|dL/dh| k steps back", .log_y = true};
  const std::size_t lags = elements(diagnosis.lags + 1);
  const std::size_t places = std::min<std::size_t>(diagnosis.draws.size() / lags, faint_curves);
  Curve mean{.label = fmt::format("mean of {} places", diagnosis.positions)},
      tail{.label = fmt::format("tail: {:.4f} a step", diagnosis.beta)};
  for (const TruncationFacts& facts : diagnosis.lengths) {
    mean.x.push_back(facts.truncation);
    mean.y.push_back(facts.phi);
  }
  for (std::size_t s = 0; s < places; ++s) {
    const auto first = diagnosis.draws.begin() + static_cast<std::ptrdiff_t>(s * lags);
    chart.curves.push_back(
        {.label = "one place", .x = mean.x, .y = {first, first + diagnosis.lags + 1}, .faint = true});
  }
  chart.curves.push_back(mean);
  if (diagnosis.beta > 0 && std::isfinite(diagnosis.beta)) {
    for (int k = diagnosis.tail; k <= diagnosis.lags; ++k) {
      tail.x.push_back(k);
      tail.y.push_back(mean.y[diagnosis.tail] * std::pow(diagnosis.beta, k - diagnosis.tail));
    }
    chart.curves.push_back(tail);
  }
  return chart;
}

Chart bias_chart(const Diagnosis& diagnosis, const std::string& title) {
  Chart chart{.title = title, .x_label = "truncation K (steps)", .y_label = "relative bias", .log_y = true};
  Curve estimated{.label = "estimated"}, measured{.label = "measured"};
  for (const TruncationFacts& facts : diagnosis.lengths) {
    if (facts.truncation > last_shown_length(diagnosis)) break;
    estimated.x.push_back(facts.truncation);
    estimated.y.push_back(facts.relative_bias);
    if (!facts.measured_bias) continue;
    measured.x.push_back(facts.truncation);
    measured.y.push_back(*facts.measured_bias);
  }
  chart.curves.push_back(estimated);
  if (!measured.x.empty()) chart.curves.push_back(measured);
  for (const TruncationChoice& choice : diagnosis.choices)
    chart.references.push_back({choice.reached ? fmt::format("below {} from K = {}", choice.delta, choice.truncation)
                                               : fmt::format("delta = {}", choice.delta),
                                choice.delta});
  return chart;
}

std::string diagnosis_svg(const Diagnosis& diagnosis, const std::string& name) {
  constexpr int width = 720, height = 420;
  std::string below = svg_of(decay_chart(diagnosis, "Norm of the gradient over the lag"), width, height);
  below.insert(below.find("<svg") + 4, fmt::format(" y=\"{}\"", height));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n{2}{3}</svg>\n",
      width, 2 * height, svg_of(bias_chart(diagnosis, name + ": bias of a truncated gradient"), width, height), below);
}

}  // namespace throughtime
