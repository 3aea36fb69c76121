#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/adadelta.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// m += (1 - decay)(g^2 - m);  d = g sqrt(u + epsilon) / sqrt(m + epsilon);  u += (1 - decay)(d^2 - u);  W -= rate d.
/// moment 0 is m, moment 1 is u; a = 1 - decay, b = epsilon.
struct Adadelta {
  static constexpr int moments = 2;

  template <class N>
  static HWY_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    moment[0] += k.a * (gradient * gradient - moment[0]);
    const N change = gradient * square_root((moment[1] + k.b) / (moment[0] + k.b));
    moment[1] += k.a * (change * change - moment[1]);
    weight -= k.rate * change;
  }
};

OptimizerType::Fast adadelta_pass() { return update_vector<Adadelta, Lanes>; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "optimizers/registry.h"

namespace throughtime {

HWY_EXPORT(adadelta_pass);

OptimizerType adadelta_optimizer() {
  OptimizerType type;
  type.name = "adadelta";
  type.description = "Adadelta as in PyTorch: decay 0.9, epsilon 1e-6";
  type.moments = 2;
  type.initial_moment = [](const OptimizerConfig&, int) { return 0.0; };
  type.coefficients = [](const OptimizerConfig& config, std::int64_t, double rate) {
    return UpdateCoefficients{.rate = rate,
                              .a = 1 - value_or(config.decay, 0.9),
                              .b = value_or(config.epsilon, 1e-6),
                              .weight_decay = config.weight_decay};
  };
  type.reference = HWY_NAMESPACE::update_vector<HWY_NAMESPACE::Adadelta, double>;
  type.fast = [] { return HWY_DYNAMIC_DISPATCH(adadelta_pass)(); };
  return type;
}

}  // namespace throughtime
#endif
