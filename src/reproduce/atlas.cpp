#include "reproduce/atlas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "core/files.h"
#include "report/statistics.h"
#include "reproduce/claims/claim_curve.h"
#include "reproduce/claims/claim_tables.h"

namespace throughtime {
namespace {

constexpr const char* overview_name = "reproduction.md";
constexpr const char* pages_name = "reproduction";  // the directory of the pages of papers

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

std::string markdown_table(const std::vector<std::string>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::string text = markdown_row(columns) + markdown_row(std::vector<std::string>(columns.size(), "---"));
  for (const std::vector<std::string>& row : rows) text += markdown_row(row);
  return text;
}

bool is_one_of(VerdictWord word, std::initializer_list<VerdictWord> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_decided(VerdictWord word) {
  return !is_one_of(word,
                    {VerdictWord::not_run, VerdictWord::too_small, VerdictWord::too_few, VerdictWord::proves_nothing});
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

/// A result with all that is stored of it.
struct AtlasResult {
  ResultSpec spec;
  std::vector<StoredResult> stored;

  std::string name() const { return std::filesystem::path(spec.name).filename().string(); }  // "figure-1"
};

/// One claim of it.
struct AtlasClaim {
  const AtlasResult* result;
  const Claim* claim;
  const StoredResult* evidence;  // null: none
  Verdict verdict;
  double corrected = 0;  // p, by Holm

  bool is_counted() const { return claim->counted_in.empty(); }
};

/// Whether a claim has no evidence because the runs of its arms did not store its number: they were made before it was
/// asked for.
bool lacks_number(const AtlasClaim& one) {
  const std::vector<Rule> deciding = deciding_rules(one.claim->rules);
  if (one.evidence != nullptr || deciding.empty()) return false;
  const auto was_run = [&](const StoredResult& stored) {
    return std::all_of(deciding.begin(), deciding.end(), [&](const Rule& rule) {
      const std::vector<std::string> arms = rule.named_arms();
      return std::all_of(arms.begin(), arms.end(), [&](const std::string& arm) { return stored.values.contains(arm); });
    });
  };
  const auto has_numbers = [&](const StoredResult& stored) { return fewest_seeds(deciding, stored.values) > 0; };
  const std::vector<StoredResult>& all = one.result->stored;
  return std::any_of(all.begin(), all.end(), was_run) && std::none_of(all.begin(), all.end(), has_numbers);
}

/// All of one paper: the results of one folder of the experiments.
struct Paper {
  std::string name;  // "fptt"
  std::vector<AtlasResult> results;
  std::vector<AtlasClaim> claims;

  std::string title() const { return fmt::format("{}: {}", name, results.front().spec.paper); }
  std::filesystem::path page() const { return std::filesystem::path(pages_name) / (name + ".md"); }
};

/// Of the test that was made of a claim; NaN: none. One that quick scale was found unable to decide was tested, too.
double tested_p(const AtlasClaim& one) {
  if (one.evidence != nullptr) return one.verdict.p;
  for (const StoredResult& stored : one.result->stored)
    if (const double p = judge(one.claim->rules, {.values = stored.values, .paper = one.claim->values}).p;
        !std::isnan(p))
      return p;
  return std::numeric_limits<double>::quiet_NaN();
}

/// Holm's correction for all claims of a paper that were tested, and apart from them for our own questions. A claim
/// that another result counts is one test with that. What was tested and is no evidence any more still counts as a
/// test, or the rest would look surer than it is.
void correct(std::vector<AtlasClaim>& claims) {
  std::vector<double> p;
  std::vector<int> family;
  for (const AtlasClaim& one : claims) {
    p.push_back(one.is_counted() ? tested_p(one) : std::numeric_limits<double>::quiet_NaN());
    family.push_back(one.claim->ours ? 1 : 0);
  }
  const std::vector<double> corrected = holm(p, family);
  for (std::size_t i = 0; i < claims.size(); ++i) claims[i].corrected = corrected[i];
}

std::vector<Paper> papers_of(const std::vector<ResultSpec>& specs, const std::filesystem::path& results) {
  std::vector<Paper> papers;
  for (const ResultSpec& spec : specs) {
    const std::string name = std::filesystem::path(spec.name).begin()->string();
    const auto known = std::find_if(papers.begin(), papers.end(), [&](const Paper& one) { return one.name == name; });
    Paper& paper = known == papers.end() ? papers.emplace_back(Paper{.name = name}) : *known;
    paper.results.push_back({spec, find_stored(results, spec.name)});
  }
  for (Paper& paper : papers) {
    for (const AtlasResult& result : paper.results)
      for (const Claim& claim : result.spec.claims) {
        const StoredResult* evidence = evidence_of(result.spec, claim, result.stored);
        paper.claims.push_back(
            {&result, &claim, evidence, evidence == nullptr ? Verdict() : judge(result.spec, claim, *evidence)});
      }
    correct(paper.claims);
  }
  return papers;
}

/// The picture of a claim that did not hold, where it was kept.
std::string picture_text(const ResultSpec& spec, const StoredResult& stored, std::size_t claim,
                         const std::filesystem::path& results, const std::string& experiments) {
  const std::filesystem::path path = curve_path(results, spec.name, stored.scale, claim);
  if (!std::filesystem::exists(path)) return "";
  return fmt::format("\n![{}]({}/results/{})\n", spec.claims[claim].says, experiments,
                     path.lexically_relative(results).generic_string());
}

std::string made_text(const ResultSpec& spec, const StoredResult& stored) {
  const std::string smaller =
      stored.smaller.empty() ? ""
                             : fmt::format(" They are smaller than the paper's: {}.", fmt::join(stored.smaller, ", "));
  return fmt::format(
      "These runs are at {}.{} throughtime {} made them at commit {} with the engine {}, in {:.0f} s of "
      "training.{}{}",
      scale_text(spec, stored), smaller, stored.version, stored.commit, stored.engine, stored.seconds,
      stored.note.empty() ? "" : " ", stored.note);
}

/// What the sweep took for each arm.
std::string chosen_text(const StoredResult& stored) {
  std::vector<std::string> arms;
  for (const auto& [arm, point] : stored.chosen) arms.push_back(fmt::format("{}: {}", arm, fmt::join(point, ", ")));
  return arms.empty() ? "" : fmt::format(" The sweep chose {}.", fmt::join(arms, "; "));
}

std::string table_text(const ReportTable& table) { return markdown_table(table.columns, table.rows); }

/// The numbers and rules of the claims that one scale has the evidence of.
std::string evidence_text(const AtlasResult& result, const StoredResult& stored, const std::filesystem::path& results,
                          const std::string& experiments) {
  const ResultSpec& spec = result.spec;
  std::string text;
  for (std::size_t i = 0; i < spec.claims.size(); ++i) {
    const Claim& claim = spec.claims[i];
    if (evidence_of(spec, claim, result.stored) != &stored) continue;
    const Verdict verdict = judge(spec, claim, stored);
    text += fmt::format("\n*{}* Verdict: **{}**.\n\n{}\n{}", claim.says, name_of(verdict.word),
                        table_text(values_table(spec, claim, stored)), table_text(rules_table(claim, verdict)));
    if (failed(verdict)) text += picture_text(spec, stored, i, results, experiments);
  }
  return text;
}

/// Every result has its heading, so that the overview can link to it; what was not run says why in the table above.
std::string details_of(const AtlasResult& result, const std::filesystem::path& results,
                       const std::string& experiments) {
  const ResultSpec& spec = result.spec;
  std::string text = fmt::format("\n## {}\n\n{}. {}{}[Its configuration]({}/{}.toml).\n", result.name(), spec.title,
                                 spec.note, spec.note.empty() ? "" : " ", experiments, spec.name);
  bool any = false;
  for (const StoredResult& stored : result.stored)
    if (const std::string evidence = evidence_text(result, stored, results, experiments); !evidence.empty()) {
      text += fmt::format("\n{}{}\n{}", made_text(spec, stored), chosen_text(stored), evidence);
      any = true;
    }
  if (any) return text;
  return text + (result.stored.empty() ? "\nNothing of it has been run yet.\n"
                                       : "\nWhat was run of it decides none of its claims; the table says why.\n");
}

std::string corrected_text(const AtlasClaim& one) {
  if (!one.is_counted()) return "in " + one.claim->counted_in;
  return p_text(std::isnan(one.verdict.p) ? one.verdict.p : one.corrected);
}

AtlasPage paper_page(const Paper& paper, const std::filesystem::path& results, const std::string& experiments) {
  std::vector<std::vector<std::string>> rows;
  for (const AtlasClaim& one : paper.claims)
    rows.push_back({fmt::format("[{0}](#{1})", one.result->name(), anchor_of(one.result->name())), one.claim->says,
                    paper_text(*one.claim),
                    lacks_number(one) ? "not stored" : ours_text(one.result->spec, *one.claim, one.evidence),
                    one.evidence == nullptr ? "–" : scale_text(one.result->spec, *one.claim, *one.evidence),
                    p_text(one.verdict.p), corrected_text(one), std::string(name_of(one.verdict.word))});
  std::string text = fmt::format(
      "# {}\n\nThis page has the numbers behind the verdicts of [the overview](../{}), which says what the words mean. "
      "`throughtime reproduce --atlas docs` writes it from the stored results. An arm is one of the methods or "
      "settings that a result compares; the configuration names it. A claim that did not hold has a picture, if its "
      "curves were kept.\n\n{} "
      "It counts all tests of the paper's claims, those of claims that quick scale was then found unable to decide "
      "among "
      "them, and a claim that two results have on the same runs once. Our own questions are corrected among "
      "themselves.\n\n{}",
      paper.title(), overview_name, reading_note(),
      markdown_table({"result", "claim", "paper", "ours", "scale", "p", "p, Holm", "verdict"}, rows));
  for (const AtlasResult& result : paper.results) text += details_of(result, results, "../" + experiments);
  return {paper.page(), text};
}

/// How many claims of a paper ended in which way, or how many of our own questions. One that another result counts is
/// left out.
std::vector<std::string> tally_row(const Paper& paper, bool ours) {
  std::vector<VerdictWord> found;
  for (const AtlasClaim& one : paper.claims)
    if (one.is_counted() && one.claim->ours == ours) found.push_back(one.verdict.word);
  const auto count = [&](std::initializer_list<VerdictWord> words) {
    const auto is_counted = [&](VerdictWord word) { return is_one_of(word, words); };
    return fmt::format("{}", std::count_if(found.begin(), found.end(), is_counted));
  };
  return {fmt::format("[{}](#{})", paper.title(), anchor_of(paper.title())),
          fmt::format("{}", found.size()),
          count({VerdictWord::reproduced, VerdictWord::trend_only, VerdictWord::trend, VerdictWord::holds}),
          count({VerdictWord::not_reproduced, VerdictWord::no_trend, VerdictWord::does_not_hold}),
          count({VerdictWord::too_small, VerdictWord::too_few, VerdictWord::proves_nothing}),
          count({VerdictWord::not_run})};
}

std::string overview_table(const Paper& paper) {
  std::vector<std::vector<std::string>> rows;
  const AtlasResult* last = nullptr;
  for (const AtlasClaim& one : paper.claims) {
    const std::string name = one.result->name();
    // A result is named in its first row.
    rows.push_back(
        {one.result == last ? "" : fmt::format("[{}]({}#{})", name, paper.page().generic_string(), anchor_of(name)),
         one.claim->says, std::string(name_of(one.verdict.word)),
         lacks_number(one) ? "The stored runs did not keep this number."
                           : finding_text(one.result->spec, *one.claim, one.evidence)});
    last = one.result;
  }
  return fmt::format("\n## {}\n\n{}\n[The numbers, rules and curves]({}).\n", paper.title(),
                     markdown_table({"result", "the paper says", "verdict", "our runs"}, rows),
                     paper.page().generic_string());
}

AtlasPage overview(const std::vector<Paper>& papers) {
  std::string text =
      "# Reproduction\n\n"
      "This page says what the papers claim and what our runs say. `throughtime reproduce --atlas docs` "
      "writes it from the stored results; nothing here is typed.\n\n";
  std::vector<std::vector<std::string>> claims, questions;
  for (const Paper& paper : papers) {
    claims.push_back(tally_row(paper, false));
    questions.push_back(tally_row(paper, true));
  }
  text += markdown_table({"paper", "claims", "found again", "not found", "cannot be told", "not run"}, claims);
  text += "\nA claim that two results have on the same runs is counted once. Our own questions beside the papers':\n\n";
  text += markdown_table({"paper", "questions", "yes", "no", "cannot be told", "not run"}, questions);
  text += "\nThe words are strict. A claim is *reproduced* in the paper's own setting with all of its seeds alone:\n\n";
  text += markdown_table(
      {"verdict", "meaning"},
      {{"reproduced", "Every rule is met at full scale."},
       {"trend only", "The direction is right at full scale, a number is not."},
       {"not reproduced", "A rule is not met at full scale."},
       {"trend, no trend", "Runs that are smaller, or have fewer seeds, show the direction or the opposite."},
       {"holds, does not hold", "Such runs meet a bound, or do not."},
       {"too small to tell, too few seeds", "The runs cannot tell the direction from chance, or no order is there."},
       {"proves nothing", "The runs learned nothing, or no more than a naive guess knows."},
       {"not run", "There are no runs. The last column says why, where there is a reason."}});
  text +=
      "\nRuns of full length without a sweep, or with fewer seeds than the paper, get the words of smaller ones."
      "\n\n[reproduce.md](reproduce.md) has the rules and tests, [conclusions.md](conclusions.md) a section for "
      "each paper.\n";
  for (const Paper& paper : papers) text += overview_table(paper);
  return {overview_name, text};
}

}  // namespace

std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char letter : heading) {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 || letter == '-' || letter == '_' || byte >= 0x80)
      anchor += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    if (letter == ' ') anchor += '-';
  }
  return anchor;
}

std::string finding_text(const ResultSpec& spec, const Claim& claim, const StoredResult* stored) {
  const auto without_dot = [](std::string text) {
    if (text.ends_with(".")) text.pop_back();
    return text;
  };
  if (!claim.missing.empty()) return fmt::format("It cannot be run: {}.", without_dot(claim.missing));
  if (stored == nullptr) {
    const std::string why = spec.needs_full_text(claim);
    return why.empty() ? "It has not been run yet." : fmt::format("It needs full scale: {}.", without_dot(why));
  }
  const Verdict verdict = judge(spec, claim, *stored);
  const std::size_t seeds = fewest_seeds(claim.rules, stored->values);
  const std::string scale = scale_text(spec, claim, *stored);
  std::string how =
      seeds == 0 || scale.ends_with("seeds") ? "" : fmt::format("{} seed{}", seeds, seeds == 1 ? "" : "s");
  if (!std::isnan(verdict.p)) how += fmt::format("{}p {}", how.empty() ? "" : ", ", p_text(verdict.p));
  const std::string at = fmt::format("{}{}", scale, how.empty() ? "" : " (" + how + ")");
  switch (verdict.word) {
    case VerdictWord::reproduced:
      return fmt::format("They show it at {}.", at);
    case VerdictWord::trend_only:
      return fmt::format("They show the direction at {}, but not the numbers.", at);
    case VerdictWord::not_reproduced:
      return fmt::format("They do not show it at {}.", at);
    case VerdictWord::trend:
      return fmt::format("They show the direction at {}.", at);
    case VerdictWord::no_trend:
      return fmt::format("They show the opposite at {}.", at);
    case VerdictWord::holds:
      return fmt::format("They meet it at {}.", at);
    case VerdictWord::does_not_hold:
      return fmt::format("They do not meet it at {}.", at);
    case VerdictWord::too_small:
      if (verdict.p < trend_level) return fmt::format("The ends differ at {}, but the means are not in order.", at);
      return fmt::format("They cannot tell{} at {}.", std::isnan(verdict.p) ? "" : " it from chance", at);
    case VerdictWord::too_few:
      return fmt::format("They are too few at {}.", at);
    case VerdictWord::proves_nothing:
      return fmt::format("They learned too little to tell at {}.", at);
    case VerdictWord::not_run:
      break;
  }
  return "It has not been run yet.";
}

std::vector<AtlasPage> atlas_of(const std::vector<ResultSpec>& specs, const std::filesystem::path& results,
                                const std::string& experiments) {
  const std::vector<Paper> papers = papers_of(specs, results);
  std::vector<AtlasPage> pages = {overview(papers)};
  for (const Paper& paper : papers) pages.push_back(paper_page(paper, results, experiments));
  return pages;
}

std::vector<std::filesystem::path> write_atlas(const std::filesystem::path& experiments,
                                               const std::filesystem::path& directory) {
  const std::filesystem::path seen = std::filesystem::absolute(experiments)
                                         .lexically_normal()
                                         .lexically_relative(std::filesystem::absolute(directory).lexically_normal());
  std::vector<std::filesystem::path> written;
  const std::vector<AtlasPage> pages =
      atlas_of(find_results(experiments), experiments / "results", seen.generic_string());
  make_directories(directory / pages_name);
  for (const AtlasPage& page : pages) {
    written.push_back(directory / page.path);
    write_output(written.back(), page.text);
  }
  return written;
}

}  // namespace throughtime
