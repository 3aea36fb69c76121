#include "core/registry.h"

#include <algorithm>
#include <cmath>

#include "throughtime/error.h"
#include "throughtime/optimizer.h"

namespace throughtime {

OptimizerType sgd_optimizer();
OptimizerType momentum_optimizer();
OptimizerType adam_optimizer();
OptimizerType rmsprop_optimizer();
OptimizerType rmsprop_tf1_optimizer();
OptimizerType adagrad_optimizer();
OptimizerType adadelta_optimizer();
OptimizerType asgd_optimizer();
OptimizerType anchored_optimizer();

namespace {

const Registry<OptimizerType>& optimizers() {
  static const Registry<OptimizerType> registry("optimizer", {
                                                                 sgd_optimizer(),
                                                                 momentum_optimizer(),
                                                                 adam_optimizer(),
                                                                 rmsprop_optimizer(),
                                                                 rmsprop_tf1_optimizer(),
                                                                 adagrad_optimizer(),
                                                                 adadelta_optimizer(),
                                                                 asgd_optimizer(),
                                                                 anchored_optimizer(),
                                                             });
  return registry;
}

/// A share of memory: 1 would never learn, anything above grows without end.
void require_share(std::string_view what, double value) {
  if (!(value >= 0 && value < 1)) refuse("optimizer", "{} must be at least 0 and below 1, got {}", what, value);
}

}  // namespace

const OptimizerType& find_optimizer(const std::string& name) { return optimizers().find(name); }
std::vector<const OptimizerType*> all_optimizers() {
  std::vector<const OptimizerType*> all = optimizers().all();
  std::erase_if(all, [](const OptimizerType* type) { return type->internal; });
  return all;
}

int evaluated_moment(const OptimizerConfig& config, std::int64_t step) {
  return step > config.average_from ? find_optimizer(config.name).average : -1;
}

void validate(const OptimizerConfig& config) {
  const std::vector<std::string> names = names_of_rows(all_optimizers());
  if (std::ranges::find(names, config.name) == names.end())
    refuse_unknown("optimizer", "optimizer", config.name, names);
  require_share("momentum", config.momentum);
  require_share("beta1", config.beta1);
  require_share("beta2", config.beta2);
  if (config.decay != -1) require_share("decay", config.decay);
  if (config.epsilon != -1 && !(config.epsilon >= 1e-30 && config.epsilon <= 1))
    refuse("optimizer", "epsilon must be between 1e-30 and 1, or -1 for its own default, got {}", config.epsilon);
  if (!(config.weight_decay >= 0 && std::isfinite(config.weight_decay)))
    refuse("optimizer", "weight_decay must be 0 (off) or positive, got {}", config.weight_decay);
  if (config.average_from < 0) refuse("optimizer", "average_from must be at least 0, got {}", config.average_from);
  if (config.average_patience < 1)
    refuse("optimizer", "average_patience must be at least 1, got {}", config.average_patience);
  if (config.average != Averaging::off && find_optimizer(config.name).average >= 0)
    refuse("optimizer", "{} keeps an average of its own: set average = \"off\", or name = \"sgd\" for the same steps",
           config.name);
}

}  // namespace throughtime
