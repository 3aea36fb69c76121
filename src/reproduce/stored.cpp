#include "reproduce/stored.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

double number_of(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::string scale_text(Scale scale) { return fmt::format("{} scale", name_of(scale)); }

std::string json_of(const StoredResult& result) {
  Json arms = Json::object();
  for (const auto& [arm, measures] : result.values)
    for (const auto& [key, seeds] : measures)
      for (const auto& [seed, value] : seeds)
        arms[arm][key][std::to_string(seed)] = std::isfinite(value) ? Json(value) : Json(nullptr);
  const Json json = {{"scale", name_of(result.scale)},
                     {"version", result.version},
                     {"commit", result.commit},
                     {"engine", result.engine},
                     {"seconds", result.seconds},
                     {"smaller", result.smaller},
                     {"arms", arms}};
  return json.dump(1) + "\n";
}

StoredResult parse_stored(const std::string& text, const std::string& where) {
  try {
    const Json json = Json::parse(text);
    StoredResult result{.scale = choice_of<Scale>(json.at("scale").get<std::string>(), "reproduce", "scale"),
                        .version = json.at("version").get<std::string>(),
                        .commit = json.at("commit").get<std::string>(),
                        .engine = json.at("engine").get<std::string>(),
                        .seconds = json.at("seconds").get<double>(),
                        .smaller = json.at("smaller").get<std::vector<std::string>>(),
                        .values = {}};
    for (const auto& [arm, measures] : json.at("arms").items())
      for (const auto& [key, seeds] : measures.items())
        for (const auto& [seed, value] : seeds.items())
          result.values[arm][key].emplace_back(std::stoull(seed), number_of(value));
    return result;
  } catch (const std::exception& error) {
    refuse("reproduce", "{} is no stored result: {}", where, error.what());
  }
}

std::filesystem::path stored_path(const std::filesystem::path& results, const std::string& name, Scale scale) {
  return results / fmt::format("{}.{}.json", name, name_of(scale));
}

std::vector<StoredResult> find_stored(const std::filesystem::path& results, const std::string& name) {
  std::vector<StoredResult> found;
  for (const Scale scale : {Scale::full, Scale::quick})
    if (const std::filesystem::path path = stored_path(results, name, scale); std::filesystem::exists(path))
      found.push_back(parse_stored(read_file(path), path.string()));
  return found;
}

bool is_complete(const ResultSpec& spec, const StoredResult& stored) {
  const std::vector<std::string>& arms = spec.arms_at(stored.scale);
  const std::size_t seeds = elements(spec.seeds_at(stored.scale));
  return std::all_of(arms.begin(), arms.end(), [&](const std::string& arm) {
    const auto found = stored.values.find(arm);
    return found != stored.values.end() && found->second.begin()->second.size() >= seeds;
  });
}

Verdict judge(const ResultSpec& spec, const Claim& claim, const StoredResult& result) {
  return judge(claim.rules, result.values, claim.values, result.scale, elements(spec.seeds));
}

}  // namespace throughtime
