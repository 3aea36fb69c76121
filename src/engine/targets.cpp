#include "engine/targets.h"

#include <algorithm>
#include <limits>
#include <span>

#include "core/scan.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

std::size_t first_bad_number(std::span<const float> values) {
  std::size_t i = 0;
  while (!has_bad_number(values.subspan(i, 1))) ++i;
  return i;
}

void check_source(const InputConfig& input, const Window& window, int index) {
  const Source& source = window.sources[index];
  if (source.reals != input.reals)
    refuse("window", "source {} has {} reals per step, the model takes {}", index, source.reals, input.reals);
  if (input.vocabulary > 0 && source.tokens.empty())
    refuse("window", "source {} has no tokens, the model takes tokens below {}", index, input.vocabulary);
}

void check_row(const InputConfig& input, const Window& window, int step, int row) {
  const Place place = place_at(window, step, row);
  if (place.padding) return;
  if (input.vocabulary > 0 && (place.token() < 0 || place.token() >= input.vocabulary))
    refuse("window", "token at step {}, row {} (source {}, position {}) must be between 0 and {}, got {}", step, row,
           source_of(window, row), place.position(), input.vocabulary - 1, place.token());
  const std::span reals(place.reals(), elements(input.reals));
  if (!reals.empty() && has_bad_number(reals)) {
    const std::size_t i = first_bad_number(reals);
    refuse("window", "input {} at step {}, row {} (source {}, position {}) must be a finite number, got {}", i, step,
           row, source_of(window, row), place.position(), reals[i]);
  }
}

/// Whether a row's inputs hold a token out of range or a number that is none: they lie end to end, so one look over all
/// of its steps answers it.
bool has_bad_input(const InputConfig& input, const Window& window, int row) {
  const Place begin = place_at(window, 0, row);
  const auto first = elements(std::max<std::int64_t>(0, begin.index));
  const auto end = elements(std::max<std::int64_t>(0, begin.index + window.steps));
  const std::size_t last = std::min(begin.source->steps, end);
  if (first >= last) return false;
  if (input.vocabulary > 0 && has_outside(begin.source->tokens.subspan(first, last - first), input.vocabulary))
    return true;
  const auto reals = elements(input.reals);
  return (reals > 0 && has_bad_number(begin.source->values.subspan(first * reals, (last - first) * reals)));
}

/// Labels and values that a window offers to one row, whatever the layout, and the entry that is the row's.
struct Offer {
  std::span<const std::int32_t> labels;
  std::span<const float> values;
  int width = 0;
  std::size_t entry = 0;
};

Offer offer_at(const Window& window, int step, int row) {
  const Targets& targets = window.targets;
  const auto per_step = elements(step, window.batch) + elements(row);
  switch (targets.layout) {
    case TargetLayout::none:
      return {};
    case TargetLayout::source: {
      const Place place = place_at(window, step, row);
      if (place.padding) return {};
      return {place.source->labels, place.source->target_values, place.source->target_width,
              static_cast<std::size_t>(place.index)};
    }
    case TargetLayout::per_step:
      return {targets.labels, targets.values, targets.width, per_step};
    case TargetLayout::per_row:
      return {targets.labels, targets.values, targets.width, elements(row)};
  }
  return {};
}

bool uses_label(const Model& model, const Offer& offer) {
  return takes_label(model.head().target) && !offer.labels.empty();
}

bool uses_values(const Model& model, const Offer& offer) {
  return model.head().target == TargetKind::label_and_interval || !uses_label(model, offer);
}

const char* target_text(TargetKind kind) {
  switch (kind) {
    case TargetKind::label_or_distribution:
      return "labels or distributions";
    case TargetKind::label_and_interval:
      return "labels and target values";
    case TargetKind::values:
    case TargetKind::probabilities:
      break;
  }
  return "target values";
}

void check_label(const Model& model, const Window& window, const Offer& offer, int step, int row) {
  if (offer.entry >= offer.labels.size())
    refuse("window", "no label for step {}, row {}: only {} labels are given", step, row, offer.labels.size());
  const std::int32_t label = offer.labels[offer.entry];
  if (label < 0 || label >= model.classes())
    refuse("window", "label at step {}, row {} (source {}, position {}) must be between 0 and {}, got {}", step, row,
           source_of(window, row), place_at(window, step, row).position(), model.classes() - 1, label);
}

void check_values(const Model& model, const Window& window, const Offer& offer, int step, int row) {
  const bool interval = model.head().target == TargetKind::label_and_interval;
  if (offer.width != model.target_width())
    refuse("window", "targets must have {}, got {}",
           interval ? "1 number, the time until the label"
                    : fmt::format("{} numbers, one per {} of the {} head", model.target_width(),
                                  model.head().band == HeadBand::none ? "output" : "target", model.head().name),
           offer.width);
  const auto width = elements(offer.width);
  if ((offer.entry + 1) * width > offer.values.size())
    refuse("window", "no target values for step {}, row {}: only {} numbers are given", step, row, offer.values.size());
  const auto values = offer.values.subspan(offer.entry * width, width);
  const auto refuse_value = [&](std::size_t i, const std::string& right) {
    refuse("window", "target {} at step {}, row {} (source {}, position {}) must be {}, got {}", i, step, row,
           source_of(window, row), place_at(window, step, row).position(), right, values[i]);
  };
  if (has_bad_number(values))
    refuse_value(first_bad_number(values), interval ? "a finite number of at least 0" : "a finite number");
  if (interval && values[0] < 0) refuse_value(0, "a finite number of at least 0");
  if (model.head().target != TargetKind::probabilities) return;
  for (std::size_t i = 0; i < width; ++i)
    if (values[i] < 0 || values[i] > 1)
      refuse_value(i, fmt::format("between 0 and 1 for the {} head", model.head().name));
}

void check_target(const Model& model, const Window& window, int step, int row) {
  const Offer offer = offer_at(window, step, row);
  const bool labels = uses_label(model, offer), values = uses_values(model, offer);
  const bool both = model.head().target == TargetKind::label_and_interval;
  if ((values && offer.values.empty()) || (both && !labels))
    refuse("window", "no target at step {}, row {}, where the loss weight is not 0: the {} head needs {}", step, row,
           model.head().name, target_text(model.head().target));
  if (labels) check_label(model, window, offer, step, row);
  if (values) check_values(model, window, offer, step, row);
}

/// Whether `count` entries of an offer from its own one on are all right. A no says nothing about those that have no
/// loss.
bool all_right(const Model& model, const Offer& offer, std::size_t count) {
  const TargetKind kind = model.head().target;
  const bool labels = uses_label(model, offer);
  if (kind == TargetKind::label_and_interval && !labels) return false;
  if (labels && (offer.entry + count > offer.labels.size() ||
                 has_outside(offer.labels.subspan(offer.entry, count), model.classes())))
    return false;
  if (!uses_values(model, offer)) return true;
  const auto width = elements(offer.width);
  if (offer.width != model.target_width() || (offer.entry + count) * width > offer.values.size()) return false;
  constexpr float largest = std::numeric_limits<float>::max();
  const bool from_zero = kind == TargetKind::probabilities || kind == TargetKind::label_and_interval;
  return !has_outside(offer.values.subspan(offer.entry * width, count * width), from_zero ? 0 : -largest,
                      kind == TargetKind::probabilities ? 1 : largest);
}

/// The same for the rows of a step, which lie side by side in the window.
bool all_right_at(const Model& model, const Window& window, int step) {
  if (window.targets.layout == TargetLayout::source) return false;
  return all_right(model, offer_at(window, step, 0), elements(window.batch));
}

/// The same for the targets of the sources: those of a row lie end to end.
bool all_right_in_sources(const Model& model, const Window& window, int first, int last) {
  if (window.targets.layout != TargetLayout::source) return false;
  for (int row = 0; row < window.batch; ++row)
    if (place_at(window, first, row).padding || place_at(window, last - 1, row).padding ||
        !all_right(model, offer_at(window, first, row), elements(last - first)))
      return false;
  return true;
}

}  // namespace

RowTarget<float> row_target(const Model& model, const Window& window, int step, int row) {
  const Offer offer = offer_at(window, step, row);
  RowTarget<float> target{.levels = model.config().head.levels};
  if (uses_label(model, offer)) target.label = offer.labels[offer.entry];
  if (uses_values(model, offer) && !offer.values.empty())
    target.values = offer.values.data() + offer.entry * elements(offer.width);
  return target;
}

void check_inputs(const Model& model, const Window& window) {
  const InputConfig& input = model.config().input;
  bool bad = false;
  for (int row = 0; row < window.batch; ++row) {
    check_source(input, window, source_of(window, row));
    bad |= has_bad_input(input, window, row);
  }
  if (!bad) return;
  for (int step = 0; step < window.steps; ++step)
    for (int row = 0; row < window.batch; ++row) check_row(input, window, step, row);
}

void check_targets(const Model& model, const Window& window, int first, int last) {
  if (all_right_in_sources(model, window, first, last)) return;
  for (int step = first; step < last; ++step) {
    const std::span<const float> weights = weights_at(window, step);
    if (!has_nonzero(weights) || all_right_at(model, window, step)) continue;
    for (int row = 0; row < window.batch; ++row)
      if (weights[row] != 0) check_target(model, window, step, row);
  }
}

}  // namespace throughtime
