#include "engine/ranks/rank_engine.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>
#include <typeinfo>
#include <utility>
#include <vector>

#include "engine/ranks/placement.h"
#include "engine/ranks/rank_tape.h"
#include "engine/ranks/row_exchange.h"
#include "throughtime/error.h"
#include "throughtime/forwarding_engine.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

/// Data-parallel training without a word in the learners. Every rank runs the same learner on the same windows of the
/// whole batch, and this engine computes its share of the rows. So scales, random numbers, example numbers and
/// everything else that a learner decides are those of one process. The engine knows of each buffer where its numbers
/// are (Placement), and moves them only where somebody asks for numbers that this rank does not have:
///   unroll, pull_back   make states, losses, predictions and taps by rows; gradients and sums of losses in parts
///   apply_update        sums a gradient that is in parts over the ranks: the one message of most updates
///   read                gathers rows and sums parts, so every rank reads the numbers of the whole batch
///   gather, scatter     fetch the rows that change their owner and no others: where the rows of a window are blocks of
///                       a sequence (target propagation), these are the states between the blocks of two ranks
/// Rows of other ranks in a buffer by rows hold anything; they are never looked at. With that, what one rank reads all
/// ranks read, with the same bits: whatever a learner or a trainer concludes from them is agreed without being told.
class RankEngine final : public ForwardingEngine {
 public:
  RankEngine(std::unique_ptr<Engine> inner, std::shared_ptr<Communicator> ranks)
      : ForwardingEngine(std::move(inner)), ranks_(std::move(ranks)), exchange_(this->inner(), *ranks_) {}

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
    const auto index = elements(buffer.id);
    if (index >= placements_.size()) placements_.resize(index + 1);
    return placements_[index];
  }
  void place(Buffer buffer, const Placement& placement) {
    if (buffer) at(buffer) = placement;
  }

  void make_whole(Buffer buffer);
  void make_parts(Buffer buffer);
  void need_rows(Buffer buffer, int batch, int width);
  int owner(const Placement& rows, std::int64_t row) const {
    return owner_of(static_cast<int>(row % rows.batch), rows.batch, ranks_->ranks());
  }
  void list_all(const Placement& rows, std::size_t count) const;
  void list_gathered(const Placement& table, std::span<const std::int64_t> indices, bool all);
  void list_scattered(const Placement& rows, std::span<const std::int64_t> indices);
  std::span<const std::int64_t> own_rows(const Placement& rows, std::size_t count);
  void share_listed(Buffer buffer, int width) { exchange_.share(buffer, width, list_, owners_); }
  Buffer own_part(Buffer buffer, const Placement& rows, std::size_t which);
  double norm_of_rows(Buffer gradient);
  bool prepare_scatter(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table, bool add);
  void add_own_rows(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table);

  std::shared_ptr<Communicator> ranks_;
  mutable RowExchange exchange_;
  mutable std::deque<Placement> placements_;  // by the buffer's id; new buffers are whole: zeros everywhere
  mutable std::vector<std::int64_t> list_;    // rows, and who has them
  mutable std::vector<int> owners_;
  std::vector<std::int64_t> to_;
  Buffer own_rows_, square_;
  std::map<std::size_t, std::array<Buffer, 2>> own_parts_;  // room for the factors of a product, by their size
  std::vector<Buffer> updated_;                             // what an update reads and writes
};

// ---------------------------------------------------------------- windows

void require_batch(std::string_view speaker, const Window& window, int batch) {
  if (window.batch != batch) refuse(speaker, "the window has {} rows, its tape was made for {}", window.batch, batch);
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
  make_parts(call.penalties);
  if (!tape.idle()) {
    UnrollCall part{.window = tape.cut(call.window), .parameters = call.parameters, .tape = tape.own()};
    part.training = call.training;
    part.initial_state = tape.load(tape.state, call.initial_state, 1, width);
    part.final_state = tape.room(tape.state, call.final_state, width);
    part.losses = tape.room(tape.losses, call.losses, 1);
    part.loss_sum = call.loss_sum;
    part.correct_sum = call.correct_sum;
    part.penalties = call.penalties;
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
  if (placement.in_parts()) inner().sum_over_ranks(buffer);
  if (placement.by_rows()) {
    list_all(placement, buffer.size / elements(placement.width));
    share_listed(buffer, placement.width);
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
  list_all(placement, values.size() / elements(placement.width));
  exchange_.share(values, placement.width, owners_);
}

void RankEngine::list_all(const Placement& rows, std::size_t count) const {
  list_.resize(count);
  owners_.resize(count);
  std::iota(list_.begin(), list_.end(), 0);
  for (std::size_t row = 0; row < count; ++row) owners_[row] = owner(rows, static_cast<std::int64_t>(row));
}

/// Rows i of a gather whose rank is not the one of row indices[i] of the table, which has the numbers; or all of them.
void RankEngine::list_gathered(const Placement& table, std::span<const std::int64_t> indices, bool all) {
  list_.clear();
  owners_.clear();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    if (!all && owner(table, row) == owner(table, indices[i])) continue;
    list_.push_back(row);
    owners_.push_back(owner(table, indices[i]));
  }
}

/// Rows i of a scatter, which their rank has, that go to another one.
void RankEngine::list_scattered(const Placement& rows, std::span<const std::int64_t> indices) {
  list_gathered(rows, indices, false);
  for (std::size_t k = 0; k < list_.size(); ++k) owners_[k] = owner(rows, list_[k]);
}

std::span<const std::int64_t> RankEngine::own_rows(const Placement& rows, std::size_t count) {
  list_.clear();
  for (std::size_t row = 0; row < count; ++row)
    if (owner(rows, static_cast<std::int64_t>(row)) == ranks_->rank()) list_.push_back(static_cast<std::int64_t>(row));
  return list_;
}

// ---------------------------------------------------------------- vectors

void RankEngine::axpy(double factor, Buffer x, Buffer y) {
  const bool single = x.size == 1 && at(y).whole();  // one number is summed when somebody reads it
  if (at(x).in_parts() && single) make_parts(y);
  if (at(x).in_parts() != at(y).in_parts()) make_whole(at(x).in_parts() ? x : y);
  if (at(x).by_rows() && at(y).by_rows() && at(x) != at(y)) make_whole(x);
  inner().axpy(factor, x, y);
  if (at(x).by_rows()) at(y) = at(x);
}

/// The rank's rows of a buffer end to end, and zeros after them.
Buffer RankEngine::own_part(Buffer buffer, const Placement& rows, std::size_t which) {
  Buffer& room = own_parts_[buffer.size][which];
  if (!room) room = inner().allocate(buffer.size);
  inner().fill(room, 0);
  inner().gather_rows(buffer, rows.width, own_rows(rows, buffer.size / elements(rows.width)), room);
  return room;
}

void RankEngine::dot(Buffer x, Buffer y, Buffer result) {
  for (const Buffer buffer : {x, y})
    if (at(buffer).in_parts()) make_whole(buffer);
  if (at(x).by_rows() && at(y).by_rows() && at(x) != at(y)) make_whole(y);
  const Placement rows = at(x).by_rows() ? at(x) : at(y);
  if (rows.by_rows())
    inner().dot(own_part(x, rows, 0), own_part(y, rows, 1), result);
  else
    inner().dot(x, y, result);
  at(result) = rows.by_rows() ? Placement::of_parts() : Placement();
}

double RankEngine::norm_of_rows(Buffer gradient) {
  if (!square_) square_ = inner().allocate(1);
  dot(gradient, gradient, square_);
  return std::sqrt(Engine::read(square_)[0]);
}

/// A gradient in parts is summed first. Where the target is by rows every rank updates its own: states, duals.
void RankEngine::apply_update(const UpdateCall& call) {
  std::vector<Buffer>& all = updated_;
  all = {call.gradient, call.target};
  all.insert(all.end(), call.optimizer.moments.begin(), call.optimizer.moments.end());
  Placement rows;
  for (const Buffer buffer : all) {
    if (at(buffer).by_rows() && rows.whole()) rows = at(buffer);
    if (at(buffer).in_parts() || at(buffer) != rows) make_whole(buffer);
  }
  const bool both_clips = call.clip.norm > 0 && call.clip.value > 0;
  if (rows.by_rows() && (call.regulariser || both_clips)) {
    for (const Buffer buffer : all) make_whole(buffer);
    rows = {};
  }
  UpdateCall update = call;
  if (rows.by_rows() && (call.norm || call.clip.norm > 0)) {  // the norm is that of all rows
    const double norm = std::abs(call.gradient_scale) * norm_of_rows(call.gradient);
    if (call.clip.norm > 0) update.gradient_scale *= std::min(1.0, call.clip.norm / (norm + 1e-6));
    update.clip.norm = 0;
    update.norm = {};
    if (call.norm) inner().fill(call.norm, norm);
  }
  inner().apply_update(update);
  place(call.norm, {});
  if (call.regulariser) place(call.regulariser->diagnostics, {});
  for (std::size_t i = 1; i < all.size() && rows.by_rows(); ++i) at(all[i]) = rows;
}

void RankEngine::gather_rows(Buffer table, int width, std::span<const std::int64_t> indices, Buffer rows) {
  const bool all_of_rows = indices.size() * elements(width) == rows.size;
  if (at(table).in_parts() && !all_of_rows) make_whole(table);
  if (at(table).by_rows() && at(table).width != width) make_whole(table);
  const Placement from = at(table);
  const bool fits = from.by_rows() && rows.size / elements(width) % elements(from.batch) == 0 &&
                    (all_of_rows || at(rows).whole() || at(rows) == from);
  if (!all_of_rows && !fits) make_whole(rows);
  inner().gather_rows(table, width, indices, rows);
  if (from.by_rows()) {
    list_gathered(from, indices, !fits);
    share_listed(rows, width);
  }
  at(rows) = from.by_rows() && !fits ? Placement() : from;
}

/// Makes what a scatter finds such that doing it on every rank is right; false where it was done here already.
bool RankEngine::prepare_scatter(Buffer rows, int width, std::span<const std::int64_t> indices, Buffer table,
                                 bool add) {
  if (at(rows).in_parts() || (at(rows).by_rows() && at(rows).width != width)) make_whole(rows);
  if ((at(table).in_parts() && !add) || (at(table).by_rows() && at(table).width != width)) make_whole(table);
  if (at(rows).by_rows()) {
    const Placement from = at(rows);
    list_scattered(from, indices);
    const bool moves = !list_.empty();
    if (at(table) == from || (at(table).whole() && !(add && moves))) {
      share_listed(rows, width);
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
  const std::span<const std::int64_t> own = own_rows(at(rows), indices.size());
  to_.clear();
  for (const std::int64_t row : own) to_.push_back(indices[row]);
  if (!own_rows_ || own_rows_.size < rows.size) own_rows_ = inner().allocate(rows.size);
  inner().gather_rows(rows, width, own, own_rows_);
  inner().scatter_add_rows(own_rows_, width, to_, table);
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
