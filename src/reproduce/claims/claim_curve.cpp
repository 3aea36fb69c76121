#include "reproduce/claims/claim_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/files.h"

namespace throughtime {
namespace {

/// Two values make a curve.
bool has_curve(const RunGroup& group, const std::string& metric) {
  return std::any_of(group.runs.begin(), group.runs.end(), [&](const RunRecord& run) {
    const auto found = run.series.find(metric);
    return found != run.series.end() && found->second.y.size() > 1;
  });
}

std::string after(const std::string& text, const std::string& mark) {
  const std::size_t at = text.rfind(mark);
  return at == std::string::npos ? text : text.substr(at + mark.size());
}

/// Runs are at DIRECTORY/ARM/seed-N.
bool is_of_arm(const RunGroup& group, const std::vector<std::string>& arms) {
  const std::string arm = group.runs.front().directory.parent_path().filename().string();
  return std::find(arms.begin(), arms.end(), arm) != arms.end();
}

/// Whether a measure is a height of its curve, as the paper's values then are.
bool is_height(const Measure& measure) {
  constexpr std::array others = {MeasureHow::reach, MeasureHow::share, MeasureHow::rise, MeasureHow::decay,
                                 MeasureHow::relapses};
  return std::find(others.begin(), others.end(), measure.how) == others.end();
}

}  // namespace

std::string curve_behind(const Measure& measure, const std::vector<RunGroup>& groups) {
  const std::string validated = "validation_" + after(after(measure.metric, "."), "test_");
  for (const std::string& metric : {measure.metric, after(measure.metric, "."), validated, std::string("train_loss")})
    if (std::any_of(groups.begin(), groups.end(), [&](const RunGroup& group) { return has_curve(group, metric); }))
      return metric;
  return "";
}

Chart claim_chart(const Claim& claim, const std::vector<RunGroup>& groups) {
  std::vector<RunGroup> shown;
  for (const RunGroup& group : groups)
    if (is_of_arm(group, claim.shown_arms())) shown.push_back(group);
  const std::string metric = curve_behind(claim.measure, shown);
  if (metric.empty()) return {};
  Chart chart = chart_of(shown, metric, 1, wants_log(shown, metric));
  chart.caption = claim.says;
  if (is_height(claim.measure) && after(claim.measure.metric, "_") == after(metric, "_"))
    for (const std::string& arm : claim.shown_arms())
      if (const auto found = claim.values.find(arm); found != claim.values.end())
        chart.references.push_back({"paper, " + arm, found->second});
  return chart;
}

bool same_curves(const Chart& first, const Chart& second) {
  const auto same = [](const Curve& a, const Curve& b) { return a.label == b.label; };
  return first.y_label == second.y_label && first.x_label == second.x_label &&
         std::equal(first.curves.begin(), first.curves.end(), second.curves.begin(), second.curves.end(), same);
}

std::vector<Chart> claim_charts(const ResultSpec& spec, const StoredResult& stored,
                                const std::vector<RunGroup>& groups) {
  std::vector<Chart> charts;
  for (std::size_t i = 0; i < spec.claims.size(); ++i) {
    const Claim& claim = spec.claims[i];
    if (judge(spec, claim, stored).word == VerdictWord::not_run) continue;
    Chart chart = claim_chart(claim, groups);
    if (chart.curves.empty()) continue;
    chart.caption = fmt::format("{}. {}", i + 1, claim.says);
    const auto known =
        std::find_if(charts.begin(), charts.end(), [&](const Chart& one) { return same_curves(one, chart); });
    if (known == charts.end())
      charts.push_back(std::move(chart));
    else
      known->caption += " " + chart.caption;
  }
  return charts;
}

std::filesystem::path curve_path(const std::filesystem::path& results, const std::string& name, Scale scale,
                                 std::size_t index) {
  return stored_path(results, name, scale).replace_extension(fmt::format("claim-{}.svg", index + 1));
}

void store_curves(const ResultSpec& spec, const StoredResult& stored, const std::vector<RunGroup>& groups,
                  const std::filesystem::path& results) {
  for (std::size_t i = 0; i < spec.claims.size(); ++i) {
    const Claim& claim = spec.claims[i];
    const std::filesystem::path path = curve_path(results, spec.name, stored.scale, i);
    const Chart chart = claim_chart(claim, groups);
    if (chart.curves.empty()) continue;  // none of its arms was run: what was drawn of it before stays
    std::filesystem::remove(path);
    if (failed(judge(spec, claim, stored))) replace_file(path, svg_of(chart));
  }
}

}  // namespace throughtime
