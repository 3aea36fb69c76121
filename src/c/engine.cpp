#include "throughtime/engine.h"

#include "c/data.h"
#include "c/model.h"
#include "throughtime/index.h"
#include "throughtime/learner.h"

namespace throughtime::c {
namespace {

/// A window with the sequences that it reads.
class WindowObject final : public Object {
 public:
  static constexpr const char* kind = "window";
  std::shared_ptr<const ArrayData> arrays;
  Window window;
};

/// An engine with buffers that are known by number.
class EngineObject final : public Object {
 public:
  static constexpr const char* kind = "engine";

  explicit EngineObject(ModelObject& of)
      : model(of.model()),
        engine(make_engine(model, make_engine_config(of.config().run, of.config().train.batch))),
        trainee(make_trainee(*engine, of.parameters(), of.config().optimizer.rule, of.config().optimizer.clip)),
        buffers{trainee.parameters, trainee.gradient} {}

  Buffer buffer(std::int32_t number, std::string_view what, std::size_t size) const {
    if (number == -1) return {};
    const Buffer found = any_buffer(number);
    if (found.size != size)
      refuse("c", "{} must be a buffer of {} numbers, buffer {} has {}", what, size, number, found.size);
    return found;
  }
  Buffer any_buffer(std::int32_t number) const {
    if (number < 0 || elements(number) >= buffers.size())
      refuse("c", "there is no buffer {}; they are numbered from 0 to {}", number, buffers.size() - 1);
    return buffers[elements(number)];
  }
  std::size_t states(const Window& window) const { return elements(window.batch, model.state_size()); }

  /// The tape of a window of that shape; one is kept.
  Tape& tape_for(const Window& window) {
    if (!tape || tape->shape().steps < window.steps || tape->shape().batch != window.batch)
      tape = engine->make_tape({.steps = window.steps, .batch = window.batch});
    return *tape;
  }

  Model model;
  std::unique_ptr<Engine> engine;
  Trainee trainee;
  std::vector<Buffer> buffers;
  std::unique_ptr<Tape> tape;
  std::shared_ptr<const ArrayData> unrolled_arrays;
  Window unrolled;  // of the last unroll; 0 steps: there was none
};

void check_fit(const EngineObject& engine, const ArrayData& arrays) {
  const Model& model = engine.model;
  const bool labels = takes_label(model.head().target);
  require_fit(arrays, model.config().input.reals, model.config().input.vocabulary, model.outputs(), labels);
}

void unroll(EngineObject& engine, const WindowObject& given, const UnrollCall& numbers) {
  engine.unrolled = {};
  engine.engine->unroll(numbers);
  engine.unrolled_arrays = given.arrays;
  engine.unrolled = given.window;
}

}  // namespace
}  // namespace throughtime::c

using namespace throughtime;
using namespace throughtime::c;

extern "C" {

int tt_engine_new(int64_t model, int64_t* engine) {
  return guarded([&] {
    require(engine, "engine");
    *engine = keep(std::make_shared<EngineObject>(*Use<ModelObject>(model)));
  });
}

int tt_engine_buffer(int64_t engine, int64_t count, int32_t* buffer) {
  return guarded([&] {
    const Use<EngineObject> object(engine);
    require(buffer, "buffer");
    if (count < 1) refuse("c", "a buffer must have at least 1 number, got {}", count);
    object->buffers.push_back(object->engine->allocate(elements(count)));
    *buffer = static_cast<int32_t>(object->buffers.size()) - 1;
  });
}

int tt_engine_write(int64_t engine, int32_t buffer, const double* values, int64_t count) {
  return guarded([&] {
    const Use<EngineObject> object(engine);
    const Buffer to = object->any_buffer(buffer);
    if (count != static_cast<int64_t>(to.size)) refuse("c", "buffer {} has {} numbers, got {}", buffer, to.size, count);
    object->engine->write(to, {require(values, "values"), to.size});
  });
}

int tt_engine_read(int64_t engine, int32_t buffer, double* values, int64_t count) {
  return guarded([&] {
    const Use<EngineObject> object(engine);
    const Buffer from = object->any_buffer(buffer);
    if (count != static_cast<int64_t>(from.size))
      refuse("c", "buffer {} has {} numbers, got room for {}", buffer, from.size, count);
    object->engine->read(from, {require(values, "values"), from.size});
  });
}

int tt_window_new(int64_t data, int32_t steps, int32_t rows, const int32_t* sequence, const int64_t* start,
                  const float* weight, const uint8_t* reset, int64_t* window) {
  return guarded([&] {
    require(window, "window");
    require_range("c", "steps", steps, 1, 1 << 24);
    require_range("c", "rows", rows, 1, 1 << 16);
    auto object = std::make_shared<WindowObject>();
    object->arrays = arrays_of(data);
    validate(*object->arrays);
    if (object->arrays->one_target) refuse("c", "a window needs a target for each step");
    const std::size_t entries = elements(steps, rows);
    Window& made = object->window;
    made.steps = steps;
    made.batch = rows;
    made.sources = object->arrays->parts[0].sequences;
    made.source.assign(require(sequence, "sequence"), sequence + rows);
    made.start.assign(require(start, "start"), start + rows);
    made.weight.assign(entries, 1.0f);
    if (weight != nullptr) made.weight.assign(weight, weight + entries);
    if (reset != nullptr)
      for (std::size_t i = 0; i < entries; ++i) made.flags.push_back(reset[i] != 0 ? StepFlag::reset : StepFlag::go_on);
    validate(made);
    *window = keep(object);
  });
}

int tt_engine_unroll(int64_t engine, int64_t window, int32_t training, int32_t initial_state, int32_t final_state,
                     int32_t losses, int32_t loss_sum, int32_t predictions) {
  return guarded([&] {
    const Use<EngineObject> object(engine);
    const Use<WindowObject> given(window);
    check_fit(*object, *given->arrays);
    const Window& shown = given->window;
    const std::size_t states = object->states(shown), entries = elements(shown.steps, shown.batch);
    unroll(*object, *given,
           {.window = shown,
            .parameters = object->trainee.parameters,
            .tape = object->tape_for(shown),
            .training = training != 0,
            .initial_state = object->buffer(initial_state, "initial_state", states),
            .final_state = object->buffer(final_state, "final_state", states),
            .losses = object->buffer(losses, "losses", entries),
            .loss_sum = object->buffer(loss_sum, "loss_sum", 1),
            .predictions = object->buffer(predictions, "predictions", entries * elements(object->model.outputs()))});
  });
}

int tt_engine_pull_back(int64_t engine, int32_t gradient, int32_t add, int32_t end_cotangent,
                        int32_t initial_cotangent) {
  return guarded([&] {
    const Use<EngineObject> object(engine);
    if (object->unrolled.steps == 0) refuse("c", "there is no window to go back through; unroll one first");
    const std::size_t states = object->states(object->unrolled);
    object->engine->pull_back({.tape = *object->tape,
                               .window = object->unrolled,
                               .parameters = object->trainee.parameters,
                               .gradient = object->buffer(gradient, "gradient", object->trainee.parameters.size),
                               .add = add != 0,
                               .end_cotangent = object->buffer(end_cotangent, "end_cotangent", states),
                               .initial_cotangent = object->buffer(initial_cotangent, "initial_cotangent", states)});
  });
}

int tt_engine_update(int64_t engine, int32_t gradient, double rate, double scale) {
  return guarded([&] {
    const Use<EngineObject> object(engine);
    const Buffer from = object->buffer(gradient, "gradient", object->trainee.parameters.size);
    if (!from) refuse("c", "an update needs a gradient");
    object->unrolled = {};  // its tape belongs to the weights before
    object->engine->apply_update({.target = object->trainee.parameters,
                                  .gradient = from,
                                  .optimizer = *object->trainee.optimizer,
                                  .rate = rate,
                                  .gradient_scale = scale,
                                  .clip = object->trainee.clip});
    object->trainee.average.follow(object->trainee.parameters, object->trainee.optimizer->step);
  });
}
}
