#include "throughtime/options.h"
#include "learners/fptt/intermediate_losses.h"
#include "learners/support.h"
#include "throughtime/error.h"

namespace throughtime {

void describe(BpttConfig& config, OptionList& list) {
  list.add("memory", config.memory,
           "full: keep the activations of all steps; recompute: keep about sqrt(T) states and compute the rest again");
  list.add("aux_losses", config.aux_losses,
           "give BPTT the losses that fptt has at the ends of windows; the options below are about these losses");
  describe_cut(config.windows, config.window_length, config.remainder, list);
  describe_intermediate(config.terminal, list);
}

void check_learner(const BpttConfig& config, const Model& model, const StretchShape& shape) {
  check_shape(shape);
  if (config.memory == BpttMemory::recompute && model.config().penalties.slowness > 0)
    refuse("bptt",
           "memory = recompute cuts a sequence, and model.slowness_penalty compares neighbouring steps; take memory = "
           "full, or set it to 0");
  if (!config.aux_losses && (config.windows != 0 || config.window_length != 0))
    refuse("bptt", "windows and window_length are those of aux_losses, which is false; leave them out, or set it");
  if (!config.aux_losses) return;
  if (config.memory == BpttMemory::recompute) refuse("bptt", "aux_losses need memory = full, got recompute");
  const SequenceCut cut("bptt", {config.windows, config.window_length, config.remainder}, shape);
  check_intermediate("bptt", config.terminal, LossSpan::sequence, model, shape, cut);
}

StreamNeeds stream_needs(const BpttConfig&) {
  refuse("bptt", "needs the end of a sequence and a stream has none; take tbptt, or fptt with window_length");
}

}  // namespace throughtime
