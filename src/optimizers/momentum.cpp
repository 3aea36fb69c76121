#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/momentum.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// Heavy ball: v = mu v + g;  W -= rate v.  a = mu.
struct Momentum {
  static constexpr int moments = 1;

  template <class N>
  static HWY_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] = k.a * moment[0] + gradient;
    weight -= k.rate * moment[0];
  }
};

OptimizerType::Fast momentum_pass() { return update_vector<Momentum, Lanes>; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "optimizers/registry.h"

namespace throughtime {

HWY_EXPORT(momentum_pass);

OptimizerType momentum_optimizer() {
  OptimizerType type;
  type.name = "momentum";
  type.description = "heavy ball: v = mu v + g, W -= rate v";
  type.moments = 1;
  type.initial_moment = [](const OptimizerConfig&, int) { return 0.0; };
  type.coefficients = [](const OptimizerConfig& config, std::int64_t, double rate) {
    return UpdateCoefficients{.rate = rate, .a = config.momentum, .weight_decay = config.weight_decay};
  };
  type.reference = HWY_NAMESPACE::update_vector<HWY_NAMESPACE::Momentum, double>;
  type.fast = [] { return HWY_DYNAMIC_DISPATCH(momentum_pass)(); };
  return type;
}

}  // namespace throughtime
#endif
