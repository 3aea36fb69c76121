#include "throughtime/online.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/denormals.h"
#include "learners/archive_training.h"
#include "learners/online/past_places.h"
#include "learners/online/step_ring.h"
#include "learners/support.h"
#include "throughtime/error.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "online";

int checked_slots(int slots) {
  require_range(speaker, "slots", slots, 1, 65536);
  return slots;
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

}  // namespace

/// Predictions: windows of one step, with a row for one slot or for all of them.
class StepPredictor {
 public:
  StepPredictor(Engine& engine, int slots)
      : engine_(engine),
        width_(engine.model().state_size()),
        one_(engine, 1),
        predictions_(elements(slots, engine.model().outputs())) {
    for (int slot = 0; slot < slots; ++slot) states_.push_back(engine.allocate(elements(width_)));
  }

  std::span<const double> step(int slot, const StepInput& x, Buffer parameters) {
    keep_together(false);
    const auto outputs = elements(engine_.model().outputs());
    const auto prediction = std::span(predictions_).subspan(elements(slot, outputs), outputs);
    if (looked_at(slot, x)) {
      engine_.copy(look_->state, states_[slot]);
      std::copy(look_->prediction.begin(), look_->prediction.end(), prediction.begin());
    } else {
      one_.run(source_of(x), parameters, states_[slot], states_[slot], prediction);
    }
    forget_look();
    return prediction;
  }

  /// The same for a slot whose state stays; `further`: from the state after the last look on.
  std::span<const double> look(int slot, const StepInput& x, Buffer parameters, bool further) {
    keep_together(false);
    if (!look_) {
      look_ = std::make_unique<Look>();
      look_->state = engine_.allocate(elements(width_));
      look_->prediction.resize(elements(engine_.model().outputs()));
    }
    if (!further && looked_at(slot, x)) return look_->prediction;
    one_.run(source_of(x), parameters, further ? look_->state : states_[slot], look_->state, look_->prediction);
    look_->slot = further ? -1 : slot;
    look_->token = x.token;
    look_->reals.assign(x.reals.begin(), x.reals.end());
    return look_->prediction;
  }

  /// The weights are other ones now, or a state is: a look says nothing about the next step.
  void forget_look() {
    if (look_) look_->slot = -1;
  }

  /// One step of every slot at once: x [B, D].
  std::span<const double> step_all(std::span<const float> x, Buffer parameters) {
    const std::size_t slots = states_.size();
    if (!all_) {  // who never asks for all of them has no room for that
      all_ = std::make_unique<Rows>(engine_, static_cast<int>(slots));
      table_ = engine_.allocate(slots * elements(width_));
    }
    keep_together(true);
    forget_look();
    all_->run({.steps = slots, .reals = static_cast<int>(x.size() / slots), .values = x}, parameters, table_, table_,
              predictions_);
    return predictions_;
  }

  void reset(int slot) {
    keep_together(false);
    forget_look();
    engine_.fill(states_[slot], 0);
  }

  void archive(Archive& archive) {
    keep_together(false);
    forget_look();
    const auto state = elements(width_);
    std::vector<double> numbers(states_.size() * state);  // [B, S], one list for however many slots
    const auto of_slot = [&](std::size_t slot) { return std::span(numbers).subspan(slot * state, state); };
    for (std::size_t slot = 0; slot < states_.size(); ++slot) engine_.read(states_[slot], of_slot(slot));
    archive.number_list("states", numbers, numbers.size());
    archive.number_list("predictions", predictions_, predictions_.size());
    for (std::size_t slot = 0; slot < states_.size(); ++slot) engine_.write(states_[slot], of_slot(slot));
  }

 private:
  /// What an unroll of one step of some rows needs; row r reads step r of a source.
  struct Rows {
    Rows(Engine& for_engine, int rows)
        : engine(for_engine),
          tape(engine.make_tape({.steps = 1, .batch = rows, .keep = Keep::nothing})),
          output(engine.allocate(elements(rows, engine.model().outputs()))) {
      window.steps = 1;
      window.batch = rows;
      for (int row = 0; row < rows; ++row) window.start.push_back(row);
      window.weight.assign(elements(rows), 1.0f);
      window.targets.layout = TargetLayout::none;
    }

    /// Moves the states [rows, S] from one buffer into another, or the same one, and writes the predictions [rows,
    /// outputs].
    void run(const Source& source, Buffer parameters, Buffer from, Buffer to, std::span<double> predictions) {
      window.sources = {&source, 1};
      engine.unroll({.window = window,
                     .parameters = parameters,
                     .tape = *tape,
                     .training = false,
                     .initial_state = from,
                     .final_state = to,
                     .predictions = output});
      engine.read(output, predictions);
    }

    Engine& engine;
    std::unique_ptr<Tape> tape;
    Buffer output;  // [rows, outputs]
    Window window;
  };

  /// A step that was looked at: what it was, and what it would lead to.
  struct Look {
    int slot = -1;  // -1: it says nothing any more
    std::int32_t token = -1;
    std::vector<float> reals;
    Buffer state;                    // [S]
    std::vector<double> prediction;  // [outputs]
  };

  bool looked_at(int slot, const StepInput& x) const {
    return look_ && look_->slot == slot && look_->token == x.token && std::ranges::equal(look_->reals, x.reals);
  }

  Source source_of(const StepInput& x) const {
    const std::size_t tokens = engine_.model().config().input.vocabulary > 0 ? 1 : 0;
    return {.steps = 1, .reals = static_cast<int>(x.reals.size()), .values = x.reals, .tokens = {&x.token, tokens}};
  }

  /// Moves the states into the table of all slots, or back to each slot's own buffer, unless they are there: who feeds
  /// slots one by one, or all at once, moves none.
  void keep_together(bool together) {
    if (together == together_) return;
    together_ = together;
    for (std::size_t slot = 0; slot < states_.size(); ++slot) {
      const auto row = static_cast<std::int64_t>(slot);
      if (together)
        engine_.scatter_rows(states_[slot], width_, {&row, 1}, table_);
      else
        engine_.gather_rows(table_, width_, {&row, 1}, states_[slot]);
    }
  }

  Engine& engine_;
  int width_;                   // S
  std::vector<Buffer> states_;  // [B] of [S]
  Buffer table_;                // [B, S]: the states after a step of all slots
  bool together_ = false;       // they are in the table
  Rows one_;
  std::unique_ptr<Rows> all_;
  std::unique_ptr<Look> look_;       // none: nobody has looked
  std::vector<double> predictions_;  // [B, outputs]: the last one of each slot
};

struct OnlineLearner::Parts {
  Parts(Engine& engine, const std::vector<double>& first, const OnlineConfig& given)
      : config(given),
        needs(stream_needs(given.learner)),
        ring(engine.model(), checked_slots(given.slots), needs.look_back + needs.steps + 1),
        past(ring, given.seed),
        mask_keys(given.seed, Purpose::positions),
        trainee(make_trainee(engine, first, given.optimizer, given.clip)),
        learner(make_learner(given.learner, trainee, shape())),
        schedule(given.schedule, given.rate),
        rate([this](std::int64_t update) { return schedule.rate(update, epoch()); }),
        predictor(engine, given.slots),
        open(elements(given.slots), 0),
        fresh(open.size(), 1),
        weight(open.size(), 0.0f),
        flag(open.size(), StepFlag::hold) {
    if (given.steps_per_epoch < 1) refuse(speaker, "steps_per_epoch must be at least 1, got {}", given.steps_per_epoch);
    if (given.optimizer.average == Averaging::non_monotone)
      refuse(speaker,
             "optimizer.average = \"non_monotone\" waits for validations, which a stream does not have; set it to "
             "\"off\" or \"always\"");
    if (!(given.anchor >= 0 && given.anchor <= 1))
      refuse(speaker, "anchor must be between 0 and 1, got {}", given.anchor);
    if (given.anchor > 0) {
      first_weights = engine.allocate(trainee.parameters.size);
      engine.copy(trainee.parameters, first_weights);
    }
    reserve(stretch, needs.steps, given.slots);
    stretch.batch = given.slots;
    stretch.start.resize(open.size());
    for (int slot = 0; slot < given.slots; ++slot) stretch.source.push_back(slot);
  }

  StretchShape shape() {
    return {.steps = needs.steps,
            .batch = config.slots,
            .seed = config.seed,
            .positions = [this](std::uint64_t draw, int rows, int steps) -> const Window& {
              return past.places(draw, rows, steps);
            }};
  }

  double epoch() const { return static_cast<double>(ring.position()) / static_cast<double>(config.steps_per_epoch); }

  void require_slot(int slot) const {
    if (slot < 0 || slot >= config.slots)
      refuse(speaker, "there is no slot {}; they are numbered from 0 to {}", slot, config.slots - 1);
  }

  void check_step(int slot, const StepInput& x, const StepTarget& y) const {
    require_slot(slot);
    const Model& model = trainee.engine.model();
    const InputConfig& input = model.config().input;
    if (static_cast<int>(x.reals.size()) != input.reals)
      refuse(speaker, "a step has {} real inputs, got {}", input.reals, x.reals.size());
    if (input.vocabulary > 0 && (x.token < 0 || x.token >= input.vocabulary))
      refuse(speaker, "a token must be between 0 and {}, got {}", input.vocabulary - 1, x.token);
    if (!all_finite(x.reals) || !all_finite(y.values)) refuse(speaker, "inputs and targets must be finite numbers");
    if (!y.known()) return;
    const bool labels = model.head().target == TargetKind::label_or_distribution;
    if (labels && (y.label < 0 || y.label >= model.outputs()))
      refuse(speaker, "a label must be between 0 and {}, got {}", model.outputs() - 1, y.label);
    if (!labels && static_cast<int>(y.values.size()) != model.outputs())
      refuse(speaker, "a target has {} numbers, got {}", model.outputs(), y.values.size());
  }

  /// Every open stream has had its step.
  bool round_is_full() const {
    for (std::size_t slot = 0; slot < open.size(); ++slot)
      if (open[slot] != 0 && flag[slot] == StepFlag::hold) return false;
    return true;
  }

  /// Puts a checked step into the open round.
  void take(int slot, const StepInput& x, const StepTarget& y) {
    const auto at = elements(slot);
    if (flag[at] != StepFlag::hold) end_round();
    ring.put(slot, x, y);
    weight[at] = y.known() ? 1.0f : 0.0f;
    flag[at] = fresh[at] != 0 ? StepFlag::reset : StepFlag::go_on;
    fresh[at] = 0;
    open[at] = 1;
    ++steps_in_round;
    if (round_is_full()) end_round();
  }

  void end_round() {
    ring.advance();
    past.note(weight, flag);
    stretch.weight.insert(stretch.weight.end(), weight.begin(), weight.end());
    stretch.flags.insert(stretch.flags.end(), flag.begin(), flag.end());
    std::fill(weight.begin(), weight.end(), 0.0f);
    std::fill(flag.begin(), flag.end(), StepFlag::hold);
    steps_in_round = 0;
    if (++stretch.steps == needs.steps) learn_stretch();
    if (ring.position() % config.steps_per_epoch == 0) learner->end_epoch();
  }

  void learn_stretch() {
    const std::int64_t start = ring.position() - stretch.steps;
    stretch.sources = ring.sources();
    std::fill(stretch.start.begin(), stretch.start.end(), start);
    stretch.mask_step = start;
    stretch.mask_key = mask_keys.below(UINT64_MAX, static_cast<std::uint64_t>(start), 0, 0);
    stretch.continues = start > 0;
    const std::int64_t before = learner->updates();
    learner->learn(stretch, rate);
    if (first_weights) go_back(learner->updates() - before);
    predictor.forget_look();
    stretch.steps = 0;
    stretch.weight.clear();
    stretch.flags.clear();
  }

  /// After so many updates: each goes a share of the way back.
  void go_back(std::int64_t updates) {
    if (updates == 0) return;
    const double kept = std::pow(1 - config.anchor, static_cast<double>(updates));
    trainee.engine.scale(trainee.parameters, kept);
    trainee.engine.axpy(1 - kept, first_weights, trainee.parameters);
  }

  void archive(Archive& archive) {
    archive_training(archive, trainee, *learner, schedule);
    const Archive::Scope scope(archive, "online");
    predictor.archive(archive);
    ring.archive(archive);
    past.archive(archive);
    if (first_weights) archive.buffer("first_weights", trainee.engine, first_weights);
    archive_round(archive);
  }

  void archive_round(Archive& archive) {
    const std::size_t slots = open.size();
    const Range yes_or_no = between(0, 1);
    archive.integer_list("open", open, slots, yes_or_no);
    archive.integer_list("fresh", fresh, slots, yes_or_no);
    archive.integer_list("flag", flag, slots, any_flag());
    archive.number_list("weight", weight, slots, yes_or_no);
    archive.integer("steps_in_round", steps_in_round, between(0, config.slots));
    const std::int64_t most = std::min<std::int64_t>(needs.steps - 1, ring.position());
    archive.integer("stretch_steps", stretch.steps, between(0, static_cast<double>(most)));
    const std::size_t entries = elements(stretch.steps) * slots;
    archive.integer_list("stretch_reset", stretch.flags, entries, any_flag());
    archive.number_list("stretch_weight", stretch.weight, entries, yes_or_no);
  }

  OnlineConfig config;
  StreamNeeds needs;
  StepRing ring;
  PastPlaces past;
  Random mask_keys;  // a key for each stretch
  Trainee trainee;
  std::unique_ptr<Learner> learner;
  Schedule schedule;
  RateFunction rate;
  StepPredictor predictor;
  std::vector<std::uint8_t> open;   // [B]: a stream is there, and has learned a step
  std::vector<std::uint8_t> fresh;  // [B]: its next step is its first
  std::vector<float> weight;        // [B]: of the open round
  std::vector<StepFlag> flag;       // [B]: likewise; held until its step comes
  int steps_in_round = 0;
  Buffer first_weights;  // [P]; none: nothing goes back to them
  Window stretch;        // rounds that wait for the rest of a stretch
};

OnlineLearner::OnlineLearner(Engine& engine, const std::vector<double>& parameters, const OnlineConfig& config)
    : parts_(std::make_unique<Parts>(engine, parameters, config)) {}
OnlineLearner::~OnlineLearner() = default;

std::span<const double> OnlineLearner::observe(int slot, const StepInput& x, const StepTarget& y) {
  const FlushDenormals flush;  // once for the prediction and what is learned from it
  parts_->check_step(slot, x, y);
  if (parts_->flag[slot] != StepFlag::hold) parts_->end_round();
  const std::span<const double> prediction = parts_->predictor.step(slot, x, parts_->trainee.parameters);
  parts_->take(slot, x, y);
  return prediction;
}

std::span<const double> OnlineLearner::observe_all(std::span<const float> x, std::span<const float> y) {
  const auto slots = elements(parts_->config.slots);
  const std::size_t reals = x.size() / slots, outputs = y.size() / slots;
  if (x.size() % slots != 0 || y.size() % slots != 0)
    refuse(speaker, "every slot needs its share: {} slots, got {} inputs and {} targets", slots, x.size(), y.size());
  end_round();
  std::fill(parts_->open.begin(), parts_->open.end(), std::uint8_t{1});  // one round, the first one too
  for (std::size_t slot = 0; slot < slots; ++slot)
    check(static_cast<int>(slot), {.reals = x.subspan(slot * reals, reals)}, {});
  const std::span<const double> predictions = parts_->predictor.step_all(x, parts_->trainee.parameters);
  for (std::size_t slot = 0; slot < slots; ++slot)
    learn(static_cast<int>(slot), {.reals = x.subspan(slot * reals, reals)},
          {.values = y.subspan(slot * outputs, outputs)});
  end_round();
  return predictions;
}

std::span<const double> OnlineLearner::look(int slot, const StepInput& x, bool further) {
  const FlushDenormals flush;
  parts_->check_step(slot, x, {});
  return parts_->predictor.look(slot, x, parts_->trainee.parameters, further);
}

std::span<const double> OnlineLearner::predict(int slot, const StepInput& x) {
  parts_->check_step(slot, x, {});
  return parts_->predictor.step(slot, x, parts_->trainee.parameters);
}

void OnlineLearner::learn(int slot, const StepInput& x, const StepTarget& y) {
  parts_->check_step(slot, x, y);
  parts_->take(slot, x, y);
}

void OnlineLearner::check(int slot, const StepInput& x, const StepTarget& y) const { parts_->check_step(slot, x, y); }

void OnlineLearner::end_round() {
  if (parts_->steps_in_round > 0) parts_->end_round();
}

void OnlineLearner::reset(int slot) {
  parts_->require_slot(slot);
  const auto at = elements(slot);
  if (parts_->flag[at] != StepFlag::hold) parts_->end_round();
  parts_->predictor.reset(slot);
  parts_->open[at] = 0;
  parts_->fresh[at] = 1;
}

int OnlineLearner::slots() const { return parts_->config.slots; }
std::int64_t OnlineLearner::rounds() const { return parts_->ring.position(); }
std::int64_t OnlineLearner::updates() const { return parts_->learner->updates(); }
double OnlineLearner::take_mean_loss() { return parts_->learner->take_mean_loss(); }
std::vector<Diagnostic> OnlineLearner::diagnostics() const { return parts_->learner->diagnostics(); }
Buffer OnlineLearner::parameters() const { return parts_->trainee.parameters; }
std::size_t OnlineLearner::activation_bytes() const { return parts_->learner->activation_bytes(); }
void OnlineLearner::archive(Archive& archive) { parts_->archive(archive); }
void OnlineLearner::archive_memory(Archive& archive, bool of_learner) {
  throughtime::archive_memory(archive, parts_->trainee, of_learner ? parts_->learner.get() : nullptr, parts_->schedule);
}

}  // namespace throughtime
