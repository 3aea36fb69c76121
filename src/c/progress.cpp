#include "c/progress.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace throughtime::c {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

}  // namespace

void ProgressCaller::on_start(const RunPlan& plan, std::int64_t iteration) {
  tell(Json{{"event", "start"},
            {"iteration", iteration},
            {"iterations", plan.iterations},
            {"iterations_per_epoch", plan.iterations_per_epoch},
            {"learner", plan.learner},
            {"engine", plan.engine},
            {"threads", plan.threads},
            {"steps", plan.steps},
            {"batch", plan.batch},
            {"parameters", plan.parameters},
            {"activation_bytes", plan.activation_bytes},
            {"evaluation_bytes", plan.evaluation_bytes},
            {"metric", plan.metric},
            {"baseline", number(plan.baseline)}}
           .dump());
}

void ProgressCaller::on_progress(const Progress& progress) {
  Json event = {{"event", "progress"},
                {"iteration", progress.iteration},
                {"epoch", progress.epoch},
                {"train_loss", number(progress.train_loss)},
                {"train_accuracy", number(progress.train_accuracy)},
                {"rate", progress.rate},
                {"seconds", progress.seconds},
                {"steps_per_second", progress.steps_per_second}};
  for (const Diagnostic& each : progress.diagnostics) event[each.name] = number(each.value);
  tell(event.dump());
}

void ProgressCaller::on_validation(const Evaluation& evaluation) {
  Json event = {
      {"event", "validation"}, {"iteration", evaluation.iteration}, {"validation_loss", number(evaluation.loss)}};
  for (const Score& score : evaluation.scores) event["validation_" + score.name] = number(score.value);
  tell(event.dump());
}

void ProgressCaller::tell_end(const RunResult& result) {
  tell(Json{{"event", "end"},
            {"end", std::string(name_of(result.end))},
            {"iteration", result.iteration},
            {"updates", result.updates},
            {"seconds", result.seconds},
            {"steps_per_second", result.steps_per_second},
            {"train_loss", number(result.train_loss)}}
           .dump());
}

bool ProgressCaller::wants_stop() {
  constexpr auto pause = std::chrono::milliseconds(50);  // iterations may be much shorter than a call of an interpreter
  if (progress_ == nullptr || stop_ || Clock::now() - asked_ < pause) return stop_;
  asked_ = Clock::now();
  return stop_ = progress_(user_, nullptr) != 0;
}

void ProgressCaller::tell(const std::string& event) {
  if (progress_ != nullptr && progress_(user_, event.c_str()) != 0) stop_ = true;
}

}  // namespace throughtime::c
