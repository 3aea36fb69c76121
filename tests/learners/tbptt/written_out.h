#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "learners/tbptt/lengths.h"
#include "support/engine_run.h"
#include "support/numeric.h"

namespace throughtime::testing {

/// Truncated BPTT as its definition says it, with plain gradient steps, by forward calls alone: the gradient of a
/// window is the central difference of its losses with the state before its first cell held fixed. All states that
/// windows have passed are remembered; a window begins with the state that was passed last at its place.
class WrittenOut {
 public:
  WrittenOut(const Problem& problem, const Lengths& lengths, double rate)
      : problem_(problem), lengths_(lengths), rate_(rate), run_(problem), parameters_(problem.parameters) {
    states_[0] = std::vector<double>(run_.state_numbers(), 0.0);
  }

  /// Stretches of these lengths, each continuing the one before it.
  void learn(const std::vector<int>& stretches) {
    int origin = 0;
    for (const int length : stretches) {
      for (int begin = 0; begin < length;) {
        const int end = std::min(begin + lengths_.stride, length), moved = end - begin;
        const int losses = moved < lengths_.stride ? std::min(lengths_.losses, moved) : lengths_.losses;
        learn_window({.first = std::max(0, origin + end - lengths_.steps),
                      .first_loss = std::max(origin, origin + end - losses),
                      .end = origin + end,
                      .last = std::min(origin + end + lengths_.ahead, origin + length)});
        begin = end;
      }
      origin += length;
    }
  }
  const std::vector<double>& parameters() const { return parameters_; }
  double mean_loss() const { return loss_ / weight_; }
  int updates() const { return updates_; }

 private:
  /// Cells [first, end), losses from first_loss on; those of [end, last) flow in through the state.
  struct Cells {
    int first, first_loss, end, last;
  };

  void learn_window(const Cells& cells) {
    const std::vector<double> start = states_.at(cells.first);
    Window own, ahead;
    slice(problem_.window, cells.first, cells.end - cells.first, own);
    std::fill_n(own.weight.begin(), (cells.first_loss - cells.first) * own.batch, 0.0f);
    const bool flows_in = cells.last > cells.end;
    if (flows_in) slice(problem_.window, cells.end, cells.last - cells.end, ahead);
    const auto unroll = [&](const Window& window, const std::vector<double>& weights, const std::vector<double>& from) {
      run_.set_parameters(weights);
      run_.set_window(window);
      return run_.unroll(from);
    };
    const auto losses = [&](std::span<const double> weights) {
      const Unrolled passed = unroll(own, {weights.begin(), weights.end()}, start);
      return passed.loss_sum + (flows_in ? unroll(ahead, parameters_, passed.final_state).loss_sum : 0);
    };
    const std::vector<double> gradient = central_differences(losses, parameters_);
    const auto sum = [](const Window& window) {
      return std::accumulate(window.weight.begin(), window.weight.end(), 0.0);
    };
    loss_ += losses(parameters_);
    weight_ += sum(own) + (flows_in ? sum(ahead) : 0);
    const std::vector<double> states = unroll(own, parameters_, start).states;
    const auto numbers = static_cast<long>(run_.state_numbers());
    for (int step = cells.first; step <= cells.end; ++step) {
      const auto from = states.begin() + (step - cells.first) * numbers;
      states_[step] = {from, from + numbers};
    }
    for (std::size_t i = 0; i < gradient.size(); ++i) parameters_[i] -= rate_ * gradient[i] / sum(own);
    ++updates_;
  }

  const Problem& problem_;
  Lengths lengths_;
  double rate_;
  EngineRun run_;
  std::vector<double> parameters_;
  std::map<int, std::vector<double>> states_;  // before each step
  double loss_ = 0, weight_ = 0;
  int updates_ = 0;
};

/// One unit, one input, two classes.
inline Problem smallest_problem(const std::string& cell, int steps, int rows, double resets = 0) {
  return random_problem({.model = with_head(stack_of(cell, {1}, 1), "softmax", 2),
                         .steps = steps,
                         .batch = rows,
                         .resets = resets,
                         .seed = static_cast<std::uint64_t>(10 * steps + rows)});
}

}  // namespace throughtime::testing
