#pragma once

#include <string>
#include <vector>

#include "throughtime/task.h"

namespace throughtime {

// Each in the file of its name.
TaskType add_task();
TaskType copy_task();
TaskType recall_task();
TaskType cycle_world_task();
TaskType stochastic_world_task();
TaskType mnist_task();
TaskType cifar10_task();
TaskType text_task();
TaskType series_task();
TaskType point_process_task();

// The names that a field of TaskConfig may have.
std::vector<std::string> marker_names();
std::vector<std::string> generator_names();
std::vector<std::string> pixel_order_names();
std::vector<std::string> image_loss_names();
std::vector<std::string> corpus_names();
std::vector<std::string> text_unit_names();

/// TaskType::give_back of generated tasks.
HeldOut nothing_held_out(TaskConfig& config);

/// Key of the dropout masks of a batch: another one for every seed, split and batch.
std::uint64_t batch_mask_key(std::uint64_t seed, Split split, std::uint64_t iteration);

/// The same for random places (Task::make_positions).
std::uint64_t positions_mask_key(std::uint64_t seed, std::uint64_t draw);
/// Refuses a random place of more steps than a row of the training data has.
void require_long_data(std::string_view speaker, int steps, std::int64_t length);

/// Refuses an empty batch.
void require_rows(std::string_view speaker, int batch);

}  // namespace throughtime
