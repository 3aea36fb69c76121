#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tasks/model_names.h"
#include "tasks/series/columns.h"
#include "tasks/series/forecast_band.h"
#include "tasks/series/forecast_scores.h"
#include "tasks/series/recording.h"
#include "tasks/series/series_rivals.h"
#include "tasks/series/standardisation.h"
#include "tasks/shares.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

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

const SeriesConfig& checked(const SeriesConfig& config) {
  if (config.horizon.empty()) refuse("series", "task.series.horizon must name at least one horizon, such as 1");
  for (std::size_t i = 0; i < config.horizon.size(); ++i) {
    require_range("series", "task.series.horizon", config.horizon[i], 0, 1'000'000'000);
    if (i > 0 && config.horizon[i] <= config.horizon[i - 1])
      refuse("series", "the horizons of task.series.horizon must ascend, got {}", fmt::join(config.horizon, ", "));
  }
  if (!config.known.empty() && config.horizon.back() == 0)
    refuse("series", "task.series.known needs a task.series.horizon of at least 1: nothing is ahead of a horizon of 0");
  return config;
}

/// The user's own recording: inputs at step t, targets at step t + horizon. Cut by time into train, validation and
/// test, so that no target of a part lies in the next one; training reads B stretches of its part side by side.
class SeriesTask final : public ColumnTask, public ForecastView {
 public:
  SeriesTask(const SeriesConfig& config, std::uint64_t seed)
      : ColumnTask("series", seed,
                   {.window = config.length,
                    .evaluation_columns = config.evaluation_columns > 0 ? config.evaluation_columns : 1}),
        config_(checked(config)),
        shares_(shares_of("series", config.splits, own_shares)) {
    read();
    fit();
    prepare();
  }

  InputConfig input() const override { return {.reals = static_cast<int>(standardisation_.inputs.size())}; }
  HeadConfig head() const override {
    return {.name = "regression", .outputs = static_cast<int>(standardisation_.targets.size())};
  }
  std::vector<Metric> metrics() const override {
    std::vector<Metric> all = {Metric::mse, Metric::mae, Metric::rmse, Metric::esr};
    if (config_.pre_emphasis > 0) all.push_back(Metric::pre_emphasis_esr);
    if (config_.standardise) all.insert(all.end(), {Metric::original_mse, Metric::original_mae, Metric::original_rmse});
    return all;
  }
  std::string baseline_text() const override {
    const std::size_t seen = seen_targets().size();
    const std::string later = seen == width() ? "the last value" : "the last value, which the inputs do not have";
    if (config_.horizon.front() > 0) return later;
    const std::string now = config_.difference ? "no change since the step before" : "the mean of the training part";
    if (longest() > 0) return later + "; at horizon 0 " + now;
    if (config_.difference) return now;
    if (seen == 0) return now + "; at horizon 0 no past target is seen";
    return now + (seen == width() ? "; the inputs have the target itself" : "; the inputs have a target itself");
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> lines = {fmt::format("inputs: {}; targets: {}",
                                                  list_of(columns_of(standardisation_.inputs)),
                                                  list_of(columns_of(standardisation_.targets)))};
    if (config_.difference) lines.push_back("the model predicts changes; results are in levels");
    if (recording_.missing > 0)
      lines.push_back(fmt::format("{} missing values are held at the last one{}", recording_.missing,
                                  config_.missing == MissingValues::skip ? "; a missing target has no loss" : ""));
    for (const Split split : {Split::validation, Split::test})
      if (rows_of(split) > 0 && rows_of(split) <= longest())
        lines.push_back(
            fmt::format("{}: nothing of it is used; give it a larger share (task.series.splits)", too_few_rows(split)));
    if (const std::vector<std::string> seen = seen_targets(); config_.horizon.front() == 0 && !seen.empty())
      lines.push_back(
          fmt::format("at horizon 0 the inputs have what is asked for: {}; name other columns in task.series.inputs",
                      list_of(seen)));
    if (!recording_.left_out.empty())
      lines.push_back(fmt::format("columns that are not used: {}", list_of(recording_.left_out)));
    return lines;
  }

  std::string why_empty(Split split) const override {
    if (rows_of(split) == 0) return fmt::format("task.series.splits leaves no rows for the {} part", split_name(split));
    if (rows_of(split) > longest()) return "";
    return fmt::format("{} (the longest possible is {}; a larger share in task.series.splits gives it more)",
                       too_few_rows(split), rows_of(split) - 1);
  }

  double baseline() const override { return baselines(judged_split()).front(); }
  std::vector<double> baselines(Split split) const override { return naive_rival(split).scores; }
  std::vector<Rival> rivals(Split split) const override;

  const ForecastView* forecast() const override { return this; }
  const std::vector<ForecastTarget>& targets() const override { return forecast_targets_; }
  double level(Split split, std::int64_t step, std::size_t target) const override {
    return level_at(row_of(split, step) + horizon_of(target), target);
  }
  double base(Split split, std::int64_t step, std::size_t target) const override {
    return config_.difference ? base_at(row_of(split, step), target) : 0.0;
  }
  std::int64_t row(Split split, std::int64_t step) const override {
    return static_cast<std::int64_t>(row_of(split, step));
  }
  double pre_emphasis() const override { return config_.pre_emphasis; }

  void save(const std::string& directory) const override { standardisation_.save(directory); }
  void load(const std::string& directory) override {
    Standardisation saved = Standardisation::load(directory);
    if (saved == standardisation_) return;
    if (columns_of(saved.inputs) != columns_of(standardisation_.inputs) ||
        columns_of(saved.targets) != columns_of(standardisation_.targets))
      refuse("series",
             "the run was made for other columns than {} has; give task.series.inputs and task.series.targets by name",
             config_.path);
    standardisation_ = std::move(saved);
    read();
    prepare();
  }

 private:
  std::size_t rows_of(Split split) const {
    const auto part = static_cast<std::size_t>(split);
    return elements(cuts_[part + 1] - cuts_[part]);
  }
  std::string too_few_rows(Split split) const {
    return fmt::format("the {} part has {} row{}, too few for a horizon of {}", split_name(split), rows_of(split),
                       rows_of(split) == 1 ? "" : "s", longest());
  }
  /// Targets that are inputs, too.
  std::vector<std::string> seen_targets() const {
    std::vector<std::string> seen;
    if (!config_.target_path.empty()) return seen;
    for (const std::string& name : recording_.levels.columns)
      if (std::ranges::count(recording_.inputs.columns, name) > 0) seen.push_back(name);
    return seen;
  }
  std::size_t longest() const { return elements(config_.horizon.back()); }
  std::size_t width() const { return recording_.levels.columns.size(); }
  /// Targets are those of the first horizon, then those of the second, and so on.
  std::size_t horizon_of(std::size_t target) const { return elements(config_.horizon[target / width()]); }
  std::size_t row_of(Split split, std::int64_t step) const {
    return elements(cuts_[static_cast<std::size_t>(split)] + step);
  }
  double level_at(std::size_t row, std::size_t target) const {
    return recording_.levels.values[row * width() + target % width()];
  }
  /// What a change is added to: the level of the row, at horizon 0 that of the row before.
  double base_at(std::size_t row, std::size_t target) const {
    return level_at(horizon_of(target) > 0 || row == 0 ? row : row - 1, target);
  }
  bool is_missing(std::size_t row, std::size_t target) const {
    return !recording_.silent_levels.empty() && recording_.silent_levels[row * width() + target % width()] != 0;
  }

  void read() {
    recording_ = read_recording(config_);
    cuts_ = cut_by(shares_, static_cast<std::int64_t>(recording_.inputs.rows));
  }

  /// Means and deviations of the training part, and of nothing after it.
  void fit() {
    const auto rows = elements(cuts_[1]);
    if (rows <= longest())
      refuse("series", "{} has {} row{}, {} of them to train on: too few for a horizon of {}{}", config_.path,
             recording_.inputs.rows, recording_.inputs.rows == 1 ? "" : "s", rows, longest(),
             rows > 1 ? fmt::format("; the longest possible is {}", rows - 1) : "");
    standardisation_.rate = recording_.rate;
    standardisation_.inputs = fit_scales(recording_.inputs.columns, recording_.inputs.values, rows);
    for (const ColumnScale& scale : fit_scales(recording_.known.columns, recording_.known.values, rows))
      for (const int horizon : config_.horizon)
        if (horizon > 0) standardisation_.inputs.push_back({later(scale.column, horizon), scale.mean, scale.deviation});
    const std::vector<ColumnScale> levels = fit_scales(recording_.levels.columns, recording_.levels.values, rows);
    for (std::size_t target = 0; target < width() * config_.horizon.size(); ++target)
      standardisation_.targets.push_back(fit_target(levels[target % width()], target, rows));
    if (config_.standardise) return;
    for (ColumnScale& scale : standardisation_.inputs) scale = {scale.column, 0.0, 1.0};
    for (ColumnScale& scale : standardisation_.targets) scale = {scale.column, 0.0, 1.0, 0.0, scale.change_of};
  }

  ColumnScale fit_target(const ColumnScale& level, std::size_t target, std::size_t rows) const {
    ColumnScale scale = level;
    if (config_.horizon.size() > 1) scale.column = later(level.column, static_cast<int>(horizon_of(target)));
    if (!config_.difference) return scale;
    double squares = 0;  // 0 stays no change: the mean is left where it is
    for (std::size_t row = 0; row + horizon_of(target) < rows; ++row) {
      const double change = level_at(row + horizon_of(target), target) - base_at(row, target);
      squares += change * change;
    }
    const double deviation = std::sqrt(squares / static_cast<double>(rows - horizon_of(target)));
    return {scale.column, 0.0, deviation > 0 ? deviation : 1.0, level.deviation, level.column};
  }

  static std::string later(const std::string& column, int horizon) { return fmt::format("{} +{}", column, horizon); }

  void prepare() {
    describe_targets();
    const std::size_t reals = standardisation_.inputs.size(), outputs = forecast_targets_.size();
    values_.assign(recording_.inputs.rows * reals, 0.0f);
    target_values_.assign(recording_.inputs.rows * outputs, 0.0f);
    silent_steps_.assign(recording_.silent_levels.empty() ? 0 : recording_.inputs.rows, 0);
    for (std::size_t row = 0; row + longest() < recording_.inputs.rows; ++row) {
      fill_inputs(row, values_.data() + row * reals);
      for (std::size_t target = 0; target < outputs; ++target) fill_target(row, target);
    }
    apply_scales(standardisation_.inputs, values_);
    for (const Split split : {Split::train, Split::validation, Split::test}) {
      const auto begin = row_of(split, 0), end = elements(cuts_[static_cast<std::size_t>(split) + 1]);
      Source& part = source(split);
      part.steps = end - begin > longest() ? end - begin - longest() : 0;
      part.reals = static_cast<int>(reals);
      part.target_width = static_cast<int>(outputs);
      part.values = std::span<const float>(values_).subspan(begin * reals, part.steps * reals);
      part.target_values = std::span<const float>(target_values_).subspan(begin * outputs, part.steps * outputs);
      if (!silent_steps_.empty())
        silent(split) = std::span<const std::uint8_t>(silent_steps_).subspan(begin, part.steps);
    }
  }

  void describe_targets() {
    forecast_targets_.clear();
    for (std::size_t target = 0; target < standardisation_.targets.size(); ++target) {
      const ColumnScale& scale = standardisation_.targets[target];
      forecast_targets_.push_back({.name = scale.column,
                                   .column = recording_.levels.columns[target % width()],
                                   .horizon = static_cast<int>(horizon_of(target)),
                                   .mean = scale.mean,
                                   .deviation = scale.deviation,
                                   .scale = scale.level_deviation > 0 ? scale.level_deviation : scale.deviation});
    }
  }

  /// The columns of the row, then each known one as it will be at each horizon.
  void fill_inputs(std::size_t row, float* to) const {
    const std::size_t own = recording_.inputs.columns.size(), known = recording_.known.columns.size();
    to = std::copy_n(recording_.inputs.values.data() + row * own, own, to);
    for (std::size_t column = 0; column < known; ++column)
      for (const int horizon : config_.horizon)
        if (horizon > 0) *to++ = recording_.known.values[(row + elements(horizon)) * known + column];
  }

  void fill_target(std::size_t row, std::size_t target) {
    const ForecastTarget& scale = forecast_targets_[target];
    const double base = config_.difference ? base_at(row, target) : 0.0;
    const std::size_t later_row = row + horizon_of(target);
    target_values_[row * forecast_targets_.size() + target] =
        static_cast<float>((level_at(later_row, target) - base - scale.mean) / scale.deviation);
    const std::size_t before = horizon_of(target) > 0 || row == 0 ? row : row - 1;
    if (is_missing(later_row, target) || (config_.difference && is_missing(before, target))) silent_steps_[row] = 1;
  }

  RivalRules rules() const { return {config_.horizon, config_.difference, config_.season}; }
  Rival naive_rival(Split split) const { return rival(split, "naive", baseline_text(), naive_forecast(rules())); }
  Rival rival(Split split, const std::string& name, const std::string& text, const MakeForecast& make) const;
  /// What a forecast of one target column may look at: its own past.
  RivalData rival_data(const std::vector<std::vector<double>>& columns, std::size_t column) const;

  SeriesConfig config_;
  std::vector<double> shares_;
  Recording recording_;
  std::vector<std::int64_t> cuts_;  // where the parts begin, and the end
  Standardisation standardisation_;
  std::vector<ForecastTarget> forecast_targets_;
  std::vector<float> values_, target_values_;  // [rows, inputs], [rows, targets], standardised
  std::vector<std::uint8_t> silent_steps_;     // [rows], or empty: all have a loss
};

std::vector<std::vector<double>> doubled(const SeriesTable& table) {
  std::vector<std::vector<double>> columns(table.columns.size());
  for (std::size_t i = 0; i < table.values.size(); ++i) columns[i % columns.size()].push_back(table.values[i]);
  return columns;
}

RivalData SeriesTask::rival_data(const std::vector<std::vector<double>>& columns, std::size_t column) const {
  const std::span<const double> level = columns[column];
  return {.rows = recording_.inputs.rows, .training_rows = elements(cuts_[1]), .level = level, .seen = {level}};
}

Rival SeriesTask::rival(Split split, const std::string& name, const std::string& text, const MakeForecast& make) const {
  const std::vector<std::vector<double>> columns = doubled(recording_.levels);
  ForecastScores scores(forecast_targets_, config_.pre_emphasis);
  // The steps that an evaluation sees: what is left over behind its columns is not among them.
  const std::int64_t side_by_side = evaluation_batch(1), length = column_steps(split, evaluation_batch(1));
  for (std::size_t target = 0; target < forecast_targets_.size(); ++target) {
    const int horizon = forecast_targets_[target].horizon;
    const RivalForecast forecast = make(rival_data(columns, target % width()), horizon);
    for (std::int64_t step = 0; step < length * side_by_side; ++step) {
      const std::size_t row = row_of(split, step);
      if (!silent_steps_.empty() && silent_steps_[row] != 0) continue;
      scores.add(target, 1.0, level_at(row + elements(horizon), target), forecast(row),
                 {.step = step, .row = elements(step / length)});
    }
  }
  Rival result{name, text, {}, {}};
  for (const Metric metric : metrics()) result.scores.push_back(scores.score(metric));
  for (std::size_t target = 0; target < forecast_targets_.size(); ++target)
    result.first_scores.push_back(scores.score(metrics().front(), target));
  return result;
}

std::vector<Rival> SeriesTask::rivals(Split split) const {
  const std::vector<std::vector<double>> inputs = doubled(recording_.inputs);
  std::vector<Rival> all = {naive_rival(split)};
  for (const SimpleForecast& each : simple_forecasts(rules(), elements(cuts_[1]), {inputs.begin(), inputs.end()}))
    all.push_back(rival(split, each.name, each.text, each.make));
  return all;
}

}  // namespace

std::unique_ptr<Task> make_task(const SeriesConfig& config, std::uint64_t seed) {
  return std::make_unique<SeriesTask>(config, seed);
}

HeldOut give_back(SeriesConfig& config) {
  config.splits = joined(shares_of("series", config.splits, own_shares));
  return HeldOut::given_back;
}

ModelNames series_names(const std::string& directory, const Model& model) {
  ModelNames names{.scales = load_scales(directory, model)};
  names.inputs = columns_of(names.scales->inputs);
  const ChangeBases bases(*names.scales, {}, names.inputs);
  names.outputs = level_names(model, *names.scales, bases);
  return names;
}

}  // namespace throughtime
