#include "reproduce/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <variant>

#include "core/names.h"
#include "throughtime/error.h"
#include "train/files.h"
#include "train/toml_document.h"

namespace throughtime {
namespace {

/// One key of a table, declared once: its reading and its documentation come from it.
template <class Owner>
struct Key {
  using Field = std::variant<std::string Owner::*, double Owner::*, int Owner::*, bool Owner::*,
                             std::vector<std::string> Owner::*>;
  std::string name;
  Field field;
  std::string help;
  std::vector<std::string> (*names)() = nullptr;  // the texts that are known; null: any
};

const std::vector<Key<Measure>>& measure_keys() {
  static const std::vector<Key<Measure>> keys = {
      {"metric", &Measure::metric, "a curve of metrics.jsonl, or with measure = \"result\" a number of result.json"},
      {"measure", &Measure::how,
       "what is taken of the curve: its last value, the mean of its final tenth, its lowest, the first iteration that "
       "reaches the level (the last where none does), the share of the values after the first that are at or below it, the rise from the first to "
       "the final tenth",
       measure_names},
      {"level", &Measure::level, "of reach and share"},
  };
  return keys;
}

const std::vector<Key<ResultSpec>>& result_keys() {
  static const std::vector<Key<ResultSpec>> keys = {
      {"title", &ResultSpec::title, "figure or table, and of what"},
      {"paper", &ResultSpec::paper, "authors and year"},
      {"claim", &ResultSpec::claim, "what the paper says, in a sentence"},
      {"note", &ResultSpec::note, "what a reader of the verdict should know"},
      {"cost", &ResultSpec::cost, "what the paper says it cost"},
      {"seeds", &ResultSpec::seeds, "of each arm at full scale"},
      {"quick_seeds", &ResultSpec::quick_seeds, "of each arm at quick scale"},
      {"quick_arms", &ResultSpec::quick_arms, "the arms that run at quick scale; all where it is left out"},
  };
  return keys;
}

const std::vector<Key<Rule>>& rule_keys() {
  static const std::vector<Key<Rule>> keys = {
      {"kind", &Rule::kind, "what must hold", rule_names},
      {"arms", &Rule::arms, "each of these; falling, rising: in this order"},
      {"than", &Rule::than, "less, greater: than each of these"},
      {"low", &Rule::low, "above, between"},
      {"high", &Rule::high, "below, between"},
      {"share", &Rule::share, "below, above, between: of the seeds, each for itself; 0: the mean over the seeds"},
      {"margin", &Rule::margin,
       "less, greater: by at least this, negative: forgiven; falling, rising: forgiven; within: the distance"},
      {"p", &Rule::p, "less, greater: Welch's two-sided p is below it; 0: not asked"},
      {"trend", &Rule::trend, "the sign of this comparison is the claim's direction"},
  };
  return keys;
}

struct KeyType {
  template <class Owner>
  std::string operator()(std::string Owner::*) const { return "text"; }
  template <class Owner>
  std::string operator()(double Owner::*) const { return "number"; }
  template <class Owner>
  std::string operator()(int Owner::*) const { return "integer, at least 1"; }
  template <class Owner>
  std::string operator()(bool Owner::*) const { return "true or false"; }
  template <class Owner>
  std::string operator()(std::vector<std::string> Owner::*) const { return "list of texts"; }
};

bool convert(const toml::node& node, std::string& out) {
  if (node.is_string()) out = node.as_string()->get();
  return node.is_string();
}
bool convert(const toml::node& node, double& out) {
  if (node.is_number()) out = *node.value<double>();
  return node.is_number();
}
bool convert(const toml::node& node, int& out) {
  out = node.is_integer() ? static_cast<int>(std::clamp<std::int64_t>(node.as_integer()->get(), 0, 1000000)) : 0;
  return out >= 1;
}
bool convert(const toml::node& node, bool& out) {
  if (node.is_boolean()) out = node.as_boolean()->get();
  return node.is_boolean();
}
bool convert(const toml::node& node, std::vector<std::string>& out) {
  const toml::array* list = node.as_array();
  return list != nullptr && std::all_of(list->begin(), list->end(), [&](const toml::node& entry) {
           return convert(entry, out.emplace_back());
         });
}

/// Reads one entry into the field of its key; false where no key has that name.
template <class Owner>
bool assign(const std::vector<Key<Owner>>& keys, Owner& owner, const std::string& name, const toml::node& node,
            const std::string& where) {
  const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key<Owner>& one) { return one.name == name; });
  if (key == keys.end()) return false;
  const std::string type = std::visit(KeyType{}, key->field);
  if (!std::visit([&](auto field) { return convert(node, owner.*field); }, key->field))
    refuse("config", "{}: {} must be a value of type {}, got {}", where, name, type, kind_text(node));
  if (key->names == nullptr) return true;
  const std::string& text = owner.*std::get<std::string Owner::*>(key->field);
  const std::vector<std::string> known = key->names();
  if (std::find(known.begin(), known.end(), text) == known.end()) refuse_name(where, name, text, known);
  return true;
}

template <class Owner>
void add_names(const std::vector<Key<Owner>>& keys, std::vector<std::string>& names) {
  for (const Key<Owner>& key : keys) names.push_back(key.name);
}

void require_arms(const std::vector<std::string>& given, const ResultSpec& spec, const std::string& where) {
  for (const std::string& arm : given)
    if (std::find(spec.arms.begin(), spec.arms.end(), arm) == spec.arms.end()) refuse_name(where, "arm", arm, spec.arms);
}

/// `[result.quick]` as assignments: "train.iterations=500".
void flatten(const toml::table& table, const std::string& prefix, std::vector<std::string>& assignments) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      flatten(*inner, name, assignments);
      continue;
    }
    std::ostringstream text;
    node.visit([&](const auto& value) { text << value; });
    assignments.push_back(name + "=" + text.str());
  }
}

Rule read_rule(const toml::node& node, const ResultSpec& spec, const std::string& file) {
  const std::string place = at_line(file, node.source());
  const toml::table* table = node.as_table();
  if (table == nullptr) refuse("config", "{}: rules are written as [[result.rule]]", place);
  Rule rule;
  rule.measure = spec.measure;
  for (const auto& [key, value] : *table) {
    const std::string name(key.str()), where = at_line(file, key.source());
    if (assign(rule_keys(), rule, name, value, where) || assign(measure_keys(), rule.measure, name, value, where))
      continue;
    std::vector<std::string> names;
    add_names(rule_keys(), names);
    add_names(measure_keys(), names);
    refuse_name(where, "key of [[result.rule]]", name, names);
  }
  require_arms(rule.arms, spec, place);
  require_arms(rule.than, spec, place);
  const bool ordered = rule.kind == "falling" || rule.kind == "rising";
  if (rule.kind.empty()) refuse("config", "{}: a rule needs a kind: {}", place, fmt::join(rule_names(), ", "));
  if (rule.arms.size() < (ordered ? 2u : 1u))
    refuse("config", "{}: {} needs arms, at least {}", place, rule.kind, ordered ? 2 : 1);
  if ((rule.kind == "less" || rule.kind == "greater") == rule.than.empty())
    refuse("config", "{}: than belongs to less and greater, and they need it; this is {}", place, rule.kind);
  if (rule.trend && !rule.compares_arms())
    refuse("config", "{}: only a rule that compares arms can be a trend, {} does not", place, rule.kind);
  if (rule.kind == "within")
    for (const std::string& arm : rule.arms)
      if (!spec.values.contains(arm)) refuse("config", "{}: [result.values] has no value of {}", place, arm);
  return rule;
}

void read_values(const toml::node& node, ResultSpec& spec, const std::string& where) {
  const toml::table* table = node.as_table();
  if (table == nullptr) refuse("config", "{}: values must be a table of numbers by arm", where);
  for (const auto& [arm, value] : *table) {
    require_arms({std::string(arm.str())}, spec, where);
    if (!convert(value, spec.values[std::string(arm.str())]))
      refuse("config", "{}: the value of {} must be a number, got {}", where, arm.str(), kind_text(value));
  }
}

/// Everything of the table but its rules, which need the rest.
void read_entries(const toml::table& table, ResultSpec& spec, const std::string& file) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str()), where = at_line(file, key.source());
    if (name == "rule") continue;
    if (name == "values") {
      read_values(node, spec, where);
    } else if (name == "quick") {
      if (!node.is_table()) refuse("config", "{}: quick must be a table of options, got {}", where, kind_text(node));
      flatten(*node.as_table(), "", spec.quick);
    } else if (!assign(result_keys(), spec, name, node, where) &&
               !assign(measure_keys(), spec.measure, name, node, where)) {
      std::vector<std::string> names;
      add_names(result_keys(), names);
      add_names(measure_keys(), names);
      names.insert(names.end(), {"values", "quick", "rule"});
      refuse_name(where, "key of [result]", name, names);
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

template <class Owner>
std::string keys_table(const std::vector<Key<Owner>>& keys) {
  std::string text;
  for (const Key<Owner>& key : keys)
    text += fmt::format("| `{}` | {}{} | {} |\n", key.name, std::visit(KeyType{}, key.field),
                        key.names == nullptr ? "" : fmt::format(": {}", fmt::join(key.names(), ", ")), key.help);
  return text;
}

}  // namespace

const std::vector<std::string>& ResultSpec::arms_at(Scale scale) const {
  return scale == Scale::quick && !quick_arms.empty() ? quick_arms : arms;
}

std::vector<Measure> ResultSpec::measures() const {
  std::vector<Measure> all = {measure};
  for (const Rule& rule : rules)
    if (std::none_of(all.begin(), all.end(), [&](const Measure& one) { return one.key() == rule.measure.key(); }))
      all.push_back(rule.measure);
  return all;
}

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
  if (spec.arms.empty()) refuse("config", "{}: [result] needs the arms that it compares ([[arm]])", path);
  read_entries(*table, spec, path);
  if (const toml::array* rules = (*table)["rule"].as_array())
    for (const toml::node& rule : *rules) spec.rules.push_back(read_rule(rule, spec, path));
  for (const auto& [key, text] : {std::pair("title", &spec.title), {"paper", &spec.paper}, {"claim", &spec.claim},
                                  {"metric", &spec.measure.metric}})
    if (text->empty()) refuse("config", "{}: [result] needs a {}", path, key);
  if (std::none_of(spec.rules.begin(), spec.rules.end(), [](const Rule& rule) { return rule.trend; }))
    refuse("config", "{}: [result] needs a [[result.rule]] that compares arms with trend = true", path);
  return true;
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

std::string result_keys_markdown() {
  const std::string head = "| key | type | meaning |\n| --- | --- | --- |\n";
  return "`[result]`:\n\n" + head + keys_table(result_keys()) + keys_table(measure_keys()) +
         "| `values` | table of numbers | the paper's, by arm |\n"
         "| `quick` | table of options | what is smaller at quick scale |\n"
         "\n`[[result.rule]]`, which also has `metric`, `measure` and `level` (those of `[result]` where left out):\n\n" +
         head + keys_table(rule_keys());
}

}  // namespace throughtime
