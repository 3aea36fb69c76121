#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimizers/asgd.cpp"
#include <hwy/foreach_target.h>

#include "optimizers/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace throughtime::HWY_NAMESPACE {

/// W -= rate g;  x += share (W - x), the running average of W.  a = share: 1 up to the second averaged update, then
/// 1/2, 1/3, ...: moment 0 is the mean of the iterates after `average_from`. Train with W, evaluate with moment 0.
struct Asgd {
  static constexpr int moments = 1;

  template <class N>
  static HWY_INLINE void step(const Coefficients<N>& k, N gradient, N& weight, N* moment) {
    weight -= k.rate * gradient;
    moment[0] += k.a * (weight - moment[0]);
  }
};

OptimizerType::Fast asgd_pass() { return update_vector<Asgd, Lanes>; }

}  // namespace throughtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "optimizers/registry.h"

namespace throughtime {

HWY_EXPORT(asgd_pass);

OptimizerType asgd_optimizer() {
  OptimizerType type;
  type.name = "asgd";
  type.description = "gradient steps with a running average of the weights in moment 0";
  type.moments = 1;
  type.initial_moment = [](const OptimizerConfig&, int) { return 0.0; };
  type.coefficients = [](const OptimizerConfig& config, std::int64_t step, double rate) {
    const std::int64_t averaged = std::max<std::int64_t>(1, step - config.average_from);
    return UpdateCoefficients{
        .rate = rate, .a = 1.0 / static_cast<double>(averaged), .weight_decay = config.weight_decay};
  };
  type.reference = HWY_NAMESPACE::update_vector<HWY_NAMESPACE::Asgd, double>;
  type.fast = [] { return HWY_DYNAMIC_DISPATCH(asgd_pass)(); };
  return type;
}

}  // namespace throughtime
#endif
