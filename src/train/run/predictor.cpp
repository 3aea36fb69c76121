#include "train/run/predictor.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "throughtime/error.h"

namespace throughtime {
namespace {

std::vector<std::string> names_of(const std::vector<Scale>& scales) {
  std::vector<std::string> names;
  for (const Scale& scale : scales) names.push_back(scale.column);
  return names;
}

}  // namespace

Predictor::Predictor(TrainedModel& trained)
    : engine_(trained.engine()),
      parameters_(trained.parameters()),
      tape_(engine_.make_tape({.steps = 1, .batch = 1, .keep = Keep::nothing})) {
  const Model& model = engine_.model();
  state_ = engine_.allocate(static_cast<std::size_t>(model.state_size()));
  predictions_ = engine_.allocate(static_cast<std::size_t>(model.outputs()));
  reals_ = model.config().input.reals;
  vocabulary_size_ = model.config().input.vocabulary;
  classifies_ = model.head().target == TargetKind::label_or_distribution;
  if (trained.config().task.name == "series") {
    scales_ = Standardisation::load(trained.task_directory());
    input_names_ = names_of(scales_->inputs);
    output_names_ = names_of(scales_->targets);
  }
  const bool points = trained.config().task.name == "point_process";
  const std::filesystem::path words = std::filesystem::path(trained.task_directory()) / "vocabulary.txt";
  if (std::filesystem::exists(words)) vocabulary_ = Vocabulary::load(words.string());
  if (vocabulary_ && points) {
    for (int mark = 0; mark < vocabulary_size_; ++mark) output_names_.emplace_back(vocabulary_->token(mark));
    output_names_.insert(output_names_.end(), {"log_intensity", "growth"});
  }
  for (int output = static_cast<int>(output_names_.size()); output < model.outputs(); ++output)
    output_names_.push_back(vocabulary_ && model.outputs() == vocabulary_size_ ? std::string(vocabulary_->token(output))
                                                                               : fmt::format("output_{}", output));
}

std::int32_t Predictor::token_id(std::string_view token) const {
  if (vocabulary_) {
    for (const std::string_view known : {token, std::string_view("<unk>")})
      if (const std::int32_t id = vocabulary_->find(known); id != Vocabulary::none) return id;
    refuse("predict", "'{}' is not in the vocabulary of {} tokens", token, vocabulary_->size());
  }
  std::int32_t id = -1;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
  if (error != std::errc() || end != token.data() + token.size() || id < 0 || id >= vocabulary_size_)
    refuse("predict", "a token must be a number from 0 to {}, got '{}'", vocabulary_size_ - 1, token);
  return id;
}

void Predictor::require_width(const std::vector<double>& reals) const {
  if (static_cast<int>(reals.size()) != reals_)
    refuse("predict", "a step has {} number{}, got {}", reals_, reals_ == 1 ? "" : "s", reals.size());
}

void Predictor::reset() { engine_.fill(state_, 0); }

std::vector<double> Predictor::step(std::int32_t token, const std::vector<double>& reals) {
  require_width(reals);
  std::vector<float> values(reals.begin(), reals.end());
  if (scales_) apply_scales(scales_->inputs, values);
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
  if (scales_) undo_scales(scales_->targets, predictions);
  return predictions;
}

}  // namespace throughtime
