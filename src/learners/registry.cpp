#include "core/registry.h"

#include "learners/support.h"

namespace throughtime {
namespace {

/// The row of a method whose settings are `LearnerConfig::*Method`. What its header does not declare is the usual: rows
/// of a batch are shared, evaluations leave states as they are, estimates are those of adaptive_tbptt.
template <auto Method>
LearnerType method(std::string name, std::string description) {
  LearnerType type{.name = std::move(name), .description = std::move(description)};
  type.describe = [](LearnerConfig& config, OptionList& list) { describe(config.*Method, list); };
  type.check = [](const LearnerConfig& config, const Model& model, const StretchShape& shape) {
    check_learner(config.*Method, model, shape);
  };
  type.make = [](const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
    return make_learner(config.*Method, trainee, shape);
  };
  type.stream_needs = [](const LearnerConfig& config) { return stream_needs(config.*Method); };
  type.shared_work = [](const LearnerConfig& config, const StretchShape& shape) {
    if constexpr (requires { shared_work(config.*Method, shape); })
      return shared_work(config.*Method, shape);
    else
      return SharedWork{shape.batch, "rows of a batch", "train.batch"};
  };
  type.make_refiner = [](const LearnerConfig& config, Engine& engine, int steps, int rows) {
    if constexpr (requires { make_refiner(config.*Method, engine, steps, rows); })
      return make_refiner(config.*Method, engine, steps, rows);
    else
      return std::unique_ptr<StateRefiner>();
  };
  type.estimate_settings = [](const LearnerConfig& config) {
    if constexpr (requires { estimate_settings(config.*Method); })
      return estimate_settings(config.*Method);
    else
      return EstimateSettings{.estimate = config.adaptive_tbptt.estimate};
  };
  type.notes = [](const LearnerConfig& config, const StretchShape& shape, const OptimizerConfig& optimizer) {
    if constexpr (requires { learner_notes(config.*Method, shape, optimizer); })
      return learner_notes(config.*Method, shape, optimizer);
    else
      return std::vector<std::string>();
  };
  type.estimates = requires(const LearnerConfig& config) { estimate_settings(config.*Method); };
  return type;
}

const Registry<LearnerType>& learners() {
  using Config = LearnerConfig;
  static const Registry<LearnerType> registry(
      "learner",
      {
          method<&Config::bptt>("bptt", "back-propagation through the whole stretch; memory = full or recompute"),
          method<&Config::tbptt>("tbptt",
                                 "truncated: windows of `steps`, a loss on the last `losses`, moved by `stride`"),
          method<&Config::adaptive_tbptt>(
              "adaptive_tbptt", "truncated, K chosen so that the relative bias of the gradient stays below `delta`"),
          method<&Config::fptt>("fptt",
                                "forward propagation: K windows, an update after each, held near their average"),
          method<&Config::fpp>("fpp",
                               "fixed point propagation: T-step trajectories from a buffer whose states are variables"
                               " too"),
          method<&Config::sliding_tbptt>(
              "sliding_tbptt", "the last T steps at every step, one loss, from the state that was stored T steps ago"),
          method<&Config::target_propagation>(
              "target_propagation",
              "the states between blocks of B steps are variables, held together by springs and duals"),
      });
  return registry;
}

}  // namespace

const LearnerType& find_learner(const std::string& name) { return learners().find(name); }
std::vector<const LearnerType*> all_learners() { return learners().all(); }

void check_learner(const LearnerConfig& config, const Model& model, const StretchShape& shape) {
  check_shape(shape);
  find_learner(config.name).check(config, model, shape);
}

std::unique_ptr<Learner> make_learner(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  return find_learner(config.name).make(config, trainee, shape);
}

std::vector<std::string> learner_notes(const LearnerConfig& config, const StretchShape& shape,
                                       const OptimizerConfig& optimizer) {
  return find_learner(config.name).notes(config, shape, optimizer);
}

StreamNeeds stream_needs(const LearnerConfig& config) { return find_learner(config.name).stream_needs(config); }

}  // namespace throughtime
