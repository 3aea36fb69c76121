#include "learners/adaptive_tbptt/phi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/names.h"
#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr int jacobian_places = 8;        // where dH/dW is looked at
constexpr int largest_exact_state = 256;  // of a model whose M is computed

bool has_variant(const EstimateConfig& config, const std::string& name) {
  return std::ranges::count(config.variants, name) > 0;
}

}  // namespace

PhiCollector::PhiCollector(Engine& engine, const EstimateConfig& config, int batch, PositionFunction positions)
    : engine_(engine),
      config_(config),
      positions_(std::move(positions)),
      places_(config.positions > 0 ? config.positions : batch),
      state_size_(engine.model().state_size()),
      needs_vectors_(config.norm != "euclidean" || config.gradient_size == "vectors"),
      burn_in_(engine, places_) {
  if (!positions_) refuse("estimate", "there is no training data to draw places from");
  if (state_size_ < 1) refuse("estimate", "the model has no recurrence, so no gradient flows from step to step");
  if (!std::ranges::count(phi_norm_names(), config.norm))
    refuse_unknown("estimate", "norm", config.norm, phi_norm_names());
  if (!std::ranges::count(gradient_size_names(), config.gradient_size))
    refuse_unknown("estimate", "gradient_size", config.gradient_size, gradient_size_names());
  if (config.burn_in < 0) refuse("estimate", "burn_in must be 0 or more, got {}", config.burn_in);
  if (config.gradient_size == "exact" && state_size_ > largest_exact_state)
    refuse("estimate", "gradient_size = exact is for states of at most {} numbers, this model's has {}",
           largest_exact_state, state_size_);
  positions_(0, places_, steps());  // refuses data that is too short
  const auto rows = static_cast<std::size_t>(places_), state = static_cast<std::size_t>(state_size_);
  tape_ = engine.make_tape({.steps = config.lags, .batch = places_, .keep = Keep::state, .losses = 1});
  state_ = engine.allocate(rows * state);
  values_.resize((static_cast<std::size_t>(config.lags) + 1) * rows * (needs_vectors_ ? state : 1));
  taps_ = engine.allocate(values_.size());
  if (config.norm == "weighted" || config.gradient_size == "exact")
    jacobian_ = std::make_unique<ImmediateJacobian>(engine);
  if (config.gradient_size == "exact") {
    jacobian_->reserve_norm();
    gradients_ = std::make_unique<LagGradients>(engine, steps(), places_);
  }
  if (config.norm == "weighted") weights_.resize(state);
  if (needs_vectors_) sum_.resize(state);
  throughtime::reserve(part_, config.lags, places_);
  throughtime::reserve(sample_.means, config.lags);
  sample_.draws.resize(rows * (static_cast<std::size_t>(config.lags) + 1));
}

const PhiSample& PhiCollector::collect(Buffer parameters, std::uint64_t draw) {
  if (config_.norm == "weighted") weigh(parameters, draw);
  sample_.means.gradient.clear();
  if (gradients_) measure_gradients(places_of(draw), parameters, draw);
  pull_back(places_of(draw), parameters);
  needs_vectors_ ? take_vectors() : take_norms();
  take_means();
  return sample_;
}

void PhiCollector::take_means() {
  const std::size_t lags = static_cast<std::size_t>(config_.lags) + 1;
  PhiMeans& means = sample_.means;
  means.phi.assign(lags, 0.0);
  means.log_phi.assign(lags, -std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < lags; ++k) {
    double logs = 0;
    int positive = 0;
    for (int s = 0; s < places_; ++s) {
      const double phi = sample_.draws[static_cast<std::size_t>(s) * lags + k];
      means.phi[k] += phi / places_;
      if (phi == 0) continue;
      logs += std::log(phi);
      ++positive;
    }
    if (positive > 0) means.log_phi[k] = logs / positive;
  }
}

void PhiCollector::pull_back(const Window& window, Buffer parameters) {
  burn_in_.run(window, config_.burn_in, parameters, config_.dropout, state_);
  slice(window, config_.burn_in, config_.lags, part_);
  engine_.unroll({.window = part_,
                  .parameters = parameters,
                  .tape = *tape_,
                  .training = config_.dropout,
                  .initial_state = state_});
  engine_.pull_back({.tape = *tape_,
                     .window = part_,
                     .parameters = parameters,
                     .tap_norms = needs_vectors_ ? Buffer() : taps_,
                     .tap_vectors = needs_vectors_ ? taps_ : Buffer()});
  engine_.read(taps_, values_);
}

/// Entry i of the taps is the state before cell i: the one of lag R - i.
void PhiCollector::take_norms() {
  const auto lags = static_cast<std::size_t>(config_.lags) + 1, rows = static_cast<std::size_t>(places_);
  for (std::size_t k = 0; k < lags; ++k)
    for (std::size_t s = 0; s < rows; ++s) sample_.draws[s * lags + k] = values_[(lags - 1 - k) * rows + s];
}

void PhiCollector::take_vectors() {
  const auto lags = static_cast<std::size_t>(config_.lags) + 1, rows = static_cast<std::size_t>(places_);
  const auto state = static_cast<std::size_t>(state_size_);
  std::fill(sum_.begin(), sum_.end(), 0.0);
  const std::size_t first_summed = has_variant(config_, "phi_from_one") ? 1 : 0;
  for (std::size_t k = 0; k < lags; ++k) {
    for (std::size_t s = 0; s < rows; ++s) {
      const double* cotangent = values_.data() + ((lags - 1 - k) * rows + s) * state;
      sample_.draws[s * lags + k] = norm(cotangent);
      for (std::size_t i = 0; i < state && k >= first_summed; ++i) sum_[i] += cotangent[i] / places_;
    }
    if (config_.gradient_size == "vectors") sample_.means.gradient.push_back(norm(sum_.data()));
  }
}

double PhiCollector::norm(const double* cotangent) const {
  const auto length = [&](int first, int count) {
    double squares = 0;
    for (int i = first; i < first + count; ++i) {
      const double weighted = cotangent[i] * (weights_.empty() ? 1 : weights_[static_cast<std::size_t>(i)]);
      squares += weighted * weighted;
    }
    return std::sqrt(squares);
  };
  if (config_.norm != "per_layer") return length(0, state_size_);
  double sum = 0;
  for (const Layer& layer : engine_.model().layers())
    sum += length(layer.state_offset, layer.cell->shape.states * layer.hidden);
  return sum;
}

/// Root mean squares over some places of how far each unit moves with the weights of its layer.
void PhiCollector::weigh(Buffer parameters, std::uint64_t draw) {
  std::fill(weights_.begin(), weights_.end(), 0.0);
  for (int i = 0; i < jacobian_places; ++i) {
    jacobian_->look_at(positions_(draw * jacobian_places + static_cast<std::uint64_t>(i), 1, config_.burn_in + 1),
                       parameters, config_.dropout);
    const std::vector<double>& lengths = jacobian_->row_lengths();
    for (std::size_t u = 0; u < lengths.size(); ++u) weights_[u] += lengths[u] * lengths[u] / jacobian_places;
  }
  for (double& weight : weights_) weight = std::sqrt(weight);
}

/// C_k = |g_k| / M with the parameter gradient itself; M is the largest |dH/dW| at some places.
void PhiCollector::measure_gradients(const Window& window, Buffer parameters, std::uint64_t draw) {
  gradients_->run(window, parameters, config_.dropout, [&](int lag, const std::vector<double>& gradient) {
    double squares = 0;
    for (const double value : gradient) squares += value * value;
    if (lag <= config_.lags) sample_.means.gradient.push_back(std::sqrt(squares));
  });
  while (static_cast<int>(sample_.means.gradient.size()) <= config_.lags)
    sample_.means.gradient.push_back(sample_.means.gradient.back());
  const double m = largest_jacobian(parameters, draw);
  for (double& size : sample_.means.gradient) size /= m;
}

double PhiCollector::largest_jacobian(Buffer parameters, std::uint64_t draw) {
  double largest = 0;
  for (int i = 0; i < jacobian_places; ++i) {
    jacobian_->look_at(positions_(draw * jacobian_places + static_cast<std::uint64_t>(i), 1, config_.burn_in + 1),
                       parameters, config_.dropout);
    largest = std::max(largest, jacobian_->norm());
  }
  return largest;
}

}  // namespace throughtime
