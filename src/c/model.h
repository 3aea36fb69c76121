#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c/handles.h"
#include "throughtime/index.h"
#include "throughtime/online.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/safetensors.h"
#include "train/options/config.h"
#include "train/stream/running_scales.h"

namespace throughtime::c {

/// What a model reads and predicts.
struct Interface {
  int reals = 0, vocabulary = 0, outputs = 1;
  bool labels = false;

  InputConfig input() const { return {.reals = reals, .vocabulary = vocabulary}; }
  HeadConfig head() const { return {.name = labels ? "softmax" : "regression", .outputs = outputs}; }
};

/// Means and deviations of inputs and number targets, as rows come.
struct Scales {
  Scales(const Interface& interface, const ScaleOptions& options);
  /// Nothing is learned where there are no values.
  void add(std::span<const float> inputs, std::span<const float> targets);
  void archive(Archive& archive);

  /// A row of a table, or none where there is no table.
  std::span<const float> inputs_of(const float* table, std::int64_t row) const { return row_of(inputs, table, row); }
  std::span<const float> targets_of(const float* table, std::int64_t row) const { return row_of(targets, table, row); }

  RunningScales inputs, targets;

 private:
  static std::span<const float> row_of(const RunningScales& scales, const float* table, std::int64_t row) {
    if (table == nullptr) return {};
    return {table + elements(row) * scales.columns(), scales.columns()};
  }
};

/// A live learner with the engine that it works on.
struct Live {
  Live(const Model& model, const RunConfig& config, const std::vector<double>& parameters);

  std::unique_ptr<Engine> engine;
  OnlineLearner learner;
};

/// What training left behind beside the weights: whoever trains them next goes on with it.
struct Memory {
  /// Collects it from a Trainer or an OnlineLearner.
  template <class Training>
  static Memory of(Training& training, const RunConfig& config) {
    Memory memory{.optimizer = config.optimizer.rule.name, .learner = learner_text(config), .file = {}};
    SavingArchive archive(memory.file);
    training.archive_memory(archive, true);
    return memory;
  }
  /// Puts it there, as far as it fits: another optimizer begins anew, and so does another method, or the same one with
  /// other settings.
  template <class Training>
  void restore(Training& training, const RunConfig& config) const {
    if (optimizer != config.optimizer.rule.name) return;
    LoadingArchive archive(file);
    training.archive_memory(archive, learner == learner_text(config));
  }
  /// The method with its settings.
  static std::string learner_text(const RunConfig& config);

  std::string optimizer;  // whose it is: its name
  std::string learner;    // and the method's text
  TensorFile file;
};

/// A model with its options, its weights and, once one has begun, its streams.
class ModelObject final : public Object {
 public:
  static constexpr const char* kind = "model";

  /// With first weights.
  ModelObject(const RunConfig& config, const Interface& interface);
  /// The same weights, scales and memory; streams begin anew.
  std::shared_ptr<ModelObject> copy();

  const RunConfig& config() const { return config_; }
  const Interface& interface() const { return interface_; }
  const Model& model() const { return model_; }
  /// Refuses options that describe other weights.
  void set_config(RunConfig config);

  /// The weights as they are, those of a live learner included.
  const std::vector<double>& parameters();
  void set_parameters(std::vector<double> parameters);

  /// The live learner, made where there is none yet.
  OnlineLearner& learner();
  bool is_live() const { return live_ != nullptr; }
  /// Its weights stay.
  void end_streams();

  void save(const std::string& path, const std::string& note);
  static std::shared_ptr<ModelObject> load(const std::string& path);

  /// What a training goes on with: of the streams, where there are any, else of the last training. None: there was
  /// none, or the weights are other ones.
  std::optional<Memory> memory() const;
  void remember(Memory memory) { memory_ = std::move(memory); }

  std::unique_ptr<Scales> scales;      // none: values stay what they are
  std::string note;                    // of whoever saved it
  std::vector<float> inputs, targets;  // [reals], [outputs]: a step as the learner sees it
  std::vector<double> moved;           // [outputs]: the last answer, in the units of the caller

 private:
  /// The model first: whoever made it knows that the sizes are sensible.
  ModelObject(const Model& model, RunConfig config, const Interface& interface, std::vector<double> parameters);
  void load_state(const TensorFile& file);

  RunConfig config_;
  Interface interface_;
  Model model_;
  std::vector<double> parameters_;
  std::optional<Memory> memory_;
  std::unique_ptr<Live> live_;
};

/// The text of a configuration file.
RunConfig config_of(const char* options);

}  // namespace throughtime::c
