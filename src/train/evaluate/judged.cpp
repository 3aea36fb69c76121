#include "train/evaluate/judged.h"

#include <nlohmann/json.hpp>

#include "core/names.h"
#include "throughtime/error.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

nlohmann::ordered_json confusion_json(const Confusion& confusion) {
  const std::size_t classes = confusion.classes.size();
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t label = 0; label < classes; ++label) {
    const auto first = confusion.counts.begin() + static_cast<std::ptrdiff_t>(label * classes);
    rows.push_back(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(classes)));
  }
  return {{"classes", confusion.classes}, {"counts", rows}};
}

}  // namespace

Split EvaluationRequest::which() const {
  for (const Split each : {Split::train, Split::validation, Split::test})
    if (split_name(each) == split) return each;
  refuse_unknown("evaluate", "split", split, {"train", "validation", "test"});
}

std::unique_ptr<Trainer> open_for(const EvaluationRequest& request) {
  const Split split = request.which();
  std::unique_ptr<Trainer> trainer = open_run(request.run, request.best, request.overrides);
  if (!trainer->task().has(split))
    refuse("evaluate", "the task {} has no {} split", trainer->plan().task, request.split);
  return trainer;
}

Judged judge(Trainer& trainer, const EvaluationRequest& request) {
  const Split split = request.which();
  Judged judged{trainer.evaluate(split), trainer.task().baselines(split), trainer.task().rivals(split)};
  if (const ForecastView* forecast = trainer.task().forecast()) {
    judged.targets = forecast->targets();
    if (const ForecastBand band(trainer.engine().model()); band.any()) judged.band_levels = band.levels();
    for (std::size_t i = 0; i < judged.targets.size(); ++i)
      judged.each.push_back(trainer.evaluator().forecast_scores()->score(trainer.task().metrics().front(), i));
  }
  return judged;
}

std::string judged_json(const EvaluationRequest& request, const Judged& judged) {
  const Evaluation& evaluation = judged.evaluation;
  nlohmann::ordered_json line = {
      {"run", request.run}, {"split", request.split}, {"best", request.best}, {"loss", evaluation.loss}};
  if (const auto iteration = iteration_of_weights(request.run, request.best)) line["iteration"] = *iteration;
  for (const Score& score : evaluation.scores) line[score.name] = score.value;
  if (!judged.band_levels.empty()) line["coverage_wanted"] = judged.band_levels.back() - judged.band_levels.front();
  line["baseline"] = judged.baselines.front();
  for (std::size_t i = 0; i < judged.baselines.size(); ++i)
    line["baselines"][evaluation.scores[i].name] = judged.baselines[i];
  if (!evaluation.confusion.classes.empty()) line["confusion"] = confusion_json(evaluation.confusion);
  for (const Rival& rival : judged.rivals) line["rivals"][rival.name] = rival.scores.front();
  for (std::size_t i = 0; i < judged.targets.size(); ++i) {
    nlohmann::ordered_json& target = line["targets"][judged.targets[i].name];
    target[evaluation.scores.front().name] = judged.each[i];
    for (const Rival& rival : judged.rivals) target[rival.name] = rival.first_scores[i];
  }
  return line.dump();
}

}  // namespace throughtime
