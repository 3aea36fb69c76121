#include "learners/fpp/state_cells.h"

#include "throughtime/index.h"

namespace throughtime {

StateCells::StateCells(Engine& engine, const FppConfig& config, int streams, int rows)
    : engine_(engine),
      rate_(config.state_rate),
      overwrites_(config.collisions == FppCollisions::overwrite),
      regather_(config.order == FppOrder::parallel),
      streams_(streams),
      width_(engine.model().state_size()),
      ring_(std::int64_t{config.buffer} + 1) {
  const std::size_t numbers = elements(nobodys() + 1, width_);
  table_ = engine.allocate(numbers);
  if (config.state_optimizer == FppStateRule::rmsprop) moments_ = engine.allocate(numbers);
  zeros_ = engine.allocate(elements(streams, width_));
  // The optimizer works on whatever cells an update has gathered: the target here only says how many.
  if (moments_) {
    OptimizerConfig rule;
    rule.name = name_of(config.state_optimizer);
    optimizer_ = engine.make_optimizer(rule, engine.allocate(elements(rows, width_)));
  }
  cells_.reserve(elements(streams));
}

void StateCells::read(std::int64_t t, Buffer states) {
  cells_.clear();
  for (int stream = 0; stream < streams_; ++stream) cells_.push_back(after(t, stream));
  engine_.gather_rows(table_, width_, cells_, states);
}

void StateCells::append(std::int64_t t, std::span<const std::uint8_t> reset, Buffer states) {
  cells_.clear();
  for (int stream = 0; stream < streams_; ++stream) cells_.push_back(after(t, stream));
  engine_.scatter_rows(states, width_, cells_, table_);
  if (moments_) engine_.scatter_rows(zeros_, width_, cells_, moments_);
  cells_.clear();
  for (int stream = 0; stream < streams_; ++stream)
    if (reset[stream]) cells_.push_back(before_first(t, stream));
  if (cells_.empty()) return;
  engine_.scatter_rows(zeros_, width_, cells_, table_);
  if (moments_) engine_.scatter_rows(zeros_, width_, cells_, moments_);
}

void StateCells::gather(std::span<const std::int64_t> cells, Buffer values) const {
  engine_.gather_rows(table_, width_, cells, values);
}

void StateCells::descend(std::span<const std::int64_t> cells, Buffer values, Buffer gradient, double scale) {
  if (!moments_ && !overwrites_) {
    engine_.scale(gradient, -rate_ * scale);
    engine_.scatter_add_rows(gradient, width_, cells, table_);
    return;
  }
  if (moments_) {
    if (regather_) gather(cells, values);
    engine_.gather_rows(moments_, width_, cells, optimizer_->moments.front());
    engine_.apply_update(
        {.target = values, .gradient = gradient, .optimizer = *optimizer_, .rate = rate_, .gradient_scale = scale});
    engine_.scatter_rows(optimizer_->moments.front(), width_, cells, moments_);
  } else {
    engine_.axpy(-rate_ * scale, gradient, values);
  }
  engine_.scatter_rows(values, width_, cells, table_);
}

void StateCells::archive(Archive& archive) {
  const Archive::Scope scope(archive, "cells");
  archive.buffer("states", engine_, table_);
  if (moments_) archive.buffer("moments", engine_, moments_);
}

}  // namespace throughtime
