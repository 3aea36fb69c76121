#include "train/options/option_tables.h"

namespace throughtime {
namespace {

Names optimizer_names() { return names_of(all_optimizers()); }

}  // namespace

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
          {"optimizer.schedule",
           FIELD(ScheduleRule, optimizer.schedule.rule),
           "the rate over time",
           {},
           all_names<ScheduleRule>},
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
                   {"train.evaluate_batches", FIELD(int, train.evaluate_batches),
                    "generated tasks: batches of one evaluation", at_least(1)},
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
          {"run.threads", FIELD(int, run.threads),
           "threads of the engine; 0: one per core, shared by the ranks of a machine", between(0, 1024)},
          {"run.directory", FIELD(std::string, run.directory), "where the run's files go; empty: runs/NAME"},
          {"run.checkpoint_every", FIELD(std::int64_t, run.checkpoint_every),
           "iterations between checkpoints; 0: only at the end, at a stop and at a better validation", at_least(0)},
      });
}

}  // namespace throughtime
