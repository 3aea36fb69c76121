#include "train/predict/split_predictions.h"

#include <algorithm>

#include "engine/targets.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr int part_steps = 128;  // the longest part of a window that is unrolled at once

/// What is used again for every part.
struct Parts {
  Parts(Engine& engine, int steps, int batch)
      : tape(engine.make_tape({.steps = steps, .batch = batch, .keep = Keep::nothing})),
        state(engine.allocate(elements(batch, engine.model().state_size()))),
        predictions(engine.allocate(elements(steps, batch, engine.model().outputs()))),
        values(predictions.size) {}

  bool recording = false;  // rows are steps of one, not sequences
  std::unique_ptr<Tape> tape;
  Buffer state, predictions;
  std::vector<double> values;  // of the predictions
  Window window;
};

void use_part(const Model& model, const Window& part, std::int64_t batch_number, const Parts& parts,
              const std::function<void(const PredictedStep&)>& use) {
  const std::size_t outputs = elements(model.outputs());
  for (int step = 0; step < part.steps; ++step)
    for (int row = 0; row < part.batch; ++row) {
      if (part.weight_at(step, row) == 0) continue;
      const std::size_t entry = elements(step, part.batch) + elements(row);
      use({.row = parts.recording        ? part.start[elements(row)] + step
                  : part.example.empty() ? batch_number * part.batch + row
                                         : part.example[elements(row)],
           .target = row_target(model, part, step, row),
           .predictions = std::span(parts.values).subspan(entry * outputs, outputs)});
    }
}

}  // namespace

void predict_split(Trainer& trainer, Split split, const std::function<void(const PredictedStep&)>& use) {
  Task& task = trainer.task();
  Engine& engine = trainer.engine();
  if (!task.has(split)) refuse("predict", "the task {} has no {} split", trainer.plan().task, split_name(split));
  const int batch = task.evaluation_batch(trainer.config().train.batch);
  const std::int64_t pass = task.batches(split, batch);
  const std::int64_t count = pass > 0 ? pass : trainer.config().train.evaluate_batches;
  Parts parts(engine, std::min(task.steps(), part_steps), batch);
  parts.recording = pass > 0 && task.examples() == 0;
  for (std::int64_t number = 0; number < count; ++number) {
    const Window& window = task.make_batch(split, static_cast<std::uint64_t>(number), batch);
    for (int first = 0; first < window.steps; first += part_steps) {
      slice(window, first, std::min(part_steps, window.steps - first), parts.window);
      if (first == 0 && !(number > 0 && window.continues)) engine.fill(parts.state, 0);
      engine.unroll({.window = parts.window,
                     .parameters = trainer.evaluated_parameters(),
                     .tape = *parts.tape,
                     .training = false,
                     .initial_state = parts.state,
                     .final_state = parts.state,
                     .predictions = parts.predictions});
      engine.read(parts.predictions, parts.values);
      use_part(engine.model(), parts.window, number, parts, use);
    }
  }
}

}  // namespace throughtime
