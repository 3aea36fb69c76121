#include "bench/host_case.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/idle_engine.h"
#include "bench/report.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/throughtime.h"

namespace throughtime::bench {
namespace {

constexpr std::string_view prefix = "host-";
constexpr int classes = 10;
constexpr int batches = 400;  // of an epoch, as many as MNIST has: every example has rows in the table of predictions

ModelConfig model_of(const Case& chosen) {
  ModelConfig config;
  config.input.reals = 1;
  config.layers.push_back({.cell = chosen.cell, .hidden = chosen.hidden, .options = {}});
  config.head = {.name = "softmax", .outputs = classes};
  return config;
}

/// A learner whose engine does nothing, and the batches that it learns from in turn.
class HostWorkload {
 public:
  explicit HostWorkload(const Case& chosen)
      : model_(model_of(chosen)),
        engine_(make_engine(model_, {})),
        trainee_(make_trainee(engine_, initialise(model_, {}, 1), {.name = "adam"}, {.value = 0, .norm = 1})),
        learner_(make_learner(FpttConfig{.windows = chosen.windows}, trainee_,
                              {.steps = chosen.steps,
                               .batch = chosen.batch,
                               .losses = 1,
                               .terminal = true,
                               .examples = std::int64_t{batches} * chosen.batch})) {
    fill(chosen);
  }

  void run() {
    window_.example = examples_[next_++ % examples_.size()];
    learner_->learn(window_, [](std::int64_t) { return 1e-3; });
  }

 private:
  void fill(const Case& chosen) {
    const Random random(1, Purpose::task);
    const std::size_t entries = elements(chosen.steps, chosen.batch);
    for (std::size_t i = 0; i < entries; ++i) pixels_.push_back(static_cast<float>(random.uniform(0, 0, i)));
    window_.steps = chosen.steps;
    window_.batch = chosen.batch;
    for (int row = 0; row < chosen.batch; ++row) {
      labels_.push_back(static_cast<std::int32_t>(random.below(classes, 1, row, 0)));
      window_.start.push_back(static_cast<std::int64_t>(row) * chosen.steps);
    }
    window_.weight.assign(entries, 0.0f);
    std::fill(window_.weight.end() - chosen.batch, window_.weight.end(), 1.0f);
    source_.steps = entries;
    source_.reals = 1;
    source_.values = pixels_;
    window_.sources = {&source_, 1};
    window_.targets = {.layout = TargetLayout::per_row, .width = 0, .labels = labels_, .values = {}};
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      std::vector<std::int64_t>& examples = examples_.emplace_back();
      for (int row = 0; row < chosen.batch; ++row) examples.push_back(row * std::int64_t{batches} + batch);
    }
  }

  Model model_;
  IdleEngine engine_;
  Trainee trainee_;
  std::unique_ptr<Learner> learner_;
  Source source_;
  Window window_;
  std::vector<float> pixels_;         // [B, T]
  std::vector<std::int32_t> labels_;  // [B]
  std::vector<std::vector<std::int64_t>> examples_;
  std::size_t next_ = 0;
};

}  // namespace

bool is_host_case(const std::string& name) { return name.starts_with(prefix); }

Case parse_host_case(const std::string& name) {
  Case chosen = parse_case(name.substr(prefix.size()));
  if (chosen.kind != Kind::fptt) refuse("bench", "unknown case {}; expected host-fptt-CELL-bB-hH-tT-kK", name);
  chosen.name = name;
  return chosen;
}

HostResult run_host_case(const std::string& name, const Effort& effort) {
  HostWorkload workload(parse_host_case(name));
  const auto times = measure_in_turn({[&] { workload.run(); }}, effort);
  return {.name = name, .host_ms = median(times[0])};
}

std::string json_line(const HostResult& result) {
  const nlohmann::ordered_json line = {{"case", result.name}, {"host_ms", rounded(result.host_ms)}};
  return line.dump();
}

}  // namespace throughtime::bench
