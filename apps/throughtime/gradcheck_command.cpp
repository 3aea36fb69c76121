#include <fmt/format.h>
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

constexpr double reference_limit = 1e-6;
constexpr double cpu_limit = 1e-5;
constexpr std::uint64_t problems = 8;  // random shapes for each cell and head

GradientErrors worse(const GradientErrors& a, const GradientErrors& b) {
  return {.reference = std::max(a.reference, b.reference), .cpu = std::max(a.cpu, b.cpu)};
}

GradientErrors check_pair(const std::string& cell, const std::string& head) {
  GradientErrors worst;
  for (std::uint64_t seed = 1; seed <= problems; ++seed) worst = worse(worst, check_gradients(cell, head, seed));
  return worst;
}

std::string error_text(double error, double limit) {
  return fmt::format("{:.1e}{}", error, error <= limit ? "" : " !");
}

void check_all(const std::string& only_cell) {
  std::vector<const CellType*> cells = all_cells();
  if (!only_cell.empty()) cells = {&find_cell(only_cell)};
  Table table({{"cell", false}, {"head", false}, {"reference"}, {"cpu"}});
  GradientErrors worst;
  for (const CellType* cell : cells) {
    for (const HeadType* head : all_heads()) {
      const GradientErrors errors = check_pair(cell->name, head->name);
      table.add_row(
          {cell->name, head->name, error_text(errors.reference, reference_limit), error_text(errors.cpu, cpu_limit)});
      worst = worse(worst, errors);
    }
  }
  table.add_row({"worst", "", error_text(worst.reference, reference_limit), error_text(worst.cpu, cpu_limit)});
  tell("Relative errors: reference against central differences (limit {:.0e}), cpu against reference (limit {:.0e})\n",
       reference_limit, cpu_limit);
  show("{}", table.text(style_of(STDOUT_FILENO)));
  std::fflush(stdout);
  if (worst.reference > reference_limit || worst.cpu > cpu_limit)
    fail("gradcheck", "gradients are wrong where the table shows \"!\"");
}

}  // namespace

void add_gradcheck_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("gradcheck", "Check the gradients of every cell with every head");
  const auto cell = std::make_shared<std::string>();
  command->add_option("--cell", *cell, "Only this cell");
  command->callback([cell] { check_all(*cell); });
}

}  // namespace throughtime
