#pragma once

#include <cstdint>
#include <span>

#include "throughtime/model.h"
#include "throughtime/random.h"
#include "throughtime/window.h"

namespace throughtime {

/// One place of a model where masks are drawn, with its share of zeros. A share of 0 needs no mask.
struct DropoutSite {
  Purpose purpose = Purpose::dropout_input;
  int layer = 0;  // the layer whose input is masked, for `between`
  double share = 0;

  bool active() const { return share > 0; }
};

DropoutSite input_dropout(const DropoutConfig& config);
/// The input of layer `layer` (1, 2, ...).
DropoutSite between_dropout(const DropoutConfig& config, int layer);
DropoutSite output_dropout(const DropoutConfig& config);
DropoutSite logits_dropout(const DropoutConfig& config);
/// What a head with layers of its own hands to its output layer, all branches end to end.
DropoutSite latent_dropout(const DropoutConfig& config);
/// The numbers of layer `layer`'s recurrent block, before the cell maps them.
DropoutSite recurrent_dropout(const DropoutConfig& config, int layer);

/// Rows of the embedding. Of the first layer's inputs, told apart by the layer.
DropoutSite embedding_dropout(const DropoutConfig& config);
/// What the row of a token is multiplied by: 0 or 1 / (1 - share), the same for all rows and steps of a key.
float token_factor(const DropoutSite& site, std::uint64_t mask_key, std::int32_t token);

/// The step that a mask is indexed by: counted from the start of the mask key, or 0 with one mask per sequence.
std::uint64_t mask_step_at(const DropoutConfig& config, const Window& window, int step);

/// Writes the mask of one row at one site: 0 with probability `share`, else 1 / (1 - share) rounded to float, so that
/// all engines multiply by the same numbers. A pure function of its arguments; `step` comes from mask_step_at.
template <class Real>
void write_mask(const DropoutSite& site, std::uint64_t mask_key, std::uint64_t step, int row, std::span<Real> mask);

/// The mask of a recurrent block, in the order of its numbers: the same for all rows and steps of a key.
template <class Real>
void write_recurrent_mask(const DropoutConfig& config, int layer, std::uint64_t mask_key, std::span<Real> mask) {
  write_mask(recurrent_dropout(config, layer), mask_key, 0, 0, mask);
}

extern template void write_mask<float>(const DropoutSite&, std::uint64_t, std::uint64_t, int, std::span<float>);
extern template void write_mask<double>(const DropoutSite&, std::uint64_t, std::uint64_t, int, std::span<double>);

}  // namespace throughtime
