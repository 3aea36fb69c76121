#include "core/registry.h"

#include <utility>

#include "tasks/model_names.h"
#include "tasks/sequences/sequence_files.h"
#include "throughtime/error.h"
#include "throughtime/options.h"
#include "throughtime/task.h"

namespace throughtime {
namespace {

/// The fields of a task's struct that are paths.
template <class Config>
std::vector<std::string*> paths_of(Config& config) {
  std::vector<std::string*> paths;
  if constexpr (requires { config.data; }) paths.push_back(&config.data);
  if constexpr (requires { config.path; }) paths.push_back(&config.path);
  if constexpr (requires { config.target_path; }) paths.push_back(&config.target_path);
  if constexpr (requires { config.files; })
    for (std::string& file : config.files) paths.push_back(&file);
  return paths;
}

template <class Config>
std::string* data_of(Config& config) {
  if constexpr (requires { config.data; }) return &config.data;
  return nullptr;
}

template <class Config>
concept ReadsFiles = requires(Config config) {
  config.data;
}
|| requires(Config config) { config.path; };

/// The windows of a recording; what a generated task calls its length is another thing.
template <class Config>
int* window_of(Config& config) {
  if constexpr (ReadsFiles<Config> && requires { config.length; }) return &config.length;
  return nullptr;
}

/// The row of the task whose struct is that member of TaskConfig.
template <auto member>
TaskType task_row(const std::string& name, const std::string& description, Metric metric,
                  ModelNames (*names)(const std::string&, const Model&) = nullptr) {
  TaskType row{.name = name,
               .description = description,
               .metric = metric_name(metric),
               .describe = [](TaskConfig& all, OptionList& list) { describe(all.*member, list); },
               .make = [](const TaskConfig& all, std::uint64_t seed) { return make_task(all.*member, seed); },
               .paths = [](TaskConfig& all) { return paths_of(all.*member); },
               .data = [](TaskConfig& all) { return data_of(all.*member); },
               .window = [](TaskConfig& all) { return window_of(all.*member); },
               .names = names};
  if constexpr (requires(TaskConfig all) { give_back(all.*member); })
    row.give_back = [](TaskConfig& all) { return give_back(all.*member); };
  return row;
}

TaskType sequences_row() {
  TaskType row = task_row<&TaskConfig::sequences>(
      "sequences", "the class, or a number, of each of your own sequences (NPZ, CSV, or a folder of files)",
      Metric::accuracy, sequences_names);
  row.read_sequences = [](const TaskConfig& all, const std::vector<std::string>& inputs, const std::string& path) {
    return read_unlabelled(all.sequences, inputs, path);
  };
  return row;
}

std::vector<TaskType> rows() {
  return {
      task_row<&TaskConfig::add>("add", "sum of the two marked numbers of a sequence, asked for at its end",
                                 Metric::mse),
      task_row<&TaskConfig::copy>("copy", "repeat ten symbols after a wait of task.copy.length steps",
                                  Metric::cross_entropy),
      task_row<&TaskConfig::recall>("recall", "repeat each block of symbols of an unbroken stream", Metric::perplexity),
      task_row<&TaskConfig::cycle_world>(
          "cycle_world", "a bit that is 1 every task.cycle_world.period steps: say the next one", Metric::accuracy),
      task_row<&TaskConfig::stochastic_world>(
          "stochastic_world", "a bit whose odds depend on the inputs of two lags before", Metric::cross_entropy),
      task_row<&TaskConfig::mnist>(
          "mnist", "the class of a handwritten digit, read pixel by pixel (in order or permuted) or row by row",
          Metric::accuracy),
      task_row<&TaskConfig::cifar10>("cifar10", "the class of a photograph, read pixel by pixel", Metric::accuracy),
      task_row<&TaskConfig::text>("text", "the next word or character of Penn Treebank, WikiText-2, text8 or any text",
                                  Metric::perplexity, text_names),
      task_row<&TaskConfig::series>(
          "series", "your own recording (CSV, NPY, NPZ, WAV, raw float32): targets from inputs, now or later",
          Metric::mse, series_names),
      task_row<&TaskConfig::point_process>(
          "point_process", "mark and time of the next event: book orders, or your own times and marks (CSV)",
          Metric::nll, point_process_names),
      sequences_row(),
      task_row<&TaskConfig::arrays>("arrays", "arrays of a program (C, Python), or of NumPy's files", Metric::mse),
  };
}

const Registry<TaskType>& registry() {
  static const Registry<TaskType> tasks("task", rows());
  return tasks;
}

}  // namespace

std::vector<const TaskType*> all_tasks() { return registry().all(); }
const TaskType& find_task(const std::string& name) { return registry().find(name); }

void describe(TaskConfig& config, OptionList& list) {
  std::vector<std::string> readers;
  for (const TaskType* type : all_tasks())
    if (type->data(config) != nullptr) readers.push_back(type->name);
  list.add_name("name", config.name, "what to learn", registry().names());
  list.add("data", config.data, "directory of the data sets; empty: $THROUGHTIME_DATA, else data");
  list.used_by(UserKind::task, std::move(readers));
  for (const TaskType* type : all_tasks()) {
    const OptionList::Scope table(list, type->name, {{UserKind::task, {type->name}}});
    type->describe(config, list);
  }
}

std::unique_ptr<Task> make_task(const TaskConfig& config, std::uint64_t seed) {
  const TaskType& type = find_task(config.name);
  TaskConfig chosen = config;
  if (std::string* data = type.data(chosen); data != nullptr && data->empty()) *data = config.data;
  return type.make(chosen, seed);
}

HeldOut give_back_validation(TaskConfig& config) {
  const TaskType& type = find_task(config.name);
  return type.give_back == nullptr ? HeldOut::kept : type.give_back(config);
}

}  // namespace throughtime
