#include "learners/fptt/intermediate_losses.h"

#include <algorithm>
#include <numeric>

#include "core/scan.h"
#include "learners/support.h"
#include "throughtime/error.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

std::span<const float> final_weights(const Window& stretch) {
  return std::span(stretch.weight).last(elements(stretch.batch));
}

/// Steps of a row before its sequence begins.
int padding_of(const Window& stretch, int row) {
  return static_cast<int>(std::clamp<std::int64_t>(-stretch.start[row], 0, stretch.steps));
}

int classes_of(const Model& model) {
  return model.head().target == TargetKind::label_or_distribution ? model.outputs() : 0;
}

/// Whether the settings say more than "where the task is of that kind".
bool asks_for_losses(const TerminalConfig& config, LossSpan span) {
  return span == LossSpan::sequence || config.intermediate == IntermediateLoss::window_end ||
         config.intermediate == IntermediateLoss::every_step ||
         (config.q != PriorKind::automatic && config.q != PriorKind::uniform) || config.beta != TargetShare::time ||
         config.divergence != Divergence::sum || config.one_hot_from > 0 || config.skip_last;
}

}  // namespace

void check_intermediate(std::string_view speaker, const TerminalConfig& config, LossSpan span, const Model& model,
                        const StretchShape& shape, const SequenceCut& cut) {
  if (!asks_for_losses(config, span)) return;
  if (!shape.terminal)
    refuse(speaker,
           "losses before the end (aux_losses, intermediate, q, beta, divergence, one_hot_from, skip_last) need a task "
           "with one target at the end of each sequence; this one asks for others");
  if (config.intermediate == IntermediateLoss::none)
    refuse(speaker,
           "intermediate = none leaves nothing for aux_losses, q, beta, divergence, one_hot_from or skip_last");
  const bool of_classes =
      config.q != PriorKind::automatic || config.divergence != Divergence::sum || config.one_hot_from > 0;
  if (of_classes && classes_of(model) == 0)
    refuse(speaker, "q, divergence and one_hot_from are about classes; the head predicts numbers");
  if (config.beta == TargetShare::ref_index && classes_of(model) > 0)
    refuse(speaker, "beta = ref_index is no share of a class; it weighs numbers (time and window are shares)");
  if (config.q == PriorKind::examples && shape.examples == 0)
    refuse(speaker,
           "q = examples needs epochs over a finite number of examples; this task has none (uniform needs none)");
  if (config.skip_last && cut.count(shape.steps) < 2)
    refuse(speaker, "skip_last leaves nothing of a sequence with one window");
}

void describe_intermediate(TerminalConfig& config, OptionList& list) {
  list.add("intermediate", config.intermediate,
           "sequences with one target at the end: where earlier windows have a loss. window_end: at their last step; "
           "every_step: shared over all steps; none: nowhere; auto: window_end for such sequences");
  list.add(
      "q", config.q,
      "Q, a distribution over the classes. A loss before the end of a sequence compares the answer with Q and with the "
      "target. examples: the prediction for this example in the epoch before. class_wrong, class_right: that for a "
      "wrongly (rightly) classified example of its "
      "class in the batch before. uniform: all classes alike. auto: examples if their number is finite, else uniform");
  list.add("q_epoch", config.q_epoch,
           "q = class_wrong, class_right: Q is uniform before this epoch (the first is 1) and in its first batch",
           at_least(1));
  list.add("beta", config.beta,
           "weight of the target in the loss of window p of K', which ends at step t of T. time: t / T; window: p / "
           "K'; ref_index: p - 1 + 1 / K (numbers only, as in the released code)");
  list.add("divergence", config.divergence, "whether the divergence from Q is a sum over classes, or a mean");
  list.add("one_hot_from", config.one_hot_from, "from this window on Q is the label itself; 0: in no window",
           at_least(0));
  list.add("skip_last", config.skip_last, "never train on the last window of a sequence");
}

IntermediateLosses::IntermediateLosses(std::string_view speaker, const TerminalConfig& config, LossSpan span,
                                       Engine& engine, const StretchShape& shape, const SequenceCut& cut)
    : engine_(engine),
      cut_(cut),
      config_(config),
      speaker_(speaker),
      required_(asks_for_losses(config, span)),
      classes_(classes_of(engine.model())) {
  if (config.intermediate == IntermediateLoss::none || classes_ == 0) return;
  mixes_labels_ = shape.terminal;
  if (config.divergence == Divergence::mean) divergence_ = 1.0 / classes_;

  const int longest = span == LossSpan::sequence ? shape.steps : cut.longest();
  values_.resize(elements(longest, shape.batch, classes_));
  prior_ = make_prior(config.q, engine,
                      {.classes = classes_,
                       .windows = cut.most(),
                       .batch = shape.batch,
                       .examples = shape.terminal ? shape.examples : 0,
                       .first_epoch = config.q_epoch});
  if (!prior_->wants_predictions()) return;
  predictions_ = engine.allocate(elements(longest, shape.batch, classes_));
  rows_ = engine.allocate(elements(shape.batch, classes_));
  indices_.resize(elements(shape.batch));
}

bool IntermediateLosses::begin(const Window& stretch) {
  if (config_.intermediate == IntermediateLoss::none) return false;
  const std::size_t before = stretch.weight.size() - elements(stretch.batch);
  const bool terminal =
      stretch.targets.layout == TargetLayout::per_row && !has_nonzero(std::span(stretch.weight).first(before));
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

double IntermediateLosses::beta(const Window& stretch, int window, int step, int padding) const {
  switch (config_.beta) {
    case TargetShare::time:
      return static_cast<double>(step + 1 - padding) / (stretch.steps - padding);
    case TargetShare::window:
      return static_cast<double>(window + 1) / cut_.count(stretch.steps);
    case TargetShare::ref_index:
      return window + 1.0 / cut_.windows(stretch.steps);
  }
  return 1;
}

void IntermediateLosses::write(const Window& stretch, int window, int first, Window& part) {
  const std::span<const float> weight = final_weights(stretch);
  const int end = cut_.end(stretch.steps, window);
  const bool every_step = config_.intermediate == IntermediateLoss::every_step;
  const int first_loss = every_step ? cut_.begin(stretch.steps, window) : end - 1;
  const auto share = static_cast<float>(1.0 / (end - first_loss));
  for (int step = first_loss; step < end; ++step) {
    for (int row = 0; row < stretch.batch; ++row) {
      const Index entry = static_cast<Index>(step - first) * stretch.batch + row;
      const int padding = padding_of(stretch, row);
      part.weight[entry] = 0;
      if (step < padding) continue;
      const double of_target = beta(stretch, window, step, padding);
      // Beside a class stands Q, so that the shares sum to one where Div is the formula's.
      const auto factor = static_cast<float>(classes_ > 0 ? of_target + (1 - of_target) * divergence_ : of_target);
      part.weight[entry] = weight[row] * share * factor;
      if (classes_ > 0) write_distribution(stretch, window, row, of_target, values_.data() + entry * classes_);
    }
  }
  if (classes_ == 0) return;
  const std::size_t count = elements(part.steps, stretch.batch, classes_);
  part.targets = {
      .layout = TargetLayout::per_step, .width = classes_, .labels = {}, .values = std::span(values_).first(count)};
}

/// beta onehot + (1 - beta) Q, or with a weaker Div the same mixture scaled to sum to one.
void IntermediateLosses::write_distribution(const Window& stretch, int window, int row, double beta, float* to) const {
  const double sum = beta + (1 - beta) * divergence_;
  const auto of_label = static_cast<float>(beta / sum), of_q = static_cast<float>((1 - beta) * divergence_ / sum);
  const bool one_hot = config_.one_hot_from > 0 && window + 1 >= config_.one_hot_from;
  const float* q = prior_->of(stretch, row, window);
  if (!stretch.targets.labels.empty()) {
    const std::int32_t label = stretch.targets.labels[row];
    for (int c = 0; c < classes_; ++c) to[c] = one_hot ? 0.0f : of_q * q[c];
    if (label >= 0 && label < classes_) to[label] = one_hot ? 1.0f : of_label + to[label];  // else it is no class
    return;
  }
  const float* target = stretch.targets.values.data() + static_cast<Index>(row) * classes_;
  for (int c = 0; c < classes_; ++c) to[c] = one_hot ? target[c] : of_label * target[c] + of_q * q[c];
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
