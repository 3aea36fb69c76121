#include "reproduce/atlas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "report/axis.h"
#include "report/statistics.h"
#include "throughtime/error.h"
#include "train/files.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

std::string spread_of_seeds(const std::vector<double>& values) {
  const Summary summary = summary_of(values);
  if (summary.count == 0) return "–";
  if (!std::isfinite(summary.mean)) return "no number";
  if (summary.count == 1) return short_number(summary.mean);
  return fmt::format("{} ± {}", short_number(summary.mean), short_number(summary.deviation, 2));
}

std::string answer_text(Answer answer) {
  if (answer == Answer::unknown) return "cannot be told";
  return answer == Answer::yes ? "yes" : "no";
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
  for (const std::string& one : cells) text += " " + cell(one) + " |";
  return text + "\n";
}

std::string markdown_table(const ReportTable& table) {
  return markdown_row(table.columns) + markdown_row(std::vector<std::string>(table.columns.size(), "---")) +
         [&] {
           std::string rows;
           for (const std::vector<std::string>& row : table.rows) rows += markdown_row(row);
           return rows;
         }();
}

/// The arms of the paper's values, else those of the rules that show the direction.
std::vector<std::string> headline_arms(const ResultSpec& spec) {
  std::vector<std::string> arms;
  for (const std::string& arm : spec.arms)
    for (const Rule& rule : spec.rules) {
      const auto names = [&](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), arm) != list.end();
      };
      if (rule.trend && (names(rule.arms) || names(rule.than))) {
        arms.push_back(arm);
        break;
      }
    }
  return arms;
}

std::string paper_text(const ResultSpec& spec) {
  std::string text;
  for (const std::string& arm : headline_arms(spec))
    if (const auto found = spec.values.find(arm); found != spec.values.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : "; ", arm, short_number(found->second));
  return text.empty() ? "no numbers, a curve" : text;
}

std::string ours_text(const ResultSpec& spec, const StoredResult& stored) {
  std::string text;
  for (const std::string& arm : headline_arms(spec)) {
    const std::vector<double> values = values_of(stored.values, arm, spec.measure);
    if (!values.empty())
      text += fmt::format("{}{} {} (n = {})", text.empty() ? "" : "; ", arm, spread_of_seeds(values), values.size());
  }
  return text.empty() ? "–" : text;
}

std::string details_of(const ResultSpec& spec, const StoredResult& stored) {
  const Verdict verdict = judge(spec, stored);
  const std::string smaller = stored.scale == Scale::quick ? fmt::format(" ({})", fmt::join(spec.quick, ", ")) : "";
  return fmt::format("\n## {}\n\n{} ({}). {}{}: **{}**. Made by throughtime {} at commit {}, engine {}, {:.0f} s of training.\n{}"
                     "\n{}\n{}",
                     spec.name, spec.title, spec.paper, scale_text(stored.scale), smaller, verdict.word, stored.version,
                     stored.commit, stored.engine, stored.seconds, spec.note.empty() ? "" : "\n" + spec.note + "\n",
                     markdown_table(values_table(spec, stored)), markdown_table(rules_table(spec, verdict)));
}

double number_of(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::string scale_text(Scale scale) { return scale == Scale::quick ? "quick scale" : "full scale"; }

std::string json_of(const StoredResult& result) {
  Json arms = Json::object();
  for (const auto& [arm, measures] : result.values)
    for (const auto& [key, seeds] : measures)
      for (const auto& [seed, value] : seeds)
        arms[arm][key][std::to_string(seed)] = std::isfinite(value) ? Json(value) : Json(nullptr);
  const Json json = {{"scale", result.scale == Scale::quick ? "quick" : "full"},
                     {"version", result.version},
                     {"commit", result.commit},
                     {"engine", result.engine},
                     {"seconds", result.seconds},
                     {"arms", arms}};
  return json.dump(1) + "\n";
}

StoredResult parse_stored(const std::string& text, const std::string& where) {
  try {
    const Json json = Json::parse(text);
    StoredResult result{.scale = json.at("scale").get<std::string>() == "full" ? Scale::full : Scale::quick,
                        .version = json.at("version").get<std::string>(),
                        .commit = json.at("commit").get<std::string>(),
                        .engine = json.at("engine").get<std::string>(),
                        .seconds = json.at("seconds").get<double>(),
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
  return results / fmt::format("{}.{}.json", name, scale == Scale::quick ? "quick" : "full");
}

std::optional<StoredResult> find_stored(const std::filesystem::path& results, const std::string& name) {
  for (const Scale scale : {Scale::full, Scale::quick})
    if (const std::filesystem::path path = stored_path(results, name, scale); std::filesystem::exists(path))
      return parse_stored(read_file(path), path.string());
  return std::nullopt;
}

Verdict judge(const ResultSpec& spec, const StoredResult& result) {
  return judge(spec.rules, result.values, spec.values, result.scale, static_cast<std::size_t>(spec.seeds));
}

ReportTable values_table(const ResultSpec& spec, const StoredResult& result) {
  ReportTable table{.title = spec.measure.key(),
                    .note = "Mean ± deviation over the seeds, and the paper's value.",
                    .columns = {"arm", "seeds", spec.measure.key(), "standard error", "paper"},
                    .rows = {}};
  for (const std::string& arm : spec.arms) {
    const std::vector<double> values = values_of(result.values, arm, spec.measure);
    const auto paper = spec.values.find(arm);
    if (values.empty() && paper == spec.values.end()) continue;
    const Summary summary = summary_of(values);
    table.rows.push_back({arm, fmt::format("{}", values.size()), spread_of_seeds(values),
                          summary.count > 1 && std::isfinite(summary.standard_error)
                              ? short_number(summary.standard_error, 2)
                              : "–",
                          paper == spec.values.end() ? "–" : short_number(paper->second)});
  }
  return table;
}

ReportTable rules_table(const ResultSpec& spec, const Verdict& verdict) {
  ReportTable table{.title = "Verdict: " + verdict.word,
                    .note = "What must hold for the claim, on our runs. The trend is the sign of a difference of means, "
                            "told beyond two standard errors.",
                    .columns = {"rule", "met", "trend"},
                    .rows = {},
                    .text_columns = 3};
  for (std::size_t i = 0; i < spec.rules.size(); ++i)
    table.rows.push_back({rule_text(spec.rules[i]), answer_text(verdict.checks[i].met),
                          spec.rules[i].trend ? answer_text(verdict.checks[i].trend) : ""});
  return table;
}

std::string atlas_of(const std::vector<ResultSpec>& specs, const std::filesystem::path& results) {
  std::string text =
      "# Reproduction\n\n"
      "What the papers claim and what our runs say. This page is the output of `throughtime reproduce --atlas`, made from "
      "the\nresults stored under experiments/results; nothing here is typed. *reproduced*, *trend only* and *not "
      "reproduced* need the\npaper's setting and all seeds; *trend*, *no trend* and *too small to tell* are the words for "
      "less. Arms are those of the\nconfiguration; numbers are mean ± deviation over n seeds.\n\n";
  text += markdown_row({"result", "claim", "paper", "ours", "scale", "verdict"});
  text += markdown_row(std::vector<std::string>(6, "---"));
  std::string details;
  for (const ResultSpec& spec : specs) {
    const std::optional<StoredResult> stored = find_stored(results, spec.name);
    const std::string link = fmt::format("[{}](../experiments/{}.toml)", spec.name, spec.name);
    text += markdown_row({link, spec.claim, paper_text(spec), stored ? ours_text(spec, *stored) : "–",
                          stored ? scale_text(stored->scale) : "–", stored ? judge(spec, *stored).word : "not run"});
    if (stored) details += details_of(spec, *stored);
  }
  return text + details;
}

}  // namespace throughtime
