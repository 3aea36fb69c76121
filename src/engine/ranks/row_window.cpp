#include "engine/ranks/row_window.h"
#include "throughtime/index.h"

#include <algorithm>

namespace throughtime {
namespace {

/// Entries of some rows of `whole` [steps, batch, width].
template <class From, class Number>
void cut_entries(const From& whole, int steps, int batch, std::size_t width, RowShare share,
                 std::vector<Number>& part) {
  part.clear();
  if (whole.empty()) return;
  const std::size_t stride = elements(batch, width), count = elements(share.count, width);
  auto from = whole.begin() + static_cast<std::ptrdiff_t>(elements(share.first, width));
  part.resize(elements(steps, count));
  for (auto to = part.begin(); to != part.end(); from += static_cast<std::ptrdiff_t>(stride)) {
    to = std::copy_n(from, count, to);
    if (to == part.end()) break;  // `from` must not run past the end
  }
}

}  // namespace

const Window& RowWindow::cut(const Window& whole, RowShare share) {
  window_.steps = whole.steps;
  window_.batch = share.count;
  window_.sources = whole.sources;
  cut_entries(whole.source, 1, whole.batch, 1, share, window_.source);
  cut_entries(whole.start, 1, whole.batch, 1, share, window_.start);
  cut_entries(whole.example, 1, whole.batch, 1, share, window_.example);
  cut_entries(whole.weight, whole.steps, whole.batch, 1, share, window_.weight);
  cut_entries(whole.flags, whole.steps, whole.batch, 1, share, window_.flags);
  cut_targets(whole, share);
  window_.mask_key = whole.mask_key;
  window_.mask_step = whole.mask_step;
  window_.mask_row = whole.mask_row + share.first;
  window_.continues = whole.continues;
  return window_;
}

void RowWindow::cut_targets(const Window& whole, RowShare share) {
  window_.targets = whole.targets;
  const Targets& targets = whole.targets;
  const bool per_step = targets.layout == TargetLayout::per_step;
  if (!per_step && targets.layout != TargetLayout::per_row) return;
  const int steps = per_step ? whole.steps : 1;
  cut_entries(targets.labels, steps, whole.batch, 1, share, labels_);
  cut_entries(targets.values, steps, whole.batch, elements(targets.width), share, values_);
  window_.targets.labels = labels_;
  window_.targets.values = values_;
}

}  // namespace throughtime
