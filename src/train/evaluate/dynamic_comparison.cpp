#include "train/evaluate/dynamic_comparison.h"

#include <nlohmann/json.hpp>

#include "throughtime/error.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

// Around the values that are good for Penn Treebank.
const std::vector<double> usual_rates = {3e-5, 4e-5, 5e-5, 6e-5, 7e-5, 8e-5, 9e-5, 1e-4};
const std::vector<double> usual_decays = {1e-3, 2e-3, 3e-3, 5e-3};

DynamicConfig config_of(const DynamicRequest& request) {
  DynamicConfig config = request.config;
  const auto one = [&](const std::vector<double>& values, const char* what) {
    if (values.size() > 1 && !request.tune)
      refuse("evaluate", "{} has {} values; --tune chooses one", what, values.size());
    for (const double value : values) require_pace(what, value);
    return values.empty() ? -1.0 : values.front();
  };
  config.rate = one(request.rates, "--rate");
  config.decay = one(request.decays, "--decay");
  if (request.tune && config.scaling == GradientScaling::sum && (request.rates.empty() || request.decays.empty()))
    refuse("evaluate", "--tune with --scaling sum needs the values to try: --rate A,B,C --decay D,E");
  return settled(config);
}

void require_data(DynamicRun& run, const EvaluationRequest& request, bool tune) {
  const Split split = request.which();
  if (!run.task().has(split)) refuse("evaluate", "the task {} has no {} split", run.config().task.name, request.split);
  if (!tune) return;
  if (!run.task().has(Split::validation))
    refuse("evaluate", "--tune chooses on validation data, and this task has none; give --rate and --decay one value");
  if (split != Split::test)
    refuse("evaluate", "--tune chooses on validation data and then tests once: leave out --split {}", request.split);
}

std::vector<DynamicTrial> tuned(DynamicEvaluation& evaluation, const DynamicRequest& request,
                                const DynamicListener& listener) {
  return tune(evaluation, request.rates.empty() ? usual_rates : request.rates,
              request.decays.empty() ? usual_decays : request.decays, listener.tried);
}

Json scores_json(const Evaluation& evaluation) {
  Json scores = {{"loss", evaluation.loss}};
  for (const Score& score : evaluation.scores) scores[score.name] = score.value;
  return scores;
}

}  // namespace

DynamicComparison compare_dynamically(const EvaluationRequest& request, const DynamicRequest& dynamic,
                                      const DynamicListener& listener) {
  DynamicComparison result{.config = config_of(dynamic)};
  DynamicRun run(request.run, request.best, request.overrides, result.config);
  require_data(run, request, dynamic.tune);
  DynamicEvaluation& evaluation = run.evaluation();
  result.config = evaluation.config();
  const GradientStatistics& found = evaluation.collect();
  if (listener.collected) listener.collected(found);
  if (dynamic.tune) {
    result.trials = tuned(evaluation, dynamic, listener);
    const DynamicTrial& best = best_of(result.trials);
    result.config.rate = best.rate;
    result.config.decay = best.decay;
  }
  result.still = evaluation.evaluate_static(request.which());
  result.moving = evaluation.evaluate(request.which(), result.config.rate, result.config.decay);
  return result;
}

std::string comparison_json(const EvaluationRequest& request, const DynamicComparison& comparison) {
  const DynamicConfig& config = comparison.config;
  Json line = {{"run", request.run}, {"split", request.split}, {"best", request.best}};
  line.update(scores_json(comparison.moving));
  line["static"] = scores_json(comparison.still);
  line["dynamic"] = {{"scaling", name_of(config.scaling)},
                     {"rate", config.rate},
                     {"decay", config.decay},
                     {"epsilon", config.epsilon},
                     {"segment", config.segment}};
  for (const DynamicTrial& trial : comparison.trials)
    line["trials"].push_back({{"rate", trial.rate},
                              {"decay", trial.decay},
                              {"validation", trial.failed ? Json() : scores_json(trial.validation)}});
  return line.dump();
}

}  // namespace throughtime
