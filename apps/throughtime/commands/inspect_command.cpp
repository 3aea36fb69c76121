#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.h"
#include "terminal.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

/// A file, or the last checkpoint of a run.
TensorFile load(const std::string& path) {
  return std::filesystem::is_directory(path) ? load_checkpoint(path, false) : read_tensors(path);
}

std::string json_text(const TensorFile& file) {
  nlohmann::ordered_json object = {{"metadata", file.metadata}, {"tensors", nlohmann::ordered_json::array()}};
  for (const Tensor& tensor : file.tensors)
    object["tensors"].push_back({{"name", tensor.name}, {"type", tensor.type}, {"shape", tensor.shape}});
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// Every tensor, then the metadata, longer texts under their key.
std::string table_text(const TensorFile& file) {
  Table table({{"tensor", false}, {"type", false}, {"shape", false}, {"bytes"}});
  std::size_t bytes = 0;
  for (const Tensor& tensor : file.tensors) {
    table.add_row({tensor.name, tensor.type, fmt::format("[{}]", fmt::join(tensor.shape, ", ")),
                   fmt::format("{}", tensor.data.size())});
    bytes += tensor.data.size();
  }
  std::string text = table.text(style_of(STDOUT_FILENO));
  text += fmt::format("{} tensors, {}\n", file.tensors.size(), bytes_text(bytes));
  for (const auto& [key, value] : file.metadata)
    text += value.find('\n') == std::string::npos ? fmt::format("{} = {}\n", printable(key), value)
                                                  : fmt::format("{}:\n{}", printable(key), value);
  return text;
}

}  // namespace

void add_inspect_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("inspect", "What a checkpoint or any safetensors file holds");
  const auto path = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  command->add_option("file", *path, "A safetensors file, or a run (its last checkpoint)")->required();
  command->add_flag("--json", *json, "One JSON object instead of a table");
  command->callback([path, json] {
    const TensorFile file = load(*path);
    show("{}", *json ? json_text(file) : table_text(file));
  });
}

}  // namespace throughtime
