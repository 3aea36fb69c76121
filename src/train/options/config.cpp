#include "train/options/config.h"

#include <fmt/ranges.h>
#include <sched.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <thread>

#include "core/names.h"
#include "throughtime/error.h"
#include "train/options/options.h"
#include "train/options/toml_document.h"

namespace throughtime {
namespace {

/// Puts a TOML value into the field of an option, or says what would be right.
class Assignment {
 public:
  Assignment(const Option& option, RunConfig& config, const toml::node& node, const std::string& where)
      : option_(option), config_(config), node_(node), where_(where) {}

  template <class T>
  void operator()(FieldOf<T> field) const {
    convert(node_, field(config_));
  }

 private:
  [[noreturn]] void refuse_type(const toml::node& node) const {
    refuse("config", "{}: {} must be {}, got {}", where_, option_.key, type_with_article(), kind_text(node));
  }

  std::string type_with_article() const {
    const std::string type = type_name(option_);
    if (type.starts_with("true")) return type;
    return (type.starts_with("integer") ? "an " : "a ") + type;
  }

  void check_range(double value, const toml::node& node) const {
    if (option_.range.holds(value)) return;
    const std::string range = option_.range.text();
    refuse("config", "{}: {} must be {}, got {}", where_, option_.key, range.empty() ? "finite" : range,
           kind_text(node));
  }

  void convert(const toml::node& node, bool& out) const {
    if (!node.is_boolean()) refuse_type(node);
    out = node.as_boolean()->get();
  }

  template <std::integral T>
  void convert(const toml::node& node, T& out) const {
    if (!node.is_integer()) refuse_type(node);
    const std::int64_t value = node.as_integer()->get();
    check_range(static_cast<double>(value), node);
    if (!std::in_range<T>(value))
      refuse("config", "{}: {} must be at most {}, got {}", where_, option_.key, std::numeric_limits<T>::max(), value);
    out = static_cast<T>(value);
  }

  void convert(const toml::node& node, double& out) const {
    const std::optional<double> value = node.value<double>();
    if (!node.is_number() || !value) refuse_type(node);
    check_range(*value, node);
    out = *value;
  }

  void convert(const toml::node& node, std::string& out) const {
    if (!node.is_string()) refuse_type(node);
    out = node.as_string()->get();
    if (option_.names == nullptr) return;
    const std::vector<std::string> names = option_.names();
    if (std::find(names.begin(), names.end(), out) == names.end()) refuse_name(where_, option_.key, out, names);
  }

  template <Choice Enum>
  void convert(const toml::node& node, Enum& out) const {
    std::string name;
    convert(node, name);
    out = choice_of<Enum>(name, "config", option_.key);
  }

  /// A single value is a list of one.
  template <class T>
  void convert(const toml::node& node, std::vector<T>& out) const {
    std::vector<T> values;
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& entry : *list) convert(entry, values.emplace_back());
    } else {
      convert(node, values.emplace_back());
    }
    out = std::move(values);
  }

  const Option& option_;
  RunConfig& config_;
  const toml::node& node_;
  const std::string& where_;
};

void assign(const std::string& key, RunConfig& config, const toml::node& node, const std::string& where) {
  const Option& option = find_option(key, where);
  std::visit(Assignment(option, config, node, where), option.field);
}

bool takes_text(const Option& option) { return type_name(option).starts_with("text"); }

/// The value of `--set`: TOML where it is TOML, else the text as it stands, so that names need no quotes.
toml::table parse_value(const Option& option, const std::string& text) {
  try {
    toml::table parsed = toml::parse("value = " + text);
    const toml::node* value = parsed.get("value");
    const bool fits = value != nullptr && (!takes_text(option) || value->is_string() || value->is_array());
    if (parsed.size() == 1 && fits) return parsed;
  } catch (const toml::parse_error&) {
  }
  return toml::table{{"value", text}};
}

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const Option& option : all_options())
    if (names.empty() || names.back() != option.table()) names.push_back(option.table());
  return names;
}

template <class T>
const T& of_layer(const std::vector<T>& list, int layer) {
  return list.size() == 1 ? list.front() : list[static_cast<std::size_t>(layer)];
}

void require_one_or_each(const std::string& where, const char* key, std::size_t entries, int layers) {
  if (entries != 1 && entries != static_cast<std::size_t>(layers))
    refuse("config", "{}: {} must have one entry, or one for each of the {} layers (model.layers), got {}", where, key,
           layers, entries);
}

void check_together(const RunConfig& config, const std::string& where) {
  require_one_or_each(where, "model.cell", config.model.cell.size(), config.model.layers);
  require_one_or_each(where, "model.hidden", config.model.hidden.size(), config.model.layers);
}

constexpr const char* arm_key = "arm";
constexpr const char* result_key = "result";  // of reproduce; training has no use for it

/// Assigns every key of every table of a document.
void assign_tables(RunConfig& config, const toml::table& document, const std::string& where) {
  const std::vector<std::string> tables = table_names();
  for (const auto& [table_key, table_node] : document) {
    const std::string name(table_key.str());
    const std::string place = at_line(where, table_key.source());
    const toml::table* table = table_node.as_table();
    if (std::find(tables.begin(), tables.end(), name) == tables.end()) refuse_name(place, "table", name, tables);
    if (table == nullptr) refuse("config", "{}: {} must be a table, got {}", place, name, kind_text(table_node));
    for (const auto& [key, node] : *table)
      assign(name + "." + std::string(key.str()), config, node, at_line(where, key.source()));
  }
}

struct Arm {
  std::string name;
  toml::table overrides;
};

/// Takes the `[[arm]]` entries out of a document.
std::vector<Arm> take_arms(toml::table& document, const std::string& where) {
  std::vector<Arm> arms;
  const auto found = document.find(arm_key);
  if (found == document.end()) return arms;
  const std::string place = at_line(where, found->first.source());
  const toml::array* entries = found->second.as_array();
  if (entries == nullptr || entries->empty()) refuse("config", "{}: arms are written as [[arm]]", place);
  for (const toml::node& node : *entries) {
    const toml::table* table = node.as_table();
    const toml::node* name = table == nullptr ? nullptr : table->get("name");
    if (name == nullptr || !name->is_string() || name->as_string()->get().empty())
      refuse("config", "{}: an arm needs a name, such as name = \"first\"", at_line(where, node.source()));
    Arm arm{name->as_string()->get(), *table};
    for (const Arm& other : arms)
      if (other.name == arm.name)
        refuse("config", "{}: there are two arms named '{}'", at_line(where, node.source()), arm.name);
    arm.overrides.erase("name");
    arms.push_back(std::move(arm));
  }
  document.erase(arm_key);
  return arms;
}

void apply_overrides(RunConfig& config, const std::vector<std::string>& overrides) {
  for (const std::string& assignment : overrides) set_option(config, assignment, "--set");
  make_paths_absolute(config, std::filesystem::current_path());
}

void add_arm_name(RunConfig& config, const std::string& arm) {
  config.run.name += "/" + arm;
  if (!config.run.directory.empty()) config.run.directory += "/" + arm;
}

}  // namespace

const Option& find_option(const std::string& key, const std::string& where) {
  std::vector<std::string> keys;
  for (const Option& option : all_options()) {
    if (option.key == key) return option;
    keys.push_back(option.key);
  }
  const std::string nearest = nearest_name(key, keys);
  refuse("config", "{}: unknown option '{}';{} `throughtime help options` lists them all", where, key,
         nearest.empty() ? "" : fmt::format(" did you mean '{}'?", nearest));
}

void set_option(RunConfig& config, const std::string& assignment, const std::string& where) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos)
    refuse("config", "{}: expected key=value, such as train.batch=64, got \"{}\"", where, assignment);
  const std::string key = assignment.substr(0, equals);
  const toml::table value = parse_value(find_option(key, where), assignment.substr(equals + 1));
  assign(key, config, *value.get("value"), where);
}

RunConfig parse_config(const std::string& text, const std::string& where) {
  RunConfig config;
  const toml::table document = parse_document(text, where);
  if (const auto arms = document.find(arm_key); arms != document.end())
    refuse("config", "{}: there are no arms here; throughtime train runs them", at_line(where, arms->first.source()));
  assign_tables(config, document, where);
  return config;
}

std::vector<RunConfig> load_arms(const std::string& path, const std::vector<std::string>& overrides,
                                 const std::string& arm) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) refuse("config", "cannot read {}: it is not a readable file", path);
  toml::table document = parse_document({std::istreambuf_iterator<char>(file), {}}, path);
  const std::vector<Arm> arms = take_arms(document, path);
  if (document.erase(result_key) > 0 && arms.empty())
    refuse("config", "{} says what a paper claims ([result]) and has no arms: there is nothing to train", path);
  RunConfig base;
  assign_tables(base, document, path);
  if (base.run.name.empty()) base.run.name = std::filesystem::path(path).stem().string();

  const auto finish = [&](RunConfig config) {
    make_paths_absolute(config, std::filesystem::absolute(path).parent_path());
    if (!config.run.directory.empty())
      config.run.directory = (std::filesystem::absolute(path).parent_path() / config.run.directory).string();
    return config;
  };
  std::vector<RunConfig> configs;
  std::vector<std::string> names;
  for (const Arm& entry : arms) {
    names.push_back(entry.name);
    if (!arm.empty() && entry.name != arm) continue;
    RunConfig config = base;
    assign_tables(config, entry.overrides, path);
    config = finish(config);
    apply_overrides(config, overrides);
    add_arm_name(config, entry.name);
    configs.push_back(config);
  }
  if (!arm.empty() && configs.empty()) refuse_name(path, "arm", arm, names);
  if (arms.empty()) {
    configs.push_back(finish(base));
    apply_overrides(configs.back(), overrides);
  }
  for (const RunConfig& config : configs) check_together(config, path);
  return configs;
}

RunConfig load_config(const std::string& path, const std::vector<std::string>& overrides, const std::string& arm) {
  const std::vector<RunConfig> configs = load_arms(path, overrides, arm);
  if (configs.size() > 1)
    refuse("config", "{} has {} arms; pick one with --arm NAME (the first is {})", path, configs.size(),
           configs.front().run.name);
  return configs.front();
}

void make_paths_absolute(RunConfig& config, const std::filesystem::path& base) {
  const auto resolve = [&](std::string& path) {
    if (!path.empty() && path != "-") path = (base / path).lexically_normal().string();  // "-" is stdin
  };
  for (std::string* path : {&config.task.data, &config.task.path, &config.task.target_path}) resolve(*path);
  for (std::string& path : config.task.files) resolve(path);
}

std::string run_directory(const RunConfig& config) {
  return config.run.directory.empty() ? "runs/" + config.run.name : config.run.directory;
}

std::string resolved_config(const RunConfig& config) {
  std::string text;
  std::string table;
  for (const Option& option : all_options()) {
    if (option.table() != table) {
      table = option.table();
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    }
    text += fmt::format("{} = {}\n", option.name(), value_text(option, config));
  }
  return text;
}

ModelConfig make_model_config(const ModelOptions& options, const Task& task) {
  return make_model_config(options, task.input(), task.head());
}

ModelConfig make_model_config(const ModelOptions& options, const InputConfig& input, const HeadConfig& head) {
  ModelConfig model;
  model.input = input;
  model.head = head;
  model.dropout = options.dropout;
  if (model.input.vocabulary > 0 && options.embedding > 0) {
    model.input.tokens = TokenInput::embedding;
    model.input.embedding = options.embedding;
  }
  model.input.encoder = options.encoder;
  model.head.hidden = options.head_hidden;
  model.head.tied = options.tied;
  for (int layer = 0; layer < options.layers; ++layer)
    model.layers.push_back({.cell = of_layer(options.cell, layer),
                            .hidden = of_layer(options.hidden, layer),
                            .options = options.cell_options});
  return model;
}

namespace {

/// Cores that this process may use: a launcher may have bound it to some of the machine's.
int cores_of_rank(const Communicator& ranks, int cores) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int bound = sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? CPU_COUNT(&allowed) : cores;
  return std::max(1, std::min(bound, cores / ranks.local_ranks()));
}

}  // namespace

EngineConfig make_engine_config(const RunOptions& options, std::shared_ptr<Communicator> ranks) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  EngineConfig engine;
  engine.name = options.engine;
  engine.threads = options.threads > 0 ? options.threads : ranks ? cores_of_rank(*ranks, cores) : cores;
  engine.communicator = std::move(ranks);
  return engine;
}

}  // namespace throughtime
