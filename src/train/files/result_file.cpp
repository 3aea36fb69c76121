#include "train/files/result_file.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "throughtime/error.h"
#include "train/run/environment.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

void flatten(const Json& json, const std::string& name, Entries& entries) {
  if (!json.is_object()) {
    entries.emplace_back(
        name, json.is_string() ? json.get<std::string>() : json.dump(-1, ' ', false, Json::error_handler_t::replace));
    return;
  }
  for (const auto& [key, value] : json.items()) flatten(value, name.empty() ? key : name + "." + key, entries);
}

void put(Json& object, const std::string& split, const Evaluation& evaluation) {
  for (const auto& [name, value] : named_scores(split, evaluation)) object[name] = value;
}

/// Rows of counts, one for each true class.
Json counts_of(const Confusion& confusion) {
  const std::size_t classes = confusion.classes.size();
  Json rows = Json::array();
  for (std::size_t label = 0; label < classes; ++label) {
    const auto first = confusion.counts.begin() + static_cast<std::ptrdiff_t>(label * classes);
    rows.push_back(std::vector<double>(first, first + static_cast<std::ptrdiff_t>(classes)));
  }
  return rows;
}

void put_confusion(Json& line, const RunResult& result) {
  if (!result.test || result.test->confusion.classes.empty()) return;
  line["confusion"] = {{"classes", result.test->confusion.classes}, {"test", counts_of(result.test->confusion)}};
  if (result.best_test) line["confusion"]["best_test"] = counts_of(result.best_test->confusion);
}

}  // namespace

std::string find_entry(const Entries& entries, const std::string& name) {
  for (const auto& [key, value] : entries)
    if (key == name) return value;
  return "";
}

std::optional<Entries> parse_entries(const std::string& json) {
  const Json object = Json::parse(json, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Entries entries;
  flatten(object, "", entries);
  return entries;
}

double ResultFile::number(const std::string& key) const {
  const std::string digits = text(key);
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  return digits.empty() || *end != '\0' ? std::numeric_limits<double>::quiet_NaN() : value;
}

double ResultFile::chosen_test(const std::string& score) const {
  const double best = number("best.test_" + score);
  return std::isnan(best) ? number("metrics.test_" + score) : best;
}

ResultFile read_result_file(const std::filesystem::path& path) {
  std::optional<Entries> entries = parse_entries(read_file(path));
  if (!entries) refuse("result", "{} is damaged: no JSON object", path.string());
  return {std::move(*entries)};
}

std::vector<std::pair<std::string, double>> named_scores(const std::string& split, const Evaluation& evaluation) {
  std::vector<std::pair<std::string, double>> scores = {{split + "_loss", evaluation.loss}};
  for (const Score& score : evaluation.scores) scores.emplace_back(split + "_" + score.name, score.value);
  return scores;
}

std::string result_json(const RunResult& result, const std::string& run) {
  const RunPlan& plan = result.plan;
  Json line = {{"name", plan.name},
               {"task", plan.task},
               {"learner", plan.learner},
               {"cell", plan.cell},
               {"parameters", plan.parameters},
               {"iterations", result.iteration},
               {"updates", result.updates},
               {"seconds", result.seconds},
               {"steps_per_second", result.steps_per_second},
               {"activation_bytes", plan.activation_bytes},
               {"peak_memory_bytes", peak_memory_bytes()},
               {"train_loss", result.train_loss},
               {"cumulative_loss", result.cumulative.loss},
               {"cumulative_accuracy", result.cumulative.accuracy},
               {"metric", plan.metric},
               {"baseline", plan.baseline},
               {"baseline_text", plan.baseline_text},
               {"baselines", Json::object()},
               {"uniform_loss", plan.uniform_loss},
               {"metrics", Json::object()},
               {"best", Json::object()}};
  if (!std::isfinite(result.cumulative.accuracy)) line.erase("cumulative_accuracy");
  if (!std::isfinite(plan.uniform_loss)) line.erase("uniform_loss");
  for (const auto& [name, value] : plan.baselines) line["baselines"][name] = value;
  if (result.test) put(line["metrics"], "test", *result.test);
  if (result.best_validation) {
    line["best"]["by"] = plan.best_by;
    line["best"]["iteration"] = result.best_validation->iteration;
    put(line["best"], "validation", *result.best_validation);
  }
  if (result.best_test) put(line["best"], "test", *result.best_test);
  put_confusion(line, result);
  line["end"] = name_of(result.end);
  line["diverged"] = !divergence(result).empty();
  line["engine"] = plan.engine;
  line["threads"] = plan.threads;
  if (plan.ranks > 1) line["ranks"] = plan.ranks;
  line["run"] = run;
  line["seed"] = plan.seed;
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace throughtime
