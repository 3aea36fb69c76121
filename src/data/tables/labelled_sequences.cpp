#include "data/tables/labelled_sequences.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "data/arrays/npy.h"
#include "data/arrays/wav.h"
#include "data/printable.h"
#include "data/tables/csv.h"
#include "data/unpack.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "sequences";
constexpr const char* own_table = "labels.csv";

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

bool is_of_steps(const std::string& format) {
  const std::vector<std::string> known = {".csv", ".tsv", ".txt", ".npy", ".wav"};
  return std::ranges::find(known, format) != known.end();
}

/// Steps with names: values [rows, columns].
struct Steps {
  std::vector<std::string> columns;
  std::vector<float> values;
};

/// The wanted columns in their order; none: all.
Steps selected(Steps steps, const std::vector<std::string>& wanted, const std::string& file) {
  if (wanted.empty() || wanted == steps.columns) return steps;
  std::vector<std::size_t> places;
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(steps.columns, name);
    if (found == steps.columns.end())
      refuse_unknown_in(file, speaker, "column of task.sequences.inputs", name, steps.columns);
    places.push_back(elements(found - steps.columns.begin()));
  }
  Steps result{wanted, {}};
  for (std::size_t row = 0; row < steps.values.size(); row += steps.columns.size())
    for (const std::size_t place : places) result.values.push_back(steps.values[row + place]);
  return result;
}

Steps read_steps(const std::string& path, const std::vector<std::string>& columns, char delimiter) {
  const std::string format = data_ending(path);
  if (!is_of_steps(format))
    refuse(speaker, "{}: the ending must tell the format: .csv, .tsv, .txt, .npy or .wav", path);
  if (format == ".npy") {
    NumberArray array = read_npy(path);
    if (array.shape.empty() || array.shape.size() > 2)
      refuse(speaker, "{} must be an array [steps] or [steps, columns], it has {} dimensions", path,
             array.shape.size());
    return selected({numbered(array.shape.size() == 2 ? array.shape[1] : 1), std::move(array.values)}, columns, path);
  }
  if (format == ".wav") {
    Audio audio = read_wav(path);
    return selected({numbered(elements(audio.channels)), std::move(audio.samples)}, columns, path);
  }
  CsvTable table = read_csv(path, {.delimiter = format == ".tsv" ? '\t' : delimiter,
                                   .delimiter_option = "task.sequences.delimiter",
                                   .columns = columns});
  return {std::move(table.columns), std::move(table.values)};
}

/// [N]: whole numbers from 1 to T.
std::vector<std::size_t> lengths_of(const NumberArray& lengths, std::size_t count, std::size_t longest,
                                    const std::string& file) {
  if (lengths.shape.size() != 1 || lengths.shape[0] != count)
    refuse(speaker, "{}: lengths must be an array of {} numbers, one for each sequence of x", file, count);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < count; ++i) {
    const float length = lengths.values[i];
    if (!(length >= 1 && length <= static_cast<float>(longest)) || length != std::floor(length))
      refuse(speaker, "{}: lengths[{}] must be a whole number between 1 and {}, the steps of x, got {}", file, i,
             longest, length);
    result.push_back(static_cast<std::size_t>(length));
  }
  return result;
}

void read_targets(ByteStream& stream, const SequenceFileOptions& options, LabelledSequences& result) {
  TextArray targets = read_npz_texts(stream, "y");
  if (targets.shape.empty() || targets.shape.size() > 2 || targets.shape[0] != result.size())
    refuse(speaker, "{}: y must be an array [{}] or [{}, targets], one row for each sequence of x", stream.name(),
           result.size(), result.size());
  const std::size_t width = targets.shape.size() == 2 ? targets.shape[1] : 1;
  if (!options.targets.empty() && options.targets.size() != width)
    refuse(speaker, "{}: y has {} target{} for each sequence, task.sequences.targets names {}", stream.name(), width,
           width == 1 ? "" : "s", options.targets.size());
  result.target_names = options.targets;
  if (options.targets.empty()) result.target_names = width == 1 ? options.target_columns() : numbered(width);
  result.targets = std::move(targets.texts);
}

/// A file of the folder for each sequence of the table; also without its ending.
std::string file_of(const std::filesystem::path& folder, const std::string& id,
                    const std::vector<std::filesystem::path>& files) {
  if (std::filesystem::is_regular_file(folder / id)) return (folder / id).string();
  std::vector<std::string> found, names;
  for (const std::filesystem::path& file : files) {
    names.push_back(file.filename().string());
    if (file.stem() == id) found.push_back(file.string());
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1)
    refuse(speaker, "{}: several files are called {}; give their endings in the table", folder.string(), excerpt(id));
  refuse_unknown_in(folder.string(), speaker, "file of the table", id, names);
}

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder, const std::string& table) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file() && is_of_steps(data_ending(entry.path())) && entry.path() != table)
      files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

}  // namespace

LabelledSequences read_sequence_archive(const std::function<std::unique_ptr<ByteStream>()>& open,
                                        const SequenceFileOptions& options) {
  const std::unique_ptr<ByteStream> names_stream = open();
  const std::vector<std::string> names = npz_names(*names_stream);
  const std::string& file = names_stream->name();
  NumberArray x = read_npz(*open(), "x", Gaps::kept);  // what follows a sequence may be anything
  if (x.shape.size() != 2 && x.shape.size() != 3)
    refuse(speaker, "{}: x must be an array [sequences, steps] or [sequences, steps, columns], it has {} dimension{}",
           file, x.shape.size(), x.shape.size() == 1 ? "" : "s");
  const std::size_t count = x.shape[0], longest = x.shape[1], width = x.shape.size() == 3 ? x.shape[2] : 1;
  std::vector<std::size_t> lengths(count, longest);
  if (std::ranges::find(names, "lengths") != names.end())
    lengths = lengths_of(read_npz(*open(), "lengths"), count, longest, file);
  LabelledSequences result{.ids = numbered(count)};
  Steps steps{numbered(width), {}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = x.values.begin() + static_cast<Index>(i * longest * width);
    const auto end = first + static_cast<Index>(lengths[i] * width);
    if (const auto gap = std::find_if(first, end, [](float value) { return std::isnan(value); }); gap != end)
      refuse(speaker,
             "{}: x[{}, {}] is nan, within the {} steps of the sequence; fill the gap, or give a shorter length", file,
             i, elements(gap - first) / width, lengths[i]);
    steps.values.insert(steps.values.end(), first, end);
    result.begins.push_back(result.begins.back() + lengths[i]);
  }
  steps = selected(std::move(steps), options.inputs, file);
  result.columns = std::move(steps.columns);
  result.values = std::move(steps.values);
  if (options.labelled) read_targets(*open(), options, result);
  return result;
}

LabelledSequences read_sequence_folder(const std::string& path, const SequenceFileOptions& options) {
  const std::filesystem::path folder = path;
  const std::string table = options.table.empty() ? (folder / own_table).string() : options.table;
  const std::vector<std::filesystem::path> files = files_of(folder, table);
  LabelledSequences result;
  std::vector<std::string> sources;
  if (options.labelled) {
    if (!std::filesystem::is_regular_file(table))
      refuse(speaker, "{} is a folder and needs a table of targets: there is no {}; name it with {}", path, table,
             "task.sequences.target_path");
    result = read_target_table(*ByteStream::open(table), options);
    for (const std::string& id : result.ids) sources.push_back(file_of(folder, id, files));
    const std::set<std::filesystem::path> used(sources.begin(), sources.end());
    const auto unused = std::ranges::count_if(files, [&](const auto& file) { return !used.contains(file); });
    if (unused > 0)
      result.left_out.push_back(fmt::format("{} file{} that the table does not name", unused, unused == 1 ? "" : "s"));
  } else {
    for (const std::filesystem::path& file : files) {
      sources.push_back(file.string());
      result.ids.push_back(file.filename().string());
    }
    if (files.empty()) refuse(speaker, "{}: the folder has no file that ends in .csv, .tsv, .txt, .npy or .wav", path);
  }
  for (const std::string& source : sources) {
    Steps steps = read_steps(source, options.inputs, options.delimiter);
    if (result.columns.empty()) result.columns = steps.columns;
    if (steps.columns.size() < result.columns.size())
      read_steps(source, result.columns, options.delimiter);  // says why
    if (steps.columns.size() != result.columns.size())
      refuse(speaker, "{} has {} columns and {} has {}; all sequences need the same", sources.front(),
             result.columns.size(), source, steps.columns.size());
    steps = selected(std::move(steps), result.columns, source);
    result.values.insert(result.values.end(), steps.values.begin(), steps.values.end());
    result.begins.push_back(result.values.size() / result.columns.size());
  }
  return result;
}

LabelledSequences read_sequences(const std::string& path, const SequenceFileOptions& options) {
  if (path.empty()) refuse(speaker, "task.sequences.files must name a file (NPZ or CSV) or a folder");
  if (std::filesystem::is_directory(path)) return read_sequence_folder(path, options);
  if (!std::filesystem::is_regular_file(path))
    refuse(speaker, "cannot read {}: there is no such file or folder; name it with task.sequences.files", path);
  const std::string format = data_ending(path);
  if (format == ".npz") return read_sequence_archive([&] { return ByteStream::open(path); }, options);
  if (format != ".csv" && format != ".tsv" && format != ".txt")
    refuse(speaker, "{}: the ending must tell the format: .npz, .csv, .tsv or .txt, or it is a folder", path);
  SequenceFileOptions here = options;
  if (format == ".tsv") here.delimiter = '\t';
  return read_sequence_rows(*ByteStream::open(path), here);
}

}  // namespace throughtime
