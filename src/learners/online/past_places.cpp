#include "learners/online/past_places.h"

#include <algorithm>

#include "learners/support.h"

namespace throughtime {

PastPlaces::PastPlaces(const StepRing& ring, std::uint64_t seed)
    : ring_(ring),
      random_(seed, Purpose::past_places),
      weight_(ring.capacity() * elements(ring.slots())),
      flag_(weight_.size()) {}

std::size_t PastPlaces::entry(std::int64_t position, int slot) const {
  return elements(position) % ring_.capacity() * elements(ring_.slots()) + elements(slot);
}

void PastPlaces::note(std::span<const float> weight, std::span<const StepFlag> flag) {
  const auto at = static_cast<std::ptrdiff_t>(entry(ring_.position() - 1, 0));
  std::copy(weight.begin(), weight.end(), weight_.begin() + at);
  std::copy(flag.begin(), flag.end(), flag_.begin() + at);
}

/// Whether there are as many as a draw has rows.
bool PastPlaces::count_places(int rows, int steps) {
  const auto held = static_cast<std::int64_t>(ring_.sources()[0].steps);
  choices_ = std::max<std::int64_t>(0, held - steps + 1) * ring_.slots();
  if (choices_ < rows) return false;
  with_target_ = 0;
  for (std::int64_t end = ring_.position() - choices_ / ring_.slots(); end < ring_.position(); ++end)
    for (int slot = 0; slot < ring_.slots(); ++slot) with_target_ += good({slot, end}) ? 1 : 0;
  return with_target_ >= rows;
}

/// Uniform over the places that end with a target. A second draw comes only after a first one without.
PastPlaces::Place PastPlaces::draw_place(std::uint64_t draw, int row) const {
  const auto sequence = static_cast<std::uint32_t>(row);
  const std::int64_t first_end = ring_.position() - choices_ / ring_.slots();
  const auto place = [&](std::int64_t index) {
    return Place{static_cast<int>(index % ring_.slots()), first_end + index / ring_.slots()};
  };
  const auto below = [&](std::int64_t bound, std::uint64_t element) {
    return static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(bound), draw, sequence, element));
  };
  const Place first = place(below(choices_, 0));
  if (good(first)) return first;
  std::int64_t left = below(with_target_, 1);
  for (std::int64_t index = 0;; ++index)
    if (good(place(index)) && left-- == 0) return place(index);
}

const Window& PastPlaces::places(std::uint64_t draw, int rows, int steps) {
  reserve(window_, steps, rows);  // at the first call, before anything is held, for good
  window_.steps = 0;
  if (!count_places(rows, steps)) return window_;
  window_.steps = steps;
  window_.batch = rows;
  window_.sources = ring_.sources();
  window_.source.resize(elements(rows));
  window_.start.resize(elements(rows));
  window_.weight.assign(elements(steps, rows), 0.0f);
  window_.flags.resize(window_.weight.size());
  window_.mask_key = random_.below(UINT64_MAX, draw, 0, 2);
  for (int row = 0; row < rows; ++row) aim(row, draw_place(draw, row));
  return window_;
}

void PastPlaces::aim(int row, const Place& place) {
  const auto r = elements(row), rows = window_.source.size();
  window_.source[r] = place.slot;
  window_.start[r] = place.end - window_.steps + 1;
  for (int step = 0; step < window_.steps; ++step)
    window_.flags[elements(step, rows) + r] = flag_[entry(window_.start[r] + step, place.slot)];
  window_.weight[window_.weight.size() - rows + r] = weight_[entry(place.end, place.slot)];
}

void PastPlaces::archive(Archive& archive) {
  const Archive::Scope scope(archive, "past");
  archive.number_list("weight", weight_, weight_.size(), between(0, 1));
  archive.integer_list("flag", flag_, flag_.size(), any_flag());
}

}  // namespace throughtime
