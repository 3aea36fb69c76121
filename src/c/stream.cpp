#include <algorithm>
#include <cmath>

#include "c/model.h"
#include "throughtime/index.h"

namespace throughtime::c {
namespace {

/// One step of a caller, in its units.
struct RawStep {
  const float* inputs = nullptr;
  std::int32_t token = -1;
  const float* targets = nullptr;
  std::int32_t label = -1;
};

/// Steps of a model's streams, scaled where there are scales.
class Streams {
 public:
  explicit Streams(ModelObject& model) : model_(model), learner_(model.learner()) {}

  std::span<const double> look(int slot, const RawStep& step, bool further = false) {
    return in_units(finite(learner_.look(slot, scaled_input(step), further)));
  }
  std::span<const double> advance(int slot, const RawStep& step) {
    return in_units(finite(learner_.predict(slot, scaled_input(step))));
  }
  void learn(int slot, const RawStep& step) {
    check(slot, step);
    if (model_.scales) add_to_scales(step);
    const StepInput x = scaled_input(step);
    learner_.learn(slot, x, scaled_target(step));
  }
  /// Refuses what cannot be learned from, before anything is changed: scales, too, know only rows that are.
  void check(int slot, const RawStep& step) const {
    if (step.label < -1)
      refuse("online", "a label must be at least 0, or -1 where nobody knows it, got {}", step.label);
    learner_.check(slot, {.reals = inputs_of(step), .token = step.token},
                   {.values = targets_of(step), .label = model_.interface().labels ? step.label : -1});
  }
  /// Of a step that was checked. The answer is that of the scales before the row, so that looking first gives the same.
  std::span<const double> observe(int slot, const RawStep& step) {
    if (!model_.scales) return finite(learner_.observe(slot, scaled_input(step), scaled_target(step)));
    const std::span<const double> prediction = advance(slot, step);
    learn(slot, step);
    return prediction;
  }

 private:
  std::size_t reals() const { return elements(model_.interface().reals); }
  std::size_t outputs() const { return elements(model_.interface().outputs); }
  std::span<const float> inputs_of(const RawStep& step) const {
    return {reals() > 0 ? require(step.inputs, "inputs") : nullptr, reals()};
  }
  std::span<const float> targets_of(const RawStep& step) const {
    if (model_.interface().labels || step.targets == nullptr) return {};
    return {step.targets, outputs()};
  }

  void add_to_scales(const RawStep& step) { model_.scales->add(inputs_of(step), targets_of(step)); }

  StepInput scaled_input(const RawStep& step) {
    const std::span<const float> values = inputs_of(step);
    if (!model_.scales) return {.reals = values, .token = step.token};
    for (std::size_t i = 0; i < values.size(); ++i) model_.inputs[i] = model_.scales->inputs.scaled(i, values[i]);
    return {.reals = model_.inputs, .token = step.token};
  }

  StepTarget scaled_target(const RawStep& step) {
    if (model_.interface().labels) return {.label = step.label};
    const std::span<const float> values = targets_of(step);
    if (!model_.scales || values.empty()) return {.values = values};
    for (std::size_t i = 0; i < values.size(); ++i) model_.targets[i] = model_.scales->targets.scaled(i, values[i]);
    return {.values = model_.targets};
  }

  /// A prediction that is no number is the first that a caller could see of weights that are none.
  std::span<const double> finite(std::span<const double> prediction) const {
    for (const double value : prediction)
      if (!std::isfinite(value))
        fail("online",
             "the prediction is {}: what was learnt has diverged; begin anew with a lower optimizer.rate "
             "(now {}) or clipping (optimizer.clip, now {})",
             value, model_.config().optimizer.rate, model_.config().optimizer.clip.norm);
    return prediction;
  }

  std::span<const double> in_units(std::span<const double> prediction) {
    if (!model_.scales || model_.interface().labels) return prediction;
    for (std::size_t i = 0; i < prediction.size(); ++i)
      model_.moved[i] = model_.scales->targets.undone(i, prediction[i]);
    return model_.moved;
  }

  ModelObject& model_;
  OnlineLearner& learner_;
};

void answer(std::span<const double> prediction, double* out) {
  if (out != nullptr) std::copy(prediction.begin(), prediction.end(), out);
}

Scales& scales_of(ModelObject& model) {
  if (!model.scales) refuse("c", "the model has no scales; tt_scales_begin makes them");
  return *model.scales;
}

/// One number that is none would stay in the scales for ever.
void require_finite(const float* values, std::size_t count) {
  if (values == nullptr) return;
  if (!std::all_of(values, values + count, [](float value) { return std::isfinite(value); }))
    refuse("c", "inputs and targets must be finite numbers");
}

void forecast(ModelObject& model, int slot, int horizon, const float* inputs, double* predictions) {
  Streams streams(model);
  const auto reals = elements(model.interface().reals), outputs = elements(model.interface().outputs);
  require_range("c", "horizon", horizon, 1, 1'000'000);
  if (model.interface().labels || reals < outputs)
    refuse("c", "a forecast goes on from its own answers: the first inputs must be the {} targets", outputs);
  std::vector<float> row(inputs, inputs + reals);
  for (int step = 0; step < horizon; ++step) {
    const std::span<const double> next = streams.look(slot, {.inputs = row.data()}, step > 0);
    std::copy(next.begin(), next.end(), predictions + elements(step) * outputs);
    if (step + 1 == horizon) break;
    std::copy_n(inputs + elements(step + 1) * reals, reals, row.begin());
    std::copy(next.begin(), next.end(), row.begin());
  }
}

}  // namespace
}  // namespace throughtime::c

using namespace throughtime;
using namespace throughtime::c;

extern "C" {

int tt_stream_predict(int64_t model, int32_t slot, const float* inputs, int32_t token, double* prediction) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    require(prediction, "prediction");
    answer(Streams(*object).look(slot, {.inputs = inputs, .token = token}), prediction);
  });
}

int tt_stream_observe(int64_t model, int32_t slot, const float* inputs, int32_t token, const float* targets,
                      int32_t label, double* prediction) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    const RawStep step{.inputs = inputs, .token = token, .targets = targets, .label = label};
    Streams streams(*object);
    streams.check(slot, step);
    answer(streams.observe(slot, step), prediction);
  });
}

int tt_stream_observe_many(int64_t model, int32_t slot, int64_t rows, const float* inputs, const int32_t* tokens,
                           const float* targets, const int32_t* labels, double* predictions) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    if (rows < 0) refuse("c", "rows must be at least 0, got {}", rows);
    const Interface& interface = object->interface();
    if (interface.reals > 0) require(inputs, "inputs");
    if (interface.vocabulary > 0) require(tokens, "tokens");
    Streams streams(*object);
    const auto reals = elements(interface.reals), outputs = elements(interface.outputs), count = elements(rows);
    const auto step = [&](std::size_t row) {
      return RawStep{.inputs = inputs == nullptr ? nullptr : inputs + row * reals,
                     .token = tokens == nullptr ? -1 : tokens[row],
                     .targets = targets == nullptr ? nullptr : targets + row * outputs,
                     .label = labels == nullptr ? -1 : labels[row]};
    };
    for (std::size_t row = 0; row < count; ++row) streams.check(slot, step(row));
    for (std::size_t row = 0; row < count; ++row)
      answer(streams.observe(slot, step(row)), predictions == nullptr ? nullptr : predictions + row * outputs);
  });
}

int tt_stream_advance(int64_t model, int32_t slot, const float* inputs, int32_t token, double* prediction) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    answer(Streams(*object).advance(slot, {.inputs = inputs, .token = token}), prediction);
  });
}

int tt_stream_learn(int64_t model, int32_t slot, const float* inputs, int32_t token, const float* targets,
                    int32_t label) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    Streams(*object).learn(slot, {.inputs = inputs, .token = token, .targets = targets, .label = label});
  });
}

int tt_stream_forecast(int64_t model, int32_t slot, int32_t horizon, const float* inputs, double* predictions) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    forecast(*object, slot, horizon, require(inputs, "inputs"), require(predictions, "predictions"));
  });
}

int tt_stream_reset(int64_t model, int32_t slot) {
  return guarded([&] { Use<ModelObject>(model)->learner().reset(slot); });
}

int tt_stream_end(int64_t model) {
  return guarded([&] { Use<ModelObject>(model)->end_streams(); });
}

int tt_stream_facts(int64_t model, int64_t* updates, int64_t* bytes) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    *require(updates, "updates") = object->learner().updates();
    *require(bytes, "bytes") = static_cast<int64_t>(object->learner().activation_bytes());
  });
}

int tt_scales_begin(int64_t model) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    object->scales = std::make_unique<Scales>(object->interface(), object->config().stream.scales);
  });
}

int tt_scales_add(int64_t model, int64_t rows, const float* inputs, const float* targets) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    Scales& scales = scales_of(*object);
    if (rows < 0) refuse("c", "rows must be at least 0, got {}", rows);
    if (inputs == nullptr && targets == nullptr) refuse("c", "inputs and targets must not both be NULL");
    require_finite(inputs, elements(rows) * scales.inputs.columns());
    require_finite(targets, elements(rows) * scales.targets.columns());
    for (std::int64_t row = 0; row < rows; ++row)
      scales.add(scales.inputs_of(inputs, row), scales.targets_of(targets, row));
  });
}

int tt_scales_apply(int64_t model, int64_t rows, int32_t of_targets, const float* values, float* scaled) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    const RunningScales& scales = of_targets != 0 ? scales_of(*object).targets : scales_of(*object).inputs;
    if (rows < 0) refuse("c", "rows must be at least 0, got {}", rows);
    require(values, "values");
    require(scaled, "scaled");
    for (std::size_t i = 0; i < elements(rows) * scales.columns(); ++i)
      scaled[i] = scales.scaled(i % scales.columns(), values[i]);
  });
}

int tt_scales_undo(int64_t model, int64_t rows, double* predictions) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    const RunningScales& scales = scales_of(*object).targets;
    if (rows < 0) refuse("c", "rows must be at least 0, got {}", rows);
    require(predictions, "predictions");
    for (std::size_t i = 0; i < elements(rows) * scales.columns(); ++i)
      predictions[i] = scales.undone(i % scales.columns(), predictions[i]);
  });
}

int tt_scales_get(int64_t model, double* means, double* deviations, int64_t count) {
  return guarded([&] {
    const Use<ModelObject> object(model);
    const Scales& scales = scales_of(*object);
    const std::size_t reals = scales.inputs.columns(), outputs = scales.targets.columns();
    if (count != static_cast<int64_t>(reals + outputs))
      refuse("c", "there are {} scales, got room for {}", reals + outputs, count);
    require(means, "means");
    require(deviations, "deviations");
    for (std::size_t i = 0; i < reals + outputs; ++i) {
      const RunningScales& of = i < reals ? scales.inputs : scales.targets;
      const std::size_t column = i < reals ? i : i - reals;
      means[i] = of.mean(column);
      deviations[i] = of.deviation(column);
    }
  });
}
}
