#include "train/run/agreement.h"

#include <span>

#include "throughtime/communicator.h"

namespace throughtime {
namespace {

template <class Number>
std::uint64_t add(std::span<const Number> numbers, std::uint64_t before) {
  return fingerprint(std::as_bytes(numbers), before);
}

/// Everything that a batch can read: of data from files the whole split, of generated data the batch.
std::uint64_t add_batch(const Window& window, std::uint64_t print) {
  for (const Source& source : window.sources) {
    print = add(source.values, print);
    print = add(source.tokens, print);
    print = add(source.labels, print);
    print = add(source.target_values, print);
  }
  print = add(std::span(window.start), print);
  print = add(window.targets.labels, print);
  return add(window.targets.values, print);
}

}  // namespace

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
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    const bool here = task.has(split);
    const int rows = split == Split::train ? batch : task.evaluation_batch(batch);
    const std::int64_t batches = here ? task.batches(split, rows) : -1;
    print = add(std::span<const std::int64_t>(&batches, 1), print);
    if (here) print = add_batch(task.make_batch(split, 0, rows), print);
  }
  require_same(ranks, "data", print);
}

}  // namespace throughtime
