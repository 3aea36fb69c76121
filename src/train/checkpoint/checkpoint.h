#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include "throughtime/archive.h"
#include "train/checkpoint/safetensors.h"

namespace throughtime {

/// Collects what it is shown as tensors: parameters under their own names, all else under `throughtime.`. Numbers of a
/// buffer are F32 or F64, as the engine holds them. Fails where one of them is not finite: such a run is lost.
class SavingArchive final : public Archive {
 public:
  explicit SavingArchive(TensorFile& file) : file_(file) {}
  void buffer(std::string_view name, Engine& engine, Buffer buffer) override;
  void parameters(Engine& engine, Buffer parameters) override;

 private:
  void integers(std::string_view name, std::vector<std::int64_t>& values) override;
  void numbers(std::string_view name, std::vector<double>& values) override;
  void reject(const std::string& what) const override;
  TensorFile& file_;
};

/// Puts the tensors of a checkpoint in the place of what it is shown; refuses one that is missing, of another size, or
/// that holds what its field cannot be.
class LoadingArchive final : public Archive {
 public:
  explicit LoadingArchive(const TensorFile& file);
  void buffer(std::string_view name, Engine& engine, Buffer buffer) override;
  void parameters(Engine& engine, Buffer parameters) override;

 private:
  void integers(std::string_view name, std::vector<std::int64_t>& values) override;
  void numbers(std::string_view name, std::vector<double>& values) override;
  const Tensor& find(const std::string& name) const;
  std::unordered_map<std::string_view, const Tensor*> tensors_;  // of the file, which outlives it
};

/// The checkpoints of a run: `last`, the one before it, and `best`. A crash at any moment leaves at least one of the
/// first two whole.
class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  static constexpr const char* last_name = "last.safetensors";
  static constexpr const char* previous_name = "last.previous.safetensors";
  static constexpr const char* best_name = "best.safetensors";
  static constexpr const char* damaged_name = "last.damaged.safetensors";
  /// All that a run writes there.
  static constexpr const char* names[] = {last_name, previous_name, best_name, damaged_name};

  const std::filesystem::path& directory() const { return directory_; }
  std::filesystem::path last() const { return directory_ / last_name; }
  std::filesystem::path previous() const { return directory_ / previous_name; }
  std::filesystem::path best() const { return directory_ / best_name; }

  /// Writes a new `last` and keeps the old one as `previous`; from the first time on there is always a `last`. The
  /// directory above must be there.
  void save(const TensorFile& file);
  /// Makes `best` another name of `last`.
  void mark_best();
  /// Removes `best`: the weights that validation chose are no longer those of this run.
  void forget_best();
  bool empty() const;
  /// The last checkpoint, or the previous one where a crash left no last. A damaged one is refused; the refusal offers
  /// the previous one, if that is whole.
  TensorFile load() const;
  /// Sets a damaged `last` aside and puts `previous` in its place.
  void go_back();
  /// Removes all of them, and no other file: a finished run needs none.
  void clear();

 private:
  std::filesystem::path directory_;
};

/// Keys of a checkpoint's metadata.
inline constexpr const char* config_key = "throughtime.config";    // the resolved configuration, TOML
inline constexpr const char* version_key = "throughtime.version";  // of the program that wrote it
inline constexpr const char* iteration_key = "throughtime.iteration";

}  // namespace throughtime
