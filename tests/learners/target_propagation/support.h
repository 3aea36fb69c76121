#pragma once

#include <memory>
#include <string>
#include <vector>

#include "learners/recording_engine.h"
#include "learners/target_propagation/objective.h"
#include "support/engine_run.h"
#include "support/numeric.h"
#include "support/random_problem.h"
#include "throughtime/index.h"
#include "throughtime/learner.h"

namespace throughtime::testing {

/// Values of all variables of L_aug.
struct Variables {
  std::vector<double> theta;
  std::vector<double> states;  // [N + 1, R, S]
  std::vector<double> duals;   // likewise
};

/// L_aug of a window by its definition, one block after the other, on the reference engine.
class Definition {
 public:
  Definition(const Problem& problem, int block, double lambda, bool last_spring = false)
      : problem_(problem),
        block_(block),
        lambda_(lambda),
        last_spring_(last_spring),
        engine_(make_engine(*problem.model, EngineRun::reference())),
        tape_(engine_->make_tape({.steps = block, .batch = problem.window.batch, .keep = Keep::gradient})),
        parameters_(engine_->allocate(problem.parameters.size())),
        gradient_(engine_->allocate(problem.parameters.size())),
        state_(engine_->allocate(numbers())),
        cotangent_(engine_->allocate(numbers())),
        loss_(engine_->allocate(1)) {}

  std::size_t numbers() const { return elements(problem_.window.batch, problem_.model->state_size()); }
  int blocks() const { return (problem_.window.steps + block_ - 1) / block_; }
  std::size_t table() const { return elements(blocks() + 1) * numbers(); }

  struct End {
    std::vector<double> state;  // E_j(h_j)
    double loss = 0;            // l_j(h_j)
  };
  End run(const std::vector<double>& theta, int j, const std::vector<double>& start) {
    part(j);
    engine_->write(parameters_, theta);
    engine_->write(state_, start);
    engine_->fill(loss_, 0);
    engine_->unroll({.window = part_,
                     .parameters = parameters_,
                     .tape = *tape_,
                     .training = false,
                     .initial_state = state_,
                     .final_state = state_,
                     .loss_sum = loss_});
    return {engine_->read(state_), engine_->read(loss_)[0]};
  }
  /// The cotangents of a block's start and of theta, with `end` entering behind it; of l_j too, or not.
  std::pair<std::vector<double>, std::vector<double>> pull(const std::vector<double>& theta, int j,
                                                           const std::vector<double>& start,
                                                           const std::vector<double>& end, bool losses = true) {
    run(theta, j, start);
    engine_->write(cotangent_, end);
    engine_->pull_back({.tape = *tape_,
                        .window = part_,
                        .parameters = parameters_,
                        .gradient = gradient_,
                        .losses = losses,
                        .end_cotangent = cotangent_,
                        .initial_cotangent = cotangent_});
    return {engine_->read(cotangent_), engine_->read(gradient_)};
  }

  std::vector<double> state(const std::vector<double>& table, int j) const {
    const auto begin = table.begin() + j * numbers();
    return {begin, begin + numbers()};
  }
  double value(const Variables& at) {
    double sum = 0;
    for (int j = 0; j < blocks(); ++j) {
      const End end = run(at.theta, j, state(at.states, j));
      sum += end.loss;
      if (j + 1 == blocks() && !last_spring_) continue;
      const std::vector<double> next = state(at.states, j + 1), dual = state(at.duals, j);
      for (std::size_t k = 0; k < next.size(); ++k) {
        const std::size_t row = k / problem_.model->state_size();
        if (j + 1 < blocks() && problem_.window.resets_at((j + 1) * block_, static_cast<int>(row))) continue;
        const double r = next[k] - end.state[k] + dual[k];
        sum += 0.5 * lambda_ * r * r;
      }
    }
    return sum;
  }
  /// [N + 1, R, S]: h_0 = `first`, h_{j+1} = E_j(h_j).
  std::vector<double> chain(const std::vector<double>& theta, std::vector<double> first) {
    std::vector<double> table = first;
    for (int j = 0; j < blocks(); ++j) {
      first = run(theta, j, first).state;
      table.insert(table.end(), first.begin(), first.end());
    }
    return table;
  }

 private:
  void part(int j) { slice(problem_.window, j * block_, std::min(block_, problem_.window.steps - j * block_), part_); }

  const Problem& problem_;
  int block_;
  double lambda_;
  bool last_spring_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tape> tape_;
  Buffer parameters_, gradient_, state_, cotangent_, loss_;
  Window part_;
};

/// The learner's own objective on the same window.
class Objective {
 public:
  Objective(const Problem& problem, int block, double lambda, const std::string& engine = "reference", int shard = 0,
            bool last_spring = false)
      : engine_(make_engine(*problem.model, {.name = engine, .threads = 1, .communicator = nullptr})),
        blocks_({.steps = problem.window.steps, .batch = problem.window.batch}, block, shard, last_spring),
        objective_(*engine_, blocks_, 0, true),
        theta_(engine_->allocate(problem.parameters.size())),
        gradient_(engine_->allocate(problem.parameters.size())),
        loss_(engine_->allocate(1)),
        lambda_(lambda) {
    const std::size_t size = elements(blocks_.table_rows(), problem.model->state_size());
    for (Buffer* buffer : {&states_, &duals_, &state_gradient_}) *buffer = engine_->allocate(size);
    blocks_.begin(problem.window);
  }

  struct Gradients {
    double loss = 0, springs = 0;  // sum of l_j; of |h_{j+1} - E_j(h_j)|^2
    std::vector<double> theta, states, residuals;
  };
  Gradients at(const Variables& variables, bool state_only = false) {
    engine_->write(theta_, variables.theta);
    engine_->write(states_, variables.states);
    engine_->write(duals_, variables.duals);
    engine_->fill(loss_, 0);
    const ObjectivePoint point{theta_, states_, states_, duals_, lambda_};
    objective_.differentiate(
        point, {.theta = state_only ? Buffer() : gradient_, .states = state_gradient_, .loss_sum = loss_});
    Gradients found{engine_->read(loss_)[0],
                    engine_->read(objective_.spring_square())[0],
                    engine_->read(gradient_),
                    engine_->read(state_gradient_),
                    {}};
    engine_->fill(state_gradient_, 0);
    objective_.residuals(point, state_gradient_);
    found.residuals = engine_->read(state_gradient_);
    return found;
  }
  double value(const Variables& variables) {
    const Gradients found = at(variables);
    return found.loss + 0.5 * lambda_ * norm(found.residuals) * norm(found.residuals);
  }
  Engine& engine() { return *engine_; }
  Blocks& blocks() { return blocks_; }
  BlockObjective& objective() { return objective_; }

 private:
  std::unique_ptr<Engine> engine_;
  Blocks blocks_;
  BlockObjective objective_;
  Buffer theta_, gradient_, loss_, states_, duals_, state_gradient_;
  double lambda_;
};

inline Variables random_variables(const Problem& problem, std::size_t table, std::uint64_t seed) {
  return {problem.parameters, random_numbers(table, seed, 0.7), random_numbers(table, seed + 1, 0.3)};
}

inline Problem block_problem(const std::string& cell, int steps = 6, int batch = 2, double parameter_range = 0.6) {
  return random_problem({.model = with_head(stack_of(cell, {3}, 2), "softmax", 4),
                         .steps = steps,
                         .batch = batch,
                         .parameter_range = parameter_range});
}

inline LearnerConfig propagation(int block, double lambda, int state_steps = 1) {
  LearnerConfig config;
  config.name = "target_propagation";
  config.target_propagation.block = block;
  config.target_propagation.lambda = lambda;
  config.target_propagation.state_steps = state_steps;
  config.target_propagation.state_optimizer = "sgd";
  return config;
}

}  // namespace throughtime::testing
