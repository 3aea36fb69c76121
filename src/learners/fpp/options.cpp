#include "learners/fpp/options.h"

#include <algorithm>
#include <vector>

#include "core/names.h"
#include "throughtime/error.h"

namespace throughtime {

void check_fpp(const std::string& speaker, const FppConfig& config) {
  const auto known = [&](const char* what, const std::string& value, const std::vector<std::string>& names) {
    if (std::find(names.begin(), names.end(), value) == names.end()) refuse_unknown(speaker, what, value, names);
  };
  known("penalty", config.penalty, {"sum_half", "mean"});
  known("penalise", config.penalise, {"both", "weights", "states", "none"});
  known("order", config.order, {"sequential", "parallel"});
  known("state_optimizer", config.state_optimizer, {"sgd", "rmsprop"});
  known("state_gradient", config.state_gradient, {"sample", "batch_mean"});
  known("batch", config.batch, {"streams", "blocks"});
  known("collisions", config.collisions, {"add", "overwrite"});
  known("sample", config.sample, {"uniform", "newest"});
  known("ends", config.ends, {"weighted", "all"});
  known("feed", config.feed, {"buffer", "running"});
  known("write_back", config.write_back, {"each", "last"});
  known("variant", config.variant, {"plain", "decay", "random"});
  known("decay", config.decay, {"halving", "subtractive"});
  known("chance", config.chance, {"additive", "multiplicative", "divided"});
  known("start", config.start, {"stored", "shifted"});
  require_range(speaker, "buffer", config.buffer, 1, 1'000'000'000);
  if (config.steps < 1 || config.steps > config.buffer)
    refuse(speaker, "fpp_steps (T) must be between 1 and the buffer's transitions ({}), got {}", config.buffer,
           config.steps);
  if (!(config.lambda >= 0)) refuse(speaker, "lambda must be 0 or positive, got {}", config.lambda);
  if (!(config.lambda_growth > 0)) refuse(speaker, "lambda_growth must be positive, got {}", config.lambda_growth);
  if (!(config.lambda_most >= 0))
    refuse(speaker, "lambda_most must be 0 (no bound) or positive, got {}", config.lambda_most);
  if (!(config.state_rate >= 0)) refuse(speaker, "state_rate must be 0 or positive, got {}", config.state_rate);
  require_range(speaker, "updates", config.updates, 1, 1'000'000);
  require_range(speaker, "blocks", config.blocks, 1, 1'000'000);
  if (config.variant != "plain" && config.phase_steps < 1)
    refuse(speaker, "the variant {} needs phase_steps, a fifth of the run's steps, got {}", config.variant,
           config.phase_steps);
  if (config.batch == "blocks" && config.state_optimizer == "rmsprop" && config.collisions == "add")
    refuse(speaker, "rmsprop cannot add two gradients of one cell: use collisions = overwrite, or sgd");
}

}  // namespace throughtime
