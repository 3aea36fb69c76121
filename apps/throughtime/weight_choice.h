#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace throughtime {

/// Which weights of a run a command takes: those that validation chose, unless somebody asks for the last ones.
struct WeightChoice {
  bool best = false, last = false;

  bool asked() const { return best || last; }
};

/// --best and --last. `with`: the option without which they mean nothing, if there is one.
void add_weight_options(CLI::App& command, WeightChoice& choice, CLI::Option* with = nullptr);

/// Whether the best ones are taken: where validation chose any, and nobody asked for the last.
bool choose_weights(const std::string& run, const WeightChoice& choice);

/// On stderr: which they are. For a command that has read them, and has checked all else that it was asked.
void say_weights(const std::string& run, bool best);

}  // namespace throughtime
