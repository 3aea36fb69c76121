#include "learners/tbptt/look_back.h"

#include <algorithm>

#include "throughtime/error.h"

namespace throughtime {

LookBack::LookBack(int steps, int batch) : steps_(steps), batch_(batch) {
  const auto rows = static_cast<std::size_t>(batch);
  flags_.reserve(static_cast<std::size_t>(steps) * rows);
  next_.reserve(rows);
  source_.reserve(rows);
}

void LookBack::begin(const Window& stretch) {
  if (!stretch.continues) {
    history_ = 0;
    flags_.clear();
  }
  if (history_ == 0) return;
  if (stretch.source != source_)
    refuse("tbptt", "a stretch that continues must read the same sources as the one before it");
  for (std::size_t row = 0; row < next_.size(); ++row)
    if (stretch.start[row] != next_[row])
      refuse("tbptt", "a stretch that continues must go on where the last one ended: row {} at {}, got {}", row,
             next_[row], stretch.start[row]);
}

void LookBack::cut(const Window& stretch, int first, int length, Window& part) {
  if (first >= 0) return slice(stretch, first, length, part);
  const auto batch = static_cast<std::size_t>(batch_);
  const int past = std::min(length, -first);  // steps before the stretch
  const std::size_t past_entries = static_cast<std::size_t>(past) * batch;
  const std::size_t entries = static_cast<std::size_t>(length) * batch;
  const std::size_t present = entries - past_entries;

  part.steps = length;
  part.batch = batch_;
  part.sources = stretch.sources;
  part.source.assign(stretch.source.begin(), stretch.source.end());
  part.start.assign(stretch.start.begin(), stretch.start.end());
  for (std::int64_t& start : part.start) start += first;
  part.weight.assign(past_entries, 0.0f);
  part.weight.insert(part.weight.end(), stretch.weight.begin(), stretch.weight.begin() + present);
  const auto flags = flags_.begin() + static_cast<std::size_t>(history_ + first) * batch;
  part.reset.assign(flags, flags + past_entries);
  part.reset.resize(entries, 0);
  if (!stretch.reset.empty()) std::copy_n(stretch.reset.begin(), present, part.reset.begin() + past_entries);
  cut_targets(stretch, past, length, part);
  part.mask_key = stretch.mask_key;
  part.mask_step = stretch.mask_step + first;
  part.continues = true;
}

void LookBack::cut_targets(const Window& stretch, int past, int length, Window& part) {
  part.targets = stretch.targets;
  if (stretch.targets.layout != TargetLayout::per_step) return;
  // Targets of the past are gone and never read (weight zero): room for them, then those of the present.
  const auto join = [&](const auto& present, std::size_t width, auto& joined) {
    const std::size_t entry = static_cast<std::size_t>(batch_) * width;
    joined.assign(static_cast<std::size_t>(length) * entry, 0);
    std::copy_n(present.begin(), static_cast<std::size_t>(length - past) * entry, joined.begin() + past * entry);
  };
  if (!stretch.targets.labels.empty()) {
    join(stretch.targets.labels, 1, labels_);
    part.targets.labels = labels_;
  }
  if (!stretch.targets.values.empty()) {
    join(stretch.targets.values, static_cast<std::size_t>(stretch.targets.width), values_);
    part.targets.values = values_;
  }
}

void LookBack::finish(const Window& stretch) {
  const auto batch = static_cast<std::size_t>(batch_);
  const int fresh = std::min(stretch.steps, steps_);
  const int old = std::min(history_, steps_ - fresh);
  flags_.erase(flags_.begin(), flags_.begin() + static_cast<std::size_t>(history_ - old) * batch);
  if (stretch.reset.empty()) {
    flags_.resize(static_cast<std::size_t>(old + fresh) * batch, 0);
  } else {
    flags_.insert(flags_.end(), stretch.reset.end() - static_cast<std::size_t>(fresh) * batch, stretch.reset.end());
  }
  history_ = old + fresh;
  source_.assign(stretch.source.begin(), stretch.source.end());
  next_.assign(stretch.start.begin(), stretch.start.end());
  for (std::int64_t& next : next_) next += stretch.steps;
}

void LookBack::archive(Archive& archive) {
  archive.integer("history", history_);
  archive.integer_list("reset_flags", flags_);
  archive.integer_list("next_positions", next_);
  archive.integer_list("sources", source_);
  const auto batch = static_cast<std::size_t>(batch_);
  const bool fits = history_ >= 0 && history_ <= steps_ && flags_.size() == static_cast<std::size_t>(history_) * batch;
  const bool rows =
      next_.size() == (history_ > 0 ? batch : next_.size()) && (source_.empty() || source_.size() == batch);
  if (!fits || !rows) refuse("tbptt", "the saved look-back of {} steps is not one of {} rows", history_, batch_);
}

}  // namespace throughtime
