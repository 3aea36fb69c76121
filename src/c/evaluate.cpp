#include <nlohmann/json.hpp>

#include "c/handles.h"
#include "train/evaluate/dynamic_comparison.h"
#include "train/run/session.h"

namespace throughtime::c {
namespace {

using Json = nlohmann::ordered_json;

/// A number, or several of them.
std::vector<double> numbers_of(const Json& value) {
  return value.is_array() ? value.get<std::vector<double>>() : std::vector<double>{value.get<double>()};
}

DynamicRequest dynamic_of(const Json& document) {
  DynamicRequest request;
  for (const auto& [key, value] : document.items()) {
    if (key == "tune")
      value.get_to(request.tune);
    else if (key == "rate")
      request.rates = numbers_of(value);
    else if (key == "decay")
      request.decays = numbers_of(value);
    else if (key == "epsilon")
      value.get_to(request.config.epsilon);
    else if (key == "scaling")
      request.config.scaling = choice_of<GradientScaling>(value.get<std::string>(), "evaluate", "scaling");
    else if (key == "segment")
      value.get_to(request.config.segment);
    else if (key == "columns")
      value.get_to(request.config.columns);
    else
      refuse("evaluate",
             "there is no setting '{}' of a dynamic evaluation; known: tune, rate, decay, epsilon, scaling, "
             "segment, columns",
             key);
  }
  return request;
}

std::string answer_to(const std::string& run, const Json& document) {
  EvaluationRequest request{.run = run};
  Checkpoint weights = Checkpoint::chosen;
  for (const auto& [key, value] : document.items()) {
    if (key == "split")
      value.get_to(request.split);
    else if (key == "best")
      weights = value.get<bool>() ? Checkpoint::best : Checkpoint::last;
    else if (key == "set")
      value.get_to(request.overrides);
    else if (key != "dynamic")
      refuse("evaluate", "there is no setting '{}' of an evaluation; known: split, best, set, dynamic", key);
  }
  request.best = takes_best(run, weights);
  if (document.contains("dynamic"))
    return comparison_json(request, compare_dynamically(request, dynamic_of(document.at("dynamic"))));
  return judged_json(request, judge(*open_for(request), request));
}

}  // namespace
}  // namespace throughtime::c

using namespace throughtime;
using namespace throughtime::c;

extern "C" {

int tt_evaluate(const char* run, const char* request, char* text, size_t capacity, size_t* length) {
  return guarded([&] {
    require(length, "length");
    const std::string path = require(run, "run");
    try {
      hand_out(answer_to(path, request == nullptr ? Json::object() : Json::parse(request)), text, capacity, length);
    } catch (const Json::exception& error) {
      refuse("evaluate", "the request cannot be read: {}", error.what());
    }
  });
}
}
