#include "weight_choice.h"

#include <fmt/format.h>

#include <filesystem>

#include "terminal.h"
#include "train/run/session.h"

namespace throughtime {
namespace {

/// ", of iteration 36"
std::string when_text(const std::optional<std::int64_t>& iteration) {
  return iteration ? fmt::format(", of iteration {}", *iteration) : "";
}

std::string text_of(const std::string& run, bool best) {
  const std::optional<std::int64_t> last = iteration_of_weights(run, false);
  if (!std::filesystem::exists(RunDirectory(run).checkpoints().best()))
    return fmt::format("weights: the last ones{}; no validation chose any", when_text(last));
  const std::optional<std::int64_t> chosen = iteration_of_weights(run, true);
  if (chosen && chosen == last) return fmt::format("weights: the last ones, which validation chose{}", when_text(last));
  if (best)
    return fmt::format("weights: those that validation chose{}; --last takes the last ones{}", when_text(chosen),
                       when_text(last));
  return fmt::format("weights: the last ones{}; validation chose others{}", when_text(last), when_text(chosen));
}

}  // namespace

void add_weight_options(CLI::App& command, WeightChoice& choice, CLI::Option* with) {
  const std::string when = with == nullptr ? "" : fmt::format(" (with {})", with->get_name());
  const auto add = [&](const char* name, bool& value, const char* what) {
    CLI::Option* option = command.add_flag(name, value, what + when);
    return with != nullptr ? option->needs(with) : option;
  };
  CLI::Option* best = add("--best", choice.best, "The weights that validation chose; the default where it chose any");
  add("--last", choice.last, "The last weights, not those that validation chose")->excludes(best);
}

bool choose_weights(const std::string& run, const WeightChoice& choice) {
  return takes_best(run, choice.best ? Checkpoint::best : choice.last ? Checkpoint::last : Checkpoint::chosen);
}

void say_weights(const std::string& run, bool best) { tell("{}\n", text_of(run, best)); }

}  // namespace throughtime
