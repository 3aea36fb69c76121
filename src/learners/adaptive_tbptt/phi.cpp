#include "learners/adaptive_tbptt/phi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr int jacobian_places = 8;        // where dH/dW is looked at
constexpr int largest_exact_state = 256;  // of a model whose M is computed

int count_places(const EstimateConfig& config, int batch) { return config.positions > 0 ? config.positions : batch; }

}  // namespace

void check_places(const EstimateConfig& config, const Model& model, int batch, const PositionFunction& positions) {
  if (!positions) refuse("estimate", "there is no training data to draw places from");
  if (model.state_size() < 1) refuse("estimate", "the model has no recurrence, so no gradient flows from step to step");
  if (config.burn_in < 0) refuse("estimate", "burn_in must be 0 or more, got {}", config.burn_in);
  if (config.gradient_size == GradientSize::exact && model.state_size() > largest_exact_state)
    refuse("estimate", "gradient_size = exact is for states of at most {} numbers, this model's has {}",
           largest_exact_state, model.state_size());
  positions(0, count_places(config, batch), config.burn_in + config.lags);  // refuses data that is too short
}

PhiCollector::PhiCollector(Engine& engine, const EstimateConfig& config, int batch, PositionFunction positions)
    : engine_(engine),
      config_(config),
      positions_(std::move(positions)),
      places_(count_places(config, batch)),
      state_size_(engine.model().state_size()),
      needs_vectors_(config.norm != PhiNorm::euclidean || config.gradient_size == GradientSize::vectors),
      burn_in_(engine, places_) {
  check_places(config, engine.model(), batch, positions_);
  const std::size_t rows = elements(places_), state = elements(state_size_), lags = elements(config.lags) + 1;
  tape_ = engine.make_tape({.steps = config.lags, .batch = places_, .keep = Keep::state, .losses = 1});
  state_ = engine.allocate(rows * state);
  values_.resize(lags * rows * (needs_vectors_ ? state : 1));
  taps_ = engine.allocate(values_.size());
  if (config.norm == PhiNorm::weighted || config.gradient_size == GradientSize::exact)
    jacobian_ = std::make_unique<ImmediateJacobian>(engine);
  if (config.gradient_size == GradientSize::exact) {
    jacobian_->reserve_norm();
    gradients_ = std::make_unique<LagGradients>(engine, steps(), places_);
  }
  if (config.norm == PhiNorm::weighted) weights_.resize(state);
  if (needs_vectors_) sum_.resize(state);
  throughtime::reserve(part_, config.lags, places_);
  throughtime::reserve(sample_.means, config.lags);
  sample_.draws.resize(rows * lags);
}

const PhiSample& PhiCollector::collect(Buffer parameters, std::uint64_t draw) {
  if (config_.norm == PhiNorm::weighted) weigh(parameters, draw);
  sample_.means.gradient.clear();
  if (gradients_) measure_gradients(places_of(draw), parameters, draw);
  pull_back(places_of(draw), parameters);
  needs_vectors_ ? take_vectors() : take_norms();
  take_means();
  return sample_;
}

void PhiCollector::take_means() {
  const std::size_t lags = elements(config_.lags) + 1;
  PhiMeans& means = sample_.means;
  means.phi.assign(lags, 0.0);
  means.log_phi.assign(lags, -std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < lags; ++k) {
    double logs = 0;
    int positive = 0;
    for (int s = 0; s < places_; ++s) {
      const double phi = sample_.draws[elements(s) * lags + k];
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
  const std::size_t lags = elements(config_.lags) + 1, rows = elements(places_);
  for (std::size_t k = 0; k < lags; ++k)
    for (std::size_t s = 0; s < rows; ++s) sample_.draws[s * lags + k] = values_[(lags - 1 - k) * rows + s];
}

void PhiCollector::take_vectors() {
  const std::size_t lags = elements(config_.lags) + 1, rows = elements(places_);
  const std::size_t state = elements(state_size_);
  std::fill(sum_.begin(), sum_.end(), 0.0);
  const std::size_t first_summed = std::ranges::count(config_.variants, DecayVariant::phi_from_one) > 0 ? 1 : 0;
  for (std::size_t k = 0; k < lags; ++k) {
    for (std::size_t s = 0; s < rows; ++s) {
      const double* cotangent = values_.data() + ((lags - 1 - k) * rows + s) * state;
      sample_.draws[s * lags + k] = norm(cotangent);
      for (std::size_t i = 0; i < state && k >= first_summed; ++i) sum_[i] += cotangent[i] / places_;
    }
    if (config_.gradient_size == GradientSize::vectors) sample_.means.gradient.push_back(norm(sum_.data()));
  }
}

double PhiCollector::norm(const double* cotangent) const {
  const auto length = [&](int first, int count) {
    double squares = 0;
    for (int i = first; i < first + count; ++i) {
      const double weighted = cotangent[i] * (weights_.empty() ? 1 : weights_[i]);
      squares += weighted * weighted;
    }
    return std::sqrt(squares);
  };
  if (config_.norm != PhiNorm::per_layer) return length(0, state_size_);
  double sum = 0;
  for (const Layer& layer : engine_.model().layers())
    sum += length(layer.state_offset, layer.cell->shape.states * layer.hidden);
  return sum;
}

/// Root mean squares over some places of how far each unit moves with the weights of its layer.
void PhiCollector::weigh(Buffer parameters, std::uint64_t draw) {
  std::fill(weights_.begin(), weights_.end(), 0.0);
  for (int i = 0; i < jacobian_places; ++i) {
    jacobian_->look_at(positions_(draw * jacobian_places + i, 1, config_.burn_in + 1), parameters, config_.dropout);
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
    jacobian_->look_at(positions_(draw * jacobian_places + i, 1, config_.burn_in + 1), parameters, config_.dropout);
    largest = std::max(largest, jacobian_->norm());
  }
  return largest;
}

}  // namespace throughtime
