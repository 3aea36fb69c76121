#include "throughtime/options.h"

#include "throughtime/error.h"
#include "throughtime/learner.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "fpp";

}  // namespace

void check_learner(const FppConfig& config, const Model&, const StretchShape&) {
  require_range(speaker, "buffer", config.buffer, 1, 1'000'000'000);
  if (config.steps < 1 || config.steps > config.buffer)
    refuse(speaker, "steps (T) must be between 1 and the buffer's transitions ({}), got {}", config.buffer,
           config.steps);
  if (!(config.lambda >= 0)) refuse(speaker, "lambda must be 0 or positive, got {}", config.lambda);
  if (!(config.lambda_growth > 0)) refuse(speaker, "lambda_growth must be positive, got {}", config.lambda_growth);
  if (!(config.lambda_most >= 0))
    refuse(speaker, "lambda_most must be 0 (no bound) or positive, got {}", config.lambda_most);
  if (!(config.state_rate >= 0)) refuse(speaker, "state_rate must be 0 or positive, got {}", config.state_rate);
  require_range(speaker, "updates", config.updates, 1, 1'000'000);
  require_range(speaker, "blocks", config.blocks, 1, 1'000'000);
  if (config.variant != FppVariant::plain && config.phase_steps < 1)
    refuse(speaker, "the variant {} needs phase_steps, a fifth of the run's steps, got {}", name_of(config.variant),
           config.phase_steps);
  if (config.batch == FppBatch::blocks && config.state_optimizer == FppStateRule::rmsprop &&
      config.collisions == FppCollisions::add)
    refuse(speaker, "rmsprop cannot add two gradients of one cell: use collisions = overwrite, or sgd");
  if (config.batch == FppBatch::blocks && config.sample == FppSample::newest)
    refuse(speaker,
           "blocks draw an end each, so that sample = newest has no meaning for them: use sample = uniform, or "
           "batch = streams");
}

/// One step at a time.
StreamNeeds stream_needs(const FppConfig&) { return {}; }

SharedWork shared_work(const FppConfig& config, const StretchShape& shape) {
  if (config.batch == FppBatch::blocks) return {config.blocks, "trajectories", "learner.fpp.blocks"};
  return {shape.batch, "rows of a batch", "train.batch"};
}

void describe(FppConfig& config, OptionList& list) {
  list.add("steps", config.steps, "T, the steps of a trajectory, from which an update learns; between 1 and `buffer`",
           between(0, 1e9));
  list.add("buffer", config.buffer, "N, how many transitions (the newest steps of the stream) the buffer keeps",
           between(1, 1e9));
  list.add("lambda", config.lambda,
           "weight of the penalty, which pulls each stored state to the one that is predicted for it", at_least(0));
  list.add("lambda_growth", config.lambda_growth, "lambda is multiplied by this every 1000 steps", above(0));
  list.add("lambda_most", config.lambda_most, "lambda grows no further than this; 0: no bound", at_least(0));
  list.add("penalty", config.penalty,
           "the penalty. sum_half: lambda/2 times the sum of squares of each sample; mean: lambda times their mean");
  list.add(
      "penalise", config.penalise,
      "which gradients contain the penalty: those of the weights and of the states (both), of one of them, or none");
  list.add("updates", config.updates, "M, how many updates follow each step of the stream", between(1, 1e6));
  list.add("order", config.order,
           "sequential: M updates one after the other; parallel: M gradients at the same weights and states");
  list.add("state_rate", config.state_rate, "learning rate of the stored states; 0: they do not change", at_least(0));
  list.add("state_optimizer", config.state_optimizer, "update rule of the stored states");
  list.add("state_gradient", config.state_gradient,
           "sample: a state follows the gradient of its own sample's loss; batch_mean: of the batch's mean loss");
  list.add("batch", config.batch,
           "streams: an update takes one trajectory of each stream, all ending at the same step; blocks: it takes "
           "`blocks` trajectories");
  list.add("blocks", config.blocks, "batch = blocks: how many trajectories an update takes", between(1, 1e6));
  list.add("collisions", config.collisions,
           "batch = blocks: when two gradients meet at one state, add them, or keep the last");
  list.add("sample", config.sample,
           "where trajectories end. uniform: anywhere in the buffer; newest: at its newest step");
  list.add("ends", config.ends, "weighted: trajectories end at steps with a target; all: at any step");
  list.add("newest", config.newest, "whether a trajectory may end at the newest transition");
  list.add("feed", config.feed,
           "buffer: the next step starts from the state in the buffer; running: from a state that no update changes");
  list.add("write_back", config.write_back, "each: states change in each of the M updates; last: only in the last");
  list.add("variant", config.variant, "plain, Decay-FPP or Random-FPP");
  list.add("phase_steps", config.phase_steps, "variant = decay, random: steps of a phase, usually a fifth of the run",
           at_least(0));
  list.add("decay", config.decay,
           "variant = decay: how T falls and M rises from phase to phase. halving: T is halved, M doubled; "
           "subtractive: T falls and M rises by 2");
  list.add("chance", config.chance,
           "variant = random: how the probability of T steps falls from phase to phase. additive: by 0.2; "
           "multiplicative: times 0.8; divided: by the factor 1.2");
  list.add("fixed", config.fixed, "fill the buffer once, then learn from it alone");
}

}  // namespace throughtime
