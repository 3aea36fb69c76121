#include "train/stream/forecaster.h"

#include <algorithm>
#include <cmath>

#include "data/tables/row_feed.h"
#include "tasks/shared_options.h"
#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr const char* speaker = "stream";
constexpr float largest_unscaled = 1e15f;  // sums of a few squares of it are numbers of single precision

const RunConfig& checked(const RunConfig& config) {
  if (config.task.name != "series")
    refuse(speaker, "streams are learned as a series: task.name must be \"series\", got \"{}\"", config.task.name);
  const std::vector<int>& horizon = config.task.series.horizon;
  if (horizon.size() != 1)
    refuse(speaker, "a stream has one task.series.horizon, got {}; several are of throughtime train", horizon.size());
  require_range(speaker, "task.series.horizon", horizon.front(), 0, 1'000'000);
  if (config.stream.difference && horizon.front() == 0)
    refuse(speaker, "stream.difference needs a task.series.horizon of at least 1: a change takes time");
  row_layout(config);
  return config;
}

ModelConfig model_of(const RunConfig& config, std::size_t inputs, std::size_t targets) {
  return make_model_config(config.model, {.reals = static_cast<int>(inputs)},
                           {.name = "regression", .outputs = static_cast<int>(targets)});
}

ScaleOptions scale_options(const RunConfig& config) {
  ScaleOptions options = config.stream.scales;
  options.active = config.task.series.standardise;
  return options;
}

std::vector<double> first_parameters(const RunConfig& config, const Model& model, const FirstParameters& first) {
  std::vector<double> parameters = initialise(model, config.model.initialise, config.train.seed);
  if (first) first(model.parameters(), parameters);
  return parameters;
}

void begin_with(RunningScales& scales, const std::vector<FirstScale>& first) {
  for (std::size_t column = 0; column < first.size(); ++column)
    if (first[column].deviation > 0) scales.begin_with(column, first[column].mean, first[column].deviation);
}

double mean_square(const std::vector<double>& prediction, const std::vector<float>& target) {
  double sum = 0;
  for (std::size_t i = 0; i < target.size(); ++i) sum += (prediction[i] - target[i]) * (prediction[i] - target[i]);
  return sum / static_cast<double>(target.size());
}

}  // namespace

RowLayout row_layout(const RunConfig& config) {
  const SeriesConfig& task = config.task.series;
  RowLayout layout{.format = config.stream.format,
                   .delimiter = delimiter_of("series", task.delimiter),
                   .header = task.header,
                   .channels = task.channels,
                   .id = config.stream.id,
                   .inputs = task.inputs,
                   .targets = task.targets};
  if (layout.inputs.empty()) refuse(speaker, "task.series.inputs must name the columns that the model reads");
  if (layout.targets.empty()) layout.targets = layout.inputs;
  return layout;
}

StreamForecaster::StreamForecaster(const RunConfig& config, const FirstParameters& first, const FirstScales& scales)
    : config_(checked(config)),
      horizon_(elements(config.task.series.horizon.front())),
      inputs_(row_layout(config).inputs.size()),
      targets_(row_layout(config).targets.size()),
      model_(model_of(config, inputs_, targets_)),
      engine_(make_engine(model_, make_engine_config(config.run, config.stream.slots))),
      online_(std::make_unique<OnlineLearner>(*engine_, first_parameters(config, model_, first),
                                              make_online_config(config))),
      input_scales_(inputs_, scale_options(config)),
      target_scales_(targets_, scale_options(config)),
      error_(config.stream.rolling),
      naive_(config.stream.rolling),
      watch_(config.stream.rolling, config.stream.warn_rows),
      streams_(elements(config.stream.slots)),
      prediction_(targets_),
      wanted_(targets_) {
  begin_with(input_scales_, scales.inputs);
  begin_with(target_scales_, scales.targets);
  now_ = {std::vector<float>(inputs_), std::vector<double>(targets_), std::vector<double>(targets_)};
  for (Stream& stream : streams_) {
    stream.last.resize(targets_);
    stream.pending.assign(std::max<std::size_t>(1, horizon_), now_);
  }
}

void StreamForecaster::begin(int slot, const std::string& id) {
  Stream& stream = streams_[slot];
  stream.id = id;
  stream.open = true;
  stream.rows = 0;
  stream.has_last = false;
  slots_.emplace(id, slot);
  ++counts_.streams;
}

void StreamForecaster::end(int slot) {
  Stream& stream = streams_[slot];
  slots_.erase(stream.id);
  stream.open = false;
  online_->reset(slot);
}

StreamForecaster::Stream& StreamForecaster::slot_of(const StreamRow& row) {
  if (const int known = find_slot(row.id); known != nowhere) return streams_[known];
  auto place = std::find_if(streams_.begin(), streams_.end(), [](const Stream& stream) { return !stream.open; });
  if (place == streams_.end()) {  // the one that has been silent longest
    place = std::min_element(streams_.begin(), streams_.end(),
                             [](const Stream& a, const Stream& b) { return a.last_row < b.last_row; });
    ++counts_.taken;
    end(static_cast<int>(place - streams_.begin()));
  }
  begin(static_cast<int>(place - streams_.begin()), row.id);
  return *place;
}

std::int64_t StreamForecaster::rows_of(const std::string& id) const {
  const int slot = find_slot(id);
  return slot == nowhere ? 0 : streams_[slot].rows;
}

/// The stream of the row before is looked at first: often there is no other one.
int StreamForecaster::find_slot(const std::string& id) const {
  if (const Stream& same = streams_[found_]; same.open && same.id == id) return found_;
  const auto known = slots_.find(id);
  if (known == slots_.end()) return nowhere;
  return found_ = known->second;
}

void StreamForecaster::count_skipped() {
  ++counts_.rows;
  ++counts_.skipped;
}

/// Finite numbers that would still end the stream, and every attempt to resume it: a change that is none in single
/// precision, and an unscaled value whose square is none. Looked at before anything is changed.
void StreamForecaster::require_sound(const StreamRow& row) const {
  if (row.ends) return;
  const auto too_large = [](float value) { return std::abs(value) > largest_unscaled; };
  if (!config_.task.series.standardise)
    for (const std::vector<float>* values : {&row.inputs, &row.targets})
      if (const auto value = std::ranges::find_if(*values, too_large); value != values->end())
        refuse(speaker, "{:g} is too large for a model without task.series.standardise; the largest is {:g}", *value,
               largest_unscaled);
  if (!config_.stream.difference || !row.has_targets) return;
  const int slot = find_slot(row.id);
  if (slot == nowhere) return;
  const Stream& stream = streams_[slot];
  const Pending& due = stream.pending[elements(stream.rows) % stream.pending.size()];
  if (stream.rows < static_cast<std::int64_t>(horizon_) || !due.has_last) return;
  for (std::size_t i = 0; i < targets_; ++i)
    if (!std::isfinite(static_cast<float>(row.targets[i] - due.last[i])))
      refuse(speaker, "the change from {:g} to {:g} is larger than any number of single precision", due.last[i],
             row.targets[i]);
}

const std::vector<double>& StreamForecaster::take(const StreamRow& row) {
  require_sound(row);
  news_ = NaiveWatch::News::none;
  ++counts_.rows;
  if (row.ends) {
    if (const int known = find_slot(row.id); known != nowhere) end(known);
    std::fill(prediction_.begin(), prediction_.end(), std::nan(""));
    return prediction_;
  }
  Stream& stream = slot_of(row);
  const int slot = static_cast<int>(&stream - streams_.data());
  stream.last_row = counts_.rows;
  input_scales_.add(row.inputs);
  if (targets_are_seen(row)) target_scales_.add(row.targets);
  answer(stream, slot, row, now_);
  // What waits at this row's place is `horizon` rows old: the row holds its target.
  Pending& waiting = stream.pending[elements(stream.rows) % stream.pending.size()];
  if (stream.rows >= static_cast<std::int64_t>(horizon_)) {
    const Pending& due = horizon_ == 0 ? now_ : waiting;
    judge(due, row);
    learn(slot, due, row);
  }
  std::swap(waiting, now_);
  remember(stream, row);
  ++stream.rows;
  return prediction_;
}

const std::vector<double>& StreamForecaster::predict(const StreamRow& row) {
  const int slot = find_slot(row.id);
  if (slot == nowhere)
    throw InvalidInput(fmt::format("the stream '{}' was never seen in training, or has ended", row.id));
  Stream& stream = streams_[slot];
  ++counts_.rows;
  answer(stream, slot, row, now_);
  remember(stream, row);
  return prediction_;
}

void StreamForecaster::remember(Stream& stream, const StreamRow& row) {
  if (!row.has_targets) return;
  std::copy(row.targets.begin(), row.targets.end(), stream.last.begin());
  stream.has_last = true;
}

/// Predicts from the row and writes down what its target will be compared with.
void StreamForecaster::answer(Stream& stream, int slot, const StreamRow& row, Pending& pending) {
  for (std::size_t i = 0; i < inputs_; ++i) pending.input[i] = input_scales_.scaled(i, row.inputs[i]);
  const bool from_row = horizon_ > 0 && row.has_targets;
  pending.has_last = from_row || stream.has_last;
  for (std::size_t i = 0; i < targets_; ++i)
    pending.last[i] = from_row ? row.targets[i] : stream.has_last ? stream.last[i] : 0.0;
  const std::span<const double> outputs = online_->predict(slot, {.reals = pending.input});
  for (std::size_t i = 0; i < targets_; ++i) {
    prediction_[i] = target_scales_.undone(i, outputs[i]) + (config_.stream.difference ? pending.last[i] : 0.0);
    if (!std::isfinite(prediction_[i]))
      fail(speaker, "the prediction for row {} is {}; try a lower optimizer.rate (now {}) or clipping (optimizer.clip)",
           counts_.rows, prediction_[i], config_.optimizer.rate);
  }
  pending.prediction = prediction_;
}

void StreamForecaster::judge(const Pending& pending, const StreamRow& row) {
  if (!row.has_targets) return;
  const double error = mean_square(pending.prediction, row.targets);
  error_.add(error);
  if (!pending.has_last) return;
  const double naive = mean_square(pending.last, row.targets);
  naive_.add(naive);
  news_ = watch_.add(error, naive);
}

void StreamForecaster::learn(int slot, const Pending& pending, const StreamRow& row) {
  const bool usable = row.has_targets && (pending.has_last || !config_.stream.difference);
  if (usable) {
    for (std::size_t i = 0; i < targets_; ++i)
      wanted_[i] = static_cast<float>(row.targets[i] - (config_.stream.difference ? pending.last[i] : 0.0));
    if (!targets_are_seen(row)) target_scales_.add(wanted_);
    for (std::size_t i = 0; i < targets_; ++i) wanted_[i] = target_scales_.scaled(i, wanted_[i]);
  }
  online_->learn(slot, {.reals = pending.input}, usable ? StepTarget{.values = wanted_} : StepTarget{});
}

/// Shows every number of a stream, in an order that stays the same.
template <class Action>
void StreamForecaster::for_numbers(Stream& stream, const Action& action) {
  for (double& value : stream.last) action(value);
  for (Pending& pending : stream.pending) {
    for (float& value : pending.input) {
      double number = value;
      action(number);
      value = static_cast<float>(number);
    }
    for (double& value : pending.prediction) action(value);
    for (double& value : pending.last) action(value);
    double has_last = pending.has_last ? 1 : 0;
    action(has_last);
    pending.has_last = has_last != 0;
  }
}

void StreamForecaster::archive(Archive& archive) {
  online_->archive(archive);
  const Archive::Scope scope(archive, "stream");
  const auto scoped = [&](const char* name, auto& part) {
    const Archive::Scope inner(archive, name);
    part.archive(archive);
  };
  scoped("input_scales", input_scales_);
  scoped("target_scales", target_scales_);
  scoped("error", error_);
  scoped("naive", naive_);
  scoped("watch", watch_);
  archive.integer("rows", counts_.rows);
  archive.integer("skipped", counts_.skipped);
  archive.integer("streams", counts_.streams);
  archive.integer("taken", counts_.taken);
  archive_streams(archive);
}

/// Few lists for however many slots: a file with a tensor for each would take long to read.
void StreamForecaster::archive_streams(Archive& archive) {
  std::vector<std::int64_t> places, letters;  // of each slot: open, rows, last row, has_last, letters of its id
  std::vector<double> numbers;                // likewise: its last targets, then what is pending
  for (Stream& stream : streams_) {
    places.insert(places.end(), {stream.open, stream.rows, stream.last_row, stream.has_last,
                                 static_cast<std::int64_t>(stream.id.size())});
    letters.insert(letters.end(), stream.id.begin(), stream.id.end());
    for_numbers(stream, [&](double& number) { numbers.push_back(number); });
  }
  archive.integer_list("slots", places, places.size());
  archive.integer_list("ids", letters, {0, streams_.size() * RecordCutter::longest_line}, between(-128, 255));
  archive.number_list("pending", numbers, numbers.size());
  slots_.clear();
  auto place = places.begin();
  auto letter = letters.begin();
  auto number = numbers.begin();
  for (std::size_t slot = 0; slot < streams_.size(); ++slot) {
    Stream& stream = streams_[slot];
    stream.open = *place++ != 0;
    stream.rows = *place++;
    stream.last_row = *place++;
    stream.has_last = *place++ != 0;
    const std::int64_t size = *place++;
    if (size > letters.end() - letter) archive.refuse_together("the names of the streams are cut short");
    stream.id.assign(letter, letter + size);
    letter += size;
    for_numbers(stream, [&](double& value) { value = *number++; });
    if (stream.open && !slots_.emplace(stream.id, static_cast<int>(slot)).second)
      archive.refuse_together("two slots have the same stream");
  }
}

}  // namespace throughtime
