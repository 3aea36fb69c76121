#include "train/run/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "core/files.h"
#include "throughtime/communicator.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

using Json = nlohmann::ordered_json;
using Bytes = std::span<const std::byte>;

constexpr Split splits[] = {Split::train, Split::validation, Split::test};
constexpr std::size_t sampled_bytes = 1 << 20;  // of each end of what is remembered

/// Everything that a batch can read: of data from files the whole split, of generated data the batch.
std::vector<Bytes> parts_of(const Window& window) {
  std::vector<Bytes> parts;
  const auto add = [&](auto numbers) { parts.push_back(std::as_bytes(std::span(numbers))); };
  for (const Source& source : window.sources) {
    add(source.values);
    add(source.tokens);
    add(source.labels);
    add(source.target_values);
  }
  add(std::span(window.start));
  add(window.targets.labels);
  add(window.targets.values);
  return parts;
}

/// The first batch of a split, where it has any.
std::vector<Bytes> parts_of(Task& task, Split split, int batch) {
  if (!task.has(split)) return {};
  return parts_of(task.make_batch(split, 0, split == Split::train ? batch : task.evaluation_batch(batch)));
}

/// How many bytes a split has, and a checksum over both ends of each of its parts.
Json record_of(Task& task, Split split, int batch) {
  std::size_t size = 0;
  std::uint64_t print = fingerprint({});
  for (const Bytes part : parts_of(task, split, batch)) {
    size += part.size();
    print = fingerprint(part.first(std::min(part.size(), sampled_bytes)), print);
    print = fingerprint(part.last(std::min(part.size(), sampled_bytes)), print);
  }
  return {{"bytes", size}, {"checksum", fmt::format("{:016x}", print)}};
}

std::filesystem::path record_path(const std::string& folder) { return std::filesystem::path(folder) / "data.json"; }

}  // namespace

void remember_data(const std::string& folder, Task& task, int batch) {
  Json record;
  for (const Split split : splits) record[split_name(split)] = record_of(task, split, batch);
  replace_file(record_path(folder), record.dump(2) + "\n");
}

void require_remembered_data(const std::string& folder, Task& task, int batch) {
  if (!std::filesystem::exists(record_path(folder))) return;  // of a version that remembered nothing
  const Json record = Json::parse(read_file(record_path(folder)), nullptr, false);
  for (const Split split : splits) {
    const std::string name = split_name(split);
    if (record.is_object() && record.contains(name) && record[name] == record_of(task, split, batch)) continue;
    refuse("run", "the {} data is not what it was when the run began (see {}); put it back, or start a new run", name,
           record_path(folder).string());
  }
}

void require_same_config(Communicator* ranks, const RunConfig& config) {
  if (ranks == nullptr) return;
  RunConfig common = config;
  common.run.threads = 0;
  common.run.directory.clear();
  common.task.data.clear();
  for (std::string* path : find_task(config.task.name).paths(common.task)) path->clear();
  const std::string text = resolved_config(common);
  require_same(ranks, "configuration", fingerprint(std::as_bytes(std::span(text))));
}

void require_same_data(Communicator* ranks, Task& task, int batch) {
  if (ranks == nullptr) return;
  std::uint64_t print = fingerprint({});
  for (const Split split : splits) {
    const int rows = split == Split::train ? batch : task.evaluation_batch(batch);
    const std::int64_t batches = task.has(split) ? task.batches(split, rows) : -1;
    print = fingerprint(std::as_bytes(std::span(&batches, 1)), print);
    for (const Bytes part : parts_of(task, split, batch)) print = fingerprint(part, print);
  }
  require_same(ranks, "data", print);
}

}  // namespace throughtime
