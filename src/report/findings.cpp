#include "report/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "report/charts/axis.h"
#include "report/units.h"
#include "throughtime/task.h"

namespace throughtime {
namespace {

/// More results than these are not read as a sentence: the best ones and the worst one are named.
constexpr std::size_t most_named = 6, best_named = 3;

/// Words without vowels are abbreviations: bptt, tbptt, fptt, fpp.
std::string spoken_method(const std::string& learner) {
  std::string text, word;
  const auto end_word = [&] {
    if (word.find_first_of("aeiouy") == std::string::npos)
      std::transform(word.begin(), word.end(), word.begin(),
                     [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    text += (text.empty() ? "" : " ") + word;
    word.clear();
  };
  for (const char letter : learner)
    if (letter == '_')
      end_word();
    else
      word += letter;
  end_word();
  return text;
}

struct Finding {
  std::string name;
  double value = 0;  // of the skill, or of the metric
};

std::string beside_text(const std::vector<RunGroup>& groups, const std::string& metric) {
  std::vector<double> values;
  for (const RunGroup& group : groups)
    for (const double value : group.naives(metric)) values.push_back(value);
  return values.empty() ? "" : fmt::format(", naive {}", short_number(summary_of(values).mean, 3));
}

/// "FPTT 0.93 x naive, BPTT 0.97 x".
std::string list_of(const std::vector<Finding>& findings, SkillKind kind) {
  const auto text = [&](std::size_t i) {
    const char* unit = kind != SkillKind::ratio ? "" : i == 0 ? " x naive" : " x";
    return fmt::format("{} {}{}", findings[i].name, short_number(findings[i].value, 3), unit);
  };
  std::vector<std::string> texts;
  const bool all = findings.size() <= most_named;
  for (std::size_t i = 0; i < (all ? findings.size() : best_named); ++i) texts.push_back(text(i));
  if (!all)
    texts.push_back(fmt::format("then {} more, last {}", findings.size() - best_named - 1, text(findings.size() - 1)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// "2 of 3 are no better than naive", where that must be said.
std::string failures_text(const std::vector<RunGroup>& groups, const std::string& metric) {
  std::size_t known = 0, worse = 0;
  for (const RunGroup& group : groups) {
    const std::vector<double> naive = group.naives(metric), own = group.tests(metric);
    if (naive.empty() || own.empty()) continue;
    ++known;
    const double gain = summary_of(own).mean - summary_of(naive).mean;
    if (!(larger_is_better(metric) ? gain > 0 : gain < 0)) ++worse;
  }
  if (worse == 0) return "";
  if (worse < known) return fmt::format(" {} of {} {} no better than naive.", worse, known, worse == 1 ? "is" : "are");
  return known == 1 ? " That is no better than naive." : " None is better than naive.";
}

}  // namespace

std::string common_metric(const std::vector<RunGroup>& groups) {
  std::string common;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      const std::string metric = run.result.text("metric");
      if (!metric.empty() && !common.empty() && metric != common) return "loss";
      if (!metric.empty()) common = metric;
    }
  return common.empty() ? "loss" : common;
}

bool larger_is_better(const std::string& metric) {
  const std::vector<std::string> known = all_names<Metric>();
  return std::find(known.begin(), known.end(), metric) != known.end() &&
         higher_is_better(choice_of<Metric>(metric, "report", "metric"));
}

bool is_error(const std::string& metric) {
  const std::vector<std::string> known = all_names<Metric>();
  return std::find(known.begin(), known.end(), metric) == known.end() ||
         is_error(choice_of<Metric>(metric, "report", "metric"));
}

SkillKind skill_kind(const std::vector<RunGroup>& groups, const std::string& metric) {
  bool any = false, positive = true;
  for (const RunGroup& group : groups) {
    for (const double value : group.naives(metric)) {
      any = true;
      positive = positive && value > 0;
    }
    for (const double value : group.tests(metric)) positive = positive && value >= 0;
  }
  if (!any) return SkillKind::none;
  return positive && is_error(metric) ? SkillKind::ratio : SkillKind::beside;
}

std::vector<double> skills(const RunGroup& group, const std::string& metric) {
  std::vector<double> values;
  for (const RunRecord& run : group.runs) {
    const double value = run.result.chosen_test(metric) / naive_of(run.result, "test_" + metric);
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

std::vector<std::string> spoken_names(const std::vector<RunGroup>& groups) {
  std::vector<std::string> names, methods;
  std::set<std::string> different;
  for (const RunGroup& group : groups) {
    const std::string learner = group.runs.front().option("learner.name");
    names.push_back(group.name);
    methods.push_back(spoken_method(learner));
    if (!learner.empty()) different.insert(learner);
  }
  return different.size() == groups.size() ? methods : names;
}

std::string finding(const std::vector<RunGroup>& groups) {
  const std::string metric = common_metric(groups);
  const SkillKind kind = skill_kind(groups, metric);
  const std::vector<std::string> names = spoken_names(groups);
  std::vector<Finding> findings;
  std::vector<std::string> apart;                                          // without a naive result to compare with
  std::size_t fewest = std::numeric_limits<std::size_t>::max(), most = 0;  // seeds
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::vector<double> values = kind == SkillKind::ratio ? skills(groups[i], metric) : groups[i].tests(metric);
    if (values.empty() && !groups[i].tests(metric).empty()) apart.push_back(names[i]);
    if (values.empty()) continue;
    findings.push_back({names[i], summary_of(values).mean});
    fewest = std::min(fewest, values.size());
    most = std::max(most, values.size());
  }
  if (findings.empty()) return "No run has a test result yet.";
  const bool larger = larger_is_better(metric);
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return larger ? a.value > b.value : a.value < b.value; });
  const std::string unit = unit_of("test_" + metric, groups.front().runs.front());
  const bool stream = groups.front().runs.front().counter == "row";
  std::string how = stream ? spoken(metric) + " of all forecasts" : "test " + spoken(metric);
  if (kind != SkillKind::ratio && !unit.empty()) how += ", " + unit;
  how += kind == SkillKind::ratio ? "; below 1 is better than naive" : larger ? "; more is better" : "; less is better";
  if (const std::string horizons = groups.front().runs.front().option("task.series.horizon");
      horizons.find(',') != std::string::npos)
    how += fmt::format("; mean over the horizons {}", horizons);
  if (most > 1) how += fmt::format("; mean of {}{} seeds", fewest < most ? "up to " : "", most);
  const std::string naive = kind == SkillKind::beside ? beside_text(groups, metric) : "";
  const std::string others = apart.empty() ? "" : fmt::format(" Without a naive result: {}.", fmt::join(apart, ", "));
  return fmt::format("{}{} ({}).{}{}", list_of(findings, kind), naive, how, failures_text(groups, metric), others);
}

}  // namespace throughtime
