#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/tables/row_format.h"
#include "throughtime/engine.h"
#include "throughtime/learner.h"
#include "throughtime/model.h"
#include "throughtime/optimizer.h"
#include "throughtime/task.h"
#include "train/stream/scaling.h"

namespace throughtime {

struct OnlineConfig;  // throughtime/online.h

/// The layers of a model as a user writes them. A list of one entry serves every layer.
struct ModelOptions {
  std::vector<std::string> cell = {"lstm"};
  std::vector<int> hidden = {128};
  int layers = 1;
  CellOptions cell_options;
  int embedding = 0;  // width of token embeddings; 0: one-hot
  bool tied = false;
  int encoder = 0;
  int head_hidden = 0;
  std::string head;  // instead of the task's own; empty: that
  std::vector<double> levels = {0.1, 0.5, 0.9};
  int experts = 15;
  int latent = 0;
  double mixture_epsilon = 0;
  DropoutConfig dropout;
  PenaltyConfig penalties;
  InitialiseConfig initialise;
};

struct OptimizerOptions {
  OptimizerConfig rule;
  double rate = 1e-3;
  Clip clip;
  ScheduleConfig schedule;
  bool rate_by_length = false;  // times the steps of the batch over the usual ones
};

struct TrainOptions {
  std::int64_t iterations = 1000;
  double epochs = 0;  // 0: `iterations` says how long
  int batch = 128;
  std::uint64_t seed = 1;
  std::int64_t iterations_per_epoch = 1000;
  std::int64_t evaluate_every = 0;
  std::int64_t evaluate_epochs = 0;  // the same in whole epochs
  int evaluate_batches = 10;
  std::string best_by = "loss";  // what validation chooses by: the loss, or the name of a metric
  int patience = 0;              // validations without improvement that end a run; 0: off
  int report_every = 10;

  bool validates() const { return evaluate_every > 0 || evaluate_epochs > 0; }
};

struct RunOptions {
  std::string name;  // empty: the stem of the configuration file
  std::string engine = "cpu";
  int threads = 0;        // 0: one per core
  std::string directory;  // empty: runs/NAME
  std::int64_t checkpoint_every = 1000;
  double rank_timeout = 600;  // seconds that a rank waits for the others; 0: for ever
};

/// What becomes of a row that cannot be read: it is reported and skipped, or it ends the run.
enum class OnError { skip, stop };
constexpr auto names_of(OnError) { return choice_names("skip", "stop"); }

/// Of `throughtime stream`; columns, horizon and standardisation are those of the series task.
struct StreamOptions {
  RowFormat format = RowFormat::csv;
  std::string id;           // column that tells streams apart; empty: there is one
  int slots = 1;            // streams at once
  bool difference = false;  // the model predicts how a target changes, not what it becomes
  double anchor = 0;        // share of the way back to the first weights, after each update
  ScaleOptions scales;      // of the columns; `active` is task.series.standardise
  OnError on_error = OnError::skip;
  int rolling = 100;              // rows of the rolling error
  std::int64_t warn_rows = 1000;  // forecasts in a row, worse than naive ones, after which it is said; 0: never
  std::int64_t metrics_every = 100;
  double checkpoint_seconds = 60;
};

/// Everything that decides the result of a run. The option table (options.h) names its fields.
struct RunConfig {
  TaskConfig task;
  ModelOptions model;
  LearnerConfig learner;
  OptimizerOptions optimizer;
  TrainOptions train;
  RunOptions run;
  StreamOptions stream;
};

/// A configuration file, read once: options, and the arms (`[[arm]]`: a name and overrides) that change them.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& path);
  ~ConfigFile();

  /// Names of its arms; empty: it has none.
  const std::vector<std::string>& arms() const { return arms_; }
  /// `arm`, or none where there is none; refuses a choice between several that was not made.
  const std::string& one_arm(const std::string& arm) const;
  /// The configuration of an arm, named FILE/ARM, or the file's own where `arm` is empty; then the overrides
  /// `key=value` in order. Paths of the file are relative to it, those of overrides to the current directory. Checks
  /// what options say about each other.
  RunConfig config(const std::string& arm, const std::vector<std::string>& overrides) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
  std::vector<std::string> arms_;
};

/// Reads TOML text into a configuration that starts from the defaults.
RunConfig parse_config(const std::string& text, const std::string& where);
/// One configuration for each arm of each file (ConfigFile), or the file's own where it has none. `arm` picks one;
/// empty: all. Refuses overrides that none of them reads under the command of that name.
std::vector<RunConfig> load_files(const std::vector<std::string>& paths, const std::vector<std::string>& overrides,
                                  const std::string& arm = "", std::string_view command = "train");
/// The same for a single one: a file with arms needs one.
RunConfig load_config(const std::string& path, const std::vector<std::string>& overrides, const std::string& arm = "",
                      std::string_view command = "train");
/// Paths do not depend on where a run is continued from: those that are relative become `base`/path.
void make_paths_absolute(RunConfig& config, const std::filesystem::path& base);
/// Where a run's files go: run.directory, or runs/NAME.
std::string run_directory(const RunConfig& config);
/// The whole configuration, defaults included, as TOML that `parse_config` reads back; of tasks and learners only the
/// tables of those that it names.
std::string resolved_config(const RunConfig& config);

/// The model that the options describe, with the inputs and the head that the task needs.
ModelConfig make_model_config(const ModelOptions& options, const Task& task);
ModelConfig make_model_config(const ModelOptions& options, const InputConfig& input, const HeadConfig& head);
/// `ranks`: those that train together; null: one process. Those of one machine share its cores.
/// `rows`: of a typical window.
EngineConfig make_engine_config(const RunOptions& options, int rows, std::shared_ptr<Communicator> ranks = nullptr);
/// For a learner that meets rows as they come.
OnlineConfig make_online_config(const RunConfig& config);

}  // namespace throughtime
