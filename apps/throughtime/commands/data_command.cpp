#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "data/sets.h"
#include "terminal.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;

struct DataArguments {
  std::string directory;
  std::string data;
  bool json = false;
};

std::string directory_of(const DataArguments& arguments) {
  const bool named = !arguments.directory.empty() || !arguments.data.empty();
  const std::string directory = data_directory(arguments.directory.empty() ? arguments.data : arguments.directory);
  std::error_code ignored;
  if (named && !std::filesystem::is_directory(directory, ignored)) refuse("data", "{} is no directory", directory);
  return directory;
}

/// Which files of each set lie there, without opening them.
void list_sets(const DataArguments& arguments) {
  const std::string directory = directory_of(arguments);
  Table table({{"set", false}, {"files"}, {"size"}, {"what it holds, its licence, where to get it", false}});
  Json sets = Json::array();
  for (const DataSet& set : all_data_sets()) {
    std::size_t present = 0, bytes = 0;
    for (const DataFile& file : set.files) {
      present += find_data_file(directory, file.path).empty() ? 0 : 1;
      bytes += file.bytes;
    }
    table.add_row({set.name, fmt::format("{} of {}", present, set.files.size()), bytes_text(bytes),
                   fmt::format("{}. Licence: {}. From {}", set.holds, set.licence, set.source)});
    sets.push_back({{"name", set.name},
                    {"present", present},
                    {"files", set.files.size()},
                    {"bytes", bytes},
                    {"holds", set.holds},
                    {"licence", set.licence},
                    {"source", set.source}});
  }
  if (arguments.json)
    show("{}\n", Json{{"directory", directory}, {"sets", sets}}.dump());
  else
    show("in {}:\n{}", printable(directory), table.text(style_of(STDOUT_FILENO)));
}

std::string state_text(FileState state) {
  if (state == FileState::good) return "good";
  return state == FileState::missing ? "missing" : "damaged";
}

/// Reads every file and compares its checksum.
void check_sets(const DataArguments& arguments) {
  const std::string directory = directory_of(arguments);
  Table table({{"set", false}, {"file", false}, {"state", false}, {"what to do", false}});
  Json files = Json::array();
  std::size_t good = 0, missing = 0, damaged = 0;
  for (const DataSet& set : all_data_sets())
    for (const DataFile& file : set.files) {
      std::string reason;
      const FileState state = check_data_file(directory, file, reason);
      ++(state == FileState::good ? good : state == FileState::missing ? missing : damaged);
      const std::string advice = state == FileState::good ? "" : "get it from " + set.source;
      table.add_row({set.name, file.path, state_text(state), reason.empty() ? advice : reason + "; " + advice});
      files.push_back({{"set", set.name}, {"file", file.path}, {"state", state_text(state)}, {"reason", reason}});
    }
  if (arguments.json)
    show("{}\n", Json{{"directory", directory}, {"files", files}}.dump());
  else
    show("in {}: {} good, {} missing, {} damaged\n{}", printable(directory), good, missing, damaged,
         table.text(style_of(STDOUT_FILENO)));
  if (damaged > 0) fail("data", "{} file{} in {} damaged", damaged, damaged == 1 ? "" : "s", directory);
}

}  // namespace

void add_data_command(CLI::App& app) {
  CLI::App* data = app.add_subcommand("data", "Known data sets: what is there, what is missing, where to get it");
  data->require_subcommand(1);
  const auto arguments = std::make_shared<DataArguments>();
  const auto add = [&](const std::string& name, const std::string& help, void (*action)(const DataArguments&)) {
    CLI::App* command = data->add_subcommand(name, help);
    command->add_option("directory", arguments->directory, "The data directory; default: --data");
    command->add_option("--data", arguments->data, "The data directory; default: $THROUGHTIME_DATA, else data");
    command->add_flag("--json", arguments->json, "One JSON object instead of a table");
    command->callback([arguments, action] { action(*arguments); });
  };
  add("list", "Each set: files that are there, size, licence, source", list_sets);
  add("check", "Read every file and compare its checksum", check_sets);
}

}  // namespace throughtime
