#include "learners/tbptt/look_back.h"

#include <algorithm>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {

LookBack::LookBack(std::string_view speaker, int steps, int batch) : speaker_(speaker), steps_(steps), batch_(batch) {
  flags_.reserve(elements(steps, batch));
  next_.reserve(elements(batch));
  source_.reserve(elements(batch));
}

void LookBack::begin(const Window& stretch) {
  if (!stretch.continues) {
    history_ = 0;
    flags_.clear();
  }
  if (history_ == 0) return;
  if (stretch.source != source_)
    refuse(speaker_, "a stretch that continues must read the same sources as the one before it");
  for (std::size_t row = 0; row < next_.size(); ++row)
    if (stretch.start[row] != next_[row])
      refuse(speaker_, "a stretch that continues must go on where the last one ended: row {} at {}, got {}", row,
             next_[row], stretch.start[row]);
}

void LookBack::cut(const Window& stretch, int first, int length, Window& part) {
  if (first >= 0) return slice(stretch, first, length, part);
  const int past = std::min(length, -first);  // steps before the stretch
  const std::size_t past_entries = elements(past, batch_), entries = elements(length, batch_);
  const std::size_t present = entries - past_entries;

  part.steps = length;
  part.batch = batch_;
  part.sources = stretch.sources;
  part.source.assign(stretch.source.begin(), stretch.source.end());
  part.start.assign(stretch.start.begin(), stretch.start.end());
  for (std::int64_t& start : part.start) start += first;
  part.weight.assign(past_entries, 0.0f);
  part.weight.insert(part.weight.end(), stretch.weight.begin(), stretch.weight.begin() + present);
  const auto flags = flags_.begin() + elements(history_ + first, batch_);
  part.flags.assign(flags, flags + past_entries);
  part.flags.resize(entries, StepFlag::go_on);
  if (!stretch.flags.empty()) std::copy_n(stretch.flags.begin(), present, part.flags.begin() + past_entries);
  cut_targets(stretch, past, length, part);
  part.example.assign(stretch.example.begin(), stretch.example.end());
  part.mask_key = stretch.mask_key;
  part.mask_step = stretch.mask_step + first;
  part.mask_row = stretch.mask_row;
  part.continues = true;
}

void LookBack::cut_targets(const Window& stretch, int past, int length, Window& part) {
  part.targets = stretch.targets;
  if (stretch.targets.layout != TargetLayout::per_step) return;
  // Targets of the past are gone and never read (weight zero): room for them, then those of the present.
  const auto join = [&](const auto& present, int width, auto& joined) {
    joined.assign(elements(length, batch_, width), 0);
    std::copy_n(present.begin(), elements(length - past, batch_, width),
                joined.begin() + elements(past, batch_, width));
  };
  if (!stretch.targets.labels.empty()) {
    join(stretch.targets.labels, 1, labels_);
    part.targets.labels = labels_;
  }
  if (!stretch.targets.values.empty()) {
    join(stretch.targets.values, stretch.targets.width, values_);
    part.targets.values = values_;
  }
}

void LookBack::finish(const Window& stretch) {
  const int fresh = std::min(stretch.steps, steps_);
  const int old = std::min(history_, steps_ - fresh);
  flags_.erase(flags_.begin(), flags_.begin() + elements(history_ - old, batch_));
  if (stretch.flags.empty()) {
    flags_.resize(elements(old + fresh, batch_), StepFlag::go_on);
  } else {
    flags_.insert(flags_.end(), stretch.flags.end() - elements(fresh, batch_), stretch.flags.end());
  }
  history_ = old + fresh;
  source_.assign(stretch.source.begin(), stretch.source.end());
  next_.assign(stretch.start.begin(), stretch.start.end());
  for (std::int64_t& next : next_) next += stretch.steps;
}

void LookBack::archive(Archive& archive) {
  const std::size_t batch = elements(batch_);
  archive.integer("history", history_, between(0, steps_));
  archive.integer_list("reset_flags", flags_, elements(history_, batch_), any_flag());
  archive.integer_list("next_positions", next_, {history_ > 0 ? batch : 0, batch}, any_position());
  archive.integer_list("sources", source_, {0, batch});
  if (!source_.empty() && source_.size() != batch) archive.refuse_together("not every row has a source");
}

}  // namespace throughtime
