#include "train/options/options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/names.h"
#include "core/registry.h"
#include "throughtime/error.h"
#include "train/evaluate/best_by.h"

namespace throughtime {
namespace {

/// The rows of a registry that read a field of the settings they share.
template <class Row>
std::vector<std::string> readers_of(const std::vector<const Row*>& rows, std::string_view field) {
  std::vector<std::string> names;
  for (const Row* row : rows)
    if (std::find(row->reads.begin(), row->reads.end(), field) != row->reads.end()) names.push_back(row->name);
  return names;
}

/// Heads that `model.head` may name, and those of them that say yes.
std::vector<std::string> replacing_heads(bool (*yes)(const HeadType&)) {
  std::vector<std::string> names;
  for (const HeadType* head : all_heads())
    if (head->replaces() && yes(*head)) names.push_back(head->name);
  return names;
}

void describe(LearnerConfig& config, OptionList& list) {
  list.add_name("name", config.name, "training method", names_of_rows(all_learners()));
  for (const LearnerType* learner : all_learners()) {
    const OptionList::Scope scope(list, learner->name, {{UserKind::learner, {learner->name}}});
    learner->describe(config, list);
  }
}

void describe(ModelOptions& config, OptionList& list) {
  list.add_name("cell", config.cell, "the cell of every layer, or one for each", names_of_rows(all_cells()));
  list.add("hidden", config.hidden, "hidden units of every layer, or one width for each",
           between(1, LayerConfig::largest_hidden));
  list.add("layers", config.layers, "number of layers", between(1, 64));
  list.add("step", config.cell_options.step, "epsilon, the step size of the cell", above(0));
  list.used_by(UserKind::cell, readers_of(all_cells(), "step"));
  list.add("diffusion", config.cell_options.diffusion, "gamma, the diffusion of the cell", at_least(0));
  list.used_by(UserKind::cell, readers_of(all_cells(), "diffusion"));
  list.add("embedding", config.embedding, "width of the token embedding; 0: tokens are one-hot", between(0, 65536));
  list.add("tied", config.tied, "use the embedding matrix as the output matrix too");
  list.add("encoder", config.encoder, "width of a linear encoder before the first layer; 0: none", between(0, 65536));
  list.add("head_hidden", config.head_hidden, "width of a linear layer before the output; 0: none", between(0, 65536));
  std::vector<std::string> heads = replacing_heads([](const HeadType&) { return true; });
  heads.insert(heads.begin(), "");
  list.add_name("head", config.head,
                "quantile, gaussian: a forecast with a band instead of one number; mixture_of_softmaxes: a mixture in "
                "place of one softmax; empty: the task's own head",
                heads);
  list.used_by(UserKind::command, {"train"});
  list.add(
      "levels", config.levels,
      "the quantiles that a forecast has, in ascending order; at 0.1 one truth in ten should lie below the forecast",
      {.low = 0, .high = 1, .open_low = true, .open_high = true});
  list.used_by(UserKind::command, {"train"});
  list.used_by(UserKind::head, replacing_heads([](const HeadType& head) { return head.band != HeadBand::none; }));
  const auto of_layered_heads = [&] {
    list.used_by(UserKind::head, replacing_heads([](const HeadType& head) { return head.layers != nullptr; }));
  };
  list.add("experts", config.experts, "how many softmaxes are mixed", between(1, 1024));
  of_layered_heads();
  list.add("latent", config.latent,
           "width of what each softmax reads; 0: the embedding's width, or without one the last layer's",
           between(0, 65536));
  of_layered_heads();
  list.add("mixture_epsilon", config.mixture_epsilon, "the loss is -log(p + this); the authors' released code has 1e-8",
           below_one(0));
  of_layered_heads();
  list.add("dropout_input", config.dropout.input, "dropout of the first layer's inputs: the share that is dropped",
           below_one(0));
  list.add("dropout_between", config.dropout.between, "dropout between layers: the share that is dropped",
           below_one(0));
  list.add("dropout_output", config.dropout.output, "dropout of the last layer's outputs: the share that is dropped",
           below_one(0));
  list.add("dropout_per_sequence", config.dropout.per_sequence,
           "draw one dropout mask for a whole sequence instead of one per step");
  list.add("dropout_logits", config.dropout.logits,
           "dropout of the head's outputs, before the loss: the share that is dropped", below_one(0));
  list.add("dropout_logits_always", config.dropout.logits_always,
           "apply dropout_logits in evaluations too, as FPTT's released code does");
  list.add(
      "dropout_recurrent", config.dropout.recurrent,
      "weight drop: the share of recurrent weights that is dropped, with one mask for all rows and steps of a sequence",
      below_one(0));
  list.add(
      "dropout_embedding", config.dropout.embedding,
      "the share of tokens whose embedding is dropped as a whole, the same ones in all rows and steps of a sequence",
      below_one(0));
  list.add("dropout_latent", config.dropout.latent,
           "dropout of what the softmaxes of a mixture read: the share that is dropped", below_one(0));
  of_layered_heads();
  list.add("activation_penalty", config.penalties.activation,
           "added to the loss: this times the mean square of the last layer's outputs, after dropout", at_least(0));
  list.add("slowness_penalty", config.penalties.slowness,
           "added to the loss: this times the mean square of how much the last layer's outputs, before dropout, change "
           "from step to step",
           at_least(0));
  list.add("initialise", config.initialise.rule,
           "rule for the initial weights. uniform: up to initialise_range. sqrt3max: up to sqrt(3 / the larger side of "
           "a matrix). default: antisymmetric for the cells of that name, else pytorch");
  list.add("initialise_input", config.initialise.input, "rule for the embedding and the encoder");
  list.add("initialise_head", config.initialise.head, "rule for the head, unless its matrix is tied to the embedding");
  list.add("initialise_output", config.initialise.output,
           "rule for the head's last layer (uniform: its bias is 0); same: that of the head");
  list.add("initialise_range", config.initialise.range, "weights are drawn between minus and plus this", at_least(0));
  list.used_by(UserKind::initialise, {std::string(name_of(InitialiseRule::uniform))});
  list.add("recurrent_scale", config.initialise.recurrent_scale, "scale of the recurrent weights", at_least(0));
  list.used_by(UserKind::initialise, {std::string(name_of(InitialiseRule::antisymmetric))});
  list.add("forget_bias", config.initialise.forget_bias,
           "this is added to the bias of an LSTM's forget gate at the start");
}

void describe_rule(OptimizerConfig& rule, OptionList& list) {
  const auto read_by = [&](std::string_view field) {
    list.used_by(UserKind::optimizer, readers_of(all_optimizers(), field));
  };
  list.add("momentum", rule.momentum, "mu, the share of the last step that is kept", below_one(0));
  read_by("momentum");
  list.add("beta1", rule.beta1, "share of the old mean of the gradient that is kept", below_one(0));
  read_by("beta1");
  list.add("beta2", rule.beta2, "share of the old mean of the gradient's square that is kept", below_one(0));
  read_by("beta2");
  list.add("decay", rule.decay, "share of the old mean square that is kept; -1: the rule's own default", below_one(-1));
  read_by("decay");
  list.add("epsilon", rule.epsilon, "added to the denominator, from 1e-30 on; -1: the rule's own default",
           between(-1, 1));
  read_by("epsilon");
  list.add("weight_decay", rule.weight_decay, "this times the weights is added to the gradient", at_least(0));
  list.add("average", rule.average,
           "average the weights for evaluations, with any rule: from the first update on (always), or from when "
           "validation stops improving (non_monotone)");
  list.add("average_from", rule.average_from,
           "the average begins after this many updates; from then on evaluations use it", at_least(0));
  std::vector<std::string> averaging = readers_of(all_optimizers(), "average_from");
  for (const Averaging when : {Averaging::always, Averaging::non_monotone}) averaging.emplace_back(name_of(when));
  list.used_by(UserKind::average, averaging);
  list.add("average_patience", rule.average_patience,
           "averaging begins when a validation is worse than the best of those more than this many validations back",
           between(1, 1e6));
  list.used_by(UserKind::average, {std::string(name_of(Averaging::non_monotone))});
  list.add("average_test", rule.average_test,
           "whether average_patience counts back before the newest validation joins the others, as AWD-LSTM's authors "
           "do, or after, as FPTT's do");
  list.used_by(UserKind::average, {std::string(name_of(Averaging::non_monotone))});
}

void describe(OptimizerOptions& config, OptionList& list) {
  const auto of_schedules = [&](std::initializer_list<ScheduleRule> rules) {
    std::vector<std::string> names;
    for (const ScheduleRule rule : rules) names.emplace_back(name_of(rule));
    list.used_by(UserKind::schedule, std::move(names));
  };
  list.add_name("name", config.rule.name, "update rule", names_of_rows(all_optimizers()));
  list.add("rate", config.rate, "learning rate", at_least(0));
  list.add(
      "rate_by_length", config.rate_by_length,
      "the rate of a batch is multiplied by its steps, divided by those of a usual batch (task.text.length_varies)");
  list.used_by(UserKind::command, {"train"});
  list.add("clip", config.clip.norm, "a gradient with a larger norm is scaled down to this norm; 0: off", at_least(0));
  list.add("clip_value", config.clip.value, "each entry of the gradient is clipped to this size; 0: off", at_least(0));
  describe_rule(config.rule, list);
  list.add("schedule", config.schedule.rule,
           "how the rate changes. constant: not at all; factor_at: at schedule_epochs; plateau: when validations stop "
           "improving; inverse_sqrt: it is divided by the square root of the update's number");
  list.add("schedule_factor", config.schedule.factor, "the rate is multiplied by this", above(0));
  of_schedules({ScheduleRule::factor_at, ScheduleRule::plateau});
  list.add("schedule_epochs", config.schedule.epochs, "the rate is multiplied at these epochs", at_least(0));
  of_schedules({ScheduleRule::factor_at});
  list.add("schedule_patience", config.schedule.patience,
           "this many evaluations in a row may bring no improvement before the rate is multiplied", at_least(0));
  of_schedules({ScheduleRule::plateau});
}

void describe(TrainOptions& config, OptionList& list) {
  list.add("seed", config.seed, "seed of every random number", at_least(0));
  list.add("iterations_per_epoch", config.iterations_per_epoch,
           "generated tasks and streams: iterations that count as one epoch", at_least(1));
  const OptionList::Scope batches(list, "", {{UserKind::command, {"train"}}});
  list.add("iterations", config.iterations, "batches to learn from", at_least(1));
  list.add("epochs", config.epochs, "epochs to train for, instead of train.iterations; 0: off", at_least(0));
  list.add("batch", config.batch,
           "rows of a batch: so many sequences, or parts of a recording, are learned from side by side",
           between(1, 65536));
  list.add("evaluate_every", config.evaluate_every, "iterations between validations; 0: only the test at the end",
           at_least(0));
  list.add("evaluate_epochs", config.evaluate_epochs,
           "epochs between validations, which are then at their ends, instead of train.evaluate_every; 0: off",
           at_least(0));
  list.add("evaluate_batches", config.evaluate_batches, "generated tasks: batches of one evaluation", at_least(1));
  list.add_name("best_by", config.best_by,
                "what validation chooses weights and settings by: the loss, or a metric of the task", BestBy::names());
  list.add("patience", config.patience, "stop after this many validations in a row without an improvement; 0: never",
           at_least(0));
  list.add("report_every", config.report_every, "iterations between reports of the training loss", at_least(1));
}

void describe(RunOptions& config, OptionList& list) {
  list.add("name", config.name, "name of the run in tables; empty: that of the configuration file");
  list.add_name("engine", config.engine,
                "what computes; auto: the GPU if it is likely to be faster, else the processor", engine_choices());
  list.add("threads", config.threads, "threads of the engine; 0: one per core, shared by the ranks of a machine",
           between(0, 1024));
  list.add("directory", config.directory, "where the run's files go; empty: runs/NAME");
  list.add("checkpoint_every", config.checkpoint_every,
           "iterations between checkpoints; 0: only at the end, when the run is stopped, and when validation improves",
           at_least(0));
  list.used_by(UserKind::command, {"train"});
  list.add("rank_timeout", config.rank_timeout,
           "several ranks: a rank waits this many seconds for the others, then the run ends; 0: for ever", at_least(0));
  list.used_by(UserKind::command, {"train"});
}

void describe(StreamOptions& config, OptionList& list) {
  list.add("format", config.format,
           "CSV, JSON lines or raw little-endian float32 (task.series.channels numbers a row)");
  list.add("id", config.id, "column that says which stream a row belongs to; empty: there is one stream");
  list.add("slots", config.slots,
           "how many streams are learned from at once; one more replaces the stream that has been silent longest",
           between(1, 65536));
  list.add("difference", config.difference,
           "the model predicts how much a target changes over the horizon, not what it becomes");
  list.add("anchor", config.anchor,
           "after each update the weights go back this share of the way to those that the stream began with; 0: never",
           between(0, 1));
  list.add("scaling", config.scales.scaling,
           "with task.series.standardise: how running means and deviations are computed. all: every row counts alike; "
           "forgetting: rows fade with scale_memory; robust: as forgetting, and wild values count little");
  list.add("scale_memory", config.scales.memory,
           "scaling = robust, forgetting: rows that means and deviations remember", at_least(100));
  list.add("scale_rows", config.scales.rows,
           "with task.series.standardise: means and deviations are fixed after this many rows; 0: they keep changing",
           at_least(0));
  list.add("on_error", config.on_error, "a row that cannot be read is reported; then skip it, or stop the run");
  list.add("rolling", config.rolling, "rows over which the rolling error is averaged", between(1, 1e6));
  list.add("warn_rows", config.warn_rows,
           "warn when forecasts were worse than the last value by a tenth or more over this many rows; 0: never",
           at_least(0));
  list.add("metrics_every", config.metrics_every, "rows between lines of metrics.jsonl", at_least(1));
  list.add("checkpoint_seconds", config.checkpoint_seconds,
           "seconds between checkpoints; 0: only at the end and at signals", at_least(0));
}

/// The names in a task's or a method's own table, for a key that lies in it; empty: there is no such table.
std::vector<std::string> names_beside(const OptionList& list, const std::string& key) {
  const std::string table = key.substr(0, key.rfind('.') + 1);
  std::vector<std::string> names;
  if (std::ranges::count(table, '.') < 2) return names;
  for (const Option& option : list.options())
    if (option.key.starts_with(table) && option.key.size() == table.size() + option.name().size())
      names.push_back(option.name());
  return names;
}

/// Keys that end as the unknown one does, or else the one that looks most like it.
std::vector<std::string> meant_keys(const OptionList& list, const std::string& key) {
  const std::string table = key.substr(0, key.find('.')) + ".", name = key.substr(key.rfind('.') + 1);
  std::vector<std::string> same, all;
  for (const Option& option : list.options()) {
    all.push_back(option.key);
    if (option.name() == name && option.key.starts_with(table)) same.push_back(option.key);
  }
  if (!same.empty()) return same;
  const std::string nearest = nearest_name(key, all);
  return nearest.empty() ? std::vector<std::string>() : std::vector<std::string>{nearest};
}

/// For a key without a dot, which can only be a table.
std::string hint_for_table(const OptionList& list, const std::string& key) {
  std::vector<std::string> tables, names;
  for (const Option& option : list.options()) {
    const std::string table = option.key.substr(0, option.key.find('.'));
    if (tables.empty() || tables.back() != table) tables.push_back(table);
    if (option.key == key + "." + option.name()) names.push_back(option.key);
  }
  if (!names.empty()) return fmt::format(" it is a table and has {};", fmt::join(names, ", "));
  const std::string near = nearest_name(key, tables);
  return near.empty() ? fmt::format(" tables are {};", fmt::join(tables, ", "))
                      : fmt::format(" did you mean '[{}]'?", near);
}

/// What to write instead of an unknown key: a name of its own table, or another key.
std::string hint_for(const OptionList& list, const std::string& key) {
  if (key.find('.') == std::string::npos) return hint_for_table(list, key);
  const std::vector<std::string> beside = names_beside(list, key);
  const std::string table = key.substr(0, key.rfind('.')), near = nearest_name(key.substr(table.size() + 1), beside);
  if (!near.empty()) return fmt::format(" did you mean '{}.{}'?", table, near);
  if (!beside.empty()) return fmt::format(" {} has {};", table, fmt::join(beside, ", "));
  const std::vector<std::string> meant = meant_keys(list, key);
  return meant.empty() ? "" : fmt::format(" did you mean '{}'?", fmt::join(meant, "' or '"));
}

/// Of the whole model and of its parts.
std::vector<std::string> rules_of(const InitialiseConfig& config) {
  std::vector<std::string> names;
  const InitialiseRule head = rule_of(config.head, config.rule);
  for (const InitialiseRule rule :
       {config.rule, rule_of(config.input, config.rule), head, rule_of(config.output, head)})
    names.emplace_back(name_of(rule));
  return names;
}

/// The names of one kind (OptionUsers) that are at work in a run.
std::vector<std::string> at_work(UserKind kind, const RunConfig& config, std::string_view command) {
  switch (kind) {
    case UserKind::task:
      return {config.task.name};
    case UserKind::learner:
      return {config.learner.name};
    case UserKind::cell:
      return config.model.cell;
    case UserKind::head:
      return {config.model.head.empty() ? "the task's own" : config.model.head};
    case UserKind::optimizer:
      return {config.optimizer.rule.name};
    case UserKind::average: {
      const OptimizerConfig& rule = config.optimizer.rule;
      return {find_optimizer(rule.name).average >= 0 ? rule.name : std::string(name_of(rule.average))};
    }
    case UserKind::schedule:
      return {std::string(name_of(config.optimizer.schedule.rule))};
    case UserKind::initialise:
      return rules_of(config.model.initialise);
    case UserKind::command:
      return {std::string(command)};
  }
  return {};
}

bool any_at_work(const OptionUsers& users, const RunConfig& config, std::string_view command) {
  return std::ranges::any_of(at_work(users.kind, config, command),
                             [&](const std::string& name) { return std::ranges::count(users.names, name) > 0; });
}

}  // namespace

OptionList options_of(RunConfig& config) {
  OptionList list;
  const auto table = [&](std::string_view name, auto& part, std::vector<OptionUsers> users = {}) {
    const OptionList::Scope scope(list, name, std::move(users));
    describe(part, list);
  };
  table("task", config.task);
  table("model", config.model);
  table("learner", config.learner);
  table("optimizer", config.optimizer);
  table("train", config.train);
  table("run", config.run);
  table("stream", config.stream, {{UserKind::command, {"stream"}}});
  return list;
}

const Option& find_option(const OptionList& list, const std::string& key, const std::string& where) {
  for (const Option& option : list.options())
    if (option.key == key) return option;
  refuse("config", "{}: unknown option '{}';{} `throughtime help options` lists them all", where, key,
         hint_for(list, key));
}

bool is_used(const Option& option, const RunConfig& config, std::string_view command) {
  return std::ranges::all_of(option.users,
                             [&](const OptionUsers& users) { return any_at_work(users, config, command); });
}

void require_read(const Option& option, const RunConfig& config, const std::vector<std::string_view>& commands,
                  const std::string& where) {
  const auto reads = [&](std::string_view command) { return is_used(option, config, command); };
  if (std::ranges::any_of(commands, reads)) return;
  for (const OptionUsers& users : option.users)
    if (!any_at_work(users, config, commands.front()))
      refuse("config", "{}: {} is an option of the {} {}; here the {} is {}", where, option.key, name_of(users.kind),
             fmt::join(users.names, ", "), name_of(users.kind),
             fmt::join(at_work(users.kind, config, commands.front()), ", "));
}

void require_used(const std::vector<std::string>& assignments, const std::vector<RunConfig>& configs,
                  std::string_view command) {
  RunConfig any;
  const OptionList list = options_of(any);
  for (const std::string& assignment : assignments) {
    const Option& option = find_option(list, assignment.substr(0, assignment.find('=')), "--set");
    const auto uses = [&](const RunConfig& config) { return is_used(option, config, command); };
    if (configs.empty() || std::ranges::any_of(configs, uses)) continue;
    require_read(option, configs.front(), {command}, "--set");
  }
}

}  // namespace throughtime
