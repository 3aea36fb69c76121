#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heads/mixture_of_softmaxes.cpp"
#include <hwy/foreach_target.h>

#include "heads/mixture_of_softmaxes-inl.h"
#include "throughtime/simd/head-inl.h"

THROUGHTIME_REGISTER_HEAD(mixture_of_softmaxes, MixtureOfSoftmaxes,
                          "several softmaxes over the same output matrix, weighed by the features (Yang et al. 2018)")

#if HWY_ONCE
#include <cmath>

#include "throughtime/error.h"
#include "throughtime/model.h"

namespace throughtime {

HeadLayers mixture_layers(const HeadConfig& config, int features, int embedding) {
  constexpr int most_experts = 1024, largest_latent = 1 << 16;
  require_range("model", "experts", config.experts, 1, most_experts);
  require_range("model", "latent", config.latent, 0, largest_latent);
  if (!(config.epsilon >= 0 && config.epsilon < 1))
    refuse("model", "mixture_epsilon must be at least 0 and below 1, got {}", config.epsilon);
  HeadLayers layers;
  layers.branches = config.experts;
  layers.width = config.latent > 0 ? config.latent : embedding > 0 ? embedding : features;
  layers.epsilon = config.epsilon;
  layers.linear = {{.name = "prior", .outputs = config.experts, .bias = false},
                   {.name = "latent", .outputs = config.experts * layers.width}};
  return layers;
}

}  // namespace throughtime
#endif
