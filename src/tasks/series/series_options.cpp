#include "throughtime/options.h"
#include "throughtime/task_config.h"

namespace throughtime {

void describe(SeriesConfig& config, OptionList& list) {
  const auto not_of_streams = [&] { list.used_by(UserKind::command, {"train"}); };  // they bring rows, without an end
  list.add("length", config.length, "steps of a window", between(1, 1e7));
  not_of_streams();
  list.add("path", config.path, "the recording (.csv, .tsv, .txt, .npy, .npz:name, .wav, .f32, .raw, .bin)");
  not_of_streams();
  list.add("inputs", config.inputs, "input columns by name or number; none: all");
  list.add("target_path", config.target_path, "the recording of the targets; empty: path");
  not_of_streams();
  list.add("targets", config.targets, "target columns by name or number; none: the inputs, or all of target_path");
  list.add("known", config.known,
           "columns that are known ahead, such as the hour; the model also reads their values at each horizon");
  not_of_streams();
  list.add("horizon", config.horizon, "how many steps later the target is; a list, such as [1, 24]: several targets",
           between(0, 1e9));
  list.add("difference", config.difference,
           "predict how much the target changes over the horizon; results are still the target itself");
  not_of_streams();
  list.add("missing", config.missing,
           "what becomes of a missing value. refuse: the file is refused; hold: the last value takes its place; skip: "
           "the same, and a missing target is not learned from");
  not_of_streams();
  list.add("season", config.season,
           "steps of a season, such as 24 for hours and days, for the seasonal baseline; 0: none", between(0, 1e7));
  not_of_streams();
  list.add("pre_emphasis", config.pre_emphasis,
           "also measure the error-to-signal ratio after the filter y[t] - c y[t - 1], as the metric pre_emphasis_esr; "
           "this is c, such as 0.95 for sound; 0: off",
           between(0, 1));
  not_of_streams();
  list.add("splits", config.splits, "shares of train, validation, test by time; none: 0.7 0.1 0.2", between(0, 1));
  not_of_streams();
  list.add("standardise", config.standardise,
           "scale columns to mean 0 and standard deviation 1, measured on the training part");
  list.add("header", config.header, "whether the first line of a CSV file names its columns");
  list.add("delimiter", config.delimiter, "the character between the fields of a CSV file, or `tab`");
  list.add("channels", config.channels, "numbers per step of a raw float32 file", between(1, 1e6));
  list.add("evaluation_columns", config.evaluation_columns,
           "how many rows an evaluation cuts a part into, to read them side by side; 0: 1", between(0, 65536));
  not_of_streams();
}

}  // namespace throughtime
