#pragma once

#include <memory>
#include <utility>

#include "throughtime/forwarding_engine.h"

namespace throughtime::testing {

/// An engine that unrolls every window on a new tape: nothing that a tape keeps from one window to the next is used.
class FreshTapes final : public ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  std::unique_ptr<Tape> make_tape(const TapeShape& shape) override { return std::make_unique<Renewed>(inner(), shape); }
  void unroll(const UnrollCall& call) override {
    Renewed& tape = static_cast<Renewed&>(call.tape);
    tape.inner = inner().make_tape(tape.shape());
    inner().unroll({.window = call.window,
                    .parameters = call.parameters,
                    .tape = *tape.inner,
                    .training = call.training,
                    .initial_state = call.initial_state,
                    .final_state = call.final_state,
                    .losses = call.losses,
                    .loss_sum = call.loss_sum,
                    .correct_sum = call.correct_sum,
                    .penalties = call.penalties,
                    .predictions = call.predictions,
                    .states = call.states,
                    .state_steps = call.state_steps,
                    .checked = call.checked});
  }
  void pull_back(const PullBackCall& call) override {
    inner().pull_back({.tape = *static_cast<Renewed&>(call.tape).inner,
                       .window = call.window,
                       .parameters = call.parameters,
                       .first = call.first,
                       .last = call.last,
                       .gradient = call.gradient,
                       .add = call.add,
                       .losses = call.losses,
                       .end_cotangent = call.end_cotangent,
                       .step_cotangents = call.step_cotangents,
                       .initial_cotangent = call.initial_cotangent,
                       .tap_norms = call.tap_norms,
                       .tap_vectors = call.tap_vectors,
                       .checked = call.checked});
  }

 private:
  struct Renewed final : Tape {
    Renewed(Engine& engine, const TapeShape& shape) : Tape(shape), inner(engine.make_tape(shape)) {}
    std::size_t activation_bytes() const override { return inner->activation_bytes(); }
    std::size_t bytes() const override { return inner->bytes(); }
    std::unique_ptr<Tape> inner;
  };
};

}  // namespace throughtime::testing
