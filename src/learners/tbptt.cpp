#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/names.h"
#include "learners/look_back.h"
#include "learners/registry.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

struct Lengths {
  int steps, losses, stride;
};

Lengths preset_lengths(const std::string& preset, int k) {
  if (preset == "paper") return {2 * k + 1, k, k};
  if (preset == "ref") return {2 * k - 1, k, k};
  if (preset == "plain") return {k, k, k};
  if (preset == "original") return {k, 1, 1};
  refuse_unknown("tbptt", "preset", preset, {"custom", "paper", "ref", "plain", "original"});
}

Lengths window_lengths(const LearnerConfig& config) {
  if (config.preset != "custom") {
    const Lengths lengths = preset_lengths(config.preset, std::clamp(config.truncation, 1, 1'000'000'000));
    require_range("tbptt", "truncation", config.truncation, 1, 1'000'000'000);
    if (config.steps != 0 || config.losses != 0 || config.stride != 0)
      refuse("tbptt", "the preset '{}' sets steps, losses and stride from truncation; leave them out, or use 'custom'",
             config.preset);
    return lengths;
  }
  if (config.truncation != 0)
    refuse("tbptt", "truncation belongs to a preset (paper, ref, plain, original); custom needs steps, losses, stride");
  if (config.steps < 1) refuse("tbptt", "steps must be at least 1, got {}", config.steps);
  if (config.losses < 1 || config.losses > config.steps)
    refuse("tbptt", "losses must be between 1 and steps ({}), got {}", config.steps, config.losses);
  if (config.stride < 1) refuse("tbptt", "stride must be at least 1, got {}", config.stride);
  return {config.steps, config.losses, config.stride};
}

/// Truncated back-propagation: windows of `steps` cells that end `stride` apart, each with one update of the mean of
/// its last `losses` losses. Windows overlap where steps > stride, so the state before a window's first cell is kept
/// while the window before it passes there: no window starts from a stale state. Steps are counted from the start of
/// the stretch; those of stretches before it are negative. A loss belongs to the stretch of its step.
class Tbptt final : public Learner {
 public:
  Tbptt(Trainee& trainee, const StretchShape& shape, const Lengths& lengths)
      : Learner(trainee),
        shape_(shape),
        lengths_(lengths),
        look_back_(lengths.steps, shape.batch),
        width_(trainee.engine.model().state_size()),
        rows_(2 * static_cast<std::size_t>(shape.batch)) {
    Engine& engine = trainee.engine;
    const int scout_steps = std::min(32, shape.steps);
    tape_ = engine.make_tape(
        {.steps = lengths.steps, .batch = shape.batch, .keep = Keep::gradient, .losses = lengths.losses});
    scout_ = engine.make_tape({.steps = scout_steps, .batch = shape.batch, .keep = Keep::nothing});
    const std::size_t state = static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(width_);
    state_ = engine.allocate(state);
    spare_ = engine.allocate(state);
    pair_ = engine.allocate(2 * state);
    std::iota(rows_.begin(), rows_.end(), 0);
    reserve(part_, std::max(lengths.steps, scout_steps), shape.batch);
  }

  std::string_view name() const override { return "tbptt"; }
  std::size_t activation_bytes() const override { return tape_->activation_bytes() + scout_->activation_bytes(); }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    archive.buffer("state", trainee_.engine, state_);
    archive.buffer("pair", trainee_.engine, pair_);
    archive.integer("kept_count", kept_count_);
    archive.integer("kept_first", kept_[0]);
    archive.integer("kept_second", kept_[1]);
    look_back_.archive(archive);
    if (kept_count_ < 1 || kept_count_ > 2 || kept_[0] < -look_back_.history() || kept_[0] > 0)
      refuse(name(), "the saved state before step {} cannot be used", kept_[0]);
  }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    look_back_.begin(stretch);
    if (look_back_.history() == 0) {
      trainee_.engine.fill(state_, 0);
      kept_ = {0, 0};
      kept_count_ = 1;
    }
    for (int begin = 0; begin < stretch.steps;) {
      const int end = next_end(stretch, begin);
      learn_window(stretch, begin, end, rate);
      begin = end;
    }
    if (kept_[0] < earliest(stretch)) move_state_to(stretch, earliest(stretch));  // the last windows had no loss
    look_back_.finish(stretch);
    for (int& position : kept_) position -= stretch.steps;
  }

 private:
  int next_end(const Window& stretch, int begin) const {
    return stretch.steps - begin > lengths_.stride ? begin + lengths_.stride : stretch.steps;
  }
  /// Of the window that ends before step `end`.
  int first_cell(std::int64_t end) const {
    return static_cast<int>(std::max<std::int64_t>(-look_back_.history(), end - lengths_.steps));
  }
  /// The first cell of the next stretch's first window, were that stretch one step long.
  int earliest(const Window& stretch) const { return first_cell(std::int64_t{stretch.steps} + 1); }

  /// The window that ends before step `end`; [begin, end) are the steps by which it moved on.
  void learn_window(const Window& stretch, int begin, int end, const RateFunction& rate) {
    const int losses = end - begin < lengths_.stride ? std::min(lengths_.losses, end - begin) : lengths_.losses;
    const int first = first_cell(end), first_loss = std::max(0, end - losses);
    const auto batch = static_cast<std::size_t>(shape_.batch);
    const auto* first_weight = stretch.weight.data() + first_loss * batch;
    const double weights = sum_of_weights(name(), {first_weight, static_cast<std::size_t>(end - first_loss) * batch});
    if (weights == 0) return;  // the states move on when a later window needs one
    move_state_to(stretch, first);
    look_back_.cut(stretch, first, end - first, part_);
    std::fill_n(part_.weight.begin(), static_cast<std::size_t>(first_loss - first) * batch, 0.0f);
    unroll_window(stretch, first, end);
    trainee_.engine.pull_back(
        {.tape = *tape_, .window = part_, .parameters = trainee_.parameters, .gradient = trainee_.gradient});
    loss_weight_ += weights;
    update(weights, rate);
  }

  /// Unrolls `part_`, which holds steps [first, end), and keeps the states that the next window may start from. The
  /// next stretch's length is not known yet: its first window starts at the later of two states if it moves by a whole
  /// stride, and is reached from the earlier one if it is shorter.
  void unroll_window(const Window& stretch, int first, int end) {
    std::array<int, 2> kept = {};
    int count = 0;
    if (end < stretch.steps) {
      kept[count++] = std::min(end, first_cell(next_end(stretch, end)));
    } else {
      kept[count++] = earliest(stretch);
      kept[count] = std::min(end, first_cell(std::int64_t{end} + lengths_.stride));
      if (kept[count] > kept[0]) ++count;
    }
    const std::array<int, 2> after = {kept[0] - first, kept[1] - first};
    trainee_.engine.unroll({.window = part_,
                            .parameters = trainee_.parameters,
                            .tape = *tape_,
                            .initial_state = state_,
                            .loss_sum = loss_sum_,
                            .correct_sum = correct_sum_,
                            .states = count == 1 ? spare_ : pair_,
                            .state_steps = std::span(after).first(static_cast<std::size_t>(count))});
    if (count == 1) std::swap(state_, spare_);
    kept_ = kept;
    kept_count_ = count;
  }

  /// Makes `state_` the state before step `position`: from the last kept state at or before it, running the gap.
  void move_state_to(const Window& stretch, int position) {
    if (kept_count_ == 2) {
      const std::size_t slot = kept_[1] <= position ? 1 : 0;
      const auto batch = static_cast<std::size_t>(shape_.batch);
      trainee_.engine.gather_rows(pair_, width_, std::span(rows_).subspan(slot * batch, batch), state_);
      kept_[0] = kept_[slot];
      kept_count_ = 1;
    }
    while (kept_[0] < position) {
      const int length = std::min(scout_->shape().steps, position - kept_[0]);
      look_back_.cut(stretch, kept_[0], length, part_);
      std::fill(part_.weight.begin(), part_.weight.end(), 0.0f);
      trainee_.engine.unroll({.window = part_,
                              .parameters = trainee_.parameters,
                              .tape = *scout_,
                              .initial_state = state_,
                              .final_state = state_});
      kept_[0] += length;
    }
  }

  StretchShape shape_;
  Lengths lengths_;
  LookBack look_back_;
  int width_;                           // S
  std::vector<std::int64_t> rows_;      // 0, 1, ...: the rows of `pair_`
  std::unique_ptr<Tape> tape_, scout_;  // of a window; of a gap between two windows
  Buffer state_, spare_;                // [B, S]: before step kept_[0], where one state is kept
  Buffer pair_;                         // [2, B, S]: before steps kept_[0] < kept_[1], where two are
  std::array<int, 2> kept_ = {};
  int kept_count_ = 1;
  Window part_;
};

}  // namespace

StreamNeeds tbptt_stream(const LearnerConfig& config) {
  const Lengths lengths = window_lengths(config);
  return {lengths.stride, lengths.steps};
}

std::unique_ptr<Learner> make_tbptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  return std::make_unique<Tbptt>(trainee, shape, window_lengths(config));
}

}  // namespace throughtime
