#pragma once

#include <map>
#include <string>
#include <vector>

#include "learners/recording_engine.h"
#include "learners/state_editor.h"

namespace throughtime::testing {

// For the tests of FPP: the buffer, its states and the loop (oracles O6-O9 and O11), and the sliding T-BPTT baseline.

inline LearnerConfig fpp(int steps, int buffer, double state_rate = 0.01) {
  LearnerConfig config;
  config.name = "fpp";
  config.fpp.steps = steps;
  config.fpp.buffer = buffer;
  config.fpp.state_rate = state_rate;
  return config;
}

inline Problem stream_problem(int steps, int batch, const std::string& cell = "rnn_tanh", std::uint64_t seed = 1) {
  ProblemSpec spec;
  spec.model = with_head(stack_of(cell, {3}, 2), "softmax", 3);
  spec.steps = steps;
  spec.batch = batch;
  spec.seed = seed;
  return random_problem(spec);
}

/// The windows that a learner pulled back, in order.
inline std::vector<const RecordingEngine::UnrollRecord*> trajectories(const Lesson& lesson) {
  std::vector<const RecordingEngine::UnrollRecord*> found;
  for (const auto& record : lesson.engine.unrolls)
    if (record.keep == Keep::gradient) found.push_back(&record);
  return found;
}

inline std::map<std::string, std::vector<double>> kept(Lesson& lesson) {
  StateEditor editor;
  lesson.learner->archive(editor);
  return editor.buffers;
}

}  // namespace throughtime::testing
