#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/random_problem.h"
#include "throughtime/engine.h"

namespace throughtime::testing {

struct Unrolled {
  double loss_sum = 0;
  std::vector<double> penalties = {0, 0};  // activation, slowness
  std::vector<double> losses;              // [L, B]
  std::vector<double> final_state;         // [B, S]
  std::vector<double> predictions;         // [L, B, outputs]
  std::vector<double> states;              // [L + 1, B, S]
};

/// What to pull back; empty vectors are absent.
struct PullBackSpec {
  int first = 0;
  int last = -1;
  bool gradient = true;
  bool losses = true;
  bool taps = true;                          // ask for the norms and the vectors
  std::vector<double> add_to = {};           // the gradient buffer's content before a call that adds
  std::vector<double> end_cotangent = {};    // [B, S]
  std::vector<double> step_cotangents = {};  // [L, B, S]
};

struct PulledBack {
  std::vector<double> gradient;           // [P]
  std::vector<double> initial_cotangent;  // [B, S]
  std::vector<double> tap_norms;          // [last - first + 1, B]
  std::vector<double> tap_vectors;        // [last - first + 1, B, S]
};

/// One engine with the buffers of one problem: plain vectors in, plain vectors out, every output asked for.
class EngineRun {
 public:
  explicit EngineRun(const Problem& problem, const EngineConfig& config = reference(), Keep keep = Keep::gradient);
  static EngineConfig reference() { return {.name = "reference", .threads = 1, .communicator = nullptr}; }

  void set_parameters(const std::vector<double>& parameters) { engine_->write(parameters_, parameters); }
  /// The problem's window, or another one with the same batch and at most as many steps, which must outlive the run.
  void set_window(const Window& window) { window_ = &window; }
  void set_training(bool training) { training_ = training; }

  Unrolled unroll(const std::vector<double>& initial_state = {});
  PulledBack pull_back(const PullBackSpec& spec = {});

  Engine& engine() { return *engine_; }
  Tape& tape() { return *tape_; }
  Buffer parameters() const { return parameters_; }
  std::size_t state_numbers() const;  // B * S

 private:
  std::size_t rows() const { return static_cast<std::size_t>(problem_.window.batch); }

  const Problem& problem_;
  const Window* window_;
  bool training_ = true;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tape> tape_;
  Buffer parameters_;
};

/// loss_sum + penalties + <end, final state> + sum over l of <steps[l], state after step l>: what a pull-back
/// differentiates.
double objective(const Unrolled& unrolled, const PullBackSpec& spec);

}  // namespace throughtime::testing
