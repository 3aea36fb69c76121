#include "tasks/arrays/array_files.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/files.h"
#include "data/arrays/npy.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/task.h"

namespace throughtime {
namespace {

namespace fs = std::filesystem;

constexpr double largest_whole = 16777216;  // beyond it single precision skips whole numbers

/// The arrays of one part as they were read.
struct PartFiles {
  NumberArray inputs, targets, weights;
  std::vector<std::int32_t> tokens, labels, lengths;
};

std::string file_of(const std::string& directory, Split split, const char* what) {
  return (fs::path(directory) / fmt::format("{}_{}.npy", split_name(split), what)).string();
}

std::vector<std::int32_t> whole_numbers(const std::string& path) {
  const NumberArray array = read_npy(path);
  std::vector<std::int32_t> numbers;
  for (const float value : array.values) {
    if (value != std::floor(value) || std::abs(value) >= largest_whole)
      refuse("arrays", "{} must hold whole numbers below {}, got {}", path, largest_whole, value);
    numbers.push_back(static_cast<std::int32_t>(value));
  }
  return numbers;
}

PartFiles read_part(const ArraysConfig& config, Split split) {
  const auto path = [&](const char* what) { return file_of(config.path, split, what); };
  const auto there = [&](const char* what) { return fs::exists(path(what)); };
  PartFiles files;
  if (there("inputs")) files.inputs = read_npy(path("inputs"));
  if (there("weights")) files.weights = read_npy(path("weights"));
  if (config.vocabulary > 0 && there("tokens")) files.tokens = whole_numbers(path("tokens"));
  if (!there("inputs") && files.tokens.empty())
    refuse("arrays", "{}: no such file, and no tokens either: nothing goes with the {} beside it", path("inputs"),
           config.classes > 0 ? "labels" : "targets");
  if (there("lengths")) files.lengths = whole_numbers(path("lengths"));
  if (config.classes > 0)
    files.labels = whole_numbers(path("labels"));
  else
    files.targets = read_npy(path("targets"));
  return files;
}

/// Cuts arrays that lie end to end into sequences.
class PartCutter {
 public:
  PartCutter(ArrayData& data, const PartFiles& files, std::string where)
      : data_(data), files_(files), where_(std::move(where)) {}

  void cut(Split split) {
    const std::size_t width = elements(data_.reals);
    const std::size_t steps = width > 0 ? files_.inputs.values.size() / width : files_.tokens.size();
    std::vector<std::int32_t> lengths = files_.lengths;
    data_.recording = lengths.empty();
    if (lengths.empty()) lengths = {static_cast<std::int32_t>(steps)};
    const std::size_t targets = data_.labels ? files_.labels.size() : files_.targets.values.size() / outputs();
    data_.one_target = !data_.recording && targets == lengths.size() && targets != steps;
    std::size_t sum = 0;
    for (const std::int32_t length : lengths) sum += length < 1 ? refuse_length(length) : elements(length);
    if (sum != steps || (!data_.one_target && targets != steps))
      refuse("arrays", "{}: {} steps, lengths that sum to {} and {} targets do not fit together", where_, steps, sum,
             targets);
    std::size_t first = 0, number = 0;
    for (const std::int32_t length : lengths) {
      add(split, first, elements(length), number++);
      first += elements(length);
    }
  }

 private:
  std::size_t outputs() const { return elements(data_.outputs); }
  std::size_t refuse_length(std::int32_t length) const {
    refuse("arrays", "{}: a sequence must have at least 1 step, got {}", where_, length);
  }

  void add(Split split, std::size_t first, std::size_t steps, std::size_t number) {
    ArrayPart& part = data_.parts[static_cast<std::size_t>(split)];
    Source source{.steps = steps, .reals = data_.reals, .target_width = data_.labels ? 0 : data_.outputs};
    const std::size_t target = data_.one_target ? number : first, targets = data_.one_target ? 1 : steps;
    const auto slice_of = [](const auto& numbers, std::size_t from, std::size_t count) {
      return std::span(numbers).subspan(from, count);
    };
    if (data_.reals > 0)
      source.values = slice_of(files_.inputs.values, first * elements(data_.reals), steps * elements(data_.reals));
    if (data_.vocabulary > 0) source.tokens = slice_of(files_.tokens, first, steps);
    if (data_.labels)
      source.labels = slice_of(files_.labels, target, targets);
    else
      source.target_values = slice_of(files_.targets.values, target * outputs(), targets * outputs());
    part.sequences.push_back(source);
    if (files_.weights.values.empty()) return;
    if (files_.weights.values.size() < first + steps)
      refuse("arrays", "{}: there must be a weight for each step, got {}", where_, files_.weights.values.size());
    part.weights.push_back(slice_of(files_.weights.values, first, steps));
  }

  ArrayData& data_;
  const PartFiles& files_;
  std::string where_;
};

/// NumPy's file of version 1, padded so that the numbers begin at a multiple of 64.
template <class T>
void write_npy(const std::string& path, const std::vector<std::size_t>& shape,
               const std::vector<std::span<const T>>& parts) {
  static_assert(std::endian::native == std::endian::little);
  std::string sizes;
  for (const std::size_t size : shape) sizes += fmt::format("{}, ", size);
  std::string header = fmt::format("{{'descr': '<{}4', 'fortran_order': False, 'shape': ({}), }}",
                                   std::is_same_v<T, float> ? 'f' : 'i', sizes);
  header.append(63 - (header.size() + 10) % 64, ' ').push_back('\n');
  std::string start("\x93NUMPY\x01\x00", 8);
  start.push_back(static_cast<char>(header.size() % 256));
  start.push_back(static_cast<char>(header.size() / 256));
  NewFile file(path);
  file.file().write(start + header);
  for (const std::span<const T> part : parts) file.file().write(std::as_bytes(part));
  file.publish();
}

template <class T, class Get>
std::vector<std::span<const T>> of_all(const ArrayPart& part, Get get) {
  std::vector<std::span<const T>> parts;
  for (const Source& source : part.sequences) parts.push_back(get(source));
  return parts;
}

void write_part(const ArrayData& data, Split split, const std::string& directory) {
  const ArrayPart& part = data.parts[static_cast<std::size_t>(split)];
  std::vector<std::int32_t> lengths;
  std::size_t steps = 0;
  for (const Source& source : part.sequences) {
    lengths.push_back(static_cast<std::int32_t>(source.steps));
    steps += source.steps;
  }
  if (lengths.empty()) return;
  const std::size_t targets = data.one_target ? lengths.size() : steps;
  const auto path = [&](const char* what) { return file_of(directory, split, what); };
  if (data.reals > 0)
    write_npy<float>(path("inputs"), {steps, elements(data.reals)},
                     of_all<float>(part, [](const Source& source) { return source.values; }));
  if (data.vocabulary > 0)
    write_npy<std::int32_t>(path("tokens"), {steps},
                            of_all<std::int32_t>(part, [](const Source& source) { return source.tokens; }));
  if (data.labels)
    write_npy<std::int32_t>(path("labels"), {targets},
                            of_all<std::int32_t>(part, [](const Source& source) { return source.labels; }));
  else
    write_npy<float>(path("targets"), {targets, elements(data.outputs)},
                     of_all<float>(part, [](const Source& source) { return source.target_values; }));
  if (!part.weights.empty()) write_npy<float>(path("weights"), {steps}, part.weights);
  if (!data.recording) write_npy<std::int32_t>(path("lengths"), {lengths.size()}, {lengths});
}

}  // namespace

std::shared_ptr<const ArrayData> read_arrays(const ArraysConfig& config) {
  auto files = std::make_shared<std::array<PartFiles, 3>>();
  auto data = std::make_shared<ArrayData>();
  data->vocabulary = config.vocabulary;
  data->labels = config.classes > 0;
  const char* wanted = data->labels ? "labels" : "targets";
  if (!fs::exists(file_of(config.path, Split::train, wanted)))
    refuse("arrays", "task.arrays.path must be a directory with {}, got '{}'", file_of("", Split::train, wanted),
           config.path);
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    if (!fs::exists(file_of(config.path, split, wanted))) continue;
    PartFiles& part = (*files)[static_cast<std::size_t>(split)];
    part = read_part(config, split);
    if (split == Split::train) {
      data->reals = part.inputs.shape.empty() ? 0 : static_cast<int>(part.inputs.shape.back());
      data->outputs = data->labels                    ? config.classes
                      : part.targets.shape.size() < 2 ? 1
                                                      : static_cast<int>(part.targets.shape.back());
    }
    PartCutter(*data, part, file_of(config.path, split, wanted)).cut(split);
  }
  data->owner = files;
  return data;
}

void write_arrays(const ArrayData& data, const std::string& directory) {
  for (const Split split : {Split::train, Split::validation, Split::test}) write_part(data, split, directory);
}

}  // namespace throughtime
