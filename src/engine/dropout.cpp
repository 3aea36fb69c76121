#include "engine/dropout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

#include "core/counter.h"
#include "engine/mask_lanes.h"

namespace throughtime {

DropoutSite input_dropout(const DropoutConfig& config) { return {Purpose::dropout_input, 0, config.input}; }

DropoutSite between_dropout(const DropoutConfig& config, int layer) {
  return {Purpose::dropout_between, layer, config.between};
}

DropoutSite output_dropout(const DropoutConfig& config) { return {Purpose::dropout_output, 0, config.output}; }

// The same purpose as the features before the head, told apart by the layer.
DropoutSite logits_dropout(const DropoutConfig& config) { return {Purpose::dropout_output, 1, config.logits}; }

DropoutSite latent_dropout(const DropoutConfig& config) { return {Purpose::dropout_output, 2, config.latent}; }

DropoutSite recurrent_dropout(const DropoutConfig& config, int layer) {
  return {Purpose::dropout_recurrent, layer, config.recurrent};
}

DropoutSite embedding_dropout(const DropoutConfig& config) { return {Purpose::dropout_input, 1, config.embedding}; }

namespace {

/// A word below it drops its element.
std::uint64_t threshold_of(const DropoutSite& site) {
  return static_cast<std::uint64_t>(std::llround(site.share * 4294967296.0));
}

/// What is left is multiplied by this.
float survivor_of(const DropoutSite& site) { return static_cast<float>(1.0 / (1.0 - site.share)); }

/// Four elements share one block of four words.
std::uint64_t block_of(const DropoutSite& site, std::size_t element) {
  return static_cast<std::uint64_t>(site.layer) << 32 | (element / 4);
}

}  // namespace

float token_factor(const DropoutSite& site, std::uint64_t mask_key, std::int32_t token) {
  const auto element = static_cast<std::size_t>(token);
  const auto words = Random(mask_key, site.purpose).words(0, 0, block_of(site, element));
  return words[element % 4] < threshold_of(site) ? 0.0f : survivor_of(site);
}

std::uint64_t mask_step_at(const DropoutConfig& config, const Window& window, int step) {
  return config.per_sequence ? 0 : static_cast<std::uint64_t>(window.mask_step + step);
}

template <class Real>
void write_mask(const DropoutSite& site, std::uint64_t mask_key, std::uint64_t step, int row, std::span<Real> mask) {
  const Random random(mask_key, site.purpose);
  const std::uint64_t threshold = threshold_of(site);
  const auto survivor = static_cast<Real>(survivor_of(site));
  std::size_t done = 0;
  if constexpr (std::is_same_v<Real, float>)
    done = write_mask_lanes({counter_of(site.purpose, step, static_cast<std::uint32_t>(row), block_of(site, 0)),
                             key_of(mask_key), threshold, survivor},
                            mask);
  for (std::size_t first = done; first < mask.size(); first += 4) {
    const auto words = random.words(step, static_cast<std::uint32_t>(row), block_of(site, first));
    const std::size_t count = std::min<std::size_t>(4, mask.size() - first);
    for (std::size_t i = 0; i < count; ++i) mask[first + i] = words[i] < threshold ? Real(0) : survivor;
  }
}

template void write_mask<float>(const DropoutSite&, std::uint64_t, std::uint64_t, int, std::span<float>);
template void write_mask<double>(const DropoutSite&, std::uint64_t, std::uint64_t, int, std::span<double>);

}  // namespace throughtime
