#include "learners/fptt/intermediate_losses.h"

#include <algorithm>
#include <numeric>

#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

std::span<const float> final_weights(const Window& stretch) {
  return std::span(stretch.weight).last(static_cast<std::size_t>(stretch.batch));
}

/// Whether the options say more than "where the task is of that kind".
bool asks_for_terminal(const LearnerConfig& config) {
  const TerminalConfig& terminal = config.terminal;
  return config.aux_losses || (config.intermediate != "auto" && config.intermediate != "none") ||
         (terminal.q != "auto" && terminal.q != "uniform") || terminal.beta != "time" || terminal.divergence != "sum" ||
         terminal.one_hot_from > 0 || terminal.skip_last;
}

}  // namespace

IntermediateLosses::IntermediateLosses(std::string_view speaker, const LearnerConfig& config, Engine& engine,
                                       const StretchShape& shape, const SequenceCut& cut)
    : engine_(engine), cut_(cut), config_(config.terminal), speaker_(speaker) {
  const Model& model = engine.model();
  if (model.head().target == TargetKind::label_or_distribution) classes_ = model.outputs();
  check(speaker, config, shape);
  wanted_ = config.intermediate != "none";
  every_step_ = config.intermediate == "every_step";
  required_ = asks_for_terminal(config);
  if (config_.beta != "time") beta_ = config_.beta == "window" ? Beta::window : Beta::ref_index;
  if (!wanted_ || classes_ == 0) return;
  if (config_.divergence == "mean") divergence_ = 1.0 / classes_;

  const auto classes = static_cast<std::size_t>(classes_), rows = static_cast<std::size_t>(shape.batch);
  const int longest = config.aux_losses ? shape.steps : cut.longest(shape.steps);
  values_.reserve(static_cast<std::size_t>(longest) * rows * classes);
  std::string q = config_.q;
  if (q == "auto") q = shape.terminal && shape.examples > 0 ? "examples" : "uniform";
  prior_ = make_prior(q, engine,
                      {.classes = classes_,
                       .windows = cut.most(shape.steps),
                       .batch = shape.batch,
                       .examples = shape.examples,
                       .first_epoch = config_.q_epoch});
  if (!prior_->wants_predictions()) return;
  predictions_ = engine.allocate(static_cast<std::size_t>(longest) * rows * classes);
  rows_ = engine.allocate(rows * classes);
  indices_.resize(rows);
}

void IntermediateLosses::check(std::string_view speaker, const LearnerConfig& config, const StretchShape& shape) const {
  require_known(speaker, "intermediate", config.intermediate, {"auto", "window_end", "every_step", "none"});
  require_known(speaker, "q", config_.q, {"auto", "examples", "class_wrong", "class_right", "uniform"});
  require_known(speaker, "beta", config_.beta, {"time", "window", "ref_index"});
  require_known(speaker, "divergence", config_.divergence, {"sum", "mean"});
  if (!asks_for_terminal(config)) return;
  if (!shape.terminal)
    refuse(speaker,
           "losses before the end (aux_losses, intermediate, q, beta, divergence, one_hot_from, skip_last) need a task "
           "with one target at the end of each sequence; this one asks for others");
  if (config.intermediate == "none")
    refuse(speaker,
           "intermediate = none leaves nothing for aux_losses, q, beta, divergence, one_hot_from or skip_last");
  const bool of_classes = config_.q != "auto" || config_.divergence != "sum" || config_.one_hot_from > 0;
  if (of_classes && classes_ == 0)
    refuse(speaker, "q, divergence and one_hot_from are about classes; the head predicts numbers");
  if (config_.beta == "ref_index" && classes_ > 0)
    refuse(speaker, "beta = ref_index is no share of a class; it weighs numbers (time and window are shares)");
  if (config_.q == "examples" && shape.examples == 0)
    refuse(speaker,
           "q = examples needs epochs over a finite number of examples; this task has none (uniform needs none)");
  if (config_.skip_last && cut_.count(shape.steps) < 2)
    refuse(speaker, "skip_last leaves nothing of a sequence with one window");
}

bool IntermediateLosses::begin(const Window& stretch) {
  if (!wanted_) return false;
  const auto last_step = stretch.weight.end() - stretch.batch;
  const bool terminal = stretch.targets.layout == TargetLayout::per_row &&
                        std::all_of(stretch.weight.begin(), last_step, [](float weight) { return weight == 0.0f; });
  if (!terminal && required_)
    refuse(speaker_, "a stretch must have one target per row, at its last step, for losses before the end");
  if (terminal && prior_) prior_->begin(stretch);
  return terminal;
}

bool IntermediateLosses::skips(const Window& stretch, int window) const {
  return config_.skip_last && window + 1 == cut_.count(stretch.steps);
}

double IntermediateLosses::divisor(const Window& stretch) const {
  return sum_of_weights(speaker_, final_weights(stretch));
}

double IntermediateLosses::beta(const Window& stretch, int window, int step) const {
  switch (beta_) {
    case Beta::time:
      return static_cast<double>(step + 1) / stretch.steps;
    case Beta::window:
      return static_cast<double>(window + 1) / cut_.count(stretch.steps);
    case Beta::ref_index:
      return window + 1.0 / cut_.windows(stretch.steps);
  }
  return 1;
}

void IntermediateLosses::write(const Window& stretch, int window, int first, Window& part) {
  const auto rows = static_cast<std::size_t>(stretch.batch), classes = static_cast<std::size_t>(classes_);
  const std::span<const float> weight = final_weights(stretch);
  const int end = cut_.end(stretch.steps, window);
  const int first_loss = every_step_ ? cut_.begin(stretch.steps, window) : end - 1;
  const auto share = static_cast<float>(1.0 / (end - first_loss));
  values_.resize(static_cast<std::size_t>(part.steps) * rows * classes);
  for (int step = first_loss; step < end; ++step) {
    const double of_target = beta(stretch, window, step);
    // Beside a class stands Q, so that the shares sum to one where Div is the formula's.
    const auto factor = static_cast<float>(classes_ > 0 ? of_target + (1 - of_target) * divergence_ : of_target);
    for (int row = 0; row < stretch.batch; ++row) {
      const std::size_t entry = static_cast<std::size_t>(step - first) * rows + static_cast<std::size_t>(row);
      part.weight[entry] = weight[static_cast<std::size_t>(row)] * share * factor;
      if (classes_ > 0) write_distribution(stretch, window, of_target, row, values_.data() + entry * classes);
    }
  }
  if (classes_ > 0)
    part.targets = {.layout = TargetLayout::per_step, .width = classes_, .labels = {}, .values = values_};
}

/// beta onehot + (1 - beta) Q, or with a weaker Div the same mixture scaled to sum to one.
void IntermediateLosses::write_distribution(const Window& stretch, int window, double beta, int row, float* to) const {
  const auto classes = static_cast<std::size_t>(classes_);
  const double sum = beta + (1 - beta) * divergence_;
  const auto of_label = static_cast<float>(beta / sum), of_q = static_cast<float>((1 - beta) * divergence_ / sum);
  const bool one_hot = config_.one_hot_from > 0 && window + 1 >= config_.one_hot_from;
  const float* q = prior_->of(stretch, row, window);
  const auto first = static_cast<std::size_t>(row) * classes;
  for (std::size_t c = 0; c < classes; ++c) {
    const bool hard = !stretch.targets.labels.empty();
    const float target = hard ? (static_cast<std::size_t>(stretch.targets.labels[static_cast<std::size_t>(row)]) == c)
                              : stretch.targets.values[first + c];
    to[c] = one_hot ? target : of_label * target + of_q * q[c];
  }
}

void IntermediateLosses::keep(const Window& stretch, int window, int last) {
  if (!predictions_) return;
  std::iota(indices_.begin(), indices_.end(), static_cast<std::int64_t>(last) * stretch.batch);
  engine_.gather_rows(predictions_, classes_, indices_, rows_);
  prior_->keep(stretch, window, rows_);
}

void IntermediateLosses::end_epoch() {
  if (prior_) prior_->end_epoch();
}

void IntermediateLosses::archive(Archive& archive) {
  const Archive::Scope scope(archive, "prior");
  if (prior_) prior_->archive(archive);
}

}  // namespace throughtime
