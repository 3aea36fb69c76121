#include "train/predict/predictor.h"

#include <algorithm>

#include "data/printable.h"
#include "data/tables/fields.h"
#include "tasks/series/forecast_band.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

bool is_token_number(std::string_view text, int tokens, std::int32_t& id) {
  return reads_as(text, id) && id >= 0 && id < tokens;
}

}  // namespace

Predictor::Predictor(TrainedModel& trained)
    : engine_(trained.engine()),
      parameters_(trained.parameters()),
      tape_(engine_.make_tape({.steps = 1, .batch = 1, .keep = Keep::nothing})),
      names_(model_names(trained.config().task.name, trained.task_directory(), trained.model())),
      horizons_(trained.config().task.series.horizon),
      inputs_have_targets_(trained.config().task.series.target_path.empty()) {
  const Model& model = engine_.model();
  state_ = engine_.allocate(elements(model.state_size()));
  predictions_ = engine_.allocate(elements(model.outputs()));
  reals_ = model.config().input.reals;
  vocabulary_size_ = model.config().input.vocabulary;
  classifies_ = model.head().target == TargetKind::label_or_distribution;
  bring_levels({});
}

std::vector<std::string> Predictor::missing_levels() const {
  std::vector<std::string> columns;
  if (!names_.scales || !inputs_have_targets_) return columns;  // a column of that name is another one
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const ColumnScale& target : names_.scales->targets)
    if (const std::string& column = target.change_of;
        !column.empty() && !is_in(names_.inputs, column) && !is_in(columns, column))
      columns.push_back(column);
  return columns;
}

void Predictor::bring_levels(const std::vector<std::string>& columns) {
  if (!names_.scales || names_.scales->targets.empty()) return;
  std::vector<std::string> seen;
  if (inputs_have_targets_) seen = names_.inputs;
  seen.insert(seen.end(), columns.begin(), columns.end());
  bases_.emplace(*names_.scales, horizons_, seen);
  if (std::ranges::any_of(names_.scales->targets, [](const ColumnScale& target) { return !target.change_of.empty(); }))
    names_.outputs = level_names(engine_.model(), *names_.scales, *bases_);
}

std::int32_t Predictor::token_id(std::string_view text) const {
  if (!names_.vocabulary) return token_number(text);
  const Vocabulary& vocabulary = *names_.vocabulary;
  std::string unescaped;
  if (!unescape_token(text, unescaped)) unescaped.clear();
  for (const std::string_view known : {text, std::string_view(unescaped), trimmed(text)})
    if (const std::int32_t id = vocabulary.find(known); id != Vocabulary::none) return id;
  std::int32_t id = Vocabulary::none;
  if (is_token_number(trimmed(text), vocabulary_size_, id)) return id;
  if (id = vocabulary.find("<unk>"); id != Vocabulary::none) return id;
  refuse("predict", "{} is neither in the vocabulary of {} tokens nor the number of one", excerpt(text),
         vocabulary.size());
}

std::int32_t Predictor::token_number(std::string_view text) const {
  std::int32_t id = -1;
  if (!is_token_number(trimmed(text), vocabulary_size_, id))
    refuse("predict", "a token must be a number from 0 to {}, got {}", vocabulary_size_ - 1, excerpt(text));
  return id;
}

void Predictor::require_width(const std::vector<double>& reals) const {
  if (static_cast<int>(reals.size()) != reals_)
    refuse("predict", "a step has {} number{}, got {}", reals_, reals_ == 1 ? "" : "s", reals.size());
}

void Predictor::reset() {
  engine_.fill(state_, 0);
  if (bases_) bases_->reset();
}

std::vector<double> Predictor::step(std::int32_t token, const std::vector<double>& reals,
                                    const std::vector<double>& levels) {
  require_width(reals);
  std::vector<float> values(reals.begin(), reals.end());
  if (names_.scales) apply_scales(names_.scales->inputs, values);
  const std::vector<std::int32_t> tokens(reads_tokens() ? 1 : 0, token);
  const Source source{.steps = 1, .reals = reals_, .values = values, .tokens = tokens};
  Window window{.steps = 1, .batch = 1, .sources = {&source, 1}};
  window.start = {0};
  window.weight = {1.0f};
  window.targets.layout = TargetLayout::none;
  engine_.unroll({.window = window,
                  .parameters = parameters_,
                  .tape = *tape_,
                  .training = false,
                  .initial_state = state_,
                  .final_state = state_,
                  .predictions = predictions_});
  std::vector<double> predictions = engine_.Engine::read(predictions_);
  if (bases_) to_levels(engine_.model(), *names_.scales, bases_->take(reals, levels), predictions);
  return predictions;
}

}  // namespace throughtime
