#include "learners/online/step_ring.h"

#include <algorithm>
#include <type_traits>

#include "throughtime/index.h"

namespace throughtime {

StepRing::StepRing(const Model& model, int slots, int capacity)
    : slots_(slots),
      vocabulary_(model.config().input.vocabulary),
      classes_(model.outputs()),
      capacity_(elements(capacity)),
      written_(elements(slots)) {
  const InputConfig& input = model.config().input;
  const bool labels = model.head().target == TargetKind::label_or_distribution;
  reals_ = make_channel<float>(input.reals);
  tokens_ = make_channel<std::int32_t>(input.vocabulary > 0 ? 1 : 0);
  targets_ = make_channel<float>(labels ? 0 : model.outputs());
  labels_ = make_channel<std::int32_t>(labels ? 1 : 0);
  sources_.resize(written_.size());
  aim_sources();
}

template <class T>
StepRing::Channel<T> StepRing::make_channel(int width) const {
  const auto numbers = elements(width);
  return {numbers, std::vector<T>(elements(slots_) * 2 * capacity_ * numbers)};
}

template <class T>
std::size_t StepRing::place(const Channel<T>& channel, int slot, std::size_t row) const {
  return (elements(slot) * 2 * capacity_ + row) * channel.width;
}

template <class T>
void StepRing::write(Channel<T>& channel, int slot, std::span<const T> values) {
  const std::size_t row = elements(position_) % capacity_;
  for (const std::size_t copy : {row, row + capacity_}) {
    const auto to = channel.numbers.begin() + static_cast<std::ptrdiff_t>(place(channel, slot, copy));
    if (values.empty())
      std::fill_n(to, channel.width, T{0});
    else
      std::copy_n(values.begin(), channel.width, to);
  }
}

void StepRing::put(int slot, const StepInput& x, const StepTarget& y) {
  write(reals_, slot, x.reals);
  write(tokens_, slot, {&x.token, 1});
  write(targets_, slot, y.values);
  write(labels_, slot, {&y.label, 1});
  written_[slot] = 1;
}

void StepRing::advance() {
  for (int slot = 0; slot < slots_; ++slot)
    if (written_[slot] == 0) put(slot, {.token = 0}, {});
  std::fill(written_.begin(), written_.end(), std::uint8_t{0});
  ++position_;
  aim_sources();
}

template <class T>
std::span<const T> StepRing::view(const Channel<T>& channel, int slot) const {
  const auto position = elements(position_);
  const std::size_t first = position > capacity_ ? position % capacity_ : 0;
  return std::span<const T>(channel.numbers)
      .subspan(place(channel, slot, first), std::min(position, capacity_) * channel.width);
}

void StepRing::aim_sources() {
  for (int slot = 0; slot < slots_; ++slot) {
    Source& source = sources_[slot];
    source.steps = std::min(elements(position_), capacity_);
    source.first = position_ - static_cast<std::int64_t>(source.steps);
    source.reals = static_cast<int>(reals_.width);
    source.target_width = static_cast<int>(targets_.width);
    source.values = view(reals_, slot);
    source.tokens = view(tokens_, slot);
    source.labels = view(labels_, slot);
    source.target_values = view(targets_, slot);
  }
}

void StepRing::archive(Archive& archive) {
  const auto show = [&](const char* name, auto& channel, const Range& range) {
    if constexpr (std::is_same_v<decltype(channel), Channel<float>&>)
      archive.number_list(name, channel.numbers, channel.numbers.size(), range);
    else
      archive.integer_list(name, channel.numbers, channel.numbers.size(), range);
  };
  archive.integer("position", position_);
  show("reals", reals_, {});
  show("targets", targets_, {});
  show("tokens", tokens_, between(0, std::max(0, vocabulary_ - 1)));
  show("labels", labels_, between(-1, classes_ - 1));  // -1: the step has none
  archive.integer_list("written", written_, written_.size(), between(0, 1));
  aim_sources();
}

}  // namespace throughtime
