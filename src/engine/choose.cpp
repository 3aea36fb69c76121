#include <fmt/format.h>

#include <algorithm>

#include "throughtime/engine.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr const char* automatic = "auto";
constexpr double least_products = 32768;  // of a step, for a GPU; docs/cuda.md has the measurements behind it

/// Numbers that one step of all rows multiplies, forward.
double products_of_step(const Model& model, int rows) {
  double products = 0;
  for (const Layer& layer : model.layers()) {
    const CellShape& shape = layer.cell->shape;
    products += static_cast<double>(layer.hidden) * (static_cast<double>(shape.input_rows) * layer.inputs +
                                                     static_cast<double>(shape.recurrent_rows) * layer.hidden);
  }
  return products * rows;
}

const EngineType* usable_device() {
  const std::vector<const EngineType*> usable = usable_engines();
  const auto found = std::find_if(usable.begin(), usable.end(), [](const EngineType* type) { return !type->on_host; });
  return found == usable.end() ? nullptr : *found;
}

}  // namespace

EngineChoice choose_engine(const std::string& name, const Model& model, int rows) {
  if (name != automatic) return {name, ""};
  const std::string host = EngineConfig().name;
  const EngineType* device = usable_device();
  if (!device) return {host, "auto: no GPU that can be used"};
  const double products = products_of_step(model, rows);
  const bool pays = products >= least_products;
  return {pays ? device->name : host,
          fmt::format("auto: a step multiplies {:.0f} numbers, a GPU pays from {:.0f} on", products, least_products)};
}

bool may_use_device(const std::string& name) {
  return name == automatic ? usable_device() != nullptr : !find_engine(name).on_host;
}

std::vector<std::string> engine_choices() {
  std::vector<std::string> names = engine_names();
  names.emplace_back(automatic);
  return names;
}

}  // namespace throughtime
