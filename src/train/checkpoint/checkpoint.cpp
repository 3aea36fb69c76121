#include "train/checkpoint/checkpoint.h"

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr const char* prefix = "throughtime.";

using Shape = std::vector<std::int64_t>;

Tensor numbers_of(std::string name, Shape shape, std::span<const double> values, const Engine& engine) {
  for (const double value : values)
    if (!std::isfinite(value))
      fail("checkpoint",
           "'{}' holds {}, so no checkpoint was written and the last good one is kept; try a lower optimizer.rate or "
           "clipping (optimizer.clip)",
           name, value);
  return engine.number_bytes() == 8 ? double_tensor(std::move(name), std::move(shape), values)
                                    : float_tensor(std::move(name), std::move(shape), values);
}

Shape shape_of(const ParameterBlock& block) { return {block.shape.begin(), block.shape.end()}; }

}  // namespace

void SavingArchive::buffer(std::string_view name, Engine& engine, Buffer buffer) {
  file_.tensors.push_back(
      numbers_of(prefix + scoped(name), {static_cast<std::int64_t>(buffer.size)}, engine.Engine::read(buffer), engine));
}

void SavingArchive::parameters(Engine& engine, Buffer parameters) {
  const std::vector<double> values = engine.Engine::read(parameters);
  for (const ParameterBlock& block : engine.model().parameters().blocks())
    file_.tensors.push_back(
        numbers_of(block.name, shape_of(block), std::span(values).subspan(block.offset, block.size()), engine));
}

void SavingArchive::integers(std::string_view name, std::vector<std::int64_t>& values) {
  file_.tensors.push_back(integer_tensor(prefix + scoped(name), values));
}

void SavingArchive::numbers(std::string_view name, std::vector<double>& values) {
  file_.tensors.push_back(double_tensor(prefix + scoped(name), {static_cast<std::int64_t>(values.size())}, values));
}

void SavingArchive::reject(const std::string& what) const {
  fail("checkpoint", "{}, so no checkpoint was written and the last good one is kept", what);
}

LoadingArchive::LoadingArchive(const TensorFile& file) {
  tensors_.reserve(file.tensors.size());
  for (const Tensor& tensor : file.tensors) tensors_.emplace(tensor.name, &tensor);
}

const Tensor& LoadingArchive::find(const std::string& name) const {
  const auto tensor = tensors_.find(name);
  if (tensor == tensors_.end())
    refuse("checkpoint", "there is no '{}' in it; it was written by another version or for another configuration",
           name);
  return *tensor->second;
}

void LoadingArchive::buffer(std::string_view name, Engine& engine, Buffer buffer) {
  const std::vector<double> values = real_values(find(prefix + scoped(name)));
  require_length(name, values.size(), buffer.size);
  require_finite(name, values, engine);
  engine.write(buffer, values);
}

void LoadingArchive::parameters(Engine& engine, Buffer parameters) {
  std::vector<double> values(parameters.size);
  for (const ParameterBlock& block : engine.model().parameters().blocks()) {
    const Tensor& tensor = find(block.name);
    if (tensor.shape != shape_of(block))
      refuse("checkpoint", "'{}' has another shape than the configuration gives it ({} numbers instead of {})",
             block.name, tensor.size(), block.size());
    const std::vector<double> numbers = real_values(tensor);
    require_finite(block.name, numbers, engine);
    std::copy(numbers.begin(), numbers.end(), values.begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  engine.write(parameters, values);
}

void LoadingArchive::integers(std::string_view name, std::vector<std::int64_t>& values) {
  values = integer_values(find(prefix + scoped(name)));
}

void LoadingArchive::numbers(std::string_view name, std::vector<double>& values) {
  values = real_values(find(prefix + scoped(name)));
}

void CheckpointStore::save(const TensorFile& file) {
  make_directory(directory_);
  NewFile fresh(last());
  write_tensors(fresh.file(), file);
  fresh.file().sync();
  // The old one gets its second name before the new one takes the first: a reader always finds `last`.
  if (std::filesystem::exists(last())) link_file(last(), previous());
  fresh.publish();
}

void CheckpointStore::mark_best() {
  link_file(last(), best());
  sync_directory(directory_);
}

void CheckpointStore::forget_best() {
  std::filesystem::remove(best());
  sync_directory(directory_);
}

bool CheckpointStore::empty() const { return !std::filesystem::exists(last()) && !std::filesystem::exists(previous()); }

TensorFile CheckpointStore::load() const {
  if (!std::filesystem::exists(last())) return read_tensors(previous(), true);
  try {
    return read_tensors(last(), true);
  } catch (const InvalidInput& damage) {
    try {
      const TensorFile older = read_tensors(previous(), true);
      const auto iteration = older.metadata.find(iteration_key);
      refuse("checkpoint", "{}; the one before it ({}, iteration {}) is whole: add --previous to go on from there",
             damage.what(), previous().string(), iteration == older.metadata.end() ? "unknown" : iteration->second);
    } catch (const InvalidInput& refusal) {
      if (std::string_view(refusal.what()).starts_with("[checkpoint]")) throw;
    }
    throw;
  }
}

void CheckpointStore::clear() { remove_files(directory_, names); }

void CheckpointStore::go_back() {
  read_tensors(previous(), true);
  if (std::filesystem::exists(last())) move_file(last(), directory_ / damaged_name);
  move_file(previous(), last());
  sync_directory(directory_);
}

}  // namespace throughtime
