#pragma once

#include <cstdint>

#include "throughtime/choice.h"
#include "throughtime/learners/method.h"

namespace throughtime {

/// lambda/2 |s_i - shat_i|^2 per sample, or lambda times the mean square.
enum class FppPenalty { sum_half, mean };
constexpr auto names_of(FppPenalty) { return choice_names("sum_half", "mean"); }

/// Whose gradient holds the penalty.
enum class FppPenalise { both, weights, states, none };
constexpr auto names_of(FppPenalise) { return choice_names("both", "weights", "states", "none"); }

/// M updates one after the other, or M gradients at common values.
enum class FppOrder { sequential, parallel };
constexpr auto names_of(FppOrder) { return choice_names("sequential", "parallel"); }

/// Update rule of the states; the mean square of rmsprop belongs to the cell.
enum class FppStateRule { sgd, rmsprop };
constexpr auto names_of(FppStateRule) { return choice_names("sgd", "rmsprop"); }

/// A state descends its own sample's loss, or the mean of the batch.
enum class FppStateGradient { sample, batch_mean };
constexpr auto names_of(FppStateGradient) { return choice_names("sample", "batch_mean"); }

/// Rows of an update: the streams (one end for all), or blocks (each its own end).
enum class FppBatch { streams, blocks };
constexpr auto names_of(FppBatch) { return choice_names("streams", "blocks"); }

/// Blocks that touch one cell: their gradients are added, or the last one stays.
enum class FppCollisions { add, overwrite };
constexpr auto names_of(FppCollisions) { return choice_names("add", "overwrite"); }

/// Which trajectories are drawn: any end, or the newest one.
enum class FppSample { uniform, newest };
constexpr auto names_of(FppSample) { return choice_names("uniform", "newest"); }

/// Where a trajectory may end: at steps with a target, or anywhere.
enum class FppEnds { weighted, all };
constexpr auto names_of(FppEnds) { return choice_names("weighted", "all"); }

/// The next step goes on from the buffer's state, or from a state that no update touches.
enum class FppFeed { buffer, running };
constexpr auto names_of(FppFeed) { return choice_names("buffer", "running"); }

/// States change in each of M updates, or only in the last.
enum class FppWriteBack { each, last };
constexpr auto names_of(FppWriteBack) { return choice_names("each", "last"); }

/// FPP, Decay-FPP, Random-FPP.
enum class FppVariant { plain, decay, random };
constexpr auto names_of(FppVariant) { return choice_names("plain", "decay", "random"); }

/// Decay-FPP: how T falls and M rises from phase to phase.
enum class FppDecay { halving, subtractive };
constexpr auto names_of(FppDecay) { return choice_names("halving", "subtractive"); }

/// Random-FPP: the chance of T steps in phase q: 1 - q/5, 0.8^q, 1.2^-q.
enum class FppChance { additive, multiplicative, divided };
constexpr auto names_of(FppChance) { return choice_names("additive", "multiplicative", "divided"); }

/// Fixed Point Propagation. Defaults are the thesis' mathematics; what its two released codes do differently is named
/// (docs/fpp.md).
struct FppConfig {
  int steps = 0;             // T, steps of a trajectory
  int buffer = 1000;         // N, transitions that are kept
  double lambda = 1;         // weight of the penalty on s_i - shat_i
  double lambda_growth = 1;  // factor of lambda per 1000 steps
  double lambda_most = 0;    // and never more than this; 0: no bound
  FppPenalty penalty = FppPenalty::sum_half;
  FppPenalise penalise = FppPenalise::both;
  int updates = 1;  // M, updates per step
  FppOrder order = FppOrder::sequential;
  double state_rate = 0.01;  // eta_s; 0: states are never changed
  FppStateRule state_optimizer = FppStateRule::sgd;
  FppStateGradient state_gradient = FppStateGradient::sample;
  FppBatch batch = FppBatch::streams;
  int blocks = 1;  // trajectories of an update, where they are blocks
  FppCollisions collisions = FppCollisions::add;
  FppSample sample = FppSample::uniform;
  FppEnds ends = FppEnds::weighted;
  bool newest = true;  // the newest transition may be drawn
  FppFeed feed = FppFeed::buffer;
  FppWriteBack write_back = FppWriteBack::each;
  FppVariant variant = FppVariant::plain;
  std::int64_t phase_steps = 0;  // decay, random: steps of a phase
  FppDecay decay = FppDecay::halving;
  FppChance chance = FppChance::additive;
  bool fixed = false;  // fill the buffer once, then learn from it alone
};

/// First state of a window: the one stored T steps ago, or the last of the window before.
enum class SlidingStart { stored, shifted };
constexpr auto names_of(SlidingStart) { return choice_names("stored", "shifted"); }

/// T-BPTT over the last T steps, at every step: FPP's baseline.
struct SlidingTbpttConfig {
  int steps = 0;  // T
  SlidingStart start = SlidingStart::stored;
};

/// Refuses settings that cannot work on stretches of that shape.
void check_learner(const FppConfig& config, const Model& model, const StretchShape& shape);
std::unique_ptr<Learner> make_learner(const FppConfig& config, Trainee& trainee, const StretchShape& shape);
StreamNeeds stream_needs(const FppConfig& config);
void describe(FppConfig& config, OptionList& list);
/// What its ranks share: streams, or blocks.
SharedWork shared_work(const FppConfig& config, const StretchShape& shape);

/// Refuses settings that cannot work on stretches of that shape.
void check_learner(const SlidingTbpttConfig& config, const Model& model, const StretchShape& shape);
std::unique_ptr<Learner> make_learner(const SlidingTbpttConfig& config, Trainee& trainee, const StretchShape& shape);
StreamNeeds stream_needs(const SlidingTbpttConfig& config);
void describe(SlidingTbpttConfig& config, OptionList& list);

}  // namespace throughtime
