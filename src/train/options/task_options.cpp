#include "train/options/option_tables.h"

#include "tasks/registry.h"

namespace throughtime {
namespace {

Names task_names() { return names_of(all_tasks()); }
Names header_names() { return {"auto", "yes", "no"}; }

}  // namespace

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
           "text, corpus = files: train, validation and test file, or one that is cut by task.splits; point_process: "
           "the same, or train and test file; none: the book orders"},
          {"task.fold", FIELD(int, task.fold), "point_process, book orders: which fold", between(1, 5)},
          {"task.scale", FIELD(double, task.scale), "point_process: factor of all intervals", above(0)},
          {"task.reset_sequences", FIELD(bool, task.reset_sequences),
           "point_process: the state is zero where a sequence starts; else only an input tells"},
          {"task.unit", FIELD(std::string, task.unit), "text: what a token is", {}, text_unit_names},
          {"task.minimum_count", FIELD(int, task.minimum_count), "text: rarer tokens are read as <unk>; 0: keep all",
           at_least(0)},
          {"task.published_metric", FIELD(bool, task.published_metric),
           "text, point_process: also the biased figures of the adaptive TBPTT paper (whole chunks of 100 steps over "
           "all steps)"},
          {"task.path", FIELD(std::string, task.path),
           "series: the recording (.csv, .tsv, .txt, .npy, .npz:name, .wav, .f32, .raw, .bin)"},
          {"task.inputs", FIELD(Names, task.inputs), "series: input columns by name or number; none: all"},
          {"task.target_path", FIELD(std::string, task.target_path),
           "series: the recording of the targets; empty: task.path"},
          {"task.targets", FIELD(Names, task.targets),
           "series: target columns by name or number; none: the inputs, or all of task.target_path"},
          {"task.horizon", FIELD(int, task.horizon), "series: how many steps later the target is", between(0, 1e9)},
          {"task.splits", FIELD(std::vector<double>, task.splits),
           "text, series, point_process: shares of train, validation, test by time; none: 0.9 0.05 0.05 (text), 0.7 "
           "0.1 0.2",
           between(0, 1)},
          {"task.standardise", FIELD(bool, task.standardise),
           "series: to mean 0 and deviation 1, as they are in the training part"},
          {"task.header",
           FIELD(std::string, task.header),
           "series: the first line of a CSV file names its columns",
           {},
           header_names},
          {"task.delimiter", FIELD(std::string, task.delimiter),
           "series, point_process: between the fields of a CSV file, or tab"},
          {"task.channels", FIELD(int, task.channels), "series: numbers per step of a raw float32 file",
           between(1, 1e6)},
          {"task.evaluation_columns", FIELD(int, task.evaluation_columns),
           "rows of an evaluation; 0: 10 for text, 64 for book orders, 1 for series and other points",
           between(0, 65536)},
      });
}

}  // namespace throughtime
