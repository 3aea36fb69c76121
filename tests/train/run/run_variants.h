#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/scratch.h"
#include "train/run/session.h"

namespace throughtime::testing {

/// Lets a run read a text of that many words, which is written into `file`.
inline void set_words(RunConfig& config, const std::filesystem::path& file, int count) {
  std::string words;
  for (int i = 0; i < count; ++i) words += fmt::format("w{}{}", i * i % 7, i % 9 == 8 ? "\n" : " ");
  write_text(file, words);
  config.task.corpus = "files";
  config.task.files = {file.string()};
  config.task.splits = {0.6, 0.2, 0.2};
}

/// Ends a part of a run after some iteration.
class StopAt : public Observer {
 public:
  explicit StopAt(std::int64_t iteration) : iteration_(iteration) {}
  void on_progress(const Progress&) override {}
  bool wants_stop() override { return ++seen_ == iteration_; }

 private:
  std::int64_t iteration_;
  std::int64_t seen_ = 0;
};

struct Variant {
  std::string task;
  std::string learner;  // bptt, recompute, and tbptt with a preset
  std::string optimizer;
  std::string schedule;
  std::string engine;
};

inline std::string name_of(const Variant& v) {
  return v.task + "_" + v.learner + "_" + v.optimizer + "_" + v.schedule + "_" + v.engine;
}

inline RunConfig config_of(const Variant& v, const std::filesystem::path& directory) {
  RunConfig config;
  config.task.name = v.task == "stream" ? "stochastic_world" : v.task;
  config.task.length = 9;
  config.model.hidden = {6};
  config.model.cell = {"gru"};
  config.model.dropout.output = 0.2;
  config.learner.name = v.learner == "recompute" ? "bptt" : v.learner.substr(0, v.learner.find(':'));
  if (v.learner == "recompute") config.learner.memory = "recompute";
  if (v.learner.starts_with("fptt")) {
    config.learner.windows = 3;
    config.learner.take_average = true;
  }
  if (v.learner == "fptt:gradient") config.learner.form = "gradient";
  if (v.task == "mnist") {
    config.task.order = "rows";
    config.task.data = (directory.parent_path() / "data").string();
    config.learner.windows = 5;
    config.learner.aux_losses = config.learner.name == "bptt";
    config.learner.terminal.q = v.learner.substr(v.learner.find(':') + 1);
    config.learner.terminal.q_epoch = 2;
  }
  if (v.learner.starts_with("fpp:")) {
    config.learner.fpp.steps = 3;
    config.learner.fpp.buffer = 12;
    config.learner.fpp.updates = 2;
    config.learner.fpp.variant = v.learner.substr(4);
    config.learner.fpp.phase_steps = 30;
    config.learner.fpp.state_optimizer = v.learner == "fpp:decay" ? "rmsprop" : "sgd";
    config.learner.fpp.feed = v.learner == "fpp:random" ? "running" : "buffer";
  }
  if (v.learner.starts_with("target_propagation:")) {
    config.task.length = 8;
    config.learner.target.block = 4;
    config.learner.target.init = v.learner.substr(19);
    config.learner.target.dual_before_theta = true;
    config.learner.target.state_reset = v.learner != "target_propagation:zeros";
    config.learner.target.carry_epochs = v.learner == "target_propagation:zeros";
    config.learner.target.lambda_factor = 0.8;
    config.learner.target.first_dual_epoch = 2;
  }
  if (v.learner == "sliding_tbptt") {
    config.learner.fpp.steps = 4;
    config.learner.fpp.start = "shifted";
  }
  if (v.learner == "adaptive_tbptt") {
    config.learner.estimate.lags = 5;
    config.learner.estimate.burn_in = 2;
    config.learner.estimate.shortest = 1;
    config.learner.estimate.longest = 4;
    config.learner.estimate.every = 2;
    config.learner.estimate.logged = 3;
  }
  if (v.learner.starts_with("tbptt:")) {
    config.learner.preset = v.learner.substr(6);
    config.learner.truncation = 4;
  }
  config.optimizer.rule.name = v.optimizer;
  config.optimizer.rate = 0.01;
  config.optimizer.clip.norm = 1;
  config.optimizer.schedule.rule = choice_of<ScheduleRule>(v.schedule, "test", "schedule");
  config.optimizer.schedule.epochs = {0.5, 1.5};
  config.train.iterations = 23;
  config.train.iterations_per_epoch = 10;
  config.train.batch = 4;
  config.train.evaluate_every = 4;
  config.train.evaluate_batches = 2;
  config.train.report_every = 3;
  config.run.engine = v.engine;
  config.run.threads = 1;
  config.run.checkpoint_every = 5;
  config.run.name = "resumed";
  config.run.directory = directory.string();
  return config;
}

/// Tensors of a checkpoint that must be equal; seconds and file lengths depend on the clock.
inline void expect_equal_checkpoints(const std::filesystem::path& a, const std::filesystem::path& b) {
  const TensorFile first = read_tensors(a, true), second = read_tensors(b, true);
  ASSERT_EQ(first.tensors.size(), second.tensors.size());
  for (const Tensor& tensor : first.tensors) {
    if (tensor.name == "throughtime.trainer.seconds" || tensor.name.starts_with("throughtime.record.")) continue;
    const Tensor* other = second.find(tensor.name);
    ASSERT_NE(other, nullptr) << tensor.name;
    EXPECT_EQ(tensor.data, other->data) << tensor.name;
  }
}

}  // namespace throughtime::testing
