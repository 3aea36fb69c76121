#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

#include "commands.h"
#include "tasks/text/text_options.h"
#include "terminal.h"
#include "throughtime/error.h"
#include "train/predict/sampler.h"
#include "weight_choice.h"

namespace throughtime {
namespace {

struct SampleArguments {
  std::string run;
  std::string prompt;
  SamplingOptions options;
  std::int64_t length = 200;
  WeightChoice weights;
};

/// The character files of the Penn Treebank hold letters with spaces between them, and `_` for a space: "t h e _ c a
/// t".
bool is_spelled(const TextConfig& config) {
  return config.corpus == TextCorpus::ptb && config.unit == TextUnit::character;
}

std::string spelled(const std::string& text) {
  std::string letters;
  for (const char letter : text) letters += letter == '\n' ? "\n" : fmt::format("{} ", letter == ' ' ? '_' : letter);
  return letters;
}

std::string unspelled(std::string text) {
  std::erase(text, ' ');
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// Every token is shown as soon as it is made.
void sample(const SampleArguments& arguments) {
  const bool best = choose_weights(arguments.run, arguments.weights);
  TrainedModel trained(arguments.run, best);
  if (trained.config().task.name != "text")
    refuse("sample", "{} is a run of task.name = \"{}\"; text comes from runs of task.name = \"text\"", arguments.run,
           trained.config().task.name);
  Predictor predictor(trained);
  const bool letters = is_spelled(trained.config().task.text);
  const auto written = [&](const std::string& text) { return letters ? unspelled(text) : text; };
  Sampler sampler(predictor, text_options(trained.config().task.text), arguments.options);
  std::string last = written(sampler.read(letters ? spelled(arguments.prompt) : arguments.prompt));
  say_weights(arguments.run, best);
  show("{}", last);
  for (std::int64_t token = 0; token < arguments.length && std::ferror(stdout) == 0; ++token) {
    std::fflush(stdout);
    last = written(sampler.next());
    show("{}", last);
  }
  if (!last.ends_with('\n')) show("\n");
}

}  // namespace

void add_sample_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("sample", "Let a model of texts write on where a prompt stops");
  const auto arguments = std::make_shared<SampleArguments>();
  command->add_option("run", arguments->run, "Directory of the run")->required();
  command->add_option("--prompt", arguments->prompt, "How the text begins; else with a new line")->type_name("TEXT");
  command
      ->add_option("--temperature", arguments->options.temperature,
                   "Below 1: likely tokens become likelier; 0: always the most probable one")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--top", arguments->options.top, "Draw among the most probable tokens only; 0: among all")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  command->add_option("--length", arguments->length, "Tokens (words or characters) to write")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_option("--seed", arguments->options.seed, "The same seed writes the same text")->capture_default_str();
  add_weight_options(*command, arguments->weights);
  command->callback([arguments] { sample(*arguments); });
}

}  // namespace throughtime
