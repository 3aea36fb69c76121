#include "learners/fpp/trajectory_draws.h"

#include <tuple>

#include "learners/support.h"

namespace throughtime {

TrajectoryDraws::TrajectoryDraws(const FppConfig& config, const Transitions& transitions, const StateCells& cells,
                                 int rows, std::uint64_t seed)
    : batch_(config.batch),
      sample_(config.sample),
      ends_(config.ends),
      newest_(config.newest),
      transitions_(transitions),
      cells_(cells),
      rows_(rows),
      random_(seed, Purpose::sampling) {
  throughtime::reserve(part_, config.steps, rows_);
  part_.batch = rows_;
  part_.source.resize(elements(rows_));
  part_.start.resize(elements(rows_));
}

void TrajectoryDraws::reserve(Rows& drawn) const {
  drawn.start_cells.resize(elements(rows_));
  drawn.end_cells.resize(elements(rows_));
  drawn.active.reserve(elements(rows_));
}

bool TrajectoryDraws::may_end(std::int64_t end, int row, int T) const {
  return transitions_.run(end, row) >= T && !transitions_.held(end, row) &&
         (ends_ == FppEnds::all || transitions_.weight(end, row) != 0);
}

bool TrajectoryDraws::draw(int T, Rows& drawn) {
  const std::int64_t low = transitions_.oldest() + T - 1;
  const std::int64_t high = transitions_.newest() - (newest_ ? 0 : 1);
  if (high < low) return false;
  const auto number = static_cast<std::uint64_t>(draws_++);
  set_length(T);
  drawn.active.clear();
  const auto last_weights = part_.weight.end() - rows_;
  std::int64_t end = -1;
  for (int row = 0; row < rows_; ++row) {
    int stream = row;
    if (batch_ == FppBatch::blocks) {
      std::tie(end, stream) = pick_pair(low, high, T, number, static_cast<std::uint32_t>(row));
    } else if (row == 0) {
      end = pick_end(low, high, T, number);
    }
    if (end < 0) return false;
    const bool active = may_end(end, stream, T);
    if (active) drawn.active.push_back(row);
    last_weights[row] = active ? transitions_.weight(end, stream) : 0.0f;
    aim(drawn, row, stream, end, T, active);
  }
  return true;
}

/// One end for all streams, such that at least one of them may end there.
std::int64_t TrajectoryDraws::pick_end(std::int64_t low, std::int64_t high, int T, std::uint64_t number) const {
  const auto good = [&](std::int64_t index) {
    for (int row = 0; row < transitions_.rows(); ++row)
      if (may_end(low + index, row, T)) return true;
    return false;
  };
  if (sample_ == FppSample::newest) return good(high - low) ? high : -1;
  const std::int64_t index = pick(high - low + 1, number, 0, good);
  return index < 0 ? -1 : low + index;
}

std::pair<std::int64_t, int> TrajectoryDraws::pick_pair(std::int64_t low, std::int64_t high, int T,
                                                        std::uint64_t number, std::uint32_t block) const {
  const std::int64_t streams = transitions_.rows();
  const auto good = [&](std::int64_t index) {
    return may_end(low + index / streams, static_cast<int>(index % streams), T);
  };
  const std::int64_t index = pick((high - low + 1) * streams, number, block, good);
  if (index < 0) return {-1, 0};
  return {low + index / streams, static_cast<int>(index % streams)};
}

/// Uniform over the good ones of `choices`, -1 if there is none. A second draw, over a list of the good ones, comes
/// only after a first one that was not: most streams have targets everywhere.
template <class Good>
std::int64_t TrajectoryDraws::pick(std::int64_t choices, std::uint64_t number, std::uint32_t row,
                                   const Good& good) const {
  const auto first = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(choices), number, row, 0));
  if (good(first)) return first;
  std::int64_t count = 0;
  for (std::int64_t index = 0; index < choices; ++index) count += good(index) ? 1 : 0;
  if (count == 0) return -1;
  auto left = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(count), number, row, 1));
  for (std::int64_t index = 0;; ++index)
    if (good(index) && left-- == 0) return index;
}

void TrajectoryDraws::set_length(int T) {
  part_.sources = transitions_.sources();
  part_.mask_key = static_cast<std::uint64_t>(draws_) * 0x9e3779b97f4a7c15u;
  part_.flags.clear();
  if (transitions_.any_held()) part_.flags.resize(elements(T, rows_), StepFlag::go_on);
  if (part_.steps == T) return;
  part_.steps = T;
  part_.weight.assign(elements(T, rows_), 0.0f);
}

/// The window of a row, o_{i-T+1} ... o_i of its stream, and its cells.
void TrajectoryDraws::aim(Rows& drawn, int row, int stream, std::int64_t end, int T, bool active) {
  const std::int64_t first = end - T + 1;
  part_.source[row] = stream;
  part_.start[row] = first;
  if (!part_.flags.empty()) transitions_.mark_held(part_, row, stream, first);
  drawn.start_cells[row] = active ? first_state(end, stream, T) : cells_.nobodys();
  drawn.end_cells[row] = active ? cells_.after(end, stream) : cells_.nobodys();
}

}  // namespace throughtime
