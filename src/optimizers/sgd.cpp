#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/sgd.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// W -= rate g.
struct Sgd {
  static constexpr int moments = 0;

  template <class N>
  static HWY_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N*) {
    weight -= k.rate * gradient;
  }
};

OptimizerType::Fast sgd_pass() { return update_vector<Sgd, Lanes>; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "optimizers/registry.h"

namespace throughtime {

HWY_EXPORT(sgd_pass);

OptimizerType sgd_optimizer() {
  OptimizerType type;
  type.name = "sgd";
  type.description = "plain gradient steps";
  type.moments = 0;
  type.coefficients = [](const OptimizerConfig& config, std::int64_t, double rate) {
    return UpdateCoefficients{.rate = rate, .weight_decay = config.weight_decay};
  };
  type.reference = HWY_NAMESPACE::update_vector<HWY_NAMESPACE::Sgd, double>;
  type.fast = [] { return HWY_DYNAMIC_DISPATCH(sgd_pass)(); };
  return type;
}

}  // namespace throughtime
#endif
