#include "core/registry.h"
#include "tasks/add.h"
#include "throughtime/error.h"
#include "throughtime/task.h"

namespace throughtime {
namespace {

constexpr int split_shift = 46;  // Random counts 48 bits of iterations: the upper two tell the splits apart

const Registry<TaskType>& registry() {
  static const Registry<TaskType> tasks("task", {
      add_task(),
  });
  return tasks;
}

}  // namespace

std::vector<const TaskType*> all_tasks() { return registry().all(); }
const TaskType& find_task(const std::string& name) { return registry().find(name); }

std::unique_ptr<Task> make_task(const TaskConfig& config, std::uint64_t seed) {
  return find_task(config.name).make(config, seed);
}

std::uint64_t split_iteration(Split split, std::uint64_t iteration) {
  if (iteration >> split_shift != 0)
    refuse("task", "a split has 2^{} batches, batch {} does not exist", split_shift, iteration);
  return iteration | static_cast<std::uint64_t>(split) << split_shift;
}

}  // namespace throughtime
