#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "throughtime/gradient_check.h"
#include "throughtime/throughtime.h"

namespace throughtime {
namespace {

constexpr double exact_limit = 1e-6;
constexpr double limit = 1e-5;         // of the engines that compute in single precision
constexpr std::uint64_t problems = 8;  // random shapes for each cell and head

double limit_of(const EngineType& engine) { return engine.exact ? exact_limit : limit; }

void take_worse(std::vector<GradientError>& worst, const std::vector<GradientError>& errors) {
  if (worst.empty()) worst = errors;
  for (std::size_t i = 0; i < errors.size(); ++i) worst[i].relative = std::max(worst[i].relative, errors[i].relative);
}

std::vector<GradientError> check_pair(const std::string& cell, const std::string& head) {
  std::vector<GradientError> worst;
  for (std::uint64_t seed = 1; seed <= problems; ++seed) take_worse(worst, check_gradients(cell, head, seed));
  return worst;
}

std::vector<std::string> table_row(const std::string& cell, const std::string& head,
                                   const std::vector<GradientError>& errors) {
  std::vector<std::string> row = {cell, head};
  for (const GradientError& error : errors)
    row.push_back(fmt::format("{:.1e}{}", error.relative, error.relative <= limit_of(*error.engine) ? "" : " !"));
  return row;
}

/// What each column of errors says.
std::string legend() {
  std::vector<std::string> parts;
  for (const EngineType* engine : usable_engines())
    parts.push_back(fmt::format("{} against {} (limit {:.0e})", engine->name,
                                engine->exact ? "central differences" : exact_engine().name, limit_of(*engine)));
  return fmt::format("Relative errors: {}", fmt::join(parts, ", "));
}

void check_all(const std::string& only_cell) {
  std::vector<const CellType*> cells = all_cells();
  if (!only_cell.empty()) cells = {&find_cell(only_cell)};
  std::vector<Table::Column> columns = {{"cell", false}, {"head", false}};
  for (const EngineType* engine : usable_engines()) columns.push_back({engine->name});
  Table table(columns);
  std::vector<GradientError> worst;
  for (const CellType* cell : cells) {
    for (const HeadType* head : all_heads()) {
      const std::vector<GradientError> errors = check_pair(cell->name, head->name);
      table.add_row(table_row(cell->name, head->name, errors));
      take_worse(worst, errors);
    }
  }
  table.add_row(table_row("worst", "", worst));
  tell("{}\n", legend());
  show("{}", table.text(style_of(STDOUT_FILENO)));
  std::fflush(stdout);
  for (const GradientError& error : worst)
    if (error.relative > limit_of(*error.engine)) fail("gradcheck", "gradients are wrong where the table shows \"!\"");
}

}  // namespace

void add_gradcheck_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("gradcheck", "Check the gradients of every cell with every head");
  const auto cell = std::make_shared<std::string>();
  command->add_option("--cell", *cell, "Only this cell");
  command->callback([cell] { check_all(*cell); });
}

}  // namespace throughtime
