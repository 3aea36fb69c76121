#include "train/options.h"

#include <cmath>
#include <limits>

#include "tasks/add.h"

namespace throughtime {
namespace {

using Names = std::vector<std::string>;

constexpr double infinity = std::numeric_limits<double>::infinity();

Range at_least(double low) { return {.low = low, .high = infinity}; }
Range above(double low) { return {.low = low, .high = infinity, .open_low = true}; }
Range between(double low, double high) { return {.low = low, .high = high}; }
Range below_one(double low) { return {.low = low, .high = 1, .open_high = true}; }
Range any_number() { return {.low = -infinity, .high = infinity}; }

template <class Entry>
Names names_of(const std::vector<const Entry*>& entries) {
  Names names;
  for (const Entry* entry : entries) names.push_back(entry->name);
  return names;
}

Names task_names() { return names_of(all_tasks()); }
Names cell_names() { return names_of(all_cells()); }
Names optimizer_names() { return names_of(all_optimizers()); }
Names learner_names() {
  Names names;
  for (const LearnerInfo& learner : all_learners()) names.push_back(learner.name);
  return names;
}
Names memory_names() { return {"full", "recompute"}; }
Names preset_names() { return {"custom", "paper", "ref", "plain", "original"}; }
Names schedule_names() { return {"constant", "factor_at", "plateau", "inverse_sqrt"}; }

/// The field `c.PATH` of a RunConfig c, as an accessor that carries its type.
#define FIELD(TYPE, PATH) FieldOf<TYPE>([](RunConfig& c) -> TYPE& { return c.PATH; })

void add_task_options(std::vector<Option>& table) {
  table.insert(table.end(), {
      {"task.name", FIELD(std::string, task.name), "what to learn", {}, task_names},
      {"task.length", FIELD(int, task.length), "steps of a sequence (T of the papers)", between(1, 1e7)},
      {"task.markers", FIELD(std::string, task.markers), "add: one marker in each half of the sequence, or anywhere",
       {}, marker_names},
  });
}

void add_model_options(std::vector<Option>& table) {
  table.insert(table.end(), {
      {"model.cell", FIELD(Names, model.cell), "the cell of every layer, or one for each", {}, cell_names},
      {"model.hidden", FIELD(std::vector<int>, model.hidden), "hidden units of every layer, or one width for each",
       between(1, 65536)},
      {"model.layers", FIELD(int, model.layers), "number of layers", between(1, 64)},
      {"model.step", FIELD(double, model.cell_options.step), "antisymmetric cells: epsilon, the step size", above(0)},
      {"model.diffusion", FIELD(double, model.cell_options.diffusion), "antisymmetric cells: gamma, the diffusion",
       at_least(0)},
      {"model.embedding", FIELD(int, model.embedding), "width of token embeddings; 0: tokens enter one-hot",
       between(0, 65536)},
      {"model.tied", FIELD(bool, model.tied), "the output matrix is the embedding matrix"},
      {"model.encoder", FIELD(int, model.encoder), "width of a linear encoder before the first layer; 0: none",
       between(0, 65536)},
      {"model.head_hidden", FIELD(int, model.head_hidden), "width of a linear layer before the output; 0: none",
       between(0, 65536)},
      {"model.dropout_input", FIELD(double, model.dropout.input), "share of dropped inputs of the first layer",
       below_one(0)},
      {"model.dropout_between", FIELD(double, model.dropout.between), "share of dropped outputs between layers",
       below_one(0)},
      {"model.dropout_output", FIELD(double, model.dropout.output), "share of dropped outputs of the last layer",
       below_one(0)},
      {"model.dropout_per_sequence", FIELD(bool, model.dropout.per_sequence),
       "one dropout mask for a whole sequence instead of one per step"},
      {"model.initialise", FIELD(std::string, model.initialise.name), "rule for the first weights", {},
       initialisation_names},
      {"model.initialise_range", FIELD(double, model.initialise.range), "initialise = uniform: weights in +- this",
       at_least(0)},
      {"model.recurrent_scale", FIELD(double, model.initialise.recurrent_scale),
       "initialise = antisymmetric: scale of the recurrent weights", at_least(0)},
      {"model.forget_bias", FIELD(double, model.initialise.forget_bias), "added to the forget gate's first bias",
       any_number()},
  });
}

void add_learner_options(std::vector<Option>& table) {
  table.insert(table.end(), {
      {"learner.name", FIELD(std::string, learner.name), "training method", {}, learner_names},
      {"learner.memory", FIELD(std::string, learner.memory),
       "bptt: keep the full tape, or recompute it from about sqrt(T) states", {}, memory_names},
      {"learner.preset", FIELD(std::string, learner.preset),
       "tbptt: steps/losses/stride from truncation K: paper 2K+1/K/K, ref 2K-1/K/K, plain K/K/K, original K/1/1", {},
       preset_names},
      {"learner.truncation", FIELD(int, learner.truncation), "tbptt presets: K", at_least(0)},
      {"learner.steps", FIELD(int, learner.steps), "tbptt custom: steps in a window", at_least(0)},
      {"learner.losses", FIELD(int, learner.losses), "tbptt custom: last steps of a window that carry a loss",
       at_least(0)},
      {"learner.stride", FIELD(int, learner.stride), "tbptt custom: steps from one window to the next", at_least(0)},
  });
}

void add_optimizer_options(std::vector<Option>& table) {
  table.insert(table.end(), {
      {"optimizer.name", FIELD(std::string, optimizer.rule.name), "update rule", {}, optimizer_names},
      {"optimizer.rate", FIELD(double, optimizer.rate), "learning rate", at_least(0)},
      {"optimizer.clip", FIELD(double, optimizer.clip.norm), "largest norm of the gradient; 0: off", at_least(0)},
      {"optimizer.clip_value", FIELD(double, optimizer.clip.value), "largest size of a gradient's entry; 0: off",
       at_least(0)},
      {"optimizer.momentum", FIELD(double, optimizer.rule.momentum), "momentum: mu", below_one(0)},
      {"optimizer.beta1", FIELD(double, optimizer.rule.beta1), "adam: smoothing of the gradient", below_one(0)},
      {"optimizer.beta2", FIELD(double, optimizer.rule.beta2), "adam: smoothing of its square", below_one(0)},
      {"optimizer.decay", FIELD(double, optimizer.rule.decay),
       "rmsprop, adadelta: smoothing; -1: the rule's own default", below_one(-1)},
      {"optimizer.epsilon", FIELD(double, optimizer.rule.epsilon), "-1: the rule's own default", at_least(-1)},
      {"optimizer.weight_decay", FIELD(double, optimizer.rule.weight_decay),
       "this times the weights is added to the gradient", at_least(0)},
      {"optimizer.average_from", FIELD(std::int64_t, optimizer.rule.average_from),
       "asgd: first update that enters the average", at_least(1)},
      {"optimizer.schedule", FIELD(std::string, optimizer.schedule.name), "the rate over time", {}, schedule_names},
      {"optimizer.schedule_factor", FIELD(double, optimizer.schedule.factor),
       "factor_at, plateau: the rate is multiplied by it", above(0)},
      {"optimizer.schedule_epochs", FIELD(std::vector<double>, optimizer.schedule.epochs), "factor_at: at these epochs",
       at_least(0)},
      {"optimizer.schedule_patience", FIELD(int, optimizer.schedule.patience),
       "plateau: evaluations without improvement that are forgiven", at_least(0)},
  });
}

void add_train_options(std::vector<Option>& table) {
  table.insert(table.end(), {
      {"train.iterations", FIELD(std::int64_t, train.iterations), "batches to learn from", at_least(1)},
      {"train.batch", FIELD(int, train.batch), "sequences in a batch", between(1, 65536)},
      {"train.seed", FIELD(std::uint64_t, train.seed), "seed of every random number", at_least(0)},
      {"train.iterations_per_epoch", FIELD(std::int64_t, train.iterations_per_epoch),
       "generated tasks: what a schedule counts as one epoch", at_least(1)},
      {"train.evaluate_every", FIELD(std::int64_t, train.evaluate_every),
       "iterations between validations; 0: only the test at the end", at_least(0)},
      {"train.evaluate_batches", FIELD(int, train.evaluate_batches), "fresh batches of one evaluation", at_least(1)},
      {"train.report_every", FIELD(int, train.report_every), "iterations between looks at the training loss",
       at_least(1)},
  });
}

void add_run_options(std::vector<Option>& table) {
  table.insert(table.end(), {
      {"run.name", FIELD(std::string, run.name), "name in tables; empty: the configuration file's"},
      {"run.engine", FIELD(std::string, run.engine), "what computes", {}, engine_names},
      {"run.threads", FIELD(int, run.threads), "threads of the engine; 0: one per core", between(0, 1024)},
  });
}

#undef FIELD

}  // namespace

bool Range::holds(double value) const {
  if (!std::isfinite(value)) return false;
  return (open_low ? value > low : value >= low) && (open_high ? value < high : value <= high);
}

const std::vector<Option>& all_options() {
  static const std::vector<Option> options = [] {
    std::vector<Option> table;
    add_task_options(table);
    add_model_options(table);
    add_learner_options(table);
    add_optimizer_options(table);
    add_train_options(table);
    add_run_options(table);
    return table;
  }();
  return options;
}

}  // namespace throughtime
