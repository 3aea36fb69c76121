#include "throughtime/task.h"

#include <cmath>
#include <numbers>

#include "tasks/registry.h"
#include "throughtime/error.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr int split_shift = 46;  // Random counts 48 bits of iterations: the upper two tell the splits apart

}  // namespace

std::string metric_name(Metric metric) {
  switch (metric) {
    case Metric::mse:
      return "mse";
    case Metric::accuracy:
      return "accuracy";
    case Metric::cross_entropy:
      return "cross_entropy";
    case Metric::perplexity:
      return "perplexity";
    case Metric::bits_per_character:
      return "bpc";
  }
  return "";
}

double metric_of_loss(Metric metric, double mean_loss) {
  if (metric == Metric::perplexity) return std::exp(mean_loss);
  if (metric == Metric::bits_per_character) return mean_loss / std::numbers::ln2;
  if (metric == Metric::accuracy) refuse("task", "accuracy does not follow from a loss; it needs predictions");
  return mean_loss;
}

bool higher_is_better(Metric metric) { return metric == Metric::accuracy; }

std::string split_name(Split split) {
  return split == Split::train ? "train" : split == Split::validation ? "validation" : "test";
}

std::uint64_t split_iteration(Split split, std::uint64_t iteration) {
  if (iteration >> split_shift != 0)
    refuse("task", "a split has 2^{} batches, batch {} does not exist", split_shift, iteration);
  return iteration | static_cast<std::uint64_t>(split) << split_shift;
}

std::uint64_t batch_mask_key(std::uint64_t seed, Split split, std::uint64_t iteration) {
  constexpr std::uint32_t key_purpose = 0xffffffff;  // no Random uses it: its purposes are small numbers
  const std::uint64_t counter = split_iteration(split, iteration);
  const auto words =
      philox({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, key_purpose},
             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return static_cast<std::uint64_t>(words[1]) << 32 | words[0];
}

HeldOut nothing_held_out(TaskConfig&) { return HeldOut::nothing; }

void require_rows(std::string_view speaker, int batch) {
  if (batch < 1) refuse(speaker, "a batch needs at least 1 row, got {}", batch);
}

}  // namespace throughtime
