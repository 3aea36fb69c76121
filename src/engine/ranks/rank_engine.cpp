#include "engine/ranks/rank_engine.h"

#include <algorithm>
#include <deque>
#include <typeinfo>
#include <utility>
#include <vector>

#include "engine/ranks/placement.h"
#include "engine/ranks/rank_tape.h"
#include "throughtime/error.h"
#include "throughtime/forwarding_engine.h"

namespace throughtime {
namespace {

/// Data-parallel training without a word in the learners. Every rank runs the same learner on the same windows of the
/// whole batch, and this engine computes its share of the rows. So scales, random numbers, example numbers and everything
/// else that a learner decides are those of one process. The engine knows of each buffer where its numbers are
/// (Placement), and moves them only where somebody asks for numbers that this rank does not have:
///   unroll, pull_back   make states, losses, predictions and taps by rows; gradients and sums of losses in parts
///   apply_update        sums a gradient that is in parts over the ranks: the one message of most updates
///   read                gathers rows and sums parts, so every rank reads the numbers of the whole batch
/// Rows of other ranks in a buffer by rows hold anything; they are never looked at. With that, what one rank reads all
/// ranks read, with the same bits: whatever a learner or a trainer concludes from them is agreed without being told.
class RankEngine final : public ForwardingEngine {
 public:
  RankEngine(std::unique_ptr<Engine> inner, std::shared_ptr<Communicator> ranks)
      : ForwardingEngine(std::move(inner)), ranks_(std::move(ranks)) {}

  std::unique_ptr<Tape> make_tape(const TapeShape& shape) override {
    return std::make_unique<RankTape>(inner(), shape, share_of(shape.batch, ranks_->rank(), ranks_->ranks()));
  }

  void unroll(const UnrollCall& call) override;
  void pull_back(const PullBackCall& call) override;
  void apply_update(const UpdateCall& call) override;

  using Engine::read;
  void read(Buffer buffer, std::span<double> values) const override;
  void write(Buffer buffer, std::span<const double> values) override {
    inner().write(buffer, values);
    at(buffer) = {};
  }
  void copy(Buffer from, Buffer to) override {
    inner().copy(from, to);
    at(to) = at(from);
  }
  void fill(Buffer buffer, double value) override {
    inner().fill(buffer, value);
    at(buffer) = {};
  }
  void axpy(double factor, Buffer x, Buffer y) override;
  void dot(Buffer x, Buffer y, Buffer result) override;
  void gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) override;
  void scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override;
  void scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) override;
  void sum_over_ranks(Buffer buffer) override { make_whole(buffer); }

 private:
  RankTape& own(Tape& tape) const {
    if (typeid(tape) != typeid(RankTape)) refuse("ranks", "the tape was made by another engine");
    return static_cast<RankTape&>(tape);
  }
  Placement& at(Buffer buffer) const {
    if (!buffer) refuse("ranks", "a buffer is needed here, got none");
    const auto index = static_cast<std::size_t>(buffer.id);
    if (index >= placements_.size()) placements_.resize(index + 1);
    return placements_[index];
  }
  void place(Buffer buffer, const Placement& placement) {
    if (buffer) at(buffer) = placement;
  }

  void make_whole(Buffer buffer);
  void make_parts(Buffer buffer);
  void need_rows(Buffer buffer, int batch, int width);
  bool prepare_scatter(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table, bool add);
  void add_own_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table);
  void share_rows(Buffer rows, int width, std::size_t count, const auto& owner);
  void exchange(std::span<double> values, std::size_t width, std::size_t rows, const auto& owner) const;

  std::shared_ptr<Communicator> ranks_;
  mutable std::deque<Placement> placements_;  // by the buffer's id; new buffers are whole: zeros everywhere
  mutable std::vector<double> mine_, all_;     // what is sent, and what comes
  mutable std::vector<int> counts_, taken_;    // [ranks]
  std::vector<double> values_;                 // of one buffer
  std::vector<std::int64_t> own_from_, own_to_;
  Buffer own_rows_;
};

/// Whether row i of a gather or scatter belongs to the rank that has the row indices[i] of a table of that batch.
bool aligned(std::span<const std::int64_t> indices, int batch) {
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] % batch != static_cast<std::int64_t>(i % static_cast<std::size_t>(batch))) return false;
  return true;
}

// ---------------------------------------------------------------- windows

void require_batch(std::string_view speaker, const Window& window, int batch) {
  if (window.batch != batch)
    refuse(speaker, "the window has {} rows, its tape was made for {}", window.batch, batch);
}

void RankEngine::unroll(const UnrollCall& call) {
  RankTape& tape = own(call.tape);
  const int batch = tape.shape().batch, steps = call.window.steps, width = model().state_size();
  const int outputs = model().outputs(), kept = static_cast<int>(call.state_steps.size());
  require_batch("unroll", call.window, batch);
  make_whole(call.parameters);
  need_rows(call.initial_state, batch, width);
  make_parts(call.loss_sum);
  make_parts(call.correct_sum);
  if (!tape.idle()) {
    UnrollCall part{.window = tape.cut(call.window), .parameters = call.parameters, .tape = tape.own()};
    part.training = call.training;
    part.initial_state = tape.load(tape.state, call.initial_state, 1, width);
    part.final_state = tape.room(tape.state, call.final_state, width);
    part.losses = tape.room(tape.losses, call.losses, 1);
    part.loss_sum = call.loss_sum;
    part.correct_sum = call.correct_sum;
    part.predictions = tape.room(tape.predictions, call.predictions, outputs);
    part.states = tape.room(tape.states, call.states, width);
    part.state_steps = call.state_steps;
    inner().unroll(part);
    tape.store(tape.state, call.final_state, 1, width);
    tape.store(tape.losses, call.losses, steps, 1);
    tape.store(tape.predictions, call.predictions, steps, outputs);
    tape.store(tape.states, call.states, kept, width);
  }
  place(call.final_state, Placement::of_rows(batch, width));
  place(call.losses, Placement::of_rows(batch, 1));
  place(call.predictions, Placement::of_rows(batch, outputs));
  if (kept > 0) place(call.states, Placement::of_rows(batch, width));
}

void RankEngine::pull_back(const PullBackCall& call) {
  RankTape& tape = own(call.tape);
  const int batch = tape.shape().batch, width = model().state_size();
  require_batch("pull_back", call.window, batch);
  const int taps = (call.last == -1 ? call.window.steps : call.last) - call.first + 1;
  make_whole(call.parameters);
  need_rows(call.end_cotangent, batch, width);
  need_rows(call.step_cotangents, batch, width);
  if (call.gradient && call.add) make_parts(call.gradient);
  if (!tape.idle()) {
    PullBackCall part{.tape = tape.own(), .window = tape.cut(call.window), .parameters = call.parameters};
    part.first = call.first;
    part.last = call.last;
    part.gradient = call.gradient;
    part.add = call.add;
    part.losses = call.losses;
    part.end_cotangent = tape.load(tape.cotangent, call.end_cotangent, 1, width);
    part.step_cotangents = tape.load(tape.step_cotangents, call.step_cotangents, call.window.steps, width);
    part.initial_cotangent = tape.room(tape.cotangent, call.initial_cotangent, width);
    part.tap_norms = tape.room(tape.tap_norms, call.tap_norms, 1);
    part.tap_vectors = tape.room(tape.tap_vectors, call.tap_vectors, width);
    inner().pull_back(part);
    tape.store(tape.cotangent, call.initial_cotangent, 1, width);
    tape.store(tape.tap_norms, call.tap_norms, taps, 1);
    tape.store(tape.tap_vectors, call.tap_vectors, taps, width);
  } else if (call.gradient && !call.add) {
    inner().fill(call.gradient, 0);
  }
  place(call.gradient, Placement::of_parts());
  place(call.initial_cotangent, Placement::of_rows(batch, width));
  place(call.tap_norms, Placement::of_rows(batch, 1));
  place(call.tap_vectors, Placement::of_rows(batch, width));
}

// ---------------------------------------------------------------- numbers of other ranks

/// Every rank gets all numbers.
void RankEngine::make_whole(Buffer buffer) {
  const Placement placement = at(buffer);
  if (placement.whole()) return;
  if (placement.in_parts()) {
    inner().sum_over_ranks(buffer);
  } else {
    share_rows(buffer, placement.width, buffer.size / static_cast<std::size_t>(placement.width), [&](std::size_t row) {
      return owner_of(static_cast<int>(row % static_cast<std::size_t>(placement.batch)), placement.batch, ranks_->ranks());
    });
  }
  at(buffer) = {};
}

/// Every rank gets a summand: rank 0 keeps the numbers.
void RankEngine::make_parts(Buffer buffer) {
  if (!buffer || at(buffer).in_parts()) return;
  make_whole(buffer);
  if (ranks_->rank() != 0) inner().fill(buffer, 0);
  at(buffer) = Placement::of_parts();
}

/// A rank gets at least the rows of its share.
void RankEngine::need_rows(Buffer buffer, int batch, int width) {
  if (buffer && at(buffer) != Placement::of_rows(batch, width)) make_whole(buffer);
}

void RankEngine::read(Buffer buffer, std::span<double> values) const {
  ForwardingEngine::read(buffer, values);
  const Placement placement = at(buffer);
  if (placement.in_parts()) ranks_->all_reduce_sum(values);
  if (!placement.by_rows()) return;
  const auto width = static_cast<std::size_t>(placement.width);
  exchange(values, width, values.size() / width, [&](std::size_t row) {
    return owner_of(static_cast<int>(row % static_cast<std::size_t>(placement.batch)), placement.batch, ranks_->ranks());
  });
}

/// The first `count` rows of a buffer, each from its owner.
void RankEngine::share_rows(Buffer rows, int width, std::size_t count, const auto& owner) {
  values_.resize(rows.size);
  inner().read(rows, values_);
  exchange(values_, static_cast<std::size_t>(width), count, owner);
  inner().write(rows, values_);
}

void RankEngine::exchange(std::span<double> values, std::size_t width, std::size_t rows, const auto& owner) const {
  const auto ranks = static_cast<std::size_t>(ranks_->ranks());
  counts_.assign(ranks, 0);
  mine_.clear();
  for (std::size_t row = 0; row < rows; ++row) {
    const int of = owner(row);
    counts_[static_cast<std::size_t>(of)] += static_cast<int>(width);
    const auto numbers = values.subspan(row * width, width);
    if (of == ranks_->rank()) mine_.insert(mine_.end(), numbers.begin(), numbers.end());
  }
  all_.resize(rows * width);
  ranks_->all_gather(mine_, counts_, all_);
  taken_.assign(ranks, 0);
  for (std::size_t rank = 1; rank < ranks; ++rank) taken_[rank] = taken_[rank - 1] + counts_[rank - 1];
  for (std::size_t row = 0; row < rows; ++row) {
    int& from = taken_[static_cast<std::size_t>(owner(row))];
    std::copy_n(all_.begin() + from, width, values.begin() + static_cast<std::ptrdiff_t>(row * width));
    from += static_cast<int>(width);
  }
}

// ---------------------------------------------------------------- vectors

void RankEngine::axpy(double factor, Buffer x, Buffer y) {
  if (at(x).in_parts() != at(y).in_parts()) make_whole(at(x).in_parts() ? x : y);
  if (at(x).by_rows() && at(y).by_rows() && at(x) != at(y)) make_whole(x);
  inner().axpy(factor, x, y);
  if (at(x).by_rows()) at(y) = at(x);
}

void RankEngine::dot(Buffer x, Buffer y, Buffer result) {
  make_whole(x);
  make_whole(y);
  inner().dot(x, y, result);
  at(result) = {};
}

void RankEngine::apply_update(const UpdateCall& call) {
  std::vector<Buffer>& moments = call.optimizer.moments;
  if (at(call.gradient).in_parts()) make_whole(call.gradient);
  Placement rows;  // of what is updated, where any of it is by rows
  bool together = call.norm || call.regulariser || call.clip.norm > 0;
  const auto look_at = [&](Buffer buffer) {
    if (at(buffer).in_parts()) make_whole(buffer);
    if (!at(buffer).by_rows()) return;
    together = together || (!rows.whole() && rows != at(buffer));
    rows = at(buffer);
  };
  look_at(call.gradient);
  look_at(call.target);
  for (const Buffer moment : moments) look_at(moment);
  if (!rows.whole() && together) {
    make_whole(call.gradient);
    make_whole(call.target);
    for (const Buffer moment : moments) make_whole(moment);
    rows = {};
  }
  inner().apply_update(call);
  place(call.norm, {});
  if (call.regulariser) place(call.regulariser->diagnostics, {});
  if (rows.whole()) return;
  at(call.target) = rows;
  for (const Buffer moment : moments) at(moment) = rows;
}

void RankEngine::gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) {
  const bool all_of_rows = indices.size() * static_cast<std::size_t>(width) == rows.size;
  if (at(table).in_parts() && !all_of_rows) make_whole(table);
  if (at(table).by_rows() && at(table).width != width) make_whole(table);
  if (!all_of_rows) make_whole(rows);
  const Placement from = at(table);
  inner().gather_rows(table, width, indices, rows);
  if (!from.by_rows() || (all_of_rows && aligned(indices, from.batch))) {
    at(rows) = from;
    return;
  }
  share_rows(rows, width, indices.size(), [&](std::size_t row) {
    return owner_of(static_cast<int>(indices[row] % from.batch), from.batch, ranks_->ranks());
  });
  at(rows) = {};
}

/// Makes what a scatter finds such that doing it on every rank is right; false where it was done here already.
bool RankEngine::prepare_scatter(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table, bool add) {
  if (at(rows).in_parts() || (at(rows).by_rows() && at(rows).width != width)) make_whole(rows);
  if ((at(table).in_parts() && !add) || (at(table).by_rows() && at(table).width != width)) make_whole(table);
  if (at(rows).by_rows()) {
    const Placement from = at(rows);
    const bool fits = !at(table).in_parts() && (at(table).whole() || at(table) == from) && aligned(indices, from.batch);
    if (fits) {
      at(table) = from;
      return true;
    }
    if (add && !at(table).by_rows()) {
      make_parts(table);
      add_own_rows(rows, width, indices, table);
      return false;
    }
    make_whole(rows);
  }
  return !at(table).in_parts() || ranks_->rank() == 0;
}

/// Rows may go anywhere: each rank adds its own.
void RankEngine::add_own_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) {
  const int batch = at(rows).batch;
  const RowShare share = share_of(batch, ranks_->rank(), ranks_->ranks());
  own_from_.clear();
  own_to_.clear();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const int row = static_cast<int>(i % static_cast<std::size_t>(batch));
    if (row < share.first || row >= share.first + share.count) continue;
    own_from_.push_back(static_cast<std::int64_t>(i));
    own_to_.push_back(indices[i]);
  }
  if (!own_rows_ || own_rows_.size < rows.size) own_rows_ = inner().allocate(rows.size);
  inner().gather_rows(rows, width, own_from_, own_rows_);
  inner().scatter_add_rows(own_rows_, width, own_to_, table);
}

void RankEngine::scatter_add_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) {
  if (prepare_scatter(rows, width, indices, table, true)) inner().scatter_add_rows(rows, width, indices, table);
}

void RankEngine::scatter_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table) {
  if (prepare_scatter(rows, width, indices, table, false)) inner().scatter_rows(rows, width, indices, table);
}

}  // namespace

std::unique_ptr<Engine> make_rank_engine(std::unique_ptr<Engine> inner, std::shared_ptr<Communicator> ranks) {
  return std::make_unique<RankEngine>(std::move(inner), std::move(ranks));
}

}  // namespace throughtime
