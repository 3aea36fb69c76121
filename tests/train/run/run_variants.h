#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "support/scratch.h"
#include "train/options/options.h"
#include "train/run/session.h"

namespace throughtime::testing {

/// Lets a run read a text of that many words, which is written into `file`.
inline void set_words(RunConfig& config, const std::filesystem::path& file, int count) {
  std::string words;
  for (int i = 0; i < count; ++i) words += fmt::format("w{}{}", i * i % 7, i % 9 == 8 ? "\n" : " ");
  write_text(file, words);
  config.task.text.corpus = TextCorpus::files;
  config.task.text.files = {file.string()};
  config.task.text.splits = {0.6, 0.2, 0.2};
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
  std::string learner;  // bptt, recompute, and others with a choice behind a colon
  std::string optimizer;
  std::string schedule;
  std::string engine;

  /// What stands behind the colon.
  std::string choice() const { return learner.substr(learner.find(':') + 1); }
};

inline std::string name_of(const Variant& v) {
  return v.task + "_" + v.learner + "_" + v.optimizer + "_" + v.schedule + "_" + v.engine;
}

/// Steps of a batch, in the settings of the run's task.
inline void set_length(RunConfig& config, int length) {
  set_option(config, fmt::format("task.{}.length={}", config.task.name, length), "test");
}

/// The settings of the variant's method.
inline void set_learner(const Variant& v, LearnerConfig& config) {
  const std::string choice = v.choice();
  config.name = v.learner == "recompute" ? "bptt" : v.learner.substr(0, v.learner.find(':'));
  if (v.learner == "recompute") config.bptt.memory = BpttMemory::recompute;
  config.fptt.windows = v.task == "mnist" ? 5 : 3;
  config.fptt.take_average = true;
  if (v.learner == "fptt:gradient") config.fptt.form = FpttForm::gradient;
  if (v.learner == "fptt:adaptive") {
    config.fptt.windows = 0;
    config.fptt.window = WindowRule::adaptive;
    config.fptt.estimate = {.shortest = 1, .longest = 6, .lags = 4, .burn_in = 2, .every = 5};
  }
  if (v.task == "mnist") {
    config.bptt.windows = 5;
    config.bptt.aux_losses = true;
    config.fptt.terminal.q = choice_of<PriorKind>(choice, "test", "q");
    config.fptt.terminal.q_epoch = 2;
    config.bptt.terminal = config.fptt.terminal;
  }
  config.fpp = {.steps = 3, .buffer = 12, .updates = 2, .phase_steps = 30};
  const std::vector<std::string> variants = all_names<FppVariant>();
  if (std::ranges::count(variants, choice) > 0) config.fpp.variant = choice_of<FppVariant>(choice, "test", "variant");
  if (v.learner == "fpp:decay") config.fpp.state_optimizer = FppStateRule::rmsprop;
  if (v.learner == "fpp:random") config.fpp.feed = FppFeed::running;
  if (v.learner.starts_with("target_propagation:")) {
    TargetPropagationConfig& target = config.target_propagation;
    target.block = 4;
    target.init = choice_of<StateInit>(choice, "test", "init");
    target.dual_before_theta = true;
    target.state_reset = target.init != StateInit::zeros;
    target.carry_epochs = target.init == StateInit::zeros;
    target.lambda_factor = 0.8;
    target.first_dual_epoch = 2;
  }
  config.sliding_tbptt = {.steps = 4, .start = SlidingStart::shifted};
  config.adaptive_tbptt.estimate = {.shortest = 1, .longest = 4, .lags = 5, .burn_in = 2, .every = 2, .logged = 3};
  if (v.learner.starts_with("tbptt:"))
    config.tbptt = {.preset = choice_of<TbpttPreset>(choice, "test", "preset"), .truncation = 4};
}

inline RunConfig config_of(const Variant& v, const std::filesystem::path& directory) {
  RunConfig config;
  config.task.name = v.task == "stream" ? "stochastic_world" : v.task;
  config.task.mnist.order = PixelOrder::rows;
  if (v.task == "mnist") config.task.data = (directory.parent_path() / "data").string();
  if (v.task != "mnist" && v.task != "cifar10")
    set_length(config, v.learner.starts_with("target_propagation:") ? 8 : 9);
  config.model.hidden = {6};
  config.model.cell = {"gru"};
  config.model.dropout.output = 0.2;
  set_learner(v, config.learner);
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

/// Checkpoints of the same run: counts and random draws are equal, numbers up to the order of sums.
inline void expect_close_checkpoints(const std::filesystem::path& a, const std::filesystem::path& b, double tolerance) {
  const TensorFile first = read_tensors(a, true), second = read_tensors(b, true);
  ASSERT_EQ(first.tensors.size(), second.tensors.size());
  for (const Tensor& tensor : first.tensors) {
    const std::string& name = tensor.name;
    if (name == "throughtime.trainer.seconds" || name.starts_with("throughtime.record.")) continue;
    const Tensor* other = second.find(name);
    ASSERT_NE(other, nullptr) << name;
    ASSERT_EQ(tensor.shape, other->shape) << name;
    if (tensor.type != "F32" && tensor.type != "F64") {
      EXPECT_EQ(tensor.data, other->data) << name;
      continue;
    }
    const std::vector<double> x = real_values(tensor), y = real_values(*other);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]) && std::isnan(y[i])) continue;
      ASSERT_NEAR(x[i], y[i], tolerance * (1 + std::abs(x[i]))) << name;
    }
  }
}

}  // namespace throughtime::testing
