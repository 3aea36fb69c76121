// Feeds what a run reads with inputs that are valid on the outside and wild within: checkpoints with a right checksum,
// configurations made of known words, whole run directories. Each must end well or with one line.
//   THROUGHTIME_FUZZ_ROUNDS=100000 build/asan/test_fuzz
// A round is the same wherever it is run: THROUGHTIME_FUZZ_FIRST=7 THROUGHTIME_FUZZ_ROUNDS=1 runs number 7 alone.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <random>
#include <vector>

#include "fuzz/structured/mutator.h"
#include "report/runs.h"
#include "train/predict/predictor.h"
#include "train/run/run_variants.h"

namespace throughtime::fuzz {
namespace {

using testing::Variant;

const std::vector<Variant> variants = {{"add", "bptt", "adam", "plateau", "cpu"},
                                       {"stream", "tbptt:original", "asgd", "constant", "reference"},
                                       {"stream", "adaptive_tbptt", "sgd", "constant", "cpu"},
                                       {"copy", "fptt", "momentum", "constant", "cpu"},
                                       {"stream", "fpp:decay", "adam", "constant", "cpu"},
                                       {"copy", "sliding_tbptt", "rmsprop", "constant", "cpu"},
                                       {"add", "target_propagation:zeros", "adam", "constant", "cpu"}};

RunConfig small_config(const Variant& variant, const std::filesystem::path& directory) {
  RunConfig config = testing::config_of(variant, directory);
  config.model.hidden = {3};
  config.train.batch = 2;
  config.train.evaluate_every = 20;
  return config;
}

/// A trainer after a few steps, made once, and its state.
struct Trained {
  explicit Trained(const Variant& variant) : config(small_config(variant, "unused")) {
    Trainer trainer(config);
    testing::StopAt seven(7);
    trainer.run(seven, false);
    SavingArchive saving(state);
    trainer.archive(saving);
  }
  RunConfig config;
  TensorFile state;
};

void fuzz_checkpoint(Choices& choices) {
  static std::vector<std::unique_ptr<Trained>> trained(variants.size());
  const std::size_t which = choices.below(variants.size());
  if (!trained[which]) trained[which] = std::make_unique<Trained>(variants[which]);
  TensorFile file = trained[which]->state;
  mutate(file, choices);
  Trainer trainer(trained[which]->config);
  LoadingArchive archive(file);
  trainer.archive(archive);
  testing::StopAt three(3);
  trainer.run(three, false);
}

/// Lines of a valid configuration, some of them changed.
std::string mutated_text(const std::string& text, Choices& choices) {
  static const std::vector<std::string> pieces = {
      "[",         "]",       "[[arm]]\n", "\"",      "'",         "=",      ".",
      "{",         "}",       "-1",        "nan",     "inf",       "1e999",  "9223372036854775807",
      "0",         "\x1b[2J", "\xc2\x9b",  "\xff",    "#",         "\"\"\"", "true",
      "[train]\n", "name",    "\n",        "a.b.c.d", "0x7fffffff"};
  std::string changed = text;
  do {
    const std::size_t at = choices.below(changed.size() + 1), length = choices.below(6);
    changed.replace(at, std::min(length, changed.size() - at),
                    choices.below(4) == 0 ? "" : pieces[choices.below(pieces.size())]);
  } while (!choices.empty() && choices.below(3) != 0);
  return changed;
}

void fuzz_toml(Choices& choices) {
  const Variant& variant = variants[choices.below(variants.size())];
  const RunConfig config =
      parse_config(mutated_text(resolved_config(small_config(variant, "unused")), choices), "fuzz");
  resolved_config(config);
}

/// A run on a disk, made once.
const std::filesystem::path& whole_run(const std::filesystem::path& room) {
  static std::filesystem::path path;
  if (path.empty()) {
    path = room / "whole";
    testing::StopAt seven(7);
    train_run(small_config(variants[0], path), seven);
  }
  return path;
}

void fuzz_run(Choices& choices, const std::filesystem::path& room) {
  const std::filesystem::path run = room / "run";
  std::filesystem::remove_all(run);
  std::filesystem::copy(whole_run(room), run, std::filesystem::copy_options::recursive);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const std::filesystem::path& file = files[choices.below(files.size())];
  if (file.extension() == ".safetensors" && choices.below(4) != 0) {
    TensorFile tensors = read_tensors(file);
    mutate(tensors, choices);
    write_tensors(file, tensors);
  } else {
    testing::write_text(file, mutated_text(testing::text_of(file), choices));
  }
  read_run(run);
  if (file.filename() == "config.toml") {  // it may now ask for days of training
    RunDirectory(run).load_config();
    return;
  }
  try {
    TrainedModel trained(run, false);
    Predictor predictor(trained);
  } catch (const Error&) {
  }
  testing::StopAt two(2);
  resume_run(run, {}, two, false, false);
}

/// False: something other than an end or a refusal in one line.
bool round_is_fine(std::uint64_t number, const std::filesystem::path& room) {
  std::mt19937_64 random(number);
  std::vector<std::uint8_t> bytes(64 + random() % 64);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  Choices choices(bytes);
  const char* const kinds[] = {"checkpoint", "toml", "run"};
  const char* kind = kinds[number % std::size(kinds)];
  try {
    if (number % 3 == 0) fuzz_checkpoint(choices);
    if (number % 3 == 1) fuzz_toml(choices);
    if (number % 3 == 2) fuzz_run(choices, room);
    return true;
  } catch (const Error& error) {
    const bool one_line = std::string(error.what()).find('\n') == std::string::npos;
    if (!one_line && kind != kinds[1]) fmt::print(stderr, "round {} ({}): {}\n", number, kind, error.what());
    return one_line || kind == kinds[1];  // what a text quotes is cleaned where it is shown
  } catch (const std::exception& error) {
    fmt::print(stderr, "round {} ({}): {}\n", number, kind, error.what());
    return false;
  }
}

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Fuzz, EveryRoundEndsWellOrWithOneLine) {
  const testing::ScratchDirectory room;
  const std::uint64_t first = setting("THROUGHTIME_FUZZ_FIRST", 0);
  const std::uint64_t rounds =
      setting("THROUGHTIME_FUZZ_ROUNDS", std::getenv("THROUGHTIME_FULL") != nullptr ? 20000 : 600);
  for (std::uint64_t number = first; number < first + rounds; ++number) EXPECT_TRUE(round_is_fine(number, room.path()));
}

}  // namespace
}  // namespace throughtime::fuzz
