#include "engine/cuda/staging.h"

#include <algorithm>

#include "engine/penalties.h"
#include "engine/targets.h"
#include "throughtime/index.h"

namespace throughtime::cuda {
namespace {

bool has_flags(const Window& window) {
  std::uint8_t any = 0;
  for (const StepFlag flag : window.flags) any |= static_cast<std::uint8_t>(flag);
  return any != 0;
}

/// Numbers of a row's steps that lie in its source: steps [begin, end) of the window, from `index` of the source on.
struct RowRange {
  RowRange(const Window& window, int row) : place(place_at(window, 0, row)) {
    const std::int64_t all = static_cast<std::int64_t>(place.source->steps);
    begin = static_cast<int>(std::clamp<std::int64_t>(-place.index, 0, window.steps));
    end = static_cast<int>(std::clamp<std::int64_t>(all - place.index, begin, window.steps));
  }
  Place place;
  int begin = 0, end = 0;
};

}  // namespace

std::size_t Staging::bytes_of(const Window& window) const {
  const std::size_t places = elements(window.steps, window.batch);
  const std::size_t targets = window.targets.layout == TargetLayout::per_row ? elements(window.batch) : places;
  std::size_t numbers = places * elements(model_.config().input.reals) + targets * elements(model_.target_width());
  numbers += 10 * places;  // tokens, places, weights, labels, entries of values; segments, targets, begins, order
  if (model_.config().penalties.slowness > 0) numbers += places;
  return numbers * sizeof(float) + places + 64 * elements(window.steps) + 4096;
}

StagedInputs Staging::inputs(const Window& window) {
  const InputConfig& input = model_.config().input;
  const std::size_t batch = elements(window.batch), places = elements(window.steps) * batch;
  const std::size_t reals = elements(input.reals);
  StagedInputs staged;
  std::int32_t* tokens = nullptr;
  float* values = nullptr;
  if (input.vocabulary > 0) {
    const auto room = recorder_.numbers<std::int32_t>(places);
    staged.tokens = room.device;
    std::fill_n(tokens = room.host, places, -1);
  }
  if (reals > 0) {
    const auto room = recorder_.numbers<float>(places * reals);
    staged.values = room.device;
    std::fill_n(values = room.host, places * reals, 0.0f);
  }
  // Some steps of all rows at a time: what is written side by side is then written while it is in the cache.
  constexpr int tile = 32;
  for (int first = 0; first < window.steps; first += tile)
    for (int row = 0; row < window.batch; ++row) {
      const RowRange range(window, row);
      const Source& source = *range.place.source;
      const int end = std::min(range.end, first + tile);
      for (int step = std::max(range.begin, first); step < end; ++step) {
        const auto index = elements(range.place.index + step);
        const std::size_t to = elements(step) * batch + elements(row);
        if (tokens) tokens[to] = source.tokens[index];
        if (values) std::copy_n(source.values.data() + index * reals, reals, values + to * reals);
      }
    }
  return staged;
}

const std::uint8_t* Staging::flags(const Window& window) {
  if (!has_flags(window)) return nullptr;
  const auto room = recorder_.numbers<std::uint8_t>(window.flags.size());
  std::transform(window.flags.begin(), window.flags.end(), room.host,
                 [](StepFlag flag) { return static_cast<std::uint8_t>(flag); });
  return room.device;
}

const MaskNumbers* Staging::mask(const Window& window) {
  return recorder_.number(MaskNumbers{window.mask_key, window.mask_step, window.mask_row});
}

const float* Staging::difference_factors(const Window& window) {
  const double strength = model_.config().penalties.slowness / model_.top_hidden();
  const auto room = recorder_.numbers<float>(elements(window.steps, window.batch));
  for (int row = 0; row < window.batch; ++row) {
    const double scale = strength * difference_scale(window, row);
    for (int step = 0; step < window.steps; ++step) {
      const bool counts = has_difference(window, step, row);
      room.host[elements(step, window.batch) + elements(row)] =
          counts ? static_cast<float>(scale * window.weight_at(step, row)) : 0.0f;
    }
  }
  return room.device;
}

StagedLosses Staging::losses(const Window& window, int first, int last, bool with_targets) {
  const std::size_t begin = elements(first, window.batch), most = elements(last - first, window.batch);
  const auto places = recorder_.numbers<std::int32_t>(most);
  const auto weights = recorder_.numbers<float>(most);
  const float* from = window.weight.data() + begin;
  std::size_t entries = 0;
  for (std::size_t row = 0; row < most; row += elements(window.batch)) {  // most steps have no loss, or all of them
    std::uint32_t any = 0;
    for (std::size_t i = row; i < row + elements(window.batch); ++i) any |= from[i] != 0;
    if (any == 0) continue;
    for (std::size_t i = row; i < row + elements(window.batch); ++i) {
      places.host[entries] = static_cast<std::int32_t>(begin + i);
      weights.host[entries] = from[i];
      entries += from[i] != 0 ? 1 : 0;
    }
  }
  StagedLosses staged;
  staged.entries = static_cast<int>(entries);
  staged.host_places = {places.host, entries};
  staged.places = places.device;
  staged.weights = weights.device;
  if (!with_targets || entries == 0 || window.targets.layout == TargetLayout::none) return staged;
  if (takes_label(model_.head().target)) labels(window, staged.host_places, staged);
  values(window, staged.host_places, staged);
  return staged;
}

void Staging::labels(const Window& window, std::span<const std::int32_t> places, StagedLosses& losses) {
  const Targets& targets = window.targets;
  const bool from_source = targets.layout == TargetLayout::source;
  if (!from_source && targets.labels.empty()) return;
  const auto room = recorder_.numbers<std::int32_t>(places.size());
  const auto batch = static_cast<std::uint32_t>(window.batch);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<std::uint32_t>(places[i]);
    if (targets.layout == TargetLayout::per_step) {
      room.host[i] = targets.labels[place];
    } else if (targets.layout == TargetLayout::per_row) {
      room.host[i] = targets.labels[place % batch];
    } else {
      const Place at = place_at(window, static_cast<int>(place / batch), static_cast<int>(place % batch));
      room.host[i] = at.padding || at.source->labels.empty() ? -1 : at.source->labels[elements(at.index)];
    }
  }
  losses.labels = room.device;
}

void Staging::values(const Window& window, std::span<const std::int32_t> places, StagedLosses& losses) {
  const Targets& targets = window.targets;
  const bool by_label = model_.head().target == TargetKind::label_or_distribution;
  if (targets.layout != TargetLayout::source && (targets.values.empty() || (by_label && !targets.labels.empty())))
    return;
  const std::size_t width = elements(model_.target_width());
  const auto batch = static_cast<std::uint32_t>(window.batch);
  if (targets.layout == TargetLayout::per_row) {
    const auto room = recorder_.numbers<float>(targets.values.size());
    std::copy(targets.values.begin(), targets.values.end(), room.host);
    const auto entry = recorder_.numbers<std::int32_t>(places.size());
    for (std::size_t i = 0; i < places.size(); ++i)
      entry.host[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(places[i]) % batch);
    losses.values = room.device;
    losses.value_entry = entry.device;
  } else {
    bool any = targets.layout == TargetLayout::per_step;
    for (const Source& source : window.sources)
      any = any || (!source.target_values.empty() && !(by_label && !source.labels.empty()));
    if (!any) return;
    const auto room = recorder_.numbers<float>(places.size() * width);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto place = static_cast<std::uint32_t>(places[i]);
      const RowTarget<float> target =
          row_target(model_, window, static_cast<int>(place / batch), static_cast<int>(place % batch));
      if (target.values)
        std::copy_n(target.values, width, room.host + i * width);
      else
        std::fill_n(room.host + i * width, width, 0.0f);
    }
    losses.values = room.device;
  }
  losses.target_width = static_cast<int>(width);
}

template <class Key>
AddSortedRows Staging::sorted(int entries, std::int64_t keys, Key key) {
  const std::size_t count = elements(entries);
  if (counts_.size() < elements(keys)) counts_.resize(elements(keys));
  const auto segments = recorder_.numbers<std::int32_t>(1);
  const auto target = recorder_.numbers<std::int32_t>(count);
  const auto begin = recorder_.numbers<std::int32_t>(count + 1);
  const auto order = recorder_.numbers<std::int32_t>(count);
  // Segments are numbered as their keys are met, so that only keys that occur are looked at.
  std::int32_t found = 0, kept = 0;
  for (int i = 0; i < entries; ++i) {
    const std::int64_t k = key(i);
    if (k < 0) continue;
    if (counts_[elements(k)]++ == 0) target.host[found++] = static_cast<std::int32_t>(k);
    ++kept;
  }
  std::int32_t at = 0;
  for (std::int32_t s = 0; s < found; ++s) {
    begin.host[s] = at;
    std::int32_t& occurrences = counts_[elements(target.host[s])];
    const std::int32_t next = at + occurrences;
    occurrences = at;  // from here on: where its next entry goes
    at = next;
  }
  begin.host[found] = kept;
  for (int i = 0; i < entries; ++i) {
    const std::int64_t k = key(i);
    if (k >= 0) order.host[counts_[elements(k)]++] = i;
  }
  for (std::int32_t s = 0; s < found; ++s) counts_[elements(target.host[s])] = 0;
  *segments.host = found;
  AddSortedRows rows;
  rows.entries = entries;
  rows.segments = segments.device;
  rows.target = target.device;
  rows.begin = begin.device;
  rows.order = order.device;
  return rows;
}

AddSortedRows Staging::tokens(const Window& window, int first, int last) {
  return sorted((last - first) * window.batch, model_.config().input.vocabulary, [&](int entry) -> std::int64_t {
    const Place place = place_at(window, first + entry / window.batch, entry % window.batch);
    return place.padding ? -1 : place.token();
  });
}

AddSortedRows Staging::rows(std::span<const std::int64_t> indices, std::int64_t table_rows) {
  return sorted(static_cast<int>(indices.size()), table_rows, [&](int entry) { return indices[elements(entry)]; });
}

void Staging::mark_last(std::span<const std::int64_t> indices, std::int64_t table_rows, std::uint8_t* last) {
  if (counts_.size() < elements(table_rows)) counts_.resize(elements(table_rows));
  for (std::size_t i = indices.size(); i-- > 0;) last[i] = counts_[elements(indices[i])]++ == 0 ? 1 : 0;
  for (const std::int64_t index : indices) counts_[elements(index)] = 0;
}

}  // namespace throughtime::cuda
