#include "train/diagnose/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "learners/adaptive_tbptt/lag_gradients.h"
#include "learners/adaptive_tbptt/phi.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/options/options.h"

namespace throughtime {
namespace {

constexpr std::size_t measure_bytes = std::size_t{512} << 20;  // the largest tape for a measured bias
constexpr std::size_t measure_parameters = 2'000'000;          // and the largest gradient, read once per lag

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
    const auto k = elements(std::max(1, truncation));
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
  gradients.run(window, trainer.parameters(), false,
                [&](int, const std::vector<double>& gradient) { full = gradient; });
  gradients.run(window, trainer.parameters(), false, [&](int lag, const std::vector<double>& gradient) {
    if (lag > lags) return;
    std::vector<double> difference(full.size());
    for (std::size_t i = 0; i < full.size(); ++i) difference[i] = gradient[i] - full[i];
    biases.push_back(length_of(difference) / length_of(full));
  });
  biases.resize(elements(lags) + 1, 0.0);  // without burn-in g_{R-1} is the full gradient already, and so is g_R
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

EstimateConfig estimate_config(Trainer& trainer, const DiagnosisRequest& request) {
  RunConfig config = trainer.config();
  const LearnerType& learner = find_learner(config.learner.name);
  const std::string table = fmt::format("learner.{}.", learner.estimates ? learner.name : "adaptive_tbptt");
  for (const std::string& assignment : request.options) {
    set_option(config, assignment, "--set");
    if (!assignment.starts_with(table))
      refuse("diagnose", "--set: the estimates of this run have the options {}*, got {}", table, assignment);
  }
  EstimateConfig estimate = learner.estimate_settings(config.learner).estimate;
  if (request.positions >= 0) estimate.positions = request.positions;
  if (request.lags >= 0) {
    estimate.lags = request.lags;
    estimate.tail = 0;
  }
  if (request.burn_in >= 0) estimate.burn_in = request.burn_in;
  estimate.dropout = false;
  return with_fitting_lags(estimate, trainer.task().row_steps(trainer.config().train.batch));
}

void add_lengths(Diagnosis& diagnosis, const DecayEstimate& estimate, const std::vector<double>& measured,
                 const WindowBytes& bytes) {
  for (int k = 0; k <= diagnosis.lags; ++k) {
    const auto index = elements(k);
    TruncationFacts facts{.truncation = k,
                          .phi = estimate.phi()[index],
                          .absolute_bias = estimate.absolute_bias(k),
                          .relative_bias = estimate.relative_bias(k),
                          .activation_bytes = bytes.of(k)};
    if (index < measured.size()) facts.measured_bias = measured[index];
    diagnosis.lengths.push_back(facts);
  }
}

/// The largest K that is worth trying: no longer than a row of the data.
int longest_truncation(Trainer& trainer, const EstimateConfig& config) {
  const std::int64_t longest = std::max(config.longest, config.lags);
  const std::int64_t row = trainer.task().row_steps(trainer.config().train.batch);
  return static_cast<int>(row > 0 ? std::min(longest, row) : longest);
}

void add_choices(Diagnosis& diagnosis, const DecayEstimate& estimate, const WindowBytes& bytes) {
  for (const double delta : {0.9, 0.5, 0.1}) {
    const int k = estimate.truncation(delta, 1, diagnosis.longest);
    TruncationChoice choice{.delta = delta,
                            .truncation = k,
                            .reached = estimate.relative_bias(k) < delta,
                            .activation_bytes = bytes.of(k),
                            .bound_factor = bias_factor(delta)};
    if (k <= diagnosis.lags) choice.measured_bias = diagnosis.lengths[k].measured_bias;
    diagnosis.choices.push_back(choice);
  }
}

nlohmann::ordered_json number(const std::optional<double>& value) {  // JSON has no infinity
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

}  // namespace

bool is_estimate_option(const std::string& assignment) {
  EstimateConfig any;
  OptionList list;
  for (const char* table : {"learner.tbptt", "learner.adaptive_tbptt"}) {
    const OptionList::Scope scope(list, table);
    describe(any, list);
  }
  const std::string key = assignment.substr(0, assignment.find('='));
  return std::ranges::any_of(list.options(), [&](const Option& option) { return option.key == key; });
}

Diagnosis diagnose(Trainer& trainer, const DiagnosisRequest& request) {
  const EstimateConfig config = estimate_config(trainer, request);
  const DecayOptions options = decay_options(config);
  const int batch = trainer.config().train.batch;
  PhiCollector collector(trainer.engine(), config, batch,
                         [&](std::uint64_t draw, int rows, int steps) -> const Window& {
                           return trainer.task().make_positions(draw, batch, rows, steps);
                         });
  PhiSample sample = collector.collect(trainer.parameters(), 0);
  const auto& phi = sample.means.phi;
  if (std::all_of(phi.begin() + 1, phi.end(), [](double value) { return value == 0; }))
    refuse("diagnose",
           "no gradient flows from one step to the one before it: the model has no recurrence that matters");
  const DecayEstimate estimate(sample.means, options);

  Diagnosis diagnosis{
      .positions = collector.places(),
      .lags = config.lags,
      .burn_in = config.burn_in,
      .tail = options.tail,
      .longest = longest_truncation(trainer, config),
      .batch = batch,
      .truncation = find_learner(trainer.config().learner.name).estimate_settings(trainer.config().learner).truncation,
      .beta = estimate.beta(),
      .decays = estimate.decays(),
      .measured = measure_refusal(trainer, collector, request)};
  std::vector<double> measured;
  if (diagnosis.measured.empty()) measured = measured_biases(trainer, collector, config.lags);
  const WindowBytes bytes(trainer.engine(), batch);
  add_lengths(diagnosis, estimate, measured, bytes);
  add_choices(diagnosis, estimate, bytes);
  diagnosis.draws = std::move(sample.draws);
  return diagnosis;
}

int last_shown_length(const Diagnosis& diagnosis) {
  constexpr double negligible = 1e-3;
  const auto small = [](const TruncationFacts& facts) { return facts.relative_bias < negligible; };
  const auto found = std::ranges::find_if(diagnosis.lengths, small);
  const int least = std::max(10, diagnosis.choices.back().truncation);
  const int wanted = found == diagnosis.lengths.end() ? diagnosis.lags : std::max(least, found->truncation);
  return std::min(wanted, diagnosis.lags);
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
                 {"own_truncation", diagnosis.truncation > 0 ? Json(diagnosis.truncation) : Json()},
                 {"beta", number(diagnosis.beta)},
                 {"decays", diagnosis.decays},
                 {"measured", diagnosis.measured.empty() ? Json(true) : Json(diagnosis.measured)}};
  for (const TruncationChoice& choice : diagnosis.choices)
    object["choices"].push_back({{"delta", choice.delta},
                                 {"truncation", choice.truncation},
                                 {"reached", choice.reached},
                                 {"measured_bias", number(choice.measured_bias)},
                                 {"activation_bytes", choice.activation_bytes},
                                 {"bound_factor", choice.bound_factor}});
  for (const TruncationFacts& facts : diagnosis.lengths)
    object["lengths"].push_back({{"truncation", facts.truncation},
                                 {"phi", number(facts.phi)},
                                 {"absolute_bias", number(facts.absolute_bias)},
                                 {"relative_bias", number(facts.relative_bias)},
                                 {"measured_bias", number(facts.measured_bias)},
                                 {"activation_bytes", facts.activation_bytes}});
  object["advice"] = advice_of(diagnosis);
  return object.dump();
}

}  // namespace throughtime
