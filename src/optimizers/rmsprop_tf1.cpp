#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/rmsprop_tf1.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// TensorFlow 1's convention, m from 1: m += (1 - decay)(g^2 - m);  W -= rate g / sqrt(m + epsilon).
/// a = 1 - decay, b = epsilon.
struct RmsPropTf1 {
  static constexpr int moments = 1;

  template <class N>
  static HWY_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += k.a * (gradient * gradient - moment[0]);
    weight -= k.rate * gradient / square_root(moment[0] + k.b);
  }
};

OptimizerType::Fast rmsprop_tf1_pass() { return update_vector<RmsPropTf1, Lanes>; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "optimizers/registry.h"

namespace throughtime {

HWY_EXPORT(rmsprop_tf1_pass);

OptimizerType rmsprop_tf1_optimizer() {
  OptimizerType type;
  type.name = "rmsprop_tf1";
  type.description = "RMSProp as in TensorFlow 1: mean square from 1, decay 0.9, epsilon 1e-10 inside the root";
  type.moments = 1;
  type.initial_moment = [](const OptimizerConfig&, int) { return 1.0; };
  type.coefficients = [](const OptimizerConfig& config, std::int64_t, double rate) {
    return UpdateCoefficients{.rate = rate,
                              .a = 1 - value_or(config.decay, 0.9),
                              .b = value_or(config.epsilon, 1e-10),
                              .weight_decay = config.weight_decay};
  };
  type.reference = HWY_NAMESPACE::update_vector<HWY_NAMESPACE::RmsPropTf1, double>;
  type.fast = [] { return HWY_DYNAMIC_DISPATCH(rmsprop_tf1_pass)(); };
  return type;
}

}  // namespace throughtime
#endif
