#include "reproduce/atlas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "report/axis.h"
#include "report/statistics.h"
#include "reproduce/claim_curve.h"

namespace throughtime {
namespace {

std::string spread_of_seeds(const std::vector<double>& values) {
  const Summary summary = summary_of(values);
  if (summary.count == 0) return "–";
  if (!std::isfinite(summary.mean)) return "no number";
  if (summary.count == 1) return short_number(summary.mean);
  return fmt::format("{} ± {}", short_number(summary.mean), short_number(summary.deviation, 2));
}

/// A text as one cell of a Markdown table.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '|') safe += '\\';
    safe += letter == '\n' ? ' ' : letter;
  }
  return safe;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& one : cells) text += fmt::format(" {} |", cell(one));
  return text + "\n";
}

std::string markdown_table(const ReportTable& table) {
  std::string text = markdown_row(table.columns) + markdown_row(std::vector<std::string>(table.columns.size(), "---"));
  for (const std::vector<std::string>& row : table.rows) text += markdown_row(row);
  return text;
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
        return values.empty() ? std::string() : fmt::format("{} (n = {})", spread_of_seeds(values), values.size());
      },
      "–");
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

/// The picture of a claim that did not hold, where it was kept; the page is in docs/.
std::string picture_text(const ResultSpec& spec, const StoredResult& stored, std::size_t claim,
                         const std::filesystem::path& results) {
  const std::filesystem::path path = curve_path(results, spec.name, stored.scale, claim);
  if (!std::filesystem::exists(path)) return "";
  return fmt::format("\n![{}](../experiments/results/{})\n", spec.claims[claim].says,
                     path.lexically_relative(results).generic_string());
}

bool is_decided(VerdictWord word) {
  constexpr std::array undecided = {VerdictWord::not_run, VerdictWord::too_small, VerdictWord::too_few,
                                    VerdictWord::proves_nothing};
  return std::find(undecided.begin(), undecided.end(), word) == undecided.end();
}

/// "0.03", "< 1e-4"; a dash where no test was made.
std::string p_text(double p) {
  if (std::isnan(p)) return "–";
  return p > 0 && p < 1e-4 ? "< 1e-4" : short_number(p, 2);
}

/// The stored result that says most of a claim: the first with every arm, else the first that decides it, else the
/// first with any; null: none.
const StoredResult* evidence_of(const ResultSpec& spec, const Claim& claim, const std::vector<StoredResult>& all) {
  for (const StoredResult& stored : all)
    if (claim.missing.empty() && fewest_seeds(claim.rules, stored.values) > 0 &&
        judge(spec, claim, stored).word != VerdictWord::not_run)
      return &stored;
  for (const bool decided : {true, false})
    for (const StoredResult& stored : all)
      if (const VerdictWord word = judge(spec, claim, stored).word;
          decided ? is_decided(word) : word != VerdictWord::not_run)
        return &stored;
  return nullptr;
}

std::string made_text(const StoredResult& stored) {
  const std::string smaller = stored.smaller.empty() ? "" : fmt::format(" ({})", fmt::join(stored.smaller, ", "));
  return fmt::format("{}{}. Made by throughtime {} at commit {}, engine {}, {:.0f} s of training.",
                     scale_text(stored.scale), smaller, stored.version, stored.commit, stored.engine, stored.seconds);
}

/// What the sweep took for each arm.
std::string chosen_text(const StoredResult& stored) {
  std::vector<std::string> arms;
  for (const auto& [arm, point] : stored.chosen) arms.push_back(fmt::format("{}: {}", arm, fmt::join(point, ", ")));
  return arms.empty() ? "" : fmt::format(" Chosen by the sweep: {}.", fmt::join(arms, "; "));
}

/// The numbers and rules of the claims that one scale has the evidence of.
std::string evidence_text(const ResultSpec& spec, const StoredResult& stored, const std::vector<StoredResult>& all,
                          const std::filesystem::path& results) {
  std::string text;
  for (std::size_t i = 0; i < spec.claims.size(); ++i) {
    const Claim& claim = spec.claims[i];
    if (evidence_of(spec, claim, all) != &stored) continue;
    const Verdict verdict = judge(spec, claim, stored);
    text += fmt::format("\n*{}*: **{}**\n\n{}\n{}", claim.says, name_of(verdict.word),
                        markdown_table(values_table(spec, claim, stored)), markdown_table(rules_table(claim, verdict)));
    if (failed(verdict)) text += picture_text(spec, stored, i, results);
  }
  return text;
}

std::string details_of(const ResultSpec& spec, const std::vector<StoredResult>& all,
                       const std::filesystem::path& results) {
  std::string text = fmt::format("\n## {}\n\n{} ({}). {}\n", spec.name, spec.title, spec.paper, spec.note);
  for (const StoredResult& stored : all)
    if (const std::string evidence = evidence_text(spec, stored, all, results); !evidence.empty())
      text += fmt::format("\n{}{}\n{}", made_text(stored), chosen_text(stored), evidence);
  return text;
}

/// One claim in the table of all.
struct AtlasRow {
  std::string paper;  // whose claims are counted together
  std::string link, says, paper_values, ours, scale, verdict;
  double p = 0, corrected = 0;
};

AtlasRow row_of(const ResultSpec& spec, const Claim& claim, const std::vector<StoredResult>& stored) {
  const StoredResult* evidence = evidence_of(spec, claim, stored);
  const Verdict verdict = evidence == nullptr ? Verdict() : judge(spec, claim, *evidence);
  return {.paper = spec.paper,
          .link = fmt::format("[{}](../experiments/{}.toml)", spec.name, spec.name),
          .says = claim.says,
          .paper_values = paper_text(claim),
          .ours = ours_text(spec, claim, evidence),
          .scale = evidence == nullptr ? "–" : scale_text(spec, claim, *evidence),
          .verdict = std::string(name_of(verdict.word)),
          .p = verdict.p};
}

/// Holm's correction for all claims of a paper that were tested.
void correct_by_paper(std::vector<AtlasRow>& rows) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < rows.size(); ++i) places[rows[i].paper].push_back(i);
  for (const auto& [paper, of_paper] : places) {
    std::vector<double> p;
    for (const std::size_t i : of_paper) p.push_back(rows[i].p);
    const std::vector<double> corrected = holm(p);
    for (std::size_t k = 0; k < of_paper.size(); ++k) rows[of_paper[k]].corrected = corrected[k];
  }
}

}  // namespace

ReportTable claims_table(const ResultSpec& spec, const StoredResult& result) {
  ReportTable table{.title = "Verdicts, " + scale_text(result.scale),
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
  for (const Claim& claim : spec.claims) {
    verdicts.push_back(judge(spec, claim, result));
    p.push_back(verdicts.back().p);
  }
  const std::vector<double> corrected = holm(p);
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
        {arm, fmt::format("{}", values.size()), spread_of_seeds(values),
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
  return "Numbers are mean ± deviation over seeds, of what the runs wrote: nothing was smoothed but where a measure "
         "says so (final: the mean of the last tenth of a curve), and nothing was chosen on test data. A difference "
         "has the standard error of pairs of equal seeds where both arms ran the same ones, else that of independent "
         "means. A trend is a sign that a two-sided t test tells: p below 0.05, with the degrees of freedom of the "
         "pairs, else Welch's. Of several comparisons that must all hold p is the largest. Verdicts rest on p as it "
         "is; the column beside it has p corrected by Holm.";
}

std::string atlas_of(const std::vector<ResultSpec>& specs, const std::filesystem::path& results) {
  std::string text =
      "# Reproduction\n\n"
      "What the papers claim and what our runs say. This page is the output of `throughtime reproduce --atlas`, made "
      "from\nthe results stored under experiments/results; nothing here is typed. *reproduced*, *trend only* and *not "
      "reproduced* need\nthe paper's setting and all seeds; *trend*, *no trend*, *holds*, *does not hold*, *too small "
      "to "
      "tell* and *too few seeds*\nare the words for less; where runs learned nothing, the word is *proves nothing*. "
      "Arms are those of the\nconfiguration. A claim that did not hold has its curve. "
      "[reproduce.md](reproduce.md) has the rules.\n\n" +
      reading_note() + " Holm's correction is for all tested claims of a paper.\n\n";
  text += markdown_row({"result", "claim", "paper", "ours", "scale", "p", "p, Holm", "verdict"});
  text += markdown_row(std::vector<std::string>(8, "---"));
  std::vector<AtlasRow> rows;
  std::string details;
  for (const ResultSpec& spec : specs) {
    const std::vector<StoredResult> stored = find_stored(results, spec.name);
    for (const Claim& claim : spec.claims) rows.push_back(row_of(spec, claim, stored));
    if (!stored.empty()) details += details_of(spec, stored, results);
  }
  correct_by_paper(rows);
  for (const AtlasRow& row : rows)
    text += markdown_row(
        {row.link, row.says, row.paper_values, row.ours, row.scale, p_text(row.p), p_text(row.corrected), row.verdict});
  return text + details;
}

}  // namespace throughtime
