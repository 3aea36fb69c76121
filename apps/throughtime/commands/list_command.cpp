#include <fmt/format.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "terminal.h"
#include "throughtime/task.h"
#include "throughtime/throughtime.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

/// Rows of equal keys; the first is the name, the last a description where there is one.
using Listing = std::vector<Json>;

Listing list_cells() {
  Listing rows;
  for (const CellType* cell : all_cells())
    rows.push_back({{"name", cell->name},
                    {"gates", cell->shape.input_rows},
                    {"states", cell->shape.states},
                    {"description", cell->description}});
  return rows;
}

std::string target_text(TargetKind kind) {
  switch (kind) {
    case TargetKind::label_or_distribution:
      return "label or distribution";
    case TargetKind::label_and_interval:
      return "label and interval";
    case TargetKind::probabilities:
      return "values from 0 to 1";
    case TargetKind::values:
      break;
  }
  return "values";
}

Listing list_heads() {
  Listing rows;
  for (const HeadType* head : all_heads())
    rows.push_back({{"name", head->name}, {"target", target_text(head->target)}, {"description", head->description}});
  return rows;
}

Listing list_optimizers() {
  Listing rows;
  for (const OptimizerType* optimizer : all_optimizers())
    rows.push_back(
        {{"name", optimizer->name}, {"moments", optimizer->moments}, {"description", optimizer->description}});
  return rows;
}

Listing list_learners() {
  Listing rows;
  for (const LearnerType* learner : all_learners())
    rows.push_back({{"name", learner->name}, {"description", learner->description}});
  return rows;
}

Listing list_tasks() {
  Listing rows;
  for (const TaskType* task : all_tasks())
    rows.push_back({{"name", task->name}, {"metric", task->metric}, {"description", task->description}});
  return rows;
}

Listing list_engines() {
  Listing rows;
  for (const EngineType* engine : usable_engines())
    rows.push_back({{"name", engine->name}, {"description", engine->description}});
  return rows;
}

std::string table_text(const Listing& rows) {
  std::vector<Table::Column> columns;
  for (const auto& [key, value] : rows.front().items()) columns.push_back({key, value.is_number()});
  Table table(columns);
  for (const Json& row : rows) {
    std::vector<std::string> cells;
    for (const auto& [key, value] : row.items())
      cells.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    table.add_row(cells);
  }
  return table.text(style_of(STDOUT_FILENO));
}

}  // namespace

void add_list_command(CLI::App& app) {
  CLI::App* list = app.add_subcommand("list", "What this build knows by name");
  list->require_subcommand(1);
  const auto json = std::make_shared<bool>(false);
  const std::vector<std::pair<std::string, Listing (*)()>> kinds = {
      {"cells", list_cells},       {"heads", list_heads}, {"optimizers", list_optimizers},
      {"learners", list_learners}, {"tasks", list_tasks}, {"engines", list_engines}};
  for (const auto& [kind, make] : kinds) {
    CLI::App* command = list->add_subcommand(kind, "List the " + kind);
    command->add_flag("--json", *json, "One JSON array instead of a table");
    command->callback([json, make = make] {
      const Listing rows = make();
      show("{}", *json ? Json(rows).dump() + "\n" : table_text(rows));
    });
  }
}

}  // namespace throughtime
