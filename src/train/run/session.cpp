#include "train/run/session.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <system_error>

#include "core/files.h"
#include "data/tables/fields.h"
#include "throughtime/error.h"
#include "train/files/run_directory.h"
#include "train/run/agreement.h"
#include "train/run/environment.h"
#include "train/run/origin.h"
#include "train/run/recorder.h"
#include "train/run/trained_model.h"

namespace throughtime {
namespace {

/// The recorder first: what others show is then already safe. Where they can show nothing any more (stderr is a closed
/// pipe), the run goes on without them.
class RecordedObserver final : public Observer {
 public:
  RecordedObserver(Recorder& recorder, Observer& other) : recorder_(recorder), other_(other) {}
  void on_start(const RunPlan& plan, std::int64_t iteration) override {
    recorder_.on_start(plan, iteration);
    tell([&] { other_.on_start(plan, iteration); });
  }
  void on_progress(const Progress& progress) override {
    recorder_.on_progress(progress);
    tell([&] { other_.on_progress(progress); });
  }
  void on_validation(const Evaluation& evaluation) override {
    recorder_.on_validation(evaluation);
    tell([&] { other_.on_validation(evaluation); });
  }
  void on_averaging(std::int64_t iteration) override {
    recorder_.on_averaging(iteration);
    tell([&] { other_.on_averaging(iteration); });
  }
  void on_iteration(const IterationEnd& end) override {
    recorder_.on_iteration(end);
    tell([&] { other_.on_iteration(end); });
  }
  void on_end(const RunResult& result) override {
    recorder_.on_end(result);
    tell([&] { other_.on_end(result); });
  }
  bool wants_stop() override { return other_.wants_stop(); }

 private:
  static void tell(const std::function<void()>& what) {
    try {
      what();
    } catch (const std::system_error&) {
    }
  }
  Recorder& recorder_;
  Observer& other_;
};

RunResult train_recorded(RunDirectory& directory, Trainer& trainer, const RecordLengths& lengths, Observer& observer,
                         bool test) {
  if (trainer.ranks() != nullptr && trainer.ranks()->rank() > 0) {
    Follower follower(trainer, observer);
    return trainer.run(follower, test);
  }
  RunLog log(directory.log());
  for (const auto& of_earlier_end : {directory.result(), directory.dynamic()}) std::filesystem::remove(of_earlier_end);
  try {
    Recorder recorder(directory, trainer, lengths, log);
    RecordedObserver both(recorder, observer);
    RunResult result = trainer.run(both, test);
    if (result.end == RunEnd::interrupted) log.line(fmt::format("interrupted at iteration {}", result.iteration));
    return result;
  } catch (const std::exception& error) {
    log.error(error);
    throw;
  }
}

/// Refuses parts that are too short for the rows that are asked of them, while the run that is overwritten is there.
void require_batches(Trainer& trainer) {
  Task& task = trainer.task();
  const int batch = trainer.config().train.batch;
  for (const Split split : {Split::train, Split::validation, Split::test})
    if (task.has(split)) task.make_batch(split, 0, split == Split::train ? batch : task.evaluation_batch(batch));
}

void begin_run(RunDirectory& directory, Trainer& trainer, bool force, const std::function<void()>& before_config = {}) {
  require_batches(trainer);
  begin_run(
      directory, force, trainer.config(), ModelInterface(trainer.task()), trainer.plan(),
      [&](const std::string& folder) {
        trainer.task().save(folder);
        remember_data(folder, trainer.task(), trainer.config().train.batch);
      },
      before_config);
}

RecordLengths load_state(const TensorFile& file, Trainer& trainer) {
  return load_state(file, [&](Archive& archive) { trainer.archive(archive); });
}

/// Copies the tensors that belong to the model into `parameters`; at least one must, and all must have its shape.
ImportShare copy_weights(const TensorFile& weights, const ParameterLayout& layout, std::vector<double>& parameters) {
  ImportShare share{.tensors = weights.tensors.size()};
  for (const ParameterBlock& block : layout.blocks()) {
    const Tensor* tensor = weights.find(block.name);
    // torch.nn.LSTM and its kin have no prefix.
    if (tensor == nullptr && block.name.starts_with("rnn.")) tensor = weights.find(block.name.substr(4));
    if (tensor == nullptr) share.kept.push_back(block.name);
    if (tensor == nullptr) continue;
    const std::vector<std::int64_t> shape(block.shape.begin(), block.shape.end());
    if (tensor->shape != shape)
      refuse("import", "'{}' must have the shape [{}], it has [{}]", tensor->name, fmt::join(shape, ", "),
             fmt::join(tensor->shape, ", "));
    const std::vector<double> values = real_values(*tensor);
    std::copy(values.begin(), values.end(), parameters.begin() + static_cast<std::ptrdiff_t>(block.offset));
    ++share.copied;
  }
  if (share.copied > 0) return share;
  std::vector<std::string> names;
  for (const ParameterBlock& block : layout.blocks()) names.push_back(block.name);
  refuse("import", "no tensor of the file belongs to the model, whose parameters are {}", fmt::join(names, ", "));
}

/// A run that begins with `weights`, over those of a checkpoint where there is one; `share`: how much they filled.
FirstParameters imported(const TensorFile& weights, ImportShare& share, const TensorFile* checkpoint = nullptr) {
  return [&weights, &share, checkpoint](const ParameterLayout& layout, std::vector<double>& parameters) {
    if (checkpoint != nullptr) copy_weights(*checkpoint, layout, parameters);
    share = copy_weights(weights, layout, parameters);
  };
}

}  // namespace

std::string ImportShare::text() const {
  std::string text = fmt::format("{} of {} parameters were in the file", copied, copied + kept.size());
  if (!kept.empty()) text += fmt::format("; these stay as they were: {}", fmt::join(kept, ", "));
  if (tensors > copied) text += fmt::format("; {} of its {} tensors were not used", tensors - copied, tensors);
  return text;
}

RunResult train_run(const RunConfig& config, Observer& observer, bool force, bool test,
                    const std::shared_ptr<Communicator>& ranks, const std::filesystem::path& from) {
  if (ranks) ranks->set_patience(config.run.rank_timeout);
  require_same_config(ranks.get(), config);
  RunDirectory directory(run_directory(config));
  on_first_rank(ranks.get(), [&] { directory.require_free(force); });
  std::optional<Origin> origin;
  if (!from.empty()) origin.emplace(from, "train");
  Trainer trainer(config, origin ? origin->task_directory(config) : "", ranks,
                  origin ? origin->first() : FirstParameters());
  require_same_data(ranks.get(), trainer.task(), config.train.batch);
  // Nobody could go on with weights that are nowhere but in this process.
  const auto save_first = [&] {
    RunLog log(directory.log());
    log.line(origin->text());
    Recorder(directory, trainer, {}, log).save_checkpoint(false, nullptr);
  };
  on_first_rank(ranks.get(), [&] {
    begin_run(directory, trainer, force, origin ? std::function<void()>(save_first) : std::function<void()>());
  });
  return train_recorded(directory, trainer, {}, observer, test);
}

RunResult train_run(const RunConfig& config, Observer& observer, const RunHooks& hooks, bool recorded) {
  std::optional<RunDirectory> directory;
  if (recorded) directory.emplace(run_directory(config)).require_free(false);
  Trainer trainer(config, "", nullptr, hooks.first);
  if (hooks.before) hooks.before(trainer);
  const auto save_first = [&] {
    RunLog log(directory->log());
    Recorder(*directory, trainer, {}, log).save_checkpoint(false, nullptr);
  };
  if (recorded) begin_run(*directory, trainer, false, save_first);
  RunResult result = recorded ? train_recorded(*directory, trainer, {}, observer, false) : trainer.run(observer, false);
  if (hooks.after) hooks.after(trainer);
  return result;
}

RunResult resume_run(const std::filesystem::path& run, const std::vector<std::string>& overrides, Observer& observer,
                     bool previous, bool test, const std::shared_ptr<Communicator>& ranks) {
  if (RunDirectory(run).is_stream())
    refuse("train", "{} is the run of a stream: it goes on with throughtime stream --resume {}", run.string(),
           run.string());
  RunDirectory directory(run);
  const RunConfig config = directory.load_config(overrides);
  if (ranks) ranks->set_patience(config.run.rank_timeout);
  require_same_config(ranks.get(), config);
  CheckpointStore checkpoints = directory.checkpoints();
  on_first_rank(ranks.get(), [&] {
    directory.lock();
    if (previous) checkpoints.go_back();
  });
  Trainer trainer(config, directory.task().string(), ranks);
  require_same_data(ranks.get(), trainer.task(), config.train.batch);
  on_first_rank(ranks.get(),
                [&] { require_remembered_data(directory.task().string(), trainer.task(), config.train.batch); });
  RecordLengths lengths;
  if (!checkpoints.empty()) lengths = load_state(checkpoints.load(), trainer);
  require_same(ranks.get(), "checkpoint", static_cast<std::uint64_t>(trainer.iteration()));
  on_first_rank(ranks.get(), [&] {
    // A crash may have come between the two names of a checkpoint that is the best one.
    const std::optional<Evaluation>& best = trainer.best_validation();
    if (best && best->iteration == trainer.iteration() && std::filesystem::exists(checkpoints.last()))
      checkpoints.mark_best();
    if (!overrides.empty()) replace_file(directory.config(), resolved_config(config));
  });
  return train_recorded(directory, trainer, lengths, observer, test);
}

ImportShare start_run_with(const RunConfig& config, const TensorFile& weights, bool force) {
  RunDirectory directory(run_directory(config));
  directory.require_free(force);
  ImportShare share;
  Trainer trainer(config, "", nullptr, imported(weights, share));
  begin_run(directory, trainer, force, [&] {
    RunLog log(directory.log());
    Recorder(directory, trainer, {}, log).save_checkpoint(false, nullptr);
    log.line(fmt::format("the first weights were imported: {}", share.text()));
  });
  return share;
}

ImportShare replace_parameters(const std::filesystem::path& run, const TensorFile& weights) {
  RunDirectory directory(run);
  directory.lock();
  std::optional<TensorFile> checkpoint;
  ImportShare share;
  if (!directory.checkpoints().empty()) checkpoint = directory.checkpoints().load();
  Trainer trainer(directory.load_config(), directory.task().string(), nullptr,
                  imported(weights, share, checkpoint ? &*checkpoint : nullptr));
  RecordLengths lengths;
  if (checkpoint) lengths = load_state(*checkpoint, [&](Archive& archive) { trainer.archive_progress(archive); });
  trainer.forget_best();
  RunLog log(directory.log());
  Recorder(directory, trainer, lengths, log).save_checkpoint(false, nullptr);
  directory.checkpoints().forget_best();
  log.line(fmt::format("weights were imported at iteration {}: {}", trainer.iteration(), share.text()));
  return share;
}

bool takes_best(const std::filesystem::path& run, Checkpoint checkpoint) {
  if (checkpoint != Checkpoint::chosen) return checkpoint == Checkpoint::best;
  return std::filesystem::exists(RunDirectory(run).checkpoints().best());
}

std::optional<std::int64_t> iteration_of_weights(const std::filesystem::path& run, bool best) {
  const CheckpointStore checkpoints = RunDirectory(run).checkpoints();
  std::int64_t iteration = 0;
  try {
    const std::string text = read_metadata(best ? checkpoints.best() : checkpoints.last()).at(iteration_key);
    if (reads_as(text, iteration)) return iteration;
  } catch (const InvalidInput&) {  // who reads the weights says what is wrong with them
  } catch (const std::out_of_range&) {
  }
  return std::nullopt;
}

TensorFile load_checkpoint(const std::filesystem::path& run, bool best) {
  const RunDirectory directory(run);
  directory.require_run();
  const CheckpointStore checkpoints = directory.checkpoints();
  if (!best && checkpoints.empty()) refuse("run", "{} has no checkpoint yet", run.string());
  if (!best) return checkpoints.load();
  if (!std::filesystem::exists(checkpoints.best()))
    refuse("run", "{} has no best checkpoint: it is written at validations (train.evaluate_every)", run.string());
  return read_tensors(checkpoints.best(), true);
}

void require_splits(const std::filesystem::path& run) {
  if (RunDirectory(run).is_stream())
    refuse(
        "run",
        "{} is the run of a stream, which has no splits: each of its forecasts was tested before it was learned from. "
        "metrics.jsonl has their errors (throughtime report), and throughtime predict answers further rows",
        run.string());
}

std::unique_ptr<Trainer> open_run(const std::filesystem::path& run, bool best,
                                  const std::vector<std::string>& overrides) {
  require_splits(run);
  const TensorFile file = load_checkpoint(run, best);
  const RunDirectory directory(run);
  auto trainer = std::make_unique<Trainer>(directory.load_config(overrides), directory.task().string());
  load_evaluated(file, trainer->config().optimizer.rule, trainer->engine(), trainer->parameters());
  return trainer;
}

}  // namespace throughtime
