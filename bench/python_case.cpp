#include "bench/python_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench/program.h"
#include "bench/report.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/online.h"
#include "throughtime/random.h"

namespace throughtime::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int exit_missing = 3;    // python_overheads.py's word for it
constexpr int exit_no_script = 4;  // the shell line's below
constexpr int features = 4, hidden = 32;

/// The loop that python_overheads.py makes, without Python.
class CppLoop {
 public:
  explicit CppLoop(int rows)
      : rows_(elements(rows)),
        model_(config()),
        engine_(make_engine(model_, {.threads = 1, .communicator = nullptr})),
        learner_(*engine_, initialise(model_, {}, 1), {}) {  // its defaults are those of the package
    const Random random(1, Purpose::task);
    for (std::uint64_t i = 0; i < rows_ * features; ++i) x_.push_back(static_cast<float>(random.normal(0, 0, i)));
    for (std::size_t row = 0; row < rows_; ++row)
      y_.push_back(std::accumulate(&x_[row * features], &x_[row * features] + features, 0.0f));
    run();
  }

  Rates run() {
    const double wall = microseconds_of(CLOCK_MONOTONIC), cpu = microseconds_of(CLOCK_THREAD_CPUTIME_ID);
    double sum = 0;
    for (std::size_t row = 0; row < rows_; ++row)
      sum += learner_.observe({&x_[row * features], features}, {&y_[row], 1})[0];
    if (!std::isfinite(sum)) fail("bench", "a prediction of the loop beside Python is no finite number");
    const auto rows = 1e6 * static_cast<double>(rows_);
    return {rows / (microseconds_of(CLOCK_MONOTONIC) - wall), rows / (microseconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu)};
  }

 private:
  static ModelConfig config() {
    ModelConfig config;
    config.input.reals = features;
    config.layers.push_back({.cell = "lstm", .hidden = hidden, .options = {}});
    config.head = {.name = "regression", .outputs = 1};
    return config;
  }

  std::size_t rows_;
  Model model_;
  std::unique_ptr<Engine> engine_;
  OnlineLearner learner_;
  std::vector<float> x_, y_;
};

/// The program in Python, with the library that was built beside the command.
class Script {
 public:
  explicit Script(const PythonConfig& config)
      : python_(config.python), path_(config.directory + "/python_overheads.py") {
    const auto library = std::filesystem::path(config.command).parent_path() / "libthroughtime_c.so";
    if (std::getenv("THROUGHTIME_LIBRARY") == nullptr && std::filesystem::exists(library))
      start_ = fmt::format("THROUGHTIME_LIBRARY={} ", shell_word(library.string()));
    start_ = fmt::format("command -v {0} >/dev/null || exit {1}; [ -e {3} ] || exit {4}; {2}{0} {3}",
                         shell_word(python_), exit_no_program, start_, shell_word(path_), exit_no_script);
  }

  Json ask(const std::string& arguments) const {
    const Finished finished = run_and_read(fmt::format("{} {}", start_, arguments));
    if (finished.status == exit_no_program)
      refuse("bench", "there is no Python at '{}'; --interpreter names another", python_);
    if (finished.status == exit_no_script)
      refuse("bench", "there is no {}; --peers names its folder, bench/peers of the sources", path_);
    const Json answer = Json::parse(finished.output, nullptr, false);
    if (finished.status == exit_missing && answer.is_object() && answer.contains("missing"))
      refuse("bench", "--python: {}", answer.at("missing").get<std::string>());
    if (finished.status != 0 || !answer.is_object())
      fail("bench", "python_overheads.py {} did not end well (exit code {}): {}", arguments, finished.status,
           finished.output);
    return answer;
  }

  /// A part of an answer.
  template <class Value>
  static Value value_of(const Json& answer, const std::string& key) {
    try {
      return answer.at(key).get<Value>();
    } catch (const Json::exception& error) {
      fail("bench", "python_overheads.py gave no '{}': {}", key, answer.dump());
    }
  }
  static Rates rates_of(const Json& answer, const std::string& key) {
    const auto [wall, cpu] = value_of<std::pair<double, double>>(answer, key);
    return {wall, cpu};
  }

 private:
  std::string python_, path_, start_;
};

/// What each round found, call by call.
class Rounds {
 public:
  void add(const std::string& name, const Rates& rates) {
    if (!wall_.contains(name)) names_.push_back(name);
    wall_[name].push_back(rates.wall);
    cpu_[name].push_back(rates.cpu);
  }
  std::vector<PythonCall> calls() const {
    std::vector<PythonCall> calls;
    for (const std::string& name : names_)
      calls.push_back({.name = name, .rates = rates(name), .of_cpp = ratio(name, "cpp")});
    return calls;
  }
  PythonTraining training(const std::string& name, const std::string& fit, const std::string& train) const {
    return {.name = name, .fit = rates(fit), .train = rates(train), .of_train = ratio(fit, train)};
  }

 private:
  Rates rates(const std::string& name) const { return {median(wall_.at(name)), median(cpu_.at(name))}; }
  /// Of the same rounds, by processor time.
  double ratio(const std::string& name, const std::string& base) const {
    return median_of_ratios(cpu_.at(name), cpu_.at(base));
  }

  std::vector<std::string> names_;
  std::map<std::string, std::vector<double>> wall_, cpu_;
};

}  // namespace

std::optional<double> PythonResult::times_torch(const PythonCall& call) const {
  const auto torch = std::ranges::find(calls, "torch", &PythonCall::name);
  return torch == calls.end() ? std::nullopt : std::optional(call.rates.cpu / torch->rates.cpu);
}

PythonDescription describe_python(const PythonConfig& config) {
  const Json answer = Script(config).ask("--describe");
  PythonDescription python = {.throughtime = Script::value_of<std::string>(answer, "throughtime"),
                              .numpy = Script::value_of<std::string>(answer, "numpy")};
  const auto torch = Script::value_of<Json>(answer, "torch");
  if (!torch.is_null()) python.torch = Script::value_of<std::string>(answer, "torch");
  return python;
}

PythonResult run_python_case(const PythonConfig& config, const PythonDescription& python, const Effort& effort) {
  const Script script(config);
  const int rows = config.quick ? 2000 : 20000;
  CppLoop loop(rows);
  Rounds rounds, trainings;
  PythonResult result;
  const double begin = microseconds_of(CLOCK_MONOTONIC);
  for (int round = 0; round < effort.repeats; ++round) {
    if (round >= effort.least && microseconds_of(CLOCK_MONOTONIC) - begin > 1e6 * effort.seconds) break;
    rounds.add("cpp", loop.run());
    const Json calls = script.ask(fmt::format("--calls --rows {}", rows));
    for (const char* name : {"learn_many", "observe", "pair"}) rounds.add(name, Script::rates_of(calls, name));
    if (python.torch)
      rounds.add("torch", Script::rates_of(script.ask(fmt::format("--torch --rows {}", rows / 100)), "torch"));
    const Json fit =
        script.ask(fmt::format("--fit --epochs {} --command {}", config.quick ? 10 : 100, shell_word(config.command)));
    for (const char* name : {"fit", "train", "fit_later", "train_later"})
      trainings.add(name, Script::rates_of(fit, name));
  }
  result.trainings = {trainings.training("whole", "fit", "train"),
                      trainings.training("later", "fit_later", "train_later")};
  result.calls = rounds.calls();
  const Rates import = Script::rates_of(script.ask("--import"), "import");
  result.import_ms = import.wall;
  result.import_cpu_ms = import.cpu;
  return result;
}

std::string json_lines(const PythonResult& result) {
  std::string lines;
  for (const PythonCall& call : result.calls) {
    const std::optional<double> times = result.times_torch(call);
    lines += Json{{"case", "python-" + call.name},
                  {"threads", 1},
                  {"rows_per_second", std::round(call.rates.wall)},
                  {"rows_per_cpu_second", std::round(call.rates.cpu)},
                  {"of_cpp", rounded(call.of_cpp)},
                  {"times_torch", times ? Json(rounded(*times)) : Json(nullptr)}}
                 .dump() +
             "\n";
  }
  for (const PythonTraining& training : result.trainings)
    lines += Json{{"case", training.name == "whole" ? "python-fit" : "python-fit-" + training.name},
                  {"threads", 1},
                  {"steps_per_second", std::round(training.fit.wall)},
                  {"steps_per_cpu_second", std::round(training.fit.cpu)},
                  {"train_steps_per_second", std::round(training.train.wall)},
                  {"train_steps_per_cpu_second", std::round(training.train.cpu)},
                  {"of_train", rounded(training.of_train)}}
                 .dump() +
             "\n";
  return lines +
         Json{{"case", "python-import"},
              {"import_ms", rounded(result.import_ms)},
              {"import_cpu_ms", rounded(result.import_cpu_ms)}}
             .dump() +
         "\n";
}

}  // namespace throughtime::bench
