#include "reproduce/results/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/files.h"
#include "core/names.h"
#include "reproduce/results/table_keys.h"
#include "throughtime/error.h"
#include "throughtime/task.h"
#include "train/options/toml_document.h"

namespace throughtime {
namespace {

using namespace table_keys;

const std::vector<Key<Measure>>& measure_keys() {
  static const std::vector<Key<Measure>> keys = {
      {"metric", &Measure::metric,
       "a curve of metrics.jsonl, or with measure = \"result\" a number of result.json, or with measure = \"dynamic\" "
       "one of a dynamic evaluation (docs/language-models.md)"},
      {"measure", &Measure::how,
       "what is taken of the curve, from its first number on. last: its last value. final: the mean of its last tenth. "
       "median: the median of that tenth, where one without bound is larger than every number. end: the mean of its "
       "last "
       "50 iterations. mean: the mean of all, the area under it. lowest, highest: those values. reach: the first "
       "iteration that reaches the level (\"not reached\" where none does). share: the share of the values after the "
       "first that are at or below the level. rise: the final tenth minus the first value. decay: the final tenth over "
       "the highest. relapses: how often it is above ten times the level after it was at or below the level. result: a "
       "number of result.json. dynamic: one of a dynamic evaluation"},
      {"level", &Measure::level, "measure = reach, share or relapses: that level"},
  };
  return keys;
}

const std::vector<Key<ResultSpec>>& result_keys() {
  static const std::vector<Key<ResultSpec>> keys = {
      {"title", &ResultSpec::title, "figure or table, and of what"},
      {"paper", &ResultSpec::paper, "authors and year"},
      {"note", &ResultSpec::note, "what a reader of the verdict should know"},
      {"cost", &ResultSpec::cost, "what the paper says it cost"},
      {"seeds", &ResultSpec::seeds, "of each arm at full scale"},
      {"quick_seeds", &ResultSpec::quick_seeds, "of each arm at quick scale"},
      {"quick_arms", &ResultSpec::quick_arms, "the arms that run at quick scale; all where it is left out"},
      {"needs_full", &ResultSpec::needs_full,
       "why quick scale can decide none of the claims; --all then leaves the result out"},
      {"unlearned", &ResultSpec::unlearned,
       "runs that learned nothing count too: the claims are about costs, or the paper is no better than the baseline"},
  };
  return keys;
}

const std::vector<Key<DynamicSettings>>& dynamic_keys() {
  static const std::vector<Key<DynamicSettings>> keys = {
      {"rates", &DynamicSettings::rates, "--rate: the best pair is chosen on validation data, then tested once"},
      {"decays", &DynamicSettings::decays, "--decay, likewise"},
      {"segment", &DynamicSettings::segment, "--segment"},
      {"columns", &DynamicSettings::columns, "--columns"},
  };
  return keys;
}

const std::vector<Key<Sweep>>& sweep_keys() {
  static const std::vector<Key<Sweep>> keys = {
      {"higher", &Sweep::higher, "the highest value is the best; else the lowest"},
      {"seeds", &Sweep::seeds, "of every point"},
      {"first_seed", &Sweep::first_seed, "the first of them: none that is judged"},
      {"keep", &Sweep::keep, "key=value: an arm that has this value is about it, and keeps it"},
  };
  return keys;
}

const std::vector<Key<SweepCase>>& case_keys() {
  static const std::vector<Key<SweepCase>> keys = {
      {"where", &SweepCase::where, "key=value: these are the arms that read this option and have this value"},
  };
  return keys;
}

const std::vector<Key<Claim>>& claim_keys() {
  static const std::vector<Key<Claim>> keys = {
      {"says", &Claim::says, "what the paper says, in a sentence"},
      {"missing", &Claim::missing, "why it cannot be run: no data, no method; it then needs no rule"},
      {"needs_full", &Claim::needs_full, "why quick scale cannot decide it: its runs are then no evidence"},
      {"ours", &Claim::ours, "our own question: it is counted and corrected apart from the paper's claims"},
      {"counted_in", &Claim::counted_in,
       "the result of the same folder that has this claim on the same runs: it is counted and corrected there, once"},
      {"show", &Claim::show, "the arms of the atlas' row; those of the trend where it is left out"},
  };
  return keys;
}

const std::vector<Key<Rule>>& rule_keys() {
  static const std::vector<Key<Rule>> keys = {
      {"kind", &Rule::kind, "what must hold, see the table below"},
      {"arms", &Rule::arms, "the arms that must meet the rule"},
      {"than", &Rule::than, "the arms that they are compared with"},
      {"low", &Rule::low, "the lower bound"},
      {"high", &Rule::high, "the upper bound"},
      {"share", &Rule::share,
       "how many of the seeds must meet the bound, from 0 to 1: 0.8 is four of five; without it the mean over the "
       "seeds "
       "must meet it"},
      {"margin", &Rule::margin, "a distance, see the table below"},
      {"percent", &Rule::percent,
       "the same distance in per cent: of the paper's value (within), of the smallest mean (spread), else of the other "
       "mean"},
      {"p", &Rule::p, "Welch's two-sided p must be below this; 0, the default, asks for no test"},
      {"trend", &Rule::trend, "the direction of this rule is the direction of the claim"},
  };
  return keys;
}

void require_arms(const std::vector<std::string>& given, const ResultSpec& spec, const std::string& where) {
  for (const std::string& arm : given)
    if (std::find(spec.arms.begin(), spec.arms.end(), arm) == spec.arms.end())
      refuse_name(where, "arm", arm, spec.arms);
}

/// A score of a split must be one that tasks have: a misspelt one would be missing in every run, after hours. In
/// result.json it lies in a part ("best.test_mse").
void require_score(const std::string& metric, const std::string& place) {
  std::string_view score = metric;
  score.remove_prefix(score.rfind('.') + 1);
  for (const std::string_view split : {"validation_", "test_"}) {
    if (!score.starts_with(split)) continue;
    score.remove_prefix(split.size());
    std::vector<std::string> known = all_names<Metric>();
    known.emplace_back("loss");
    if (std::find(known.begin(), known.end(), score) == known.end())
      refuse_name(place, "score of a split", std::string(score), known);
    return;
  }
}

/// What one rule says must make sense together.
void require_meaning(const Rule& rule, const Claim& claim, const std::string& place) {
  const std::string_view kind = name_of(rule.kind);
  const MeasureHow how = rule.measure.how;
  const bool ordered = rule.kind == RuleKind::falling || rule.kind == RuleKind::rising;
  const bool coupled = rule.kind == RuleKind::widening || rule.kind == RuleKind::narrowing;
  const bool best_of_curve = how == MeasureHow::lowest || how == MeasureHow::highest || how == MeasureHow::reach;
  require_score(rule.measure.metric, place);
  const std::size_t fewest = ordered || coupled || rule.kind == RuleKind::spread ? 2 : 1;
  if (rule.arms.size() < fewest) refuse("config", "{}: {} needs arms, at least {}", place, kind, fewest);
  if (takes_others(rule.kind) == rule.than.empty())
    refuse("config",
           "{}: than belongs to less, greater, near, ratio, lowest, highest, widening and narrowing, and they "
           "need it; this is {}",
           place, kind);
  if (coupled && rule.than.size() != rule.arms.size())
    refuse("config", "{}: {} needs one of than for each of its {} arms, got {}", place, kind, rule.arms.size(),
           rule.than.size());
  if (rule.margin != 0 && rule.percent != 0) refuse("config", "{}: give margin or percent, not both", place);
  if (rule.trend && !rule.has_sign())
    refuse("config", "{}: only a rule with a direction can be a trend, {} has none", place, kind);
  if (rule.p > 0 && rule.kind != RuleKind::less && rule.kind != RuleKind::greater)
    refuse("config", "{}: p belongs to less and greater; this is {}", place, kind);
  if (best_of_curve && rule.measure.metric.starts_with("test"))
    refuse("config", "{}: {} of {} chooses on test data", place, name_of(how), rule.measure.metric);
  if (rule.kind == RuleKind::within)
    for (const std::string& arm : rule.arms)
      if (!claim.values.contains(arm)) refuse("config", "{}: the claim's values have none of {}", place, arm);
}

[[noreturn]] void refuse_key(const std::string& where, const std::string& table, const std::string& name,
                             std::vector<std::string> names) {
  add_names(measure_keys(), names);
  refuse_name(where, "key of " + table, name, names);
}

Rule read_rule(const toml::node& node, const ResultSpec& spec, const Claim& claim, const std::string& file) {
  const std::string place = at_line(file, node.source());
  const toml::table* table = node.as_table();
  if (table == nullptr) refuse("config", "{}: rules are written as [[result.claim.rule]]", place);
  Rule rule;
  rule.measure = claim.measure;
  for (const auto& [key, value] : *table) {
    const std::string name(key.str()), where = at_line(file, key.source());
    if (assign(rule_keys(), rule, name, value, where) || assign(measure_keys(), rule.measure, name, value, where))
      continue;
    std::vector<std::string> names;
    add_names(rule_keys(), names);
    refuse_key(where, "[[result.claim.rule]]", name, names);
  }
  if (!table->contains("kind"))
    refuse("config", "{}: a rule needs a kind: {}", place, fmt::join(all_names<RuleKind>(), ", "));
  require_arms(rule.named_arms(), spec, place);
  require_meaning(rule, claim, place);
  return rule;
}

void read_values(const toml::node& node, const ResultSpec& spec, Claim& claim, const std::string& where) {
  const toml::table* table = node.as_table();
  if (table == nullptr) refuse("config", "{}: values must be a table of numbers by arm", where);
  for (const auto& [arm, value] : *table) {
    if (claim.missing.empty()) require_arms({std::string(arm.str())}, spec, where);
    if (!convert(value, claim.values[std::string(arm.str())]))
      refuse("config", "{}: the value of {} must be a number, got {}", where, arm.str(), kind_text(value));
  }
}

/// The rules come last: they need the rest.
Claim read_claim(const toml::node& node, const ResultSpec& spec, const std::string& file) {
  const std::string place = at_line(file, node.source());
  const toml::table* table = node.as_table();
  if (table == nullptr) refuse("config", "{}: claims are written as [[result.claim]]", place);
  Claim claim;
  claim.measure = spec.measure;
  for (const auto& [key, value] : *table) {
    const std::string name(key.str()), where = at_line(file, key.source());
    if (name == "rule" || name == "values" || assign(claim_keys(), claim, name, value, where) ||
        assign(measure_keys(), claim.measure, name, value, where))
      continue;
    std::vector<std::string> names = {"values", "rule"};
    add_names(claim_keys(), names);
    refuse_key(where, "[[result.claim]]", name, names);
  }
  if (const toml::node* values = table->get("values"))
    read_values(*values, spec, claim, at_line(file, values->source()));
  require_arms(claim.show, spec, place);
  if (const toml::array* rules = (*table)["rule"].as_array())
    for (const toml::node& rule : *rules) claim.rules.push_back(read_rule(rule, spec, claim, file));
  if (claim.says.empty()) refuse("config", "{}: [[result.claim]] needs what it says", place);
  if (claim.rules.empty() == claim.missing.empty())
    refuse("config", "{}: [[result.claim]] needs a [[result.claim.rule]], or why it is missing", place);
  if (claim.missing.empty() && claim.measure.metric.empty())
    refuse("config", "{}: [result] or [[result.claim]] needs a metric", place);
  return claim;
}

/// The values of each option, which must be a list.
void read_grid(const toml::node& node, SweepGrid& grid, const std::string& file) {
  if (!node.is_table()) refuse("config", "{}: grid must be a table of lists", at_line(file, node.source()));
  for (const auto& [option, value] : values_under(*node.as_table())) {
    const toml::array* list = value->as_array();
    if (list == nullptr || list->empty())
      refuse("config", "{}: {} of a grid must be a list of values, got {}", at_line(file, value->source()), option,
             kind_text(*value));
    std::vector<std::string> texts;
    for (const toml::node& entry : *list) texts.push_back(value_text(entry));
    grid.emplace_back(option, texts);
  }
}

/// Other values for the arms that have a value.
SweepCase read_case(const toml::node& node, const std::string& file) {
  const std::string place = at_line(file, node.source());
  const toml::table* table = node.as_table();
  if (table == nullptr) refuse("config", "{}: other grids are written as [[result.sweep.instead]]", place);
  SweepCase one;
  for (const auto& [key, value] : *table) {
    const std::string name(key.str()), where = at_line(file, key.source());
    if (name == "grid")
      read_grid(value, one.grid, file);
    else if (!assign(case_keys(), one, name, value, where))
      refuse_name(where, "key of [[result.sweep.instead]]", name, {"where", "grid"});
  }
  if (one.where.find('=') == std::string::npos || one.grid.empty())
    refuse("config", "{}: [[result.sweep.instead]] needs where = \"key=value\" and a grid", place);
  return one;
}

/// A case changes values of the grid, and adds no option to it.
void require_known_options(const Sweep& sweep, const std::string& place) {
  std::vector<std::string> known;
  for (const auto& [option, values] : sweep.grid) known.push_back(option);
  for (const SweepCase& one : sweep.instead)
    for (const auto& [option, values] : one.grid)
      if (std::find(known.begin(), known.end(), option) == known.end())
        refuse_name(place, "option of the grid", option, known);
}

void read_sweep(const toml::node& node, Sweep& sweep, const std::string& file) {
  const std::string place = at_line(file, node.source());
  const toml::table* table = node.as_table();
  if (table == nullptr) refuse("config", "{}: a sweep is written as [result.sweep]", place);
  for (const auto& [key, value] : *table) {
    const std::string name(key.str()), where = at_line(file, key.source());
    if (name == "grid") {
      read_grid(value, sweep.grid, file);
    } else if (name == "instead" && value.is_array()) {
      for (const toml::node& one : *value.as_array()) sweep.instead.push_back(read_case(one, file));
    } else if (!assign(sweep_keys(), sweep, name, value, where) &&
               !assign(measure_keys(), sweep.measure, name, value, where)) {
      std::vector<std::string> names = {"grid", "instead"};
      add_names(sweep_keys(), names);
      refuse_key(where, "[result.sweep]", name, names);
    }
  }
  if (sweep.measure.how == MeasureHow::dynamic)
    refuse("config", "{}: a sweep cannot choose by a dynamic evaluation, which looks at test data", place);
  if (sweep.grid.empty() || sweep.measure.metric.empty())
    refuse("config", "{}: [result.sweep] needs a metric and a [result.sweep.grid]", place);
  require_score(sweep.measure.metric, place);
  if (sweep.measure.metric.find("test") != std::string::npos)
    refuse("config", "{}: a sweep by {} chooses on test data", place, sweep.measure.metric);
  require_known_options(sweep, place);
}

void read_dynamic(const toml::node& node, DynamicSettings& dynamic, const std::string& file) {
  const toml::table* table = node.as_table();
  if (table == nullptr) refuse("config", "{}: written as [result.dynamic]", at_line(file, node.source()));
  for (const auto& [key, value] : *table) {
    const std::string name(key.str()), where = at_line(file, key.source());
    if (assign(dynamic_keys(), dynamic, name, value, where)) continue;
    std::vector<std::string> names;
    add_names(dynamic_keys(), names);
    refuse_name(where, "key of [result.dynamic]", name, names);
  }
}

/// Everything of the table but its claims, which need the rest.
void read_entries(const toml::table& table, ResultSpec& spec, const std::string& file) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str()), where = at_line(file, key.source());
    if (name == "claim") continue;
    if (name == "quick") {
      if (!node.is_table()) refuse("config", "{}: quick must be a table of options, got {}", where, kind_text(node));
      for (const auto& [option, value] : values_under(*node.as_table()))
        spec.quick.push_back(option + "=" + value_text(*value));
    } else if (name == "sweep") {
      read_sweep(node, spec.sweep, file);
    } else if (name == "dynamic") {
      read_dynamic(node, spec.dynamic, file);
    } else if (!assign(result_keys(), spec, name, node, where) &&
               !assign(measure_keys(), spec.measure, name, node, where)) {
      std::vector<std::string> names = {"quick", "sweep", "dynamic", "claim"};
      add_names(result_keys(), names);
      refuse_key(where, "[result]", name, names);
    }
  }
  require_arms(spec.quick_arms, spec, file);
}

std::vector<std::string> arm_names(const toml::table& document) {
  std::vector<std::string> names;
  if (const toml::array* arms = document["arm"].as_array())
    for (const toml::node& arm : *arms)
      if (const toml::table* table = arm.as_table()) names.push_back((*table)["name"].value_or(std::string()));
  return names;
}

}  // namespace

bool read_result(const std::filesystem::path& file, const std::string& name, ResultSpec& spec) {
  const std::string path = file.string();
  const toml::table document = parse_document(read_file(file), path);
  const toml::node* node = document.get("result");
  if (node == nullptr) return false;
  const toml::table* table = node->as_table();
  if (table == nullptr) refuse("config", "{}: result must be a table", at_line(path, node->source()));
  spec.name = name;
  spec.file = file;
  spec.arms = arm_names(document);
  read_entries(*table, spec, path);
  if (const toml::array* claims = (*table)["claim"].as_array())
    for (const toml::node& claim : *claims) spec.claims.push_back(read_claim(claim, spec, path));
  for (const auto& [key, text] : {std::pair("title", &spec.title), {"paper", &spec.paper}})
    if (text->empty()) refuse("config", "{}: [result] needs a {}", path, key);
  if (spec.claims.empty()) refuse("config", "{}: [result] needs a [[result.claim]]", path);
  return true;
}

std::string result_keys_markdown() {
  const std::string head = "| key | type | meaning |\n| --- | --- | --- |\n";
  return "`[result]`:\n\n" + head + keys_table(result_keys()) + keys_table(measure_keys()) +
         "| `quick` | table of options | what is smaller at quick scale |\n"
         "\n`[result.sweep]`, which also has `metric`, `measure` and `level`: the number that chooses\n\n" +
         head + keys_table(sweep_keys()) +
         "| `grid` | table of lists | values of each option: every arm is run with all combinations of those that it "
         "reads and does not keep, and full scale takes the best |\n"
         "\n`[[result.sweep.instead]]`: other values for some arms\n\n" +
         head + keys_table(case_keys()) +
         "| `grid` | table of lists | the values of these arms for options of the grid |\n"
         "\n`[result.dynamic]`: how the runs behind `measure = \"dynamic\"` are evaluated\n\n" +
         head + keys_table(dynamic_keys()) +
         "\n`[[result.claim]]`, which also has `metric`, `measure` and `level` (those of `[result]` where left "
         "out):\n\n" +
         head + keys_table(claim_keys()) + "| `values` | table of numbers | the paper's, by arm |\n" +
         "\n`[[result.claim.rule]]`, which also has them (those of the claim where left out):\n\n" + head +
         keys_table(rule_keys()) + "\nWhat each kind asks of the means over the seeds:\n\n" + rule_kinds_markdown();
}

}  // namespace throughtime
