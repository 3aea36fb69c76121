#pragma once

#include "throughtime/head.h"

namespace throughtime {

/// The layers of a mixture of softmaxes: `prior`, without a bias, weighs the experts, and `latent` makes what each of
/// them reads.
HeadLayers mixture_layers(const HeadConfig& config, int features, int embedding);

}  // namespace throughtime
