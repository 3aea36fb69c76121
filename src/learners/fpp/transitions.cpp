#include "learners/fpp/transitions.h"

#include <algorithm>

#include "engine/targets.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr std::int32_t longest_run = 1 << 30;  // longer than any trajectory

}  // namespace

Transitions::Transitions(const Model& model, int capacity, int rows)
    : model_(model), capacity_(capacity), rows_(rows), sources_(elements(rows)) {
  const std::size_t room = elements(2, capacity);
  const bool labels = takes_label(model.head().target);
  const bool values = model.head().target != TargetKind::label_or_distribution;
  values_.resize(rows, room, elements(model.config().input.reals));
  tokens_.resize(rows, room, model.config().input.vocabulary > 0 ? 1 : 0);
  labels_.resize(rows, room, labels ? 1 : 0);
  targets_.resize(rows, room, values ? elements(model.target_width()) : 0);
  weights_.resize(room * elements(rows));
  runs_.resize(weights_.size());
  held_.resize(weights_.size());
}

void Transitions::append(const Window& stretch, int step) {
  if (end_ - first_ == 2 * capacity_) drop_past();
  const std::size_t to = elements(end_ - first_);
  for (int row = 0; row < rows_; ++row) {
    const Place place = place_at(stretch, step, row);
    const bool held = stretch.holds_at(step, row);
    const std::span<float> reals = values_.part(row, to, 1);
    const std::span<std::int32_t> token = tokens_.part(row, to, 1);
    std::ranges::fill(reals, 0.0f);
    std::ranges::fill(token, 0);
    if (!place.padding && !held) {
      if (!reals.empty()) std::copy_n(place.reals(), reals.size(), reals.begin());
      if (!token.empty()) token[0] = place.token();
    }
    copy_target(stretch, step, row, to);
    weights_[entry(end_, row)] = stretch.weight_at(step, row);
    runs_[entry(end_, row)] = place.padding && !held ? 0 : next_run(stretch, step, row);
    held_[entry(end_, row)] = held;
    if (held) last_held_ = end_;
  }
  ++end_;
  size_ = std::min(size_ + 1, capacity_);
  describe_sources();
}

/// A row that is held where a sequence should begin begins it when it wakes.
std::int32_t Transitions::next_run(const Window& stretch, int step, int row) const {
  const bool restarts = size_ == 0 || (step == 0 && !stretch.continues);
  const std::int32_t before = restarts ? 0 : run(end_ - 1, row);
  if (stretch.holds_at(step, row)) return before == 0 ? 0 : std::min(before + 1, longest_run);
  const bool begins = restarts || stretch.resets_at(step, row) || (before == 0 && held(end_ - 1, row));
  return begins ? 1 : before == 0 ? 0 : std::min(before + 1, longest_run);
}

void Transitions::copy_target(const Window& stretch, int step, int row, std::size_t to) {
  const bool weighted = stretch.weight_at(step, row) != 0;
  const RowTarget<float> target = weighted ? row_target(model_, stretch, step, row) : RowTarget<float>();
  if (target.values && !distributions_ && model_.head().target == TargetKind::label_or_distribution) {
    if (size_ > 0) refuse("learner", "targets must be labels throughout, or distributions throughout");
    distributions_ = true;
    targets_.resize(rows_, elements(2, capacity_), elements(model_.outputs()));
  }
  if (const std::span<std::int32_t> label = labels_.part(row, to, 1); !label.empty())
    label[0] = std::max(target.label, 0);
  const std::span<float> values = targets_.part(row, to, 1);
  if (values.empty()) return;
  if (weighted && !target.values) refuse("learner", "targets must be labels throughout, or distributions throughout");
  if (target.values)
    std::copy_n(target.values, values.size(), values.begin());
  else
    std::ranges::fill(values, 0.0f);
}

void Transitions::mark_held(Window& window, int row, int stream, std::int64_t first) const {
  for (int step = 0; step < window.steps; ++step)
    if (held(first + step, stream)) window.flags[elements(step, window.batch) + row] = StepFlag::hold;
}

/// Keeps the last N steps: the step that comes asks the one before it how long its sequence is, also where N = 1.
void Transitions::drop_past() {
  const std::size_t kept = elements(capacity_), from = elements(2, capacity_) - kept, width = elements(rows_);
  values_.move_to_front(rows_, from, kept);
  targets_.move_to_front(rows_, from, kept);
  tokens_.move_to_front(rows_, from, kept);
  labels_.move_to_front(rows_, from, kept);
  std::copy(weights_.begin() + from * width, weights_.end(), weights_.begin());
  std::copy(runs_.begin() + from * width, runs_.end(), runs_.begin());
  std::copy(held_.begin() + from * width, held_.end(), held_.begin());
  first_ += static_cast<std::int64_t>(from);
}

void Transitions::describe_sources() {
  const std::size_t held = elements(end_ - first_);
  const bool with_values = distributions_ || model_.head().target != TargetKind::label_or_distribution;
  for (int row = 0; row < rows_; ++row) {
    Source& source = sources_[row];
    source.steps = held;
    source.first = first_;
    source.reals = model_.config().input.reals;
    source.values = values_.part(row, 0, held);
    source.tokens = tokens_.part(row, 0, held);
    source.target_width = with_values ? model_.target_width() : 0;
    if (with_values) source.target_values = targets_.part(row, 0, held);
    if (!distributions_) source.labels = labels_.part(row, 0, held);
  }
}

namespace {

/// The steps of all rows as one list.
template <class Number, class List>
void archive_rows(RowStore<Number>& store, int rows, std::size_t held, List& list, auto&& show) {
  list.clear();
  for (int row = 0; row < rows; ++row)
    for (const Number number : store.part(row, 0, held)) list.push_back(number);
  const std::size_t size = list.size();
  show(list);
  if (list.size() != size)
    refuse("learner", "the saved transitions have {} numbers, {} were expected", list.size(), size);
  auto from = list.begin();
  for (int row = 0; row < rows; ++row)
    for (Number& number : store.part(row, 0, held)) number = static_cast<Number>(*from++);
}

}  // namespace

void Transitions::archive(Archive& archive) {
  const Archive::Scope scope(archive, "transitions");
  archive.integer("size", size_);
  archive.integer("end", end_);
  archive.integer("first", first_);
  archive.integer("distributions", distributions_);
  if (size_ < 0 || size_ > capacity_ || first_ < 0 || size_ > end_ - first_ || end_ - first_ > 2 * capacity_)
    refuse("learner", "the saved buffer of {} transitions from {} to {} is not one of {}", size_, first_, end_,
           capacity_);
  if (distributions_) targets_.resize(rows_, elements(2, capacity_), elements(model_.outputs()));

  const std::size_t held = elements(end_ - first_), entries = elements(end_ - first_, rows_);
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  const auto show_numbers = [&](const char* name) {
    return [&archive, name](auto& list) { archive.numbers(name, list); };
  };
  const auto show_integers = [&](const char* name) {
    return [&archive, name](auto& list) { archive.integers(name, list); };
  };
  archive_rows(values_, rows_, held, numbers, show_numbers("values"));
  archive_rows(targets_, rows_, held, numbers, show_numbers("targets"));
  archive_rows(tokens_, rows_, held, integers, show_integers("tokens"));
  archive_rows(labels_, rows_, held, integers, show_integers("labels"));
  numbers.assign(weights_.begin(), weights_.begin() + entries);
  integers.assign(runs_.begin(), runs_.begin() + entries);
  std::vector<std::int64_t> held_steps(held_.begin(), held_.begin() + entries);
  archive.numbers("weights", numbers);
  archive.integers("runs", integers);
  archive.integers("held", held_steps);
  archive.integer("last_held", last_held_);
  if (numbers.size() != entries || integers.size() != entries || held_steps.size() != entries)
    refuse("learner", "the saved transitions have {} weights and {} runs, {} were expected", numbers.size(),
           integers.size(), entries);
  std::transform(numbers.begin(), numbers.end(), weights_.begin(), [](double v) { return static_cast<float>(v); });
  std::transform(integers.begin(), integers.end(), runs_.begin(),
                 [](std::int64_t v) { return static_cast<std::int32_t>(v); });
  std::transform(held_steps.begin(), held_steps.end(), held_.begin(), [](std::int64_t v) { return v != 0; });
  describe_sources();
}

}  // namespace throughtime
