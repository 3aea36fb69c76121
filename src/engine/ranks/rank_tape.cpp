#include "engine/ranks/rank_tape.h"
#include "throughtime/index.h"

namespace throughtime {

RankTape::RankTape(Engine& inner, const TapeShape& shape, RowShare share) : Tape(shape), inner_(inner), share_(share) {
  if (idle()) return;
  TapeShape own = shape;
  own.batch = share.count;
  tape_ = inner.make_tape(own);
  for (std::int64_t step = 0; step <= shape.steps; ++step)
    for (int row = 0; row < share.count; ++row) rows_.push_back(step * shape.batch + share.first + row);
}

Buffer RankTape::room(Part& part, Buffer whole, int width) {
  if (!whole) return {};
  const std::size_t entries = part.one_step ? static_cast<std::size_t>(share_.count) : rows_.size();
  if (!part.own) part.own = inner_.allocate(entries * elements(width));
  return part.own;
}

Buffer RankTape::load(Part& part, Buffer whole, int steps, int width) {
  const Buffer own = room(part, whole, width);
  if (own && width > 0) inner_.gather_rows(whole, width, rows_of(steps), own);
  return own;
}

void RankTape::store(const Part& part, Buffer whole, int steps, int width) {
  if (whole && width > 0) inner_.scatter_rows(part.own, width, rows_of(steps), whole);
}

}  // namespace throughtime
