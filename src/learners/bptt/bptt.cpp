#include "learners/bptt/forms.h"
#include "learners/support.h"

namespace throughtime {
namespace {

/// Back-propagation through time: the stretch is one window, with one update of its mean loss. A stretch that
/// continues starts from the last one's final state, held constant.
class Bptt final : public Learner {
 public:
  Bptt(Trainee& trainee, const StretchShape& shape)
      : Learner(trainee, shape),
        tape_(trainee.engine.make_tape(
            {.steps = shape.steps, .batch = shape.batch, .keep = Keep::gradient, .losses = shape.losses})),
        state_(trainee.engine.allocate(elements(shape.batch, trainee.engine.model().state_size()))) {}

  std::string_view name() const override { return "bptt"; }
  std::size_t activation_bytes() const override { return tape_->activation_bytes(); }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    archive.buffer("state", trainee_.engine, state_);
  }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    const double losses = sum_of_weights(name(), stretch.weight);
    trainee_.engine.unroll({.window = stretch,
                            .parameters = trainee_.parameters,
                            .tape = *tape_,
                            .initial_state = stretch.continues ? state_ : Buffer(),
                            .final_state = state_,
                            .loss_sum = loss_sum_,
                            .correct_sum = correct_sum_,
                            .penalties = count_penalties(stretch)});
    if (losses == 0) return;
    trainee_.engine.pull_back(
        {.tape = *tape_, .window = stretch, .parameters = trainee_.parameters, .gradient = trainee_.gradient});
    loss_weight_ += losses;
    update(losses, rate);
  }

 private:
  std::unique_ptr<Tape> tape_;
  Buffer state_;  // [B, S]: after the last stretch
};

}  // namespace

std::unique_ptr<Learner> make_learner(const BpttConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_learner(config, trainee.engine.model(), shape);
  if (config.aux_losses) return make_bptt_aux(config, trainee, shape);
  if (config.memory == BpttMemory::recompute) return make_bptt_recompute(trainee, shape);
  return std::make_unique<Bptt>(trainee, shape);
}

}  // namespace throughtime
