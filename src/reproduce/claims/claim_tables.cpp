#include "reproduce/claims/claim_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/charts/axis.h"
#include "report/statistics.h"

namespace throughtime {
namespace {

/// "870 ± 208"; "2358 ± 640 in 3, not reached in 2 of 5" where runs never came so far.
std::string spread_of_seeds(const Measure& measure, const std::vector<double>& values) {
  if (const std::size_t unreached = count_unreached(values); unreached > 0) {
    std::vector<double> reached;
    for (const double value : values)
      if (!std::isinf(value)) reached.push_back(value);
    const std::string rest = fmt::format("{} in {} of {}", measure.infinite_text(), unreached, values.size());
    return reached.empty() ? rest
                           : fmt::format("{} in {}, {}", spread_of_seeds(measure, reached), reached.size(), rest);
  }
  const Summary summary = summary_of(values);
  if (summary.count == 0) return "–";
  if (!std::isfinite(summary.mean)) return "no number";
  if (summary.count == 1) return short_number(summary.mean);
  return fmt::format("{} ± {}", short_number(summary.mean), short_number(summary.deviation, 2));
}

/// Texts of some arms as one cell; `none` where there is nothing to say of any.
template <class Of>
std::string joined(const std::vector<std::string>& arms, Of of, const char* none) {
  std::string text;
  for (const std::string& arm : arms)
    if (const std::string one = of(arm); !one.empty())
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", arm, one);
  return text.empty() ? none : text;
}

/// The arms that a claim is about, in the order of the file.
std::vector<std::string> arms_of(const ResultSpec& spec, const Claim& claim) {
  std::vector<std::string> arms;
  for (const std::string& arm : spec.arms) {
    const bool named = std::any_of(claim.rules.begin(), claim.rules.end(), [&](const Rule& rule) {
      const std::vector<std::string> list = rule.named_arms();
      return std::find(list.begin(), list.end(), arm) != list.end();
    });
    if (named || claim.values.contains(arm) || std::find(claim.show.begin(), claim.show.end(), arm) != claim.show.end())
      arms.push_back(arm);
  }
  return arms;
}

}  // namespace

std::string paper_text(const Claim& claim) {
  std::vector<std::string> arms = claim.shown_arms();
  if (arms.empty())
    for (const auto& [arm, value] : claim.values) arms.push_back(arm);
  return joined(
      arms,
      [&](const std::string& arm) {
        const auto found = claim.values.find(arm);
        return found == claim.values.end() ? std::string() : short_number(found->second);
      },
      "no numbers");
}

std::string ours_text(const ResultSpec& spec, const Claim& claim, const StoredResult* stored) {
  if (!claim.missing.empty()) return claim.missing;
  if (stored == nullptr) {
    const std::string why = spec.needs_full_text(claim);
    return why.empty() ? "–" : fmt::format("needs full scale: {}", why);
  }
  return joined(
      claim.shown_arms(),
      [&](const std::string& arm) {
        const std::vector<double> values = values_of(stored->values, arm, claim.measure);
        return values.empty() ? std::string()
                              : fmt::format("{} (n = {})", spread_of_seeds(claim.measure, values), values.size());
      },
      "–");
}

std::string p_text(double p) {
  if (std::isnan(p)) return "–";
  return p > 0 && p < 1e-4 ? "< 1e-4" : short_number(p, 2);
}

ReportTable claims_table(const ResultSpec& spec, const StoredResult& result) {
  ReportTable table{.title = "Verdicts, " + scale_text(spec, result),
                    .note = fmt::format("{}. {}{} {}", spec.paper, spec.note,
                                        result.smaller.empty() ? ""
                                                               : fmt::format(" Smaller than the paper's setting: {}.",
                                                                             fmt::join(result.smaller, ", ")),
                                        reading_note()),
                    .columns = {"verdict", "claim", "paper", "ours", "p", "p, Holm"},
                    .rows = {},
                    .text_columns = 4};
  std::vector<Verdict> verdicts;
  std::vector<double> p;
  std::vector<int> family;  // the paper's claims, and our own questions
  for (const Claim& claim : spec.claims) {
    verdicts.push_back(judge(spec, claim, result));
    p.push_back(verdicts.back().p);
    family.push_back(claim.ours ? 1 : 0);
  }
  const std::vector<double> corrected = holm(p, family);
  for (std::size_t i = 0; i < spec.claims.size(); ++i) {
    const Claim& claim = spec.claims[i];
    const bool run = verdicts[i].word != VerdictWord::not_run;
    table.rows.push_back({std::string(name_of(verdicts[i].word)), fmt::format("{}. {}", i + 1, claim.says),
                          paper_text(claim), ours_text(spec, claim, run ? &result : nullptr), p_text(p[i]),
                          p_text(corrected[i])});
  }
  return table;
}

ReportTable values_table(const ResultSpec& spec, const Claim& claim, const StoredResult& result) {
  ReportTable table{.title = fmt::format("{} of each arm", claim.measure.key()),
                    .note = "",
                    .columns = {"arm", "seeds", claim.measure.key(), "standard error", "paper"},
                    .rows = {}};
  for (const std::string& arm : arms_of(spec, claim)) {
    const std::vector<double> values = values_of(result.values, arm, claim.measure);
    const auto paper = claim.values.find(arm);
    if (values.empty() && paper == claim.values.end()) continue;
    const Summary summary = summary_of(values);
    table.rows.push_back(
        {arm, fmt::format("{}", values.size()), spread_of_seeds(claim.measure, values),
         summary.count > 1 && std::isfinite(summary.standard_error) ? short_number(summary.standard_error, 2) : "–",
         paper == claim.values.end() ? "–" : short_number(paper->second)});
  }
  return table;
}

ReportTable rules_table(const Claim& claim, const Verdict& verdict) {
  ReportTable table{.title = claim.says,
                    .note = fmt::format("Verdict: {}.", name_of(verdict.word)),
                    .columns = {"rule", "met", "trend", "p", "seen"},
                    .rows = {},
                    .text_columns = 5};
  for (std::size_t i = 0; i < claim.rules.size(); ++i) {
    const Check& check = verdict.checks[i];
    table.rows.push_back({rule_text(claim.rules[i]), std::string(name_of(check.met)),
                          claim.rules[i].trend ? std::string(name_of(check.trend.answer)) : "",
                          claim.rules[i].has_sign() ? p_text(check.trend.p) : "", check.seen});
  }
  return table;
}

std::string reading_note() {
  return "Numbers are the mean ± deviation over seeds. They are what the runs wrote: nothing was smoothed, and nothing "
         "was chosen on test data. (A measure that says \"final\" is the mean of the last tenth of a curve.) Where "
         "two arms ran the same seeds, their difference is tested seed by seed; otherwise the test is Welch's. Where "
         "some "
         "runs never reached a level, the test is that of ranks. A trend is told where the two-sided p is below 0.05; "
         "with three arms or more their means must be in order, too. Where several comparisons must all hold, p is the "
         "largest of theirs. Verdicts rest on p as it is. The column \"p, Holm\" corrects it for the number of tests, "
         "the paper's claims and our own questions apart.";
}

}  // namespace throughtime
