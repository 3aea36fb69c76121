#include "throughtime/task.h"

#include <cmath>
#include <numbers>

#include "tasks/batches.h"
#include "throughtime/error.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr int split_shift = 46;  // Random counts 48 bits of iterations: the upper two tell the splits apart

}  // namespace

std::string metric_name(Metric metric) { return std::string(name_of(metric)); }
std::string split_name(Split split) { return std::string(name_of(split)); }

double metric_of_loss(Metric metric, double mean_loss) {
  switch (metric) {
    case Metric::perplexity:
    case Metric::published_perplexity:
      return std::exp(mean_loss);
    case Metric::bits_per_character:
      return mean_loss / std::numbers::ln2;
    case Metric::mse:
    case Metric::cross_entropy:
    case Metric::nll:
      return mean_loss;
    default:
      refuse("task", "{} does not follow from a loss; it needs predictions", metric_name(metric));
  }
}

bool higher_is_better(Metric metric) { return metric == Metric::accuracy || metric == Metric::balanced_accuracy; }

bool is_error(Metric metric) {
  const bool density = metric == Metric::nll || metric == Metric::published_nll;
  return !density && metric != Metric::coverage && !higher_is_better(metric);
}

std::uint64_t split_iteration(Split split, std::uint64_t iteration) {
  if (iteration >> split_shift != 0)
    refuse("task", "a split has 2^{} batches, batch {} does not exist", split_shift, iteration);
  return iteration | static_cast<std::uint64_t>(split) << split_shift;
}

const Window& Task::make_positions(std::uint64_t, int, int, int) {
  refuse("task", "this task hands out no random places of its training data, so nothing can be estimated on it");
}

namespace {

std::uint64_t mask_key(std::uint64_t seed, std::uint64_t counter) {
  constexpr std::uint32_t key_purpose = 0xffffffff;  // no Random uses it: its purposes are small numbers
  const auto words =
      philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, key_purpose},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return static_cast<std::uint64_t>(words[1]) << 32 | words[0];
}

}  // namespace

std::uint64_t batch_mask_key(std::uint64_t seed, Split split, std::uint64_t iteration) {
  return mask_key(seed, split_iteration(split, iteration));
}

std::uint64_t positions_mask_key(std::uint64_t seed, std::uint64_t draw) {
  return mask_key(seed, draw | std::uint64_t{3} << split_shift);  // the range that no split has
}

void require_long_data(std::string_view speaker, int steps, std::int64_t length) {
  if (steps < 1) refuse(speaker, "a random place needs at least 1 step, got {}", steps);
  if (steps > length)
    refuse(speaker,
           "lags and burn-in together ({} steps) are longer than a row of the training data ({} steps); lower lags or "
           "burn_in of the learner",
           steps, length);
}

void require_rows(std::string_view speaker, int batch) {
  if (batch < 1) refuse(speaker, "a batch needs at least 1 row, got {}", batch);
}

}  // namespace throughtime
