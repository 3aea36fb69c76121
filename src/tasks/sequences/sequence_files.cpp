#include "tasks/sequences/sequence_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "data/unpack.h"
#include "tasks/shared_options.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "sequences";

SequenceFileOptions file_options(const SequencesConfig& config) {
  return {.delimiter = delimiter_of(speaker, config.delimiter),
          .id = config.id,
          .inputs = config.inputs,
          .targets = config.targets,
          .table = config.target_path};
}

/// Options that these files give no meaning to.
void refuse_unread(const SequencesConfig& config) {
  const auto is_folder = [](const std::string& path) { return std::filesystem::is_directory(path); };
  const auto is_archive = [](const std::string& path) { return data_ending(path) == ".npz"; };
  const bool arrays = std::ranges::all_of(config.files, is_archive);
  if (arrays && !config.id.empty())
    refuse(speaker, "task.sequences.id is a column of a table; {} has none", config.files.front());
  if (arrays && config.delimiter != ",")
    refuse(speaker, "task.sequences.delimiter is of a table; {} is none", config.files.front());
  if (!config.target_path.empty() && std::ranges::none_of(config.files, is_folder))
    refuse(speaker, "task.sequences.target_path is the table of a folder; {} is none", config.files.front());
  for (auto name = config.inputs.begin(); name != config.inputs.end(); ++name)
    if (std::find(config.inputs.begin(), name, *name) != name)
      refuse(speaker, "task.sequences.inputs names '{}' twice", *name);
}

}  // namespace

SequenceFiles read_sequence_files(const SequencesConfig& config) {
  if (config.files.empty() || config.files.size() > 3)
    refuse(speaker,
           "task.sequences.files must name one file or folder, two (train, test) or three (train, validation, test), "
           "got {}",
           config.files.size());
  if (!config.target_path.empty() && config.files.size() > 1)
    refuse(speaker, "task.sequences.target_path is the table of one folder; of several, each has its own labels.csv");
  refuse_unread(config);
  SequenceFiles all;
  LabelledSequences& to = all.sequences;
  for (const std::string& path : config.files) {
    LabelledSequences part = read_sequences(path, file_options(config));
    all.counts.push_back(part.size());
    if (all.counts.size() == 1) {
      to = std::move(part);
      continue;
    }
    if (part.columns != to.columns || part.target_names != to.target_names)
      refuse(speaker, "{} has the inputs {} and the targets {}, {} has {} and {}; all files need the same",
             config.files.front(), fmt::join(to.columns, ", "), fmt::join(to.target_names, ", "), path,
             fmt::join(part.columns, ", "), fmt::join(part.target_names, ", "));
    const std::size_t steps = to.begins.back();
    to.ids.insert(to.ids.end(), part.ids.begin(), part.ids.end());
    for (std::size_t i = 1; i < part.begins.size(); ++i) to.begins.push_back(steps + part.begins[i]);
    to.values.insert(to.values.end(), part.values.begin(), part.values.end());
    to.targets.insert(to.targets.end(), part.targets.begin(), part.targets.end());
    to.left_out.insert(to.left_out.end(), part.left_out.begin(), part.left_out.end());
  }
  return all;
}

LabelledSequences read_unlabelled(const SequencesConfig& config, const std::vector<std::string>& inputs,
                                  const std::string& path) {
  SequenceFileOptions options = file_options(config);
  options.inputs = inputs;
  options.labelled = false;
  return read_sequences(path, options);
}

}  // namespace throughtime
