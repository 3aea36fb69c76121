#include "reproduce/results/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/names.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {

const std::vector<std::string>& ResultSpec::arms_at(Scale scale) const {
  return scale == Scale::quick && !quick_arms.empty() ? quick_arms : arms;
}

std::string ResultSpec::needs_full_text(const Claim& claim) const {
  if (!claim.needs_full.empty() || !needs_full.empty()) return claim.needs_full.empty() ? needs_full : claim.needs_full;
  const std::vector<Rule> rules = deciding_rules(claim.rules);
  if (rules.empty()) return "it is about the paper's numbers, which belong to its setting";
  const std::vector<std::string>& run = arms_at(Scale::quick);
  std::vector<std::string> absent;
  for (const Rule& rule : rules)
    for (const std::string& arm : rule.named_arms())
      if (std::find(run.begin(), run.end(), arm) == run.end() &&
          std::find(absent.begin(), absent.end(), arm) == absent.end())
        absent.push_back(arm);
  return absent.empty() ? "" : fmt::format("quick scale does not run {}", fmt::join(absent, ", "));
}

std::size_t ResultSpec::decided(Scale scale) const {
  const auto decides = [&](const Claim& claim) {
    return claim.missing.empty() && (scale == Scale::full || needs_full_text(claim).empty());
  };
  return arms.empty() ? 0 : elements(std::count_if(claims.begin(), claims.end(), decides));
}

std::vector<Measure> ResultSpec::measures() const {
  std::vector<Measure> all;
  const auto add = [&](const Measure& measure) {
    if (std::none_of(all.begin(), all.end(), [&](const Measure& one) { return one.key() == measure.key(); }))
      all.push_back(measure);
  };
  for (const Claim& claim : claims) {
    if (claim.missing.empty()) add(claim.measure);
    for (const Rule& rule : claim.rules) add(rule.measure);
  }
  return all;
}

std::vector<std::string> Claim::shown_arms() const {
  if (!show.empty()) return show;
  const bool directed = std::any_of(rules.begin(), rules.end(), [](const Rule& rule) { return rule.trend; });
  std::vector<std::string> arms;
  for (const Rule& rule : rules)
    for (const std::string& arm : rule.named_arms())
      if (rule.trend == directed && std::find(arms.begin(), arms.end(), arm) == arms.end()) arms.push_back(arm);
  return arms;
}

std::vector<ResultSpec> find_results(const std::filesystem::path& experiments) {
  if (!std::filesystem::is_directory(experiments))
    refuse("reproduce", "there is no directory {}; run this where the experiments are, or name it with --experiments",
           experiments.string());
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(experiments))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<ResultSpec> specs;
  for (const std::filesystem::path& file : files) {
    const std::string name = file.lexically_relative(experiments).replace_extension().generic_string();
    ResultSpec spec;
    if (read_result(file, name, spec)) specs.push_back(std::move(spec));
  }
  return specs;
}

ResultSpec find_result(const std::filesystem::path& experiments, const std::string& name) {
  std::vector<std::string> names;
  for (ResultSpec& spec : find_results(experiments)) {
    if (spec.name == name) return spec;
    names.push_back(spec.name);
  }
  refuse_unknown("reproduce", "result", name, names);
}

}  // namespace throughtime
