#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/adagrad.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// s += g^2;  W -= rate g / (sqrt(s) + epsilon).  a = epsilon.
struct Adagrad {
  static constexpr int moments = 1;

  template <class N>
  static HWY_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += gradient * gradient;
    weight -= k.rate * gradient / (square_root(moment[0]) + k.a);
  }
};

OptimizerType::Fast adagrad_pass() { return update_vector<Adagrad, Lanes>; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "optimizers/registry.h"

namespace throughtime {

HWY_EXPORT(adagrad_pass);

OptimizerType adagrad_optimizer() {
  OptimizerType type;
  type.name = "adagrad";
  type.description = "Adagrad: rates fall with the sum of squares, epsilon 1e-10 outside the root";
  type.moments = 1;
  type.initial_moment = [](const OptimizerConfig&, int) { return 0.0; };
  type.coefficients = [](const OptimizerConfig& config, std::int64_t, double rate) {
    return UpdateCoefficients{.rate = rate, .a = value_or(config.epsilon, 1e-10), .weight_decay = config.weight_decay};
  };
  type.reference = HWY_NAMESPACE::update_vector<HWY_NAMESPACE::Adagrad, double>;
  type.fast = [] { return HWY_DYNAMIC_DISPATCH(adagrad_pass)(); };
  return type;
}

}  // namespace throughtime
#endif
