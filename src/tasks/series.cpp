#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tasks/columns.h"
#include "tasks/model_names.h"
#include "tasks/series_table.h"
#include "tasks/shares.h"
#include "tasks/standardisation.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

const std::vector<double> own_shares = {0.7, 0.1, 0.2};

std::vector<std::string> columns_of(const std::vector<ColumnScale>& scales) {
  std::vector<std::string> columns;
  for (const ColumnScale& scale : scales) columns.push_back(scale.column);
  return columns;
}

/// The first of many names.
std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  const std::size_t shown = std::min(names.size(), most);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                     shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "");
}

/// The user's own recording: inputs at step t, targets at step t + horizon. Cut by time into train, validation and
/// test, so that no target of a part lies in the next one; training reads B stretches of its part side by side.
class SeriesTask final : public ColumnTask {
 public:
  SeriesTask(const SeriesConfig& config, std::uint64_t seed)
      : ColumnTask("series", seed,
                   {.window = config.length,
                    .evaluation_columns = config.evaluation_columns > 0 ? config.evaluation_columns : 1}),
        config_(config),
        shares_(shares_of("series", config.splits, own_shares)) {
    require_range("series", "task.series.horizon", config.horizon, 0, 1'000'000'000);
    read();
    cuts_ = cut_by(shares_, static_cast<std::int64_t>(inputs_.rows));
    fit();
    prepare();
  }

  InputConfig input() const override { return {.reals = static_cast<int>(inputs_.columns.size())}; }
  HeadConfig head() const override {
    return {.name = "regression", .outputs = static_cast<int>(targets_.columns.size())};
  }
  std::vector<Metric> metrics() const override { return {Metric::mse}; }
  std::string baseline_text() const override {
    return horizon() > 0 ? "the last value" : "the mean of the training part; at horizon 0 no past target is seen";
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> lines = {
        fmt::format("inputs: {}; targets: {}", list_of(inputs_.columns), list_of(targets_.columns))};
    if (!left_out_.empty()) lines.push_back(fmt::format("columns that are not used: {}", list_of(left_out_)));
    return lines;
  }

  double baseline() const override { return baselines(judged_split()).front(); }

  /// Predicts the target columns as they are now; at a horizon of 0, where a model sees no target before it is asked
  /// for one, their mean over the training part.
  std::vector<double> baselines(Split split) const override {
    const std::size_t width = targets_.columns.size(), lag = horizon() * width;
    const std::span<const float> wanted = source(split).target_values;
    const auto place = elements(wanted.data() - targets_.values.data());
    const std::vector<ColumnScale> means = fit_scales(targets_.columns, targets_.values, elements(cuts_[1]));
    double sum = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double guess = lag > 0 ? targets_.values[place + i - lag] : means[i % width].mean;
      sum += (wanted[i] - guess) * (wanted[i] - guess);
    }
    return {sum / static_cast<double>(wanted.size())};
  }

  void save(const std::string& directory) const override { standardisation_.save(directory); }
  void load(const std::string& directory) override {
    Standardisation saved = Standardisation::load(directory);
    if (saved == standardisation_) return;
    if (columns_of(saved.inputs) != inputs_.columns || columns_of(saved.targets) != targets_.columns)
      refuse("series",
             "the run was made for other columns than {} has; give task.series.inputs and task.series.targets by name",
             config_.path);
    standardisation_ = std::move(saved);
    read();
    prepare();
  }

 private:
  std::size_t horizon() const { return elements(config_.horizon); }

  void read() {
    const bool own_targets = !config_.target_path.empty();
    std::vector<std::string> wanted = config_.inputs;
    if (!own_targets && !wanted.empty())
      for (const std::string& name : config_.targets)
        if (std::ranges::find(wanted, name) == wanted.end()) wanted.push_back(name);
    const SeriesTable table = read_series(config_.path, config_, wanted);
    inputs_ = select_columns(table, config_.inputs, config_.path);
    left_out_ = table.left_out;
    if (own_targets) {
      const SeriesTable other = read_series(config_.target_path, config_, config_.targets);
      targets_ = select_columns(other, config_.targets, config_.target_path);
      left_out_.insert(left_out_.end(), other.left_out.begin(), other.left_out.end());
    } else {
      targets_ = select_columns(table, config_.targets.empty() ? inputs_.columns : config_.targets, config_.path);
    }
    if (inputs_.rows != targets_.rows)
      refuse("series", "{} has {} steps and {} has {}; inputs and targets need as many", config_.path, inputs_.rows,
             config_.target_path, targets_.rows);
  }

  /// Means and deviations of the training part, and of nothing after it.
  void fit() {
    const auto rows = elements(cuts_[1]);
    if (rows <= horizon())
      refuse("series", "{} has {} steps, {} of them to train on: too few for a horizon of {}", config_.path,
             inputs_.rows, rows, horizon());
    standardisation_.inputs = fit_scales(inputs_.columns, inputs_.values, rows);
    standardisation_.targets = fit_scales(targets_.columns, targets_.values, rows);
    if (config_.standardise) return;
    for (std::vector<ColumnScale>* scales : {&standardisation_.inputs, &standardisation_.targets})
      for (ColumnScale& scale : *scales) scale = {scale.column, 0.0, 1.0};
  }

  void prepare() {
    apply_scales(standardisation_.inputs, inputs_.values);
    apply_scales(standardisation_.targets, targets_.values);
    cuts_ = cut_by(shares_, static_cast<std::int64_t>(inputs_.rows));
    const std::size_t reals = inputs_.columns.size(), width = targets_.columns.size();
    for (const Split split : {Split::train, Split::validation, Split::test}) {
      const auto begin = elements(cuts_[static_cast<std::size_t>(split)]);
      const auto end = elements(cuts_[static_cast<std::size_t>(split) + 1]);
      Source& part = source(split);
      part.steps = end - begin > horizon() ? end - begin - horizon() : 0;
      part.reals = static_cast<int>(reals);
      part.target_width = static_cast<int>(width);
      part.values = std::span<const float>(inputs_.values).subspan(begin * reals, part.steps * reals);
      part.target_values = {};
      if (part.steps > 0)
        part.target_values =
            std::span<const float>(targets_.values).subspan((begin + horizon()) * width, part.steps * width);
    }
  }

  SeriesConfig config_;
  std::vector<double> shares_;
  SeriesTable inputs_, targets_;       // standardised
  std::vector<std::string> left_out_;  // a text about each column that holds no numbers
  std::vector<std::int64_t> cuts_;     // where the parts begin, and the end
  Standardisation standardisation_;
};

}  // namespace

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
  list.add("horizon", config.horizon, "how many steps later the target is", between(0, 1e9));
  list.add("splits", config.splits, "shares of train, validation, test by time; none: 0.7 0.1 0.2", between(0, 1));
  not_of_streams();
  list.add("standardise", config.standardise, "to mean 0 and deviation 1, as they are in the training part");
  list.add("header", config.header, "the first line of a CSV file names its columns");
  list.add("delimiter", config.delimiter, "between the fields of a CSV file, or tab");
  list.add("channels", config.channels, "numbers per step of a raw float32 file", between(1, 1e6));
  list.add("evaluation_columns", config.evaluation_columns, "rows of an evaluation; 0: 1", between(0, 65536));
  not_of_streams();
}

std::unique_ptr<Task> make_task(const SeriesConfig& config, std::uint64_t seed) {
  return std::make_unique<SeriesTask>(config, seed);
}

HeldOut give_back(SeriesConfig& config) {
  config.splits = joined(shares_of("series", config.splits, own_shares));
  return HeldOut::given_back;
}

ModelNames series_names(const std::string& directory, const Model&) {
  ModelNames names{.scales = Standardisation::load(directory)};
  names.inputs = columns_of(names.scales->inputs);
  names.outputs = columns_of(names.scales->targets);
  return names;
}

}  // namespace throughtime
