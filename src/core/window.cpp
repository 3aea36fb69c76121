#include "throughtime/window.h"

#include <algorithm>
#include <cmath>

#include "core/scan.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

std::size_t entries(const Window& window) { return elements(window.steps, window.batch); }

void require_size(const char* what, std::size_t got, std::size_t wanted, const char* shape) {
  if (got != wanted) refuse("window", "{} must hold {} numbers {}, got {}", what, wanted, shape, got);
}

void check_targets(const Window& window) {
  const Targets& targets = window.targets;
  const bool per_step = targets.layout == TargetLayout::per_step;
  if (!per_step && targets.layout != TargetLayout::per_row) return;
  if (targets.labels.empty() && targets.values.empty())
    refuse("window", "targets {} need labels or values, got neither", per_step ? "per step" : "per row");
  const std::size_t count = per_step ? entries(window) : elements(window.batch);
  if (!targets.labels.empty()) require_size("target labels", targets.labels.size(), count, per_step ? "[L, B]" : "[B]");
  if (targets.values.empty()) return;
  if (targets.width < 1) refuse("window", "target values need a width of at least 1, got {}", targets.width);
  require_size("target values", targets.values.size(), count * elements(targets.width),
               per_step ? "[L, B, width]" : "[B, width]");
}

/// Everything that costs no pass over steps or rows.
void check_shapes(const Window& window) {
  if (window.steps < 1) refuse("window", "steps must be at least 1, got {}", window.steps);
  if (window.batch < 1) refuse("window", "batch must be at least 1, got {}", window.batch);
  const std::size_t rows = elements(window.batch);
  if (window.sources.empty()) refuse("window", "at least one source is needed, got none");
  if (!window.source.empty()) require_size("source", window.source.size(), rows, "[B] or none");
  require_size("start", window.start.size(), rows, "[B]");
  require_size("weight", window.weight.size(), entries(window), "[L, B]");
  if (!window.example.empty()) require_size("example", window.example.size(), rows, "[B] or none");
  if (!window.flags.empty()) require_size("flags", window.flags.size(), entries(window), "[L, B] or none");
  check_targets(window);
}

void check_source(const Source& source, std::int32_t index) {
  if (source.reals < 0 || source.target_width < 0)
    refuse("window", "source {} has a negative width ({} reals, {} target values)", index, source.reals,
           source.target_width);
  if (source.first < 0) refuse("window", "source {} begins at {}, before position 0", index, source.first);
  const auto check = [&](const char* what, std::size_t got, std::size_t wanted) {
    if (got != wanted)
      refuse("window", "source {} has {} steps and needs {} {}, got {}", index, source.steps, wanted, what, got);
  };
  check("values", source.values.size(), source.steps * elements(source.reals));
  if (!source.tokens.empty()) check("tokens", source.tokens.size(), source.steps);
  if (!source.labels.empty()) check("labels", source.labels.size(), source.steps);
  check("target values", source.target_values.size(), source.steps * elements(source.target_width));
}

/// Refuses a loss that would see padding: until its first reset after the padding a row's weights are zero. A row that
/// sleeps through all its padding sees nothing of it.
void check_padding(const Window& window, int row, int padded) {
  bool asleep = true;
  for (int step = 0; step < padded; ++step) asleep = asleep && window.holds_at(step, row);
  if (asleep) return;
  for (int step = 0; step < window.steps; ++step) {
    if (step >= padded && window.resets_at(step, row)) return;
    if (window.weight_at(step, row) != 0)
      refuse("window",
             "row {} starts {} steps before its source and has a loss at step {}; it must be reset between the two",
             row, padded, step);
  }
}

bool has_loss(const Window& window, int row) {
  for (int step = 0; step < window.steps; ++step)
    if (window.weight_at(step, row) != 0) return true;
  return false;
}

void check_row(const Window& window, int row) {
  const std::int32_t index = window.source.empty() ? 0 : window.source[row];
  if (index < 0 || elements(index) >= window.sources.size())
    refuse("window", "row {} reads source {}, there are {}", row, index, window.sources.size());
  const Source& source = window.sources[index];
  // Rows often share a source, neighbours first of all: look at each one once per run.
  const bool seen = row > 0 && (window.source.empty() || window.source[elements(row) - 1] == index);
  if (!seen) check_source(source, index);

  const std::int64_t start = window.start[row];
  const std::int64_t last_start = source.first + static_cast<std::int64_t>(source.steps) - window.steps;
  if (start > last_start)
    refuse("window", "row {} starts at {} and reads {} steps of source {}, which has {}; it may start at {} at most",
           row, start, window.steps, index, source.steps, last_start);
  if (source.first > 0 && start < source.first)
    refuse("window", "row {} starts at {}, but source {} is a stream that has dropped what was before {}", row, start,
           index, source.first);
  if (start < 0) check_padding(window, row, start <= -window.steps ? window.steps : static_cast<int>(-start));

  const bool has_targets = !source.labels.empty() || !source.target_values.empty();
  if (window.targets.layout == TargetLayout::source && !has_targets && has_loss(window, row))
    refuse("window", "row {} has a loss, but source {} has neither labels nor target values", row, index);
}

void refuse_weight(const Window& window) {
  const auto broken = std::ranges::find_if_not(window.weight, [](float weight) { return std::isfinite(weight); });
  const auto at = broken - window.weight.begin();
  refuse("window", "the loss weight at step {}, row {} must be finite, got {}", at / window.batch, at % window.batch,
         *broken);
}

/// Whether a flag is none, or a row that is held has a loss.
bool has_bad_flag(const Window& window) {
  constexpr auto hold = static_cast<std::uint8_t>(StepFlag::hold);
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < window.flags.size(); ++i) {
    const auto flag = static_cast<std::uint8_t>(window.flags[i]);
    bad |=
        static_cast<std::uint32_t>(flag > hold) | (static_cast<std::uint32_t>(flag == hold) & (window.weight[i] != 0));
  }
  return bad != 0;
}

void refuse_flag(const Window& window) {
  for (std::size_t i = 0; i < window.flags.size(); ++i) {
    const auto step = i / elements(window.batch), row = i % elements(window.batch);
    if (window.flags[i] > StepFlag::hold)
      refuse("window", "the flag at step {}, row {} must be 0 (go on), 1 (reset) or 2 (hold), got {}", step, row,
             static_cast<int>(window.flags[i]));
    if (window.flags[i] == StepFlag::hold && window.weight[i] != 0)
      refuse("window", "row {} is held at step {} and can have no loss there", row, step);
  }
}

template <class Number>
std::span<const Number> part_of(std::span<const Number> whole, std::size_t first, std::size_t count) {
  return whole.empty() ? whole : whole.subspan(first, count);
}

}  // namespace

void slice(const Window& whole, int first, int length, Window& part) {
  check_shapes(whole);
  if (&whole == &part) refuse("window", "a window cannot be cut into itself");
  if (first < 0 || length < 1 || length > whole.steps - first)
    refuse("window", "a part must lie inside the window's {} steps, got {} steps from {}", whole.steps, length, first);
  const std::size_t batch = elements(whole.batch);
  const std::size_t begin = elements(first, batch);
  const std::size_t count = elements(length, batch);

  part.steps = length;
  part.batch = whole.batch;
  part.sources = whole.sources;
  part.source.assign(whole.source.begin(), whole.source.end());
  part.start.assign(whole.start.begin(), whole.start.end());
  for (std::int64_t& start : part.start) start += first;
  part.targets = whole.targets;
  if (whole.targets.layout == TargetLayout::per_step) {
    const std::size_t width = elements(whole.targets.width);
    part.targets.labels = part_of(whole.targets.labels, begin, count);
    part.targets.values = part_of(whole.targets.values, begin * width, count * width);
  }
  part.weight.assign(whole.weight.begin() + begin, whole.weight.begin() + begin + count);
  if (whole.flags.empty()) {
    part.flags.clear();
  } else {
    part.flags.assign(whole.flags.begin() + begin, whole.flags.begin() + begin + count);
  }
  part.example.assign(whole.example.begin(), whole.example.end());
  part.mask_key = whole.mask_key;
  part.mask_step = whole.mask_step + first;
  part.mask_row = whole.mask_row;
  part.continues = first > 0 || whole.continues;
}

void validate(const Window& window) {
  check_shapes(window);
  if (has_bad_number(window.weight)) refuse_weight(window);
  for (int row = 0; row < window.batch; ++row) check_row(window, row);
  if (has_bad_flag(window)) refuse_flag(window);
}

}  // namespace throughtime
