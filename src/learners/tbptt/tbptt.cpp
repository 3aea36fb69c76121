#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/names.h"
#include "learners/adaptive_tbptt/estimator.h"
#include "learners/support.h"
#include "learners/tbptt/lengths.h"
#include "learners/tbptt/look_back.h"
#include "learners/tbptt/state_ring.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

/// Truncated back-propagation: windows of `steps` cells that end `stride` apart, each with one update of the mean of
/// its last `losses` losses. Windows overlap where steps > stride, so the state before a window's first cell is kept
/// while the window before it passes there: no window starts from a stale state. Steps are counted from the start of
/// the stretch; those of stretches before it are negative. A loss belongs to the stretch of its step.
///
/// The adaptive form chooses the truncation K again between two windows, where an estimate is due; a ring of states
/// lets the next window begin where the new lengths ask for.
class Tbptt final : public Learner {
 public:
  /// `longest`: the lengths of the largest K; those of a fixed K are its own.
  Tbptt(Trainee& trainee, const StretchShape& shape, const LearnerConfig& config, const Lengths& first,
        const Lengths& longest)
      : Learner(trainee),
        config_(config),
        shape_(shape),
        lengths_(first),
        truncation_(config.preset == "custom" ? first.losses : config.truncation),
        clip_(trainee.clip),
        look_back_(longest.steps + StateRing::spacing, shape.batch),
        width_(trainee.engine.model().state_size()) {
    Engine& engine = trainee.engine;
    const int scout_steps = std::min(2 * StateRing::spacing, std::max(shape.steps, StateRing::spacing));
    tape_ = engine.make_tape({.steps = longest.steps + longest.ahead,
                              .batch = shape.batch,
                              .keep = Keep::gradient,
                              .losses = longest.losses + longest.ahead});
    scout_ = engine.make_tape({.steps = scout_steps, .batch = shape.batch, .keep = Keep::nothing});
    const std::size_t state = static_cast<std::size_t>(shape.batch) * static_cast<std::size_t>(width_);
    state_ = engine.allocate(state);
    if (longest.ahead > 0) cotangent_ = engine.allocate(state);
    if (adaptive()) ring_.emplace(engine, longest.steps, state);
    if (adaptive() || config.estimate.logged > 0)
      estimator_.emplace(engine, config.estimate, shape.batch, shape.positions);
    due_ = config.estimate.first || !adaptive();
    const std::size_t handed = 2 + (adaptive() ? static_cast<std::size_t>(longest.steps / StateRing::spacing) + 1 : 0);
    handed_ = engine.allocate(handed * state);
    handed_steps_.reserve(handed);
    rows_.resize(handed * static_cast<std::size_t>(shape.batch));
    std::iota(rows_.begin(), rows_.end(), 0);
    reserve(part_, std::max(longest.steps + longest.ahead, scout_steps), shape.batch);
  }

  std::string_view name() const override { return config_.name; }
  std::size_t activation_bytes() const override {
    const std::size_t estimates = estimator_ ? estimator_->activation_bytes() : 0;
    return tape_->activation_bytes() + scout_->activation_bytes() + estimates;
  }

  std::vector<Diagnostic> diagnostics() const override {
    if (!estimator_) return {};
    std::vector<Diagnostic> list = {{"truncation", static_cast<double>(truncation_)},
                                    {"rows", static_cast<double>(origin_total_)}};
    for (Diagnostic& diagnostic : estimator_->diagnostics()) list.push_back(std::move(diagnostic));
    return list;
  }

  void end_epoch() override { due_ = due_ || config_.estimate.every == 0; }

  void archive(Archive& archive) override {
    Learner::archive(archive);
    archive.buffer("state", trainee_.engine, state_);
    archive.buffer("kept_states", trainee_.engine, handed_);
    archive.integer("kept_count", kept_count_);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      archive.integer(i == 0 ? "kept_first" : "kept_second", kept_[i].position);
      archive.integer(i == 0 ? "kept_first_slot" : "kept_second_slot", kept_[i].slot);
    }
    look_back_.archive(archive);
    if (kept_count_ < 1 || kept_count_ > 2 || kept_[0].position < -look_back_.history() || kept_[0].position > 0)
      refuse(name(), "the saved state before step {} cannot be used", kept_[0].position);
    for (const Kept& kept : kept_)
      if (kept.slot < -1 || kept.slot >= static_cast<int>(handed_steps_.capacity()))
        refuse(name(), "the saved state in slot {} does not exist", kept.slot);
    if (estimator_) archive_estimates(archive);
  }

  void learn(const Window& stretch, const RateFunction& rate) override {
    check_stretch(name(), shape_, stretch);
    look_back_.begin(stretch);
    if (look_back_.history() == 0) {
      trainee_.engine.fill(state_, 0);
      keep_only({0, in_state});
      origin_ = 0;
      if (ring_) ring_->clear();
    }
    for (int begin = 0; begin < stretch.steps;) {
      if (estimator_ && is_due() && estimator_->ready()) estimate();
      const int end = next_end(stretch, begin);
      if (ring_) find_state_for(first_cell(end));
      learn_window(stretch, begin, end, rate);
      begin = end;
    }
    if (kept_[0].position < earliest(stretch))
      move_state_to(stretch, earliest(stretch));  // the last windows had no loss
    look_back_.finish(stretch);
    for (Kept& kept : kept_) kept.position -= stretch.steps;
    origin_ += stretch.steps;
    origin_total_ += stretch.steps;
  }

 private:
  /// A state that is known: the one before step `position`.
  struct Kept {
    int position = 0;
    int slot = in_state;  // of handed_
  };
  static constexpr int in_state = -1;  // in state_

  bool adaptive() const { return config_.name == "adaptive_tbptt"; }
  bool is_due() const {
    const int every = config_.estimate.every;
    return due_ || (every > 0 && updates_ - estimated_at_ >= every);
  }

  /// Lines 3-7 of Algorithm 1.
  void estimate() {
    if (adaptive()) {
      truncation_ = estimator_->choose(trainee_.parameters);
      lengths_ = preset_lengths(config_.preset, truncation_);
    }
    estimator_->log(trainee_.parameters, truncation_);
    due_ = false;
    estimated_at_ = updates_;
  }

  void archive_estimates(Archive& archive) {
    archive.integer("truncation", truncation_);
    archive.integer("due", due_);
    archive.integer("estimated_at", estimated_at_);
    archive.integer("origin", origin_);
    archive.integer("rows", origin_total_);
    estimator_->archive(archive);
    if (!ring_) return;
    ring_->archive(archive);
    require_range(name(), "the saved truncation", truncation_, 1,
                  std::max(config_.estimate.longest, config_.truncation));
    lengths_ = preset_lengths(config_.preset, truncation_);
  }

  int next_end(const Window& stretch, int begin) const {
    int limit = stretch.steps;
    if (config_.chunk > 0) limit = std::min<int>(limit, (begin / config_.chunk + 1) * config_.chunk);
    return limit - begin > lengths_.stride ? begin + lengths_.stride : limit;
  }
  /// Of the window that ends before step `end`.
  int first_cell(std::int64_t end) const {
    std::int64_t first = std::max<std::int64_t>(-look_back_.history(), end - lengths_.steps);
    if (config_.chunk > 0) first = std::max(first, (end - 1) / config_.chunk * config_.chunk);
    return static_cast<int>(first);
  }
  /// The first cell of the next stretch's first window, were that stretch one step long.
  int earliest(const Window& stretch) const {
    return config_.chunk > 0 ? stretch.steps : first_cell(std::int64_t{stretch.steps} + 1);
  }

  /// The window that ends before step `end`; [begin, end) are the steps by which it moved on.
  void learn_window(const Window& stretch, int begin, int end, const RateFunction& rate) {
    const int losses = end - begin < lengths_.stride ? std::min(lengths_.losses, end - begin) : lengths_.losses;
    const int first = std::max(first_cell(end), kept_[0].position), first_loss = std::max(0, end - losses);
    const auto batch = static_cast<std::size_t>(shape_.batch);
    const auto* first_weight = stretch.weight.data() + first_loss * batch;
    const double weights = sum_of_weights(name(), {first_weight, static_cast<std::size_t>(end - first_loss) * batch});
    if (weights == 0) return;  // the states move on when a later window needs one
    move_state_to(stretch, first);
    const int ahead = std::min(lengths_.ahead, stretch.steps - end);
    look_back_.cut(stretch, first, end + ahead - first, part_);
    std::fill_n(part_.weight.begin(), static_cast<std::size_t>(first_loss - first) * batch, 0.0f);
    unroll_window(stretch, first, end);
    pull_back_window(end - first);
    loss_weight_ += std::accumulate(part_.weight.begin(), part_.weight.end(), 0.0);
    if (config_.clip_by_losses) trainee_.clip.norm = clip_.norm / losses;
    const double factor = rate_factor();
    update(weights, [&](std::int64_t number) { return factor * rate(number); });
  }

  /// The gradient of the first `cells` cells of `part_`; the losses of steps after them (preset buffer) flow in.
  void pull_back_window(int cells) {
    const bool ahead = cells < part_.steps;
    if (ahead)
      trainee_.engine.pull_back({.tape = *tape_,
                                 .window = part_,
                                 .parameters = trainee_.parameters,
                                 .first = cells,
                                 .initial_cotangent = cotangent_});
    trainee_.engine.pull_back({.tape = *tape_,
                               .window = part_,
                               .parameters = trainee_.parameters,
                               .last = cells,
                               .gradient = trainee_.gradient,
                               .end_cotangent = ahead ? cotangent_ : Buffer()});
  }

  double rate_factor() const {
    if (config_.rate_scaling == "linear") return truncation_;
    if (config_.rate_scaling == "sqrt" || (config_.rate_scaling == "auto" && adaptive())) return std::sqrt(truncation_);
    return 1;
  }

  /// Unrolls `part_`, which holds steps [first, end) and those ahead, and keeps the states that the next window may
  /// start from. The next stretch's length is not known yet: its first window starts at the later of two states if it
  /// moves by a whole stride, and is reached from the earlier one if it is shorter.
  void unroll_window(const Window& stretch, int first, int end) {
    std::array<int, 2> next = {};
    int count = 0;
    if (end < stretch.steps) {
      next[count++] = std::min(end, first_cell(next_end(stretch, end)));
    } else {
      next[count++] = earliest(stretch);
      next[count] = std::min(end, first_cell(std::int64_t{end} + lengths_.stride));
      if (next[count] > next[0] && config_.chunk == 0) ++count;
    }
    std::array<int, 2> taken = next;  // where the states are taken from
    if (config_.ref_stream) taken[0] = stale_position(stretch, first, end, next[0]);
    hand_out(stretch, first, end, std::span(taken).first(static_cast<std::size_t>(count)));
    trainee_.engine.unroll({.window = part_,
                            .parameters = trainee_.parameters,
                            .tape = *tape_,
                            .initial_state = state_,
                            .loss_sum = loss_sum_,
                            .correct_sum = correct_sum_,
                            .states = handed_,
                            .state_steps = handed_steps_});
    fill_ring(first);
    for (int i = 0; i < count; ++i) {
      const auto step = std::find(handed_steps_.begin(), handed_steps_.end(), taken[i] - first);
      kept_[i] = {next[i], static_cast<int>(step - handed_steps_.begin())};
    }
    kept_count_ = count;
  }

  /// The released code: the second window of a chunk begins with the state at the end of the first, and a chunk with
  /// one that is K - 1 steps old.
  int stale_position(const Window& stretch, int first, int end, int right) const {
    const bool ends_chunk = end == stretch.steps || (config_.chunk > 0 && end % config_.chunk == 0);
    if (ends_chunk) return std::max(first, end - (lengths_.stride - 1));
    const bool begins_chunk = config_.chunk > 0 ? first % config_.chunk == 0 : first == -look_back_.history();
    return begins_chunk ? end : right;
  }

  /// Lists the steps after which an unroll of [first, end) hands out its state: `wanted`, and those of the ring, which
  /// only the end of a stretch can need where K changes once per epoch.
  void hand_out(const Window& stretch, int first, int end, std::span<const int> wanted) {
    handed_steps_.clear();
    for (const int position : wanted) handed_steps_.push_back(position - first);
    if (ring_) {
      const std::int64_t from = config_.estimate.every > 0 ? first : std::max(first, stretch.steps - look_back_steps());
      for (std::int64_t at = ring_position_after(origin_ + from); at <= origin_ + end; at += StateRing::spacing)
        handed_steps_.push_back(static_cast<int>(at - origin_) - first);
    }
    std::sort(handed_steps_.begin(), handed_steps_.end());
    handed_steps_.erase(std::unique(handed_steps_.begin(), handed_steps_.end()), handed_steps_.end());
  }
  int look_back_steps() const { return tape_->shape().steps + StateRing::spacing; }
  static std::int64_t ring_position_after(std::int64_t position) {
    return (position + StateRing::spacing - 1) / StateRing::spacing * StateRing::spacing;
  }

  /// Puts what was handed out into the ring, where it belongs there.
  void fill_ring(int first) {
    if (!ring_) return;
    const auto batch = static_cast<std::size_t>(shape_.batch);
    for (std::size_t i = 0; i < handed_steps_.size(); ++i) {
      const std::int64_t position = origin_ + first + handed_steps_[i];
      if (position % StateRing::spacing == 0)
        ring_->put(position, handed_, width_, std::span(rows_).subspan(i * batch, batch));
    }
  }

  void keep_only(const Kept& kept) {
    kept_[0] = kept;
    kept_count_ = 1;
  }

  /// After a change of K: a window may begin before the states that were kept for the old one.
  void find_state_for(int first) {
    if (kept_[0].position <= first) return;
    const std::int64_t position = ring_->last_until(origin_ + first);
    if (position < origin_ - look_back_.history()) return;  // the window begins with what there is
    trainee_.engine.copy(ring_->at(position), state_);
    keep_only({static_cast<int>(position - origin_), in_state});
  }

  /// Makes `state_` the state before step `position`: from the last kept state at or before it, running the gap.
  void move_state_to(const Window& stretch, int position) {
    const Kept from = kept_count_ == 2 && kept_[1].position <= position ? kept_[1] : kept_[0];
    const auto batch = static_cast<std::size_t>(shape_.batch);
    if (from.slot != in_state)
      trainee_.engine.gather_rows(handed_, width_,
                                  std::span(rows_).subspan(static_cast<std::size_t>(from.slot) * batch, batch), state_);
    keep_only({from.position, in_state});
    while (kept_[0].position < position) {
      const int first = kept_[0].position, length = std::min(scout_->shape().steps, position - first);
      look_back_.cut(stretch, first, length, part_);
      std::fill(part_.weight.begin(), part_.weight.end(), 0.0f);
      hand_out(stretch, first, first + length, {});
      trainee_.engine.unroll({.window = part_,
                              .parameters = trainee_.parameters,
                              .tape = *scout_,
                              .initial_state = state_,
                              .final_state = state_,
                              .states = handed_,
                              .state_steps = handed_steps_});
      fill_ring(first);
      kept_[0].position += length;
    }
  }

  LearnerConfig config_;
  StretchShape shape_;
  Lengths lengths_;
  int truncation_;  // K
  Clip clip_;
  LookBack look_back_;
  int width_;                           // S
  std::vector<std::int64_t> rows_;      // 0, 1, ...: the rows of `handed_`
  std::unique_ptr<Tape> tape_, scout_;  // of a window; of a gap between two windows
  Buffer cotangent_;                    // [B, S]: of the losses ahead of a window
  Buffer state_;                        // [B, S]: what the next window begins with
  Buffer handed_;                       // [slots, B, S]: states that the last unroll handed out
  std::vector<int> handed_steps_;       // after how many of its steps
  std::array<Kept, 2> kept_ = {};
  int kept_count_ = 1;
  Window part_;
  std::optional<StateRing> ring_;                 // of the adaptive form
  std::optional<TruncationEstimator> estimator_;  // where there are estimates
  bool due_ = false;
  std::int64_t estimated_at_ = 0;  // updates then
  std::int64_t origin_ = 0;        // steps of the data before this stretch
  std::int64_t origin_total_ = 0;  // steps learned from, over all passes
};

void check_common(const LearnerConfig& config) {
  const std::vector<std::string> scalings = {"auto", "none", "sqrt", "linear"};
  if (!std::ranges::count(scalings, config.rate_scaling))
    refuse_unknown("tbptt", "rate_scaling", config.rate_scaling, scalings);
  if (config.chunk < 0) refuse("tbptt", "chunk must be 0 (off) or positive, got {}", config.chunk);
  if (config.ref_stream && config.chunk == 0) refuse("tbptt", "ref_stream is about chunks; give chunk too");
}

}  // namespace

std::unique_ptr<Learner> make_tbptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_common(config);
  LearnerConfig chosen = config;
  chosen.estimate = with_fitting_lags(config.estimate, shape.row_steps);
  const Lengths lengths = window_lengths(chosen);
  return std::make_unique<Tbptt>(trainee, shape, chosen, lengths, lengths);
}

std::unique_ptr<Learner> make_adaptive_tbptt(const LearnerConfig& config, Trainee& trainee, const StretchShape& shape) {
  check_common(config);
  const LearnerConfig chosen = adaptive_config(config, shape.row_steps);
  return std::make_unique<Tbptt>(trainee, shape, chosen, window_lengths(chosen), longest_lengths(chosen));
}

}  // namespace throughtime
