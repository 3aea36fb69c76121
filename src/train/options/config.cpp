#include "train/options/config.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "core/files.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "train/options/assign.h"
#include "train/options/options.h"
#include "train/options/toml_document.h"

namespace throughtime {

struct ConfigArm {
  std::string name;
  toml::table overrides;
};

namespace {

void require_one_or_each(const std::string& where, const char* key, std::size_t entries, int layers) {
  if (entries != 1 && entries != elements(layers))
    refuse("config", "{}: {} must have one entry, or one for each of the {} layers (model.layers), got {}", where, key,
           layers, entries);
}

void check_together(const RunConfig& config, const std::string& where) {
  require_one_or_each(where, "model.cell", config.model.cell.size(), config.model.layers);
  require_one_or_each(where, "model.hidden", config.model.hidden.size(), config.model.layers);
  if (config.train.best_by != TrainOptions().best_by && !config.train.validates())
    refuse("config", "{}: train.best_by = \"{}\" needs validations to choose by: set train.evaluate_every, such as 100",
           where, config.train.best_by);
  if (config.train.evaluate_every > 0 && config.train.evaluate_epochs > 0)
    refuse(
        "config",
        "{}: train.evaluate_every = {} and train.evaluate_epochs = {} both say when to validate; set one of them to 0",
        where, config.train.evaluate_every, config.train.evaluate_epochs);
}

/// A run's name is a path below runs/ (FILE/ARM): it must not lead out of there.
void require_inner_name(const std::string& name, const std::string& where) {
  const std::filesystem::path path(name);
  const bool inside = path.is_relative() && std::ranges::none_of(path, [](const std::filesystem::path& part) {
                        return part == ".." || part == "." || part.empty();
                      });
  if (!inside)
    refuse("config",
           "{}: the run's name '{}' leads out of runs/: names (run.name, and that of an arm) are no paths; "
           "run.directory takes one",
           where, name);
}

constexpr const char* arm_key = "arm";
constexpr const char* result_key = "result";  // of reproduce; training has no use for it

/// Takes the `[[arm]]` entries out of a document.
std::vector<ConfigArm> take_arms(toml::table& document, const std::string& where) {
  std::vector<ConfigArm> arms;
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
    ConfigArm arm{name->as_string()->get(), *table};
    for (const ConfigArm& other : arms)
      if (other.name == arm.name)
        refuse("config", "{}: there are two arms named '{}'", at_line(where, node.source()), arm.name);
    arm.overrides.erase("name");
    arms.push_back(std::move(arm));
  }
  document.erase(arm_key);
  return arms;
}

}  // namespace

struct ConfigFile::Parts {
  std::string path;
  RunConfig base;
  std::vector<ConfigArm> arms;
};

ConfigFile::ConfigFile(const std::string& path) : parts_(std::make_unique<Parts>()) {
  if (const std::string trouble = file_trouble(path); !trouble.empty())
    refuse("config", "cannot read {}: {}; give a configuration file (TOML)", path, trouble);
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse("config", "cannot read {}: it cannot be opened", path);
  toml::table document = parse_document({std::istreambuf_iterator<char>(file), {}}, path);
  parts_->path = path;
  parts_->arms = take_arms(document, path);
  for (const ConfigArm& arm : parts_->arms) arms_.push_back(arm.name);
  if (document.erase(result_key) > 0 && arms_.empty())
    refuse("config", "{} says what a paper claims ([result]) and has no arms: there is nothing to train", path);
  assign_tables(parts_->base, document, path);
  if (parts_->base.run.name.empty()) parts_->base.run.name = std::filesystem::path(path).stem().string();
}

ConfigFile::~ConfigFile() = default;

const std::string& ConfigFile::one_arm(const std::string& arm) const {
  if (arm.empty() && !arms_.empty())
    refuse("config", "{} has {} arms; pick one with --arm NAME (the first is {})", parts_->path, arms_.size(),
           arms_.front());
  return arm;
}

RunConfig ConfigFile::config(const std::string& arm, const std::vector<std::string>& overrides) const {
  RunConfig config = parts_->base;
  const auto chosen = std::find(arms_.begin(), arms_.end(), arm);
  if (!arm.empty() && chosen == arms_.end()) refuse_name(parts_->path, "arm", arm, arms_);
  if (!arm.empty()) assign_tables(config, parts_->arms[chosen - arms_.begin()].overrides, parts_->path);
  const std::filesystem::path folder = std::filesystem::absolute(parts_->path).parent_path();
  make_paths_absolute(config, folder);
  if (!config.run.directory.empty()) config.run.directory = (folder / config.run.directory).string();
  for (const std::string& assignment : overrides) set_option(config, assignment, "--set");
  make_paths_absolute(config, std::filesystem::current_path());
  if (!arm.empty()) {
    config.run.name += "/" + arm;
    if (!config.run.directory.empty()) config.run.directory += "/" + arm;
  }
  check_together(config, parts_->path);
  require_inner_name(config.run.name, parts_->path);
  return config;
}

RunConfig parse_config(const std::string& text, const std::string& where) {
  RunConfig config;
  const toml::table document = parse_document(text, where);
  if (const auto arms = document.find(arm_key); arms != document.end())
    refuse("config", "{}: there are no arms here; throughtime train runs them", at_line(where, arms->first.source()));
  assign_tables(config, document, where);
  check_together(config, where);
  return config;
}

std::vector<RunConfig> load_files(const std::vector<std::string>& paths, const std::vector<std::string>& overrides,
                                  const std::string& arm, std::string_view command) {
  std::vector<RunConfig> configs;
  for (const std::string& path : paths) {
    const ConfigFile file(path);
    const bool all = arm.empty() && !file.arms().empty();
    for (const std::string& name : all ? file.arms() : std::vector<std::string>{arm})
      configs.push_back(file.config(name, overrides));
  }
  require_used(overrides, configs, command);
  return configs;
}

RunConfig load_config(const std::string& path, const std::vector<std::string>& overrides, const std::string& arm,
                      std::string_view command) {
  const ConfigFile file(path);
  const RunConfig config = file.config(file.one_arm(arm), overrides);
  require_used(overrides, {config}, command);
  return config;
}

void make_paths_absolute(RunConfig& config, const std::filesystem::path& base) {
  std::vector<std::string*> paths = {&config.task.data};
  for (const TaskType* task : all_tasks()) std::ranges::copy(task->paths(config.task), std::back_inserter(paths));
  for (std::string* path : paths)
    if (!path->empty() && *path != "-") *path = (base / *path).lexically_normal().string();  // "-" is stdin
}

std::string run_directory(const RunConfig& config) {
  return config.run.directory.empty() ? "runs/" + config.run.name : config.run.directory;
}

std::string resolved_config(const RunConfig& config) {
  RunConfig copy = config;  // options point into what may be changed
  const OptionList list = options_of(copy);
  // Tables of the other tasks and learners say nothing about this run.
  const auto of_another = [&](const Option& option) {
    const std::vector<std::string> own = {"task." + copy.task.name, "learner." + copy.learner.name};
    return std::ranges::count(option.table(), '.') > 0 && std::ranges::count(own, option.table()) == 0;
  };
  std::string text;
  std::string table;
  for (const Option& option : list.options()) {
    if (of_another(option)) continue;
    if (option.table() != table) {
      table = option.table();
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
    }
    text += fmt::format("{} = {}\n", option.name(), value_text(option));
  }
  return text;
}

}  // namespace throughtime
