#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/rmsprop.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// PyTorch's convention, m from 0: m += (1 - decay)(g^2 - m);  W -= rate g / (sqrt(m) + epsilon).
/// a = 1 - decay, b = epsilon.
struct RmsProp {
  static constexpr int moments = 1;

  template <class N>
  static HWY_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += k.a * (gradient * gradient - moment[0]);
    weight -= k.rate * gradient / (square_root(moment[0]) + k.b);
  }
};

OptimizerType::Fast rmsprop_pass() { return update_vector<RmsProp, Lanes>; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "optimizers/registry.h"

namespace throughtime {

HWY_EXPORT(rmsprop_pass);

OptimizerType rmsprop_optimizer() {
  OptimizerType type;
  type.name = "rmsprop";
  type.description = "RMSProp as in PyTorch: mean square from 0, decay 0.99, epsilon 1e-8 outside the root";
  type.moments = 1;
  type.initial_moment = [](const OptimizerConfig&, int) { return 0.0; };
  type.coefficients = [](const OptimizerConfig& config, std::int64_t, double rate) {
    return UpdateCoefficients{.rate = rate,
                              .a = 1 - value_or(config.decay, 0.99),
                              .b = value_or(config.epsilon, 1e-8),
                              .weight_decay = config.weight_decay};
  };
  type.reference = HWY_NAMESPACE::update_vector<HWY_NAMESPACE::RmsProp, double>;
  type.fast = [] { return HWY_DYNAMIC_DISPATCH(rmsprop_pass)(); };
  return type;
}

}  // namespace throughtime
#endif
