#include "learners/tbptt/state_keeper.h"

#include <algorithm>
#include <numeric>

#include "learners/support.h"

namespace throughtime {
namespace {

/// Steps of a gap that are run at once.
int scout_steps(const StretchShape& shape) {
  return std::min(2 * StateRing::spacing, std::max(shape.steps, StateRing::spacing));
}

std::int64_t ring_position_from(std::int64_t position) {
  return (position + StateRing::spacing - 1) / StateRing::spacing * StateRing::spacing;
}

}  // namespace

StateKeeper::StateKeeper(std::string_view speaker, Trainee& trainee, const StretchShape& shape, const Lengths& longest,
                         Ring ring)
    : trainee_(trainee),
      longest_(longest),
      batch_(elements(shape.batch)),
      width_(trainee.engine.model().state_size()),
      ring_use_(ring),
      look_back_(speaker, longest.steps + StateRing::spacing, shape.batch) {
  Engine& engine = trainee.engine;
  scout_ = engine.make_tape({.steps = scout_steps(shape), .batch = shape.batch, .keep = Keep::nothing});
  reserve(gap_, scout_steps(shape), shape.batch);
  const std::size_t state = elements(shape.batch, width_);
  state_ = engine.allocate(state);
  std::size_t slots = kept_.size();
  if (ring != Ring::none) {
    ring_.emplace(engine, longest.steps, state);
    slots += elements(longest.steps / StateRing::spacing) + 1;
  }
  handed_ = engine.allocate(slots * state);
  handed_steps_.reserve(slots);
  indices_.resize(slots * batch_);
  std::iota(indices_.begin(), indices_.end(), 0);
}

void StateKeeper::begin(const Window& stretch) {
  look_back_.begin(stretch);
  if (history() > 0) return;
  trainee_.engine.fill(state_, 0);
  keep_only({0, in_state});
  origin_ = 0;
  if (ring_) ring_->clear();
}

int StateKeeper::reach(int first) {
  if (ring_ && kept_[0].position > first) {
    const std::int64_t position = ring_->last_until(origin_ + first);
    if (position >= origin_ - history()) {
      trainee_.engine.copy(ring_->at(position), state_);
      keep_only({static_cast<int>(position - origin_), in_state});
    }
  }
  return std::max(first, kept_[0].position);
}

void StateKeeper::move_to(const Window& stretch, int position) {
  const Kept from = kept_count_ == 2 && kept_[1].position <= position ? kept_[1] : kept_[0];
  if (from.slot != in_state) trainee_.engine.gather_rows(handed_, width_, rows_of(elements(from.slot)), state_);
  keep_only({from.position, in_state});
  while (kept_[0].position < position) run(stretch, std::min(scout_->shape().steps, position - kept_[0].position));
}

/// Moves `state_` on, without a loss.
void StateKeeper::run(const Window& stretch, int length) {
  const int first = kept_[0].position;
  cut(stretch, first, length, gap_);
  std::fill(gap_.weight.begin(), gap_.weight.end(), 0.0f);
  hand_out(stretch, first, first + length, {});
  trainee_.engine.unroll({.window = gap_,
                          .parameters = trainee_.parameters,
                          .tape = *scout_,
                          .initial_state = state_,
                          .final_state = state_,
                          .states = handed_,
                          .state_steps = handed_steps_});
  fill_ring(first);
  kept_[0].position += length;
}

void StateKeeper::hand_out(const Window& stretch, int first, int end, std::span<const Start> starts) {
  handed_steps_.clear();
  for (const Start& start : starts) handed_steps_.push_back(start.taken - first);
  if (ring_) {
    const int reach_back = longest_.steps + longest_.ahead + StateRing::spacing;
    const std::int64_t from = ring_use_ == Ring::everywhere ? first : std::max(first, stretch.steps - reach_back);
    for (std::int64_t at = ring_position_from(origin_ + from); at <= origin_ + end; at += StateRing::spacing)
      handed_steps_.push_back(static_cast<int>(at - origin_) - first);
  }
  std::sort(handed_steps_.begin(), handed_steps_.end());
  handed_steps_.erase(std::unique(handed_steps_.begin(), handed_steps_.end()), handed_steps_.end());
}

void StateKeeper::keep(int first, std::span<const Start> starts) {
  fill_ring(first);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto step = std::find(handed_steps_.begin(), handed_steps_.end(), starts[i].taken - first);
    kept_[i] = {starts[i].position, static_cast<int>(step - handed_steps_.begin())};
  }
  kept_count_ = static_cast<int>(starts.size());
  if (kept_count_ == 1) kept_[1] = kept_[0];
}

void StateKeeper::finish(const Window& stretch, int earliest) {
  if (kept_[0].position < earliest) move_to(stretch, earliest);  // the last windows had no loss
  look_back_.finish(stretch);
  for (Kept& kept : kept_) kept.position -= stretch.steps;
  origin_ += stretch.steps;
  rows_ += stretch.steps;
}

void StateKeeper::archive(Archive& archive) {
  archive.buffer("state", trainee_.engine, state_);
  archive.buffer("kept_states", trainee_.engine, handed_);
  look_back_.archive(archive);
  const Range slots = between(in_state, static_cast<double>(indices_.size() / batch_) - 1);
  archive.integer("kept_count", kept_count_, between(1, static_cast<double>(kept_.size())));
  archive.integer("kept_first", kept_[0].position, between(-history(), 0));
  archive.integer("kept_first_slot", kept_[0].slot, slots);
  archive.integer("kept_second", kept_[1].position, between(kept_[0].position, 0));
  archive.integer("kept_second_slot", kept_[1].slot, slots);
}

void StateKeeper::archive_place(Archive& archive) {
  archive.integer("origin", origin_);
  archive.integer("rows", rows_);
}

void StateKeeper::archive_ring(Archive& archive) {
  if (ring_) ring_->archive(archive);
}

void StateKeeper::keep_only(const Kept& kept) {
  kept_.fill(kept);
  kept_count_ = 1;
}

/// Puts what was handed out into the ring, where it belongs there.
void StateKeeper::fill_ring(int first) {
  if (!ring_) return;
  for (std::size_t i = 0; i < handed_steps_.size(); ++i) {
    const std::int64_t position = origin_ + first + handed_steps_[i];
    if (position % StateRing::spacing == 0) ring_->put(position, handed_, width_, rows_of(i));
  }
}

std::span<const std::int64_t> StateKeeper::rows_of(std::size_t slot) const {
  return std::span(indices_).subspan(slot * batch_, batch_);
}

}  // namespace throughtime
