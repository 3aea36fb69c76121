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
  void integers(std::string_view name, std::vector<std::int64_t>& values) override;
  void numbers(std::string_view name, std::vector<double>& values) override;

 private:
  TensorFile& file_;
};

/// Puts the tensors of a checkpoint in the place of what it is shown; refuses one that is missing or of another size.
class LoadingArchive final : public Archive {
 public:
  explicit LoadingArchive(const TensorFile& file);
  void buffer(std::string_view name, Engine& engine, Buffer buffer) override;
  void parameters(Engine& engine, Buffer parameters) override;
  void integers(std::string_view name, std::vector<std::int64_t>& values) override;
  void numbers(std::string_view name, std::vector<double>& values) override;

 private:
  const Tensor& find(const std::string& name) const;
  std::unordered_map<std::string_view, const Tensor*> tensors_;  // of the file, which outlives it
};

/// The checkpoints of a run: `last`, the one before it, and `best`. A crash at any moment leaves at least one of the
/// first two whole.
class CheckpointStore {
 public:
  explicit CheckpointStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::filesystem::path last() const { return directory_ / "last.safetensors"; }
  std::filesystem::path previous() const { return directory_ / "last.previous.safetensors"; }
  std::filesystem::path best() const { return directory_ / "best.safetensors"; }

  /// Writes a new `last` and keeps the old one as `previous`.
  void save(const TensorFile& file);
  /// Makes `best` another name of `last`.
  void mark_best();
  bool empty() const;
  /// The last checkpoint, or the previous one where a crash left no last. A damaged one is refused; the refusal offers
  /// the previous one, if that is whole.
  TensorFile load() const;
  /// Sets a damaged `last` aside and puts `previous` in its place.
  void go_back();
  /// Removes all of them: a finished run needs none.
  void clear();

 private:
  std::filesystem::path directory_;
};

/// Keys of a checkpoint's metadata.
inline constexpr const char* config_key = "throughtime.config";    // the resolved configuration, TOML
inline constexpr const char* version_key = "throughtime.version";  // of the program that wrote it
inline constexpr const char* iteration_key = "throughtime.iteration";

}  // namespace throughtime
