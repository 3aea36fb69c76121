#include "train/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "learners/lag_gradients.h"
#include "learners/phi.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr std::size_t measure_bytes = std::size_t{512} << 20;  // the largest tape for a measured bias
constexpr std::size_t measure_parameters = 2'000'000;          // and the largest gradient, read once per lag
constexpr std::size_t faint_curves = 20;                       // single places in a chart

/// Activations of a window of 2K + 1 cells with K losses, from what one more cell and one more loss take.
class WindowBytes {
 public:
  WindowBytes(Engine& engine, int batch) {
    const auto bytes = [&](int steps, int losses) {
      return engine.make_tape({.steps = steps, .batch = batch, .keep = Keep::gradient, .losses = losses})
          ->activation_bytes();
    };
    one_ = bytes(2, 1);
    cell_ = bytes(3, 1) - one_;
    loss_ = bytes(2, 2) - one_;
  }
  std::size_t of(int truncation) const {
    const auto k = static_cast<std::size_t>(std::max(1, truncation));
    return one_ + (2 * k - 1) * cell_ + (k - 1) * loss_;
  }

 private:
  std::size_t one_ = 0, cell_ = 0, loss_ = 0;
};

double length_of(const std::vector<double>& vector) {
  double squares = 0;
  for (const double value : vector) squares += value * value;
  return std::sqrt(squares);
}

/// |g_k - g| / |g| for k = 0 ... R on the places of draw 0; the full gradient goes back to the zero state.
std::vector<double> measured_biases(Trainer& trainer, PhiCollector& collector, int lags) {
  LagGradients gradients(trainer.engine(), collector.steps(), collector.places());
  const Window& window = collector.places_of(0);
  std::vector<double> full, biases;
  gradients.run(window, trainer.parameters(), false, [&](int, const std::vector<double>& gradient) { full = gradient; });
  gradients.run(window, trainer.parameters(), false, [&](int lag, const std::vector<double>& gradient) {
    if (lag > lags) return;
    std::vector<double> difference(full.size());
    for (std::size_t i = 0; i < full.size(); ++i) difference[i] = gradient[i] - full[i];
    biases.push_back(length_of(difference) / length_of(full));
  });
  return biases;
}

std::string measure_refusal(Trainer& trainer, const PhiCollector& collector, const DiagnosisRequest& request) {
  if (!request.measure) return "not asked for";
  const std::size_t size = trainer.engine().model().parameters().size();
  if (size > measure_parameters)
    return fmt::format("{} parameters are more than the {} that are read at every lag", size, measure_parameters);
  const std::size_t bytes = LagGradients::tape_bytes(trainer.engine(), collector.steps(), collector.places());
  if (bytes > measure_bytes)
    return fmt::format("full back-propagation needs {} MiB, more than {}", bytes >> 20, measure_bytes >> 20);
  return "";
}

EstimateConfig estimate_config(const RunConfig& config, const DiagnosisRequest& request) {
  EstimateConfig estimate = config.learner.estimate;
  if (request.positions >= 0) estimate.positions = request.positions;
  if (request.lags >= 0) {
    estimate.lags = request.lags;
    estimate.tail = 0;
  }
  estimate.dropout = false;
  return estimate;
}

void add_lengths(Diagnosis& diagnosis, const DecayEstimate& estimate, const std::vector<double>& measured,
                 const WindowBytes& bytes) {
  for (int k = 0; k <= diagnosis.lags; ++k) {
    const auto index = static_cast<std::size_t>(k);
    TruncationFacts facts{.truncation = k,
                          .phi = estimate.phi()[index],
                          .absolute_bias = estimate.absolute_bias(k),
                          .relative_bias = estimate.relative_bias(k),
                          .activation_bytes = bytes.of(k)};
    if (index < measured.size()) facts.measured_bias = measured[index];
    diagnosis.lengths.push_back(facts);
  }
}

nlohmann::ordered_json number(double value) {  // JSON has no infinity
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace

Diagnosis diagnose(Trainer& trainer, const DiagnosisRequest& request) {
  const EstimateConfig config = estimate_config(trainer.config(), request);
  const DecayOptions options = decay_options(config);
  const int batch = trainer.config().train.batch;
  PhiCollector collector(trainer.engine(), config, batch, [&](std::uint64_t draw, int rows, int steps) -> const Window& {
    return trainer.task().make_positions(draw, batch, rows, steps);
  });
  PhiSample sample = collector.collect(trainer.parameters(), 0);
  const auto& phi = sample.means.phi;
  if (std::all_of(phi.begin() + 1, phi.end(), [](double value) { return value == 0; }))
    refuse("diagnose", "no gradient flows from one step to the one before it: the model has no recurrence that matters");
  const DecayEstimate estimate(sample.means, options);

  Diagnosis diagnosis{.positions = collector.places(),
                      .lags = config.lags,
                      .burn_in = config.burn_in,
                      .tail = options.tail,
                      .longest = std::max(config.longest, config.lags),
                      .batch = batch,
                      .beta = estimate.beta(),
                      .decays = estimate.decays(),
                      .measured = measure_refusal(trainer, collector, request)};
  std::vector<double> measured;
  if (diagnosis.measured.empty()) measured = measured_biases(trainer, collector, config.lags);
  const WindowBytes bytes(trainer.engine(), batch);
  add_lengths(diagnosis, estimate, measured, bytes);
  for (const double delta : {0.9, 0.5, 0.1}) {
    const int k = estimate.truncation(delta, 1, diagnosis.longest);
    diagnosis.choices.push_back({delta, k, estimate.relative_bias(k) < delta, bytes.of(k)});
  }
  diagnosis.draws = std::move(sample.draws);
  return diagnosis;
}

Chart decay_chart(const Diagnosis& diagnosis, const std::string& title) {
  Chart chart{.title = title, .x_label = "lag k (steps)", .y_label = "|dL/dh| k steps back", .log_y = true};
  const auto lags = static_cast<std::size_t>(diagnosis.lags) + 1;
  const std::size_t places = std::min<std::size_t>(diagnosis.draws.size() / lags, faint_curves);
  Curve mean{.label = "mean"}, tail{.label = fmt::format("beta = {:.4f}", diagnosis.beta)};
  for (const TruncationFacts& facts : diagnosis.lengths) {
    mean.x.push_back(facts.truncation);
    mean.y.push_back(facts.phi);
  }
  for (std::size_t s = 0; s < places; ++s) {
    const auto first = diagnosis.draws.begin() + static_cast<std::ptrdiff_t>(s * lags);
    chart.curves.push_back({.label = "one place", .x = mean.x, .y = {first, first + diagnosis.lags + 1}, .faint = true});
  }
  chart.curves.push_back(mean);
  if (std::isfinite(diagnosis.beta)) {
    for (int k = diagnosis.tail; k <= diagnosis.lags; ++k) {
      tail.x.push_back(k);
      tail.y.push_back(mean.y[static_cast<std::size_t>(diagnosis.tail)] * std::pow(diagnosis.beta, k - diagnosis.tail));
    }
    chart.curves.push_back(tail);
  }
  return chart;
}

Chart bias_chart(const Diagnosis& diagnosis, const std::string& title) {
  Chart chart{.title = title, .x_label = "truncation K (steps)", .y_label = "relative bias", .log_y = true};
  Curve estimated{.label = "estimated"}, measured{.label = "measured"};
  for (const TruncationFacts& facts : diagnosis.lengths) {
    estimated.x.push_back(facts.truncation);
    estimated.y.push_back(facts.relative_bias);
    if (!facts.measured_bias) continue;
    measured.x.push_back(facts.truncation);
    measured.y.push_back(*facts.measured_bias);
  }
  chart.curves.push_back(estimated);
  if (!measured.x.empty()) chart.curves.push_back(measured);
  for (const TruncationChoice& choice : diagnosis.choices)
    chart.references.push_back({fmt::format("delta = {}", choice.delta), choice.delta});
  return chart;
}

std::string diagnosis_json(const Diagnosis& diagnosis, const std::string& name) {
  using Json = nlohmann::ordered_json;
  Json object = {{"name", name},
                 {"positions", diagnosis.positions},
                 {"lags", diagnosis.lags},
                 {"burn_in", diagnosis.burn_in},
                 {"tail", diagnosis.tail},
                 {"longest", diagnosis.longest},
                 {"batch", diagnosis.batch},
                 {"beta", number(diagnosis.beta)},
                 {"decays", diagnosis.decays},
                 {"measured", diagnosis.measured.empty() ? Json(true) : Json(diagnosis.measured)}};
  for (const TruncationChoice& choice : diagnosis.choices)
    object["choices"].push_back({{"delta", choice.delta},
                                 {"truncation", choice.truncation},
                                 {"reached", choice.reached},
                                 {"activation_bytes", choice.activation_bytes}});
  for (const TruncationFacts& facts : diagnosis.lengths)
    object["lengths"].push_back({{"truncation", facts.truncation},
                                 {"phi", number(facts.phi)},
                                 {"absolute_bias", number(facts.absolute_bias)},
                                 {"relative_bias", number(facts.relative_bias)},
                                 {"measured_bias", facts.measured_bias ? number(*facts.measured_bias) : Json()},
                                 {"activation_bytes", facts.activation_bytes}});
  return object.dump();
}

}  // namespace throughtime
