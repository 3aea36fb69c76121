#include "tasks/registry.h"

#include "core/registry.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

const Registry<TaskType>& registry() {
  static const Registry<TaskType> tasks(
      "task", {add_task(), copy_task(), recall_task(), cycle_world_task(), stochastic_world_task(), mnist_task(),
               cifar10_task(), text_task(), series_task(), point_process_task()});
  return tasks;
}

}  // namespace

std::vector<const TaskType*> all_tasks() { return registry().all(); }
const TaskType& find_task(const std::string& name) { return registry().find(name); }

std::unique_ptr<Task> make_task(const TaskConfig& config, std::uint64_t seed) {
  return find_task(config.name).make(config, seed);
}

HeldOut give_back_validation(TaskConfig& config) {
  const TaskType& type = find_task(config.name);
  return type.give_back == nullptr ? HeldOut::kept : type.give_back(config);
}

}  // namespace throughtime
