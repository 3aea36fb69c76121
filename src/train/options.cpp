#include "train/options.h"

#include <cmath>
#include <limits>

#include "tasks/registry.h"

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
Names header_names() { return {"auto", "yes", "no"}; }
Names memory_names() { return {"full", "recompute"}; }
Names preset_names() { return {"custom", "paper", "ref", "plain", "original"}; }
Names form_names() { return {"lambda", "gradient", "ogd"}; }
Names remainder_names() { return {"extra", "absorb"}; }
Names inner_state_names() { return {"restart", "continue"}; }
Names carry_names() { return {"windows", "rerun"}; }
Names mask_names() { return {"window", "sequence"}; }
Names intermediate_names() { return {"window_end", "every_step", "none"}; }
Names schedule_names() { return {"constant", "factor_at", "plateau", "inverse_sqrt"}; }

/// The field `c.PATH` of a RunConfig c, as an accessor that carries its type.
#define FIELD(TYPE, PATH) FieldOf<TYPE>([](RunConfig& c) -> TYPE& { return c.PATH; })

void add_task_options(std::vector<Option>& table) {
  table.insert(table.end(),
               {
                   {"task.name", FIELD(std::string, task.name), "what to learn", {}, task_names},
                   {"task.length", FIELD(int, task.length),
                    "steps of a sequence (T of the papers); of a window where the data is one stream", between(1, 1e7)},
                   {"task.stream", FIELD(bool, task.stream),
                    "tasks of separate sequences: lay them end to end, one endless stream per row"},
                   {"task.window", FIELD(int, task.window), "task.stream: steps of a window; 0: a whole sequence",
                    between(0, 1e7)},
                   {"task.reset", FIELD(bool, task.reset), "task.stream: the state is zero where a sequence starts"},
                   {"task.history", FIELD(int, task.history),
                    "generated streams: steps before a window that a learner can look back on", between(0, 1e7)},
                   {"task.steps", FIELD(std::int64_t, task.steps),
                    "generated streams: steps of a row before it starts over (evaluation: a quarter); 0: endless",
                    between(0, 1e12)},
               });
}

void add_generated_task_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"task.markers",
           FIELD(std::string, task.markers),
           "add: one marker in each half of the sequence, or anywhere",
           {},
           marker_names},
          {"task.symbols", FIELD(int, task.symbols), "copy: different symbols to remember (8, or 7)",
           between(2, 65536)},
          {"task.generator",
           FIELD(std::string, task.generator),
           "recall: 6 symbols and a mark after them, 4 symbols and a mark before them, or the published files",
           {},
           generator_names},
          {"task.block", FIELD(int, task.block), "recall: symbols of a block", between(2, 1e6)},
          {"task.variable", FIELD(bool, task.variable), "recall: blocks of task.shortest to task.block symbols"},
          {"task.shortest", FIELD(int, task.shortest), "recall: symbols of the shortest block", between(2, 1e6)},
          {"task.period", FIELD(int, task.period), "cycle_world: steps of a round", between(2, 1e9)},
          {"task.lags", FIELD(std::vector<int>, task.lags), "stochastic_world: the two lags that matter",
           between(0, 1e6)},
      });
}

void add_data_task_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"task.data", FIELD(std::string, task.data),
           "directory of the data sets; empty: $THROUGHTIME_DATA, else data"},
          {"task.order", FIELD(std::string, task.order), "mnist: what a step shows", {}, pixel_order_names},
          {"task.permutation", FIELD(std::uint64_t, task.permutation), "mnist, permuted: seed of the permutation",
           at_least(0)},
          {"task.loss",
           FIELD(std::string, task.loss),
           "mnist, cifar10: ask for the class at the last step, or at every step",
           {},
           image_loss_names},
          {"task.validation", FIELD(double, task.validation),
           "mnist, cifar10: share of the training images that is held out", below_one(0)},
          {"task.corpus", FIELD(std::string, task.corpus), "text: which one", {}, corpus_names},
          {"task.files", FIELD(Names, task.files),
           "text, corpus = files: train, validation and test file, or one that is cut by task.splits"},
          {"task.unit", FIELD(std::string, task.unit), "text: what a token is", {}, text_unit_names},
          {"task.minimum_count", FIELD(int, task.minimum_count), "text: rarer tokens are read as <unk>; 0: keep all",
           at_least(0)},
          {"task.path", FIELD(std::string, task.path),
           "series: the recording (.csv, .tsv, .txt, .npy, .npz:name, .wav, .f32, .raw, .bin)"},
          {"task.inputs", FIELD(Names, task.inputs), "series: input columns by name or number; none: all"},
          {"task.target_path", FIELD(std::string, task.target_path),
           "series: the recording of the targets; empty: task.path"},
          {"task.targets", FIELD(Names, task.targets),
           "series: target columns by name or number; none: the inputs, or all of task.target_path"},
          {"task.horizon", FIELD(int, task.horizon), "series: how many steps later the target is", between(0, 1e9)},
          {"task.splits", FIELD(std::vector<double>, task.splits),
           "text, series: shares of train, validation, test by time; none: 0.9 0.05 0.05 (text), 0.7 0.1 0.2 (series)",
           between(0, 1)},
          {"task.standardise", FIELD(bool, task.standardise),
           "series: to mean 0 and deviation 1, as they are in the training part"},
          {"task.header",
           FIELD(std::string, task.header),
           "series: the first line of a CSV file names its columns",
           {},
           header_names},
          {"task.delimiter", FIELD(std::string, task.delimiter), "series: between the fields of a CSV file, or tab"},
          {"task.channels", FIELD(int, task.channels), "series: numbers per step of a raw float32 file",
           between(1, 1e6)},
          {"task.evaluation_columns", FIELD(int, task.evaluation_columns),
           "text, series: rows of an evaluation; 0: 10 for text, 1 for series", between(0, 65536)},
      });
}

void add_model_options(std::vector<Option>& table) {
  table.insert(table.end(),
               {
                   {"model.cell", FIELD(Names, model.cell), "the cell of every layer, or one for each", {}, cell_names},
                   {"model.hidden", FIELD(std::vector<int>, model.hidden),
                    "hidden units of every layer, or one width for each", between(1, 65536)},
                   {"model.layers", FIELD(int, model.layers), "number of layers", between(1, 64)},
                   {"model.step", FIELD(double, model.cell_options.step), "antisymmetric cells: epsilon, the step size",
                    above(0)},
                   {"model.diffusion", FIELD(double, model.cell_options.diffusion),
                    "antisymmetric cells: gamma, the diffusion", at_least(0)},
                   {"model.embedding", FIELD(int, model.embedding),
                    "width of token embeddings; 0: tokens enter one-hot", between(0, 65536)},
                   {"model.tied", FIELD(bool, model.tied), "the output matrix is the embedding matrix"},
                   {"model.encoder", FIELD(int, model.encoder),
                    "width of a linear encoder before the first layer; 0: none", between(0, 65536)},
                   {"model.head_hidden", FIELD(int, model.head_hidden),
                    "width of a linear layer before the output; 0: none", between(0, 65536)},
                   {"model.dropout_input", FIELD(double, model.dropout.input),
                    "share of dropped inputs of the first layer", below_one(0)},
                   {"model.dropout_between", FIELD(double, model.dropout.between),
                    "share of dropped outputs between layers", below_one(0)},
                   {"model.dropout_output", FIELD(double, model.dropout.output),
                    "share of dropped outputs of the last layer", below_one(0)},
                   {"model.dropout_per_sequence", FIELD(bool, model.dropout.per_sequence),
                    "one dropout mask for a whole sequence instead of one per step"},
                   {"model.initialise",
                    FIELD(std::string, model.initialise.name),
                    "rule for the first weights",
                    {},
                    initialisation_names},
                   {"model.initialise_range", FIELD(double, model.initialise.range),
                    "initialise = uniform: weights in +- this", at_least(0)},
                   {"model.recurrent_scale", FIELD(double, model.initialise.recurrent_scale),
                    "initialise = antisymmetric: scale of the recurrent weights", at_least(0)},
                   {"model.forget_bias", FIELD(double, model.initialise.forget_bias),
                    "added to the forget gate's first bias", any_number()},
               });
}

void add_learner_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"learner.name", FIELD(std::string, learner.name), "training method", {}, learner_names},
          {"learner.memory",
           FIELD(std::string, learner.memory),
           "bptt: keep the full tape, or recompute it from about sqrt(T) states",
           {},
           memory_names},
          {"learner.preset",
           FIELD(std::string, learner.preset),
           "tbptt: steps/losses/stride from truncation K: paper 2K+1/K/K, ref 2K-1/K/K, plain K/K/K, original K/1/1",
           {},
           preset_names},
          {"learner.truncation", FIELD(int, learner.truncation), "tbptt presets: K", at_least(0)},
          {"learner.steps", FIELD(int, learner.steps), "tbptt custom: steps in a window", at_least(0)},
          {"learner.losses", FIELD(int, learner.losses), "tbptt custom: last steps of a window that carry a loss",
           at_least(0)},
          {"learner.stride", FIELD(int, learner.stride), "tbptt custom: steps from one window to the next",
           at_least(0)},
          {"learner.windows", FIELD(int, learner.windows), "fptt: K, windows of a sequence", at_least(0)},
          {"learner.window_length", FIELD(int, learner.window_length), "fptt: steps of a window, instead of K",
           at_least(0)},
          {"learner.remainder", FIELD(std::string, learner.remainder),
           "fptt: steps that K does not divide are one more window, or belong to the last", {}, remainder_names},
          {"learner.form", FIELD(std::string, learner.form),
           "fptt: running estimate lambda, Algorithm 2 to the letter, or no regulariser", {}, form_names},
          {"learner.alpha", FIELD(double, learner.alpha), "fptt: strength of the regulariser", above(0)},
          {"learner.alpha_growth", FIELD(double, learner.alpha_growth), "fptt: factor of alpha after each epoch", above(0)},
          {"learner.alpha_most", FIELD(double, learner.alpha_most), "fptt: bound of a growing alpha; 0: none", at_least(0)},
          {"learner.averaging", FIELD(double, learner.averaging), "fptt: b, weight of W in its average", between(0, 1)},
          {"learner.penalty", FIELD(double, learner.penalty), "fptt, lambda: m, multiple of alpha in the gradient",
           at_least(0)},
          {"learner.kappa", FIELD(double, learner.kappa), "fptt, gradient: weight of the last gradient", at_least(0)},
          {"learner.inner_iterations", FIELD(int, learner.inner_iterations), "fptt: steps of W on each window",
           at_least(1)},
          {"learner.inner_state", FIELD(std::string, learner.inner_state),
           "fptt: inner iterations restart at the window's first state, or go on from its last", {}, inner_state_names},
          {"learner.take_average", FIELD(bool, learner.take_average), "fptt: W <- its average at the end of an epoch"},
          {"learner.reset_multiplier", FIELD(bool, learner.reset_multiplier), "fptt: lambda <- 0 at the end of an epoch"},
          {"learner.carry", FIELD(std::string, learner.carry),
           "fptt: a stream goes on from the state of the windows, or of a rerun with the new weights", {}, carry_names},
          {"learner.masks", FIELD(std::string, learner.masks), "fptt: locked dropout masks are drawn per window or sequence",
           {}, mask_names},
          {"learner.intermediate", FIELD(std::string, learner.intermediate),
           "fptt, one target at the end: losses at the ends of windows, at every step, or none", {}, intermediate_names},
      });
}

void add_optimizer_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
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
          {"optimizer.schedule_epochs", FIELD(std::vector<double>, optimizer.schedule.epochs),
           "factor_at: at these epochs", at_least(0)},
          {"optimizer.schedule_patience", FIELD(int, optimizer.schedule.patience),
           "plateau: evaluations without improvement that are forgiven", at_least(0)},
      });
}

void add_train_options(std::vector<Option>& table) {
  table.insert(table.end(),
               {
                   {"train.iterations", FIELD(std::int64_t, train.iterations), "batches to learn from", at_least(1)},
                   {"train.epochs", FIELD(double, train.epochs),
                    "passes over the training data instead of train.iterations; 0: off", at_least(0)},
                   {"train.batch", FIELD(int, train.batch), "sequences in a batch", between(1, 65536)},
                   {"train.seed", FIELD(std::uint64_t, train.seed), "seed of every random number", at_least(0)},
                   {"train.iterations_per_epoch", FIELD(std::int64_t, train.iterations_per_epoch),
                    "generated tasks: what counts as one epoch", at_least(1)},
                   {"train.evaluate_every", FIELD(std::int64_t, train.evaluate_every),
                    "iterations between validations; 0: only the test at the end", at_least(0)},
                   {"train.evaluate_batches", FIELD(int, train.evaluate_batches), "generated tasks: batches of one evaluation",
                    at_least(1)},
                   {"train.patience", FIELD(int, train.patience),
                    "stop after this many validations in a row without a better one; 0: never", at_least(0)},
                   {"train.report_every", FIELD(int, train.report_every),
                    "iterations between looks at the training loss", at_least(1)},
               });
}

void add_run_options(std::vector<Option>& table) {
  table.insert(
      table.end(),
      {
          {"run.name", FIELD(std::string, run.name), "name in tables; empty: the configuration file's"},
          {"run.engine", FIELD(std::string, run.engine), "what computes", {}, engine_names},
          {"run.threads", FIELD(int, run.threads), "threads of the engine; 0: one per core", between(0, 1024)},
          {"run.directory", FIELD(std::string, run.directory), "where the run's files go; empty: runs/NAME"},
          {"run.checkpoint_every", FIELD(std::int64_t, run.checkpoint_every),
           "iterations between checkpoints; 0: only at the end, at a stop and at a better validation", at_least(0)},
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
    add_generated_task_options(table);
    add_data_task_options(table);
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
