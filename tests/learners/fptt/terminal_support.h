#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "learners/fptt/support.h"

namespace throughtime::testing {

constexpr int terminal_steps = 10, terminal_rows = 3;

/// Sequences of ten steps and three rows with one target each, at the last step.
inline Problem terminal_problem(const std::string& head, int outputs, std::uint64_t seed = 1) {
  Problem problem = random_problem({.model = with_head(stack_of("lstm", {4}), head, outputs),
                                    .steps = terminal_steps,
                                    .batch = terminal_rows,
                                    .targets = TargetLayout::per_row,
                                    .seed = seed});
  std::fill(problem.window.weight.begin(), problem.window.weight.end() - terminal_rows, 0.0f);
  std::fill(problem.window.weight.end() - terminal_rows, problem.window.weight.end(), 1.0f);
  return problem;
}

/// A learner on a recording engine that knows of terminal targets and of numbered examples.
struct TerminalLesson {
  template <class Config>
  TerminalLesson(const Problem& problem, const Config& config, std::int64_t examples = 0, double rate = 0)
      : engine(*problem.model),
        trainee(make_trainee(engine, problem.parameters, optimizer("sgd"), {})),
        learner(
            make_learner(config, trainee,
                         {.steps = terminal_steps, .batch = terminal_rows, .terminal = true, .examples = examples})),
        rate(rate) {}
  void learn(const Window& stretch) { learner->learn(stretch, constant(rate)); }

  RecordingEngine engine;
  Trainee trainee;
  std::unique_ptr<Learner> learner;
  double rate;
};

/// Predictions [B, outputs] at the end of an unroll that was recorded, with the problem's parameters.
inline std::vector<double> predictions_of(const Problem& problem, const RecordingEngine::UnrollRecord& record) {
  EngineRun run(problem);
  Window window = record.window;
  window.targets = problem.window.targets;
  run.set_window(window);
  const auto all = run.unroll(record.initial_state).predictions;
  const auto outputs = static_cast<std::ptrdiff_t>(problem.model->outputs());
  const auto end = all.begin() + window.steps * terminal_rows * outputs;
  return {end - terminal_rows * outputs, end};
}

}  // namespace throughtime::testing
