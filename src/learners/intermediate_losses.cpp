#include "learners/intermediate_losses.h"

#include <algorithm>

#include "core/names.h"

namespace throughtime {
namespace {

IntermediateLosses::Kind kind_of(const std::string& name) {
  if (name == "none") return IntermediateLosses::Kind::none;
  if (name == "window_end") return IntermediateLosses::Kind::window_end;
  if (name == "every_step") return IntermediateLosses::Kind::every_step;
  refuse_unknown("fptt", "intermediate", name, {"window_end", "every_step", "none"});
}

}  // namespace

IntermediateLosses::IntermediateLosses(const std::string& kind, const Model& model, int longest_window, int batch)
    : kind_(kind_of(kind)) {
  if (kind_ == Kind::none || model.head().target != TargetKind::label_or_distribution) return;
  classes_ = model.outputs();
  values_.reserve(static_cast<std::size_t>(longest_window) * static_cast<std::size_t>(batch) *
                  static_cast<std::size_t>(classes_));
}

bool IntermediateLosses::apply_to(const Window& stretch) const {
  if (kind_ == Kind::none || stretch.targets.layout != TargetLayout::per_row) return false;
  const auto last_step = stretch.weight.end() - stretch.batch;
  return std::all_of(stretch.weight.begin(), last_step, [](float weight) { return weight == 0.0f; });
}

void IntermediateLosses::write(const Window& stretch, int first, Window& part) {
  const float* final_weight = stretch.weight.data() + stretch.weight.size() - static_cast<std::size_t>(stretch.batch);
  const int first_loss = kind_ == Kind::every_step ? 0 : part.steps - 1;
  const auto share = static_cast<float>(1.0 / (part.steps - first_loss));
  for (int step = first_loss; step < part.steps; ++step) {
    const auto beta = static_cast<float>(static_cast<double>(first + step + 1) / stretch.steps);
    for (int row = 0; row < part.batch; ++row)
      part.weight[static_cast<std::size_t>(step) * part.batch + row] =
          final_weight[row] * share * (classes_ > 0 ? 1.0f : beta);
  }
  if (classes_ > 0) write_distributions(stretch, first, part);
}

void IntermediateLosses::write_distributions(const Window& stretch, int first, Window& part) {
  const auto classes = static_cast<std::size_t>(classes_), rows = static_cast<std::size_t>(part.batch);
  values_.resize(static_cast<std::size_t>(part.steps) * rows * classes);
  for (int step = 0; step < part.steps; ++step) {
    const double beta = static_cast<double>(first + step + 1) / stretch.steps;
    for (std::size_t row = 0; row < rows; ++row) {
      float* to = values_.data() + (static_cast<std::size_t>(step) * rows + row) * classes;
      std::fill_n(to, classes, static_cast<float>((1 - beta) / static_cast<double>(classes)));
      if (!stretch.targets.labels.empty()) {
        to[stretch.targets.labels[row]] += static_cast<float>(beta);
      } else {
        for (std::size_t c = 0; c < classes; ++c)
          to[c] += static_cast<float>(beta) * stretch.targets.values[row * classes + c];
      }
    }
  }
  part.targets = {.layout = TargetLayout::per_step, .width = classes_, .labels = {}, .values = values_};
}

}  // namespace throughtime
