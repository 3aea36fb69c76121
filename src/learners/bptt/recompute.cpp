#include <algorithm>
#include <cmath>

#include "learners/bptt/forms.h"
#include "learners/support.h"

namespace throughtime {
namespace {

/// The gradient of bptt with a tape of about sqrt(T) steps: a first pass keeps only the states at which segments
/// start; then, from the last segment to the first, each is unrolled again and pulled back, handing the cotangent of
/// its first state to the segment before it. One more forward pass than bptt; dropout draws the same masks twice.
class BpttRecompute final : public Learner {
 public:
  BpttRecompute(Trainee& trainee, const StretchShape& shape)
      : Learner(trainee, shape), segment_(std::lround(std::ceil(std::sqrt(shape.steps)))) {
    Engine& engine = trainee.engine;
    const std::size_t state = elements(shape.batch, engine.model().state_size());
    scout_ = engine.make_tape({.steps = segment_, .batch = shape.batch, .keep = Keep::nothing});
    tape_ = engine.make_tape({.steps = segment_, .batch = shape.batch, .keep = Keep::gradient, .losses = shape.losses});
    for (int k = 0; k < segments(shape.steps); ++k) starts_.push_back(engine.allocate(state));
    state_ = engine.allocate(state);
    cotangent_ = engine.allocate(state);
    reserve(part_, segment_, shape.batch);
  }

  std::string_view name() const override { return "bptt"; }
  std::size_t activation_bytes() const override {
    const std::size_t starts = starts_.size() * state_.size * trainee_.engine.number_bytes();
    return scout_->activation_bytes() + tape_->activation_bytes() + starts;
  }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    archive.buffer("state", trainee_.engine, state_);
  }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    const double losses = sum_of_weights(name(), stretch.weight);
    const int last = segments(stretch.steps) - 1;
    store_starts(stretch, last);
    for (int k = last; k >= 0; --k) {
      cut(stretch, k);
      unroll_segment(k, k == last ? state_ : Buffer());
      if (losses == 0) return;  // only the states move on, and the last segment has moved them
      pull_segment_back(k, last);
    }
    loss_weight_ += losses;
    update(losses, rate);
  }

 private:
  int segments(int steps) const { return (steps + segment_ - 1) / segment_; }

  void cut(const Window& stretch, int k) {
    const int first = k * segment_;
    slice(stretch, first, std::min(segment_, stretch.steps - first), part_);
  }

  void store_starts(const Window& stretch, int last) {
    Engine& engine = trainee_.engine;
    if (stretch.continues) {
      engine.copy(state_, starts_[0]);
    } else {
      engine.fill(starts_[0], 0);
    }
    for (int k = 0; k < last; ++k) {
      cut(stretch, k);
      std::fill(part_.weight.begin(), part_.weight.end(), 0.0f);
      engine.unroll({.window = part_,
                     .parameters = trainee_.parameters,
                     .tape = *scout_,
                     .initial_state = start_of(k),
                     .final_state = start_of(k + 1)});
    }
  }

  void unroll_segment(int k, Buffer final_state) {
    trainee_.engine.unroll({.window = part_,
                            .parameters = trainee_.parameters,
                            .tape = *tape_,
                            .initial_state = start_of(k),
                            .final_state = final_state,
                            .loss_sum = loss_sum_,
                            .correct_sum = correct_sum_,
                            .penalties = count_penalties(part_)});
  }

  void pull_segment_back(int k, int last) {
    trainee_.engine.pull_back({.tape = *tape_,
                               .window = part_,
                               .parameters = trainee_.parameters,
                               .gradient = trainee_.gradient,
                               .add = k != last,
                               .end_cotangent = k != last ? cotangent_ : Buffer(),
                               .initial_cotangent = cotangent_});
  }

  Buffer start_of(int k) const { return starts_[k]; }

  int segment_;                  // steps of a segment
  std::unique_ptr<Tape> scout_;  // of the first pass
  std::unique_ptr<Tape> tape_;
  std::vector<Buffer> starts_;  // one [B, S] per segment
  Buffer state_;                // [B, S]: after the last stretch
  Buffer cotangent_;            // [B, S]: travels from segment to segment
  Window part_;
};

}  // namespace

std::unique_ptr<Learner> make_bptt_recompute(Trainee& trainee, const StretchShape& shape) {
  return std::make_unique<BpttRecompute>(trainee, shape);
}

}  // namespace throughtime
