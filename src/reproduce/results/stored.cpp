#include "reproduce/results/stored.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

constexpr const char* infinite = "infinite";  // JSON has no such number

Json json_of(double value) {
  if (std::isinf(value) && value > 0) return infinite;
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// Lists such as "a, b" as one, in their order.
std::string each_once(std::initializer_list<std::string> lists) {
  constexpr std::string_view comma = ", ";
  std::vector<std::string> all;
  for (const std::string& list : lists)
    for (std::size_t first = 0; first < list.size();) {
      const std::size_t end = std::min(list.find(comma, first), list.size());
      if (const std::string one = list.substr(first, end - first); std::find(all.begin(), all.end(), one) == all.end())
        all.push_back(one);
      first = end + comma.size();
    }
  return fmt::format("{}", fmt::join(all, comma));
}

double number_of(const Json& json) {
  if (json == infinite) return std::numeric_limits<double>::infinity();
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// What keeps full length from being full scale: settings that were not swept, seeds that are missing.
std::string text_of_runs(const ResultSpec& spec, Scale scale, const std::string& unswept, std::size_t seeds) {
  if (scale == Scale::quick) return scale_text(scale);
  std::vector<std::string> lacks;
  if (!unswept.empty()) lacks.push_back(unswept);
  if (seeds == 0) lacks.emplace_back("not all arms");
  if (seeds > 0 && seeds < elements(spec.seeds)) lacks.push_back(fmt::format("{} of {} seeds", seeds, spec.seeds));
  return lacks.empty() ? scale_text(scale) : fmt::format("full length, {}", fmt::join(lacks, ", "));
}

}  // namespace

std::string scale_text(Scale scale) { return fmt::format("{} scale", name_of(scale)); }

std::string json_of(const StoredResult& result) {
  Json arms = Json::object();
  for (const auto& [arm, measures] : result.values)
    for (const auto& [key, seeds] : measures)
      for (const auto& [seed, value] : seeds) arms[arm][key][std::to_string(seed)] = json_of(value);
  Json learned = Json::object();
  for (const auto& [arm, runs] : result.learned)
    for (const Learned one : runs) learned[arm].push_back(name_of(one));
  Json json = {{"scale", name_of(result.scale)},
               {"version", result.version},
               {"commit", result.commit},
               {"engine", result.engine},
               {"seconds", result.seconds},
               {"smaller", result.smaller},
               {"arms", arms}};
  if (!result.note.empty()) json["note"] = result.note;
  if (!result.chosen.empty()) json["chosen"] = result.chosen;
  if (!learned.empty()) json["learned"] = learned;
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
                        .chosen = json.value("chosen", SweepChoices()),
                        .note = json.value("note", std::string()),
                        .values = {},
                        .learned = {}};
    for (const auto& [arm, measures] : json.at("arms").items())
      for (const auto& [key, seeds] : measures.items())
        for (const auto& [seed, value] : seeds.items())
          result.values[arm][key].emplace_back(std::stoull(seed), number_of(value));
    if (json.contains("learned"))
      for (const auto& [arm, runs] : json["learned"].items())
        for (const Json& one : runs)
          result.learned[arm].push_back(choice_of<Learned>(one.get<std::string>(), "reproduce", "learned"));
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

void keep_other_arms(const StoredResult& older, StoredResult& newer) {
  if (older.smaller != newer.smaller) return;
  double kept = 0;
  for (const auto& [arm, values] : older.values) {
    if (!newer.values.emplace(arm, values).second) continue;
    ++kept;
    if (const auto found = older.learned.find(arm); found != older.learned.end()) newer.learned.insert(*found);
    if (const auto found = older.chosen.find(arm); found != older.chosen.end()) newer.chosen.insert(*found);
  }
  if (kept == 0) return;
  newer.seconds += older.seconds * kept / static_cast<double>(older.values.size());  // as far as can be told
  if (!older.note.empty()) newer.note = "Of the arms that were kept: " + older.note;
  newer.commit = each_once({older.commit, newer.commit});
}

bool is_complete(const ResultSpec& spec, const StoredResult& stored) {
  const std::vector<std::string>& arms = spec.arms_at(stored.scale);
  const std::size_t seeds = elements(spec.seeds_at(stored.scale));
  return std::all_of(arms.begin(), arms.end(), [&](const std::string& arm) {
    const auto found = stored.values.find(arm);
    return found != stored.values.end() && found->second.begin()->second.size() >= seeds;
  });
}

bool is_swept(const ResultSpec& spec, const Claim& claim, const StoredResult& result) {
  if (spec.sweep.empty()) return true;
  for (const Rule& rule : claim.rules)
    for (const std::string& arm : rule.named_arms())
      if (!result.chosen.contains(arm)) return false;
  return true;
}

std::string scale_text(const ResultSpec& spec, const Claim& claim, const StoredResult& result) {
  const std::size_t seeds = fewest_seeds(claim.rules, result.values);
  return text_of_runs(spec, result.scale, is_swept(spec, claim, result) ? "" : "not swept", seeds);
}

std::string scale_text(const ResultSpec& spec, const StoredResult& result) {
  std::size_t swept = 0, seeds = SIZE_MAX;
  for (const auto& [arm, measures] : result.values) {
    swept += result.chosen.contains(arm) ? 1 : 0;
    seeds = std::min(seeds, measures.begin()->second.size());
  }
  const bool all_swept = spec.sweep.empty() || swept == result.values.size();
  return text_of_runs(spec, result.scale, all_swept ? "" : swept == 0 ? "not swept" : "swept in part", seeds);
}

Verdict judge(const ResultSpec& spec, const Claim& claim, const StoredResult& result) {
  const std::vector<Rule> deciding = deciding_rules(claim.rules);
  const bool by_hand = claim.needs_full.empty() && spec.needs_full.empty() && !deciding.empty() &&
                       fewest_seeds(deciding, result.values) > 0;
  if (result.scale == Scale::quick && !spec.needs_full_text(claim).empty() && !by_hand) return {};
  return judge(claim.rules, {.values = result.values,
                             .paper = claim.values,
                             .scale = is_swept(spec, claim, result) ? result.scale : Scale::quick,
                             .seeds = elements(spec.seeds),
                             .learned = spec.unlearned ? LearnedByArm() : result.learned});
}

}  // namespace throughtime
