#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/adam.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// m += (1 - beta1)(g - m);  v += (1 - beta2)(g^2 - v);  W -= rate m^ / (sqrt(v^) + epsilon) at update n, where
/// m^ = m / (1 - beta1^n), v^ = v / (1 - beta2^n). a = 1 - beta1, b = 1 - beta2, c = epsilon; the bias corrections are
/// folded into rate and c.
struct Adam {
  static constexpr int moments = 2;

  template <class N>
  static HWY_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += k.a * (gradient - moment[0]);
    moment[1] += k.b * (gradient * gradient - moment[1]);
    weight -= k.rate * moment[0] / (square_root(moment[1]) + k.c);
  }
};

OptimizerType::Fast adam_pass() { return update_vector<Adam, Lanes>; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "optimizers/registry.h"

namespace throughtime {

HWY_EXPORT(adam_pass);

OptimizerType adam_optimizer() {
  OptimizerType type;
  type.name = "adam";
  type.description = "Adam with bias correction, epsilon outside the root";
  type.moments = 2;
  type.initial_moment = [](const OptimizerConfig&, int) { return 0.0; };
  type.coefficients = [](const OptimizerConfig& config, std::int64_t step, double rate) {
    const double count = static_cast<double>(step);
    const double first = 1 - std::pow(config.beta1, count);
    const double second = std::sqrt(1 - std::pow(config.beta2, count));
    return UpdateCoefficients{.rate = rate * second / first,
                              .a = 1 - config.beta1,
                              .b = 1 - config.beta2,
                              .c = value_or(config.epsilon, 1e-8) * second,
                              .weight_decay = config.weight_decay};
  };
  type.reference = HWY_NAMESPACE::update_vector<HWY_NAMESPACE::Adam, double>;
  type.fast = [] { return HWY_DYNAMIC_DISPATCH(adam_pass)(); };
  return type;
}

}  // namespace throughtime
#endif
