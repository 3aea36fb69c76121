#include "train/predict/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "sample";

const Vocabulary& vocabulary_of(const Predictor& predictor) {
  const Vocabulary* vocabulary = predictor.vocabulary();
  if (vocabulary == nullptr || predictor.reals() != 0 || !predictor.classifies() ||
      vocabulary->size() != predictor.output_names().size())
    refuse(speaker,
           "the model does not predict the tokens that it reads; text comes from runs of task.name = \"text\"");
  return *vocabulary;
}

}  // namespace

std::int32_t draw_class(const std::vector<double>& probabilities, const SamplingOptions& options, double uniform) {
  std::vector<std::int32_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return probabilities[elements(a)] > probabilities[elements(b)];
  });
  if (options.temperature == 0) return order.front();
  if (options.top > 0) order.resize(std::min(order.size(), elements(options.top)));
  const double most = std::log(probabilities[elements(order.front())]);
  std::vector<double> weights;
  for (const std::int32_t each : order)
    weights.push_back(std::exp((std::log(probabilities[elements(each)]) - most) / options.temperature));
  const double place = uniform * std::accumulate(weights.begin(), weights.end(), 0.0);
  double below = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    if ((below += weights[i]) > place) return order[i];
  return order.front();  // rounding: `uniform` is almost 1
}

Sampler::Sampler(Predictor& predictor, const TextOptions& text, const SamplingOptions& options)
    : predictor_(predictor),
      vocabulary_(vocabulary_of(predictor)),
      text_(text),
      options_(options),
      random_(options.seed, Purpose::sampling) {
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature))
    refuse(speaker, "temperature must be at least 0, got {}", options.temperature);
  if (options.top < 0) refuse(speaker, "top must be at least 0, got {}", options.top);
}

void Sampler::show(std::int32_t token) { probabilities_ = predictor_.step(token, {}); }

std::string Sampler::read(const std::string& prompt) {
  Vocabulary frozen = vocabulary_;
  std::vector<std::int32_t> tokens =
      encode_text(*ByteStream::over(std::as_bytes(std::span(prompt)), "the prompt"), text_, frozen);
  // A file's last line ends; a prompt goes on.
  if (prompt.find('\n') != std::string::npos && prompt.back() != '\n' && !text_.end_of_line.empty()) tokens.pop_back();
  std::string text;
  for (const std::int32_t token : tokens) {
    show(token);
    text += written(token);
  }
  if (!tokens.empty()) return text;
  const std::int32_t line_end = text_.end_of_line.empty() ? Vocabulary::none : vocabulary_.find(text_.end_of_line);
  show(std::max(line_end, 0));
  return text;
}

std::string Sampler::next() {
  if (probabilities_.empty()) read("");
  const std::int32_t token = draw_class(probabilities_, options_, random_.uniform(0, 0, drawn_++));
  show(token);
  return written(token);
}

std::string Sampler::written(std::int32_t token) {
  const std::string text(vocabulary_.token(token));
  const bool ends_line = text == text_.end_of_line;
  const bool space = text_.unit == TokenUnit::words && !line_begins_ && !ends_line;
  line_begins_ = ends_line;
  return ends_line ? "\n" : (space ? " " : "") + text;
}

}  // namespace throughtime
