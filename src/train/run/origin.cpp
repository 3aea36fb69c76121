#include "train/run/origin.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "throughtime/error.h"
#include "train/files/run_directory.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

std::string text_of(const ParameterBlock* block) {
  return block ? fmt::format("{} [{}]", block->name, fmt::join(block->shape, ", ")) : "nothing more";
}

}  // namespace

Origin::Origin(const std::filesystem::path& run, std::string speaker)
    : run_(run.string()),
      speaker_(std::move(speaker)),
      best_(takes_best(run, Checkpoint::chosen)),
      model_(run, best_) {}

bool Origin::is_stream() const { return RunDirectory(run_).is_stream(); }

std::string Origin::task_directory(const RunConfig& config) const {
  return !is_stream() && model_.config().task.name == config.task.name ? saved_task() : "";
}

FirstParameters Origin::first() {
  return [this](const ParameterLayout& layout, std::vector<double>& parameters) {
    require_fit(layout);
    model_.engine().read(model_.parameters(), parameters);
  };
}

std::string Origin::text() const {
  return fmt::format("the first weights are the {} ones of {}", best_ ? "best" : "last", run_);
}

void Origin::require_fit(const ParameterLayout& wanted) const {
  const std::vector<ParameterBlock>&theirs = model_.model().parameters().blocks(), &ours = wanted.blocks();
  for (std::size_t i = 0; i < std::max(theirs.size(), ours.size()); ++i) {
    const ParameterBlock *there = i < theirs.size() ? &theirs[i] : nullptr,
                         *here = i < ours.size() ? &ours[i] : nullptr;
    if (there && here && there->name == here->name && there->shape == here->shape) continue;
    refuse(speaker_,
           "the weights of {} do not fit: it has {}, this model has {}; --from needs the same cells and widths", run_,
           text_of(there), text_of(here));
  }
}

}  // namespace throughtime
