#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "throughtime/head.h"
#include "train/run/trainer.h"

namespace throughtime {

/// One step of a split that carries a loss: what was asked for and what the model said.
struct PredictedStep {
  std::int64_t row = 0;                 // of the split, from 0: the step of a recording, else the sequence
  RowTarget<float> target;              // in the task's own numbers
  std::span<const double> predictions;  // [outputs], as the engine gives them
};

/// Walks once over a split as an evaluation does (of a generated one, over train.evaluate_batches batches). Steps of
/// rows that lie side by side come together; a single row comes in its order.
void predict_split(Trainer& trainer, Split split, const std::function<void(const PredictedStep&)>& use);

}  // namespace throughtime
