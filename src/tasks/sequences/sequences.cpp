#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/files.h"
#include "data/printable.h"
#include "data/tables/fields.h"
#include "data/utf8.h"
#include "tasks/model_names.h"
#include "tasks/sequences/sequence_files.h"
#include "tasks/sequences/sequence_set.h"
#include "tasks/sequences/stratified.h"
#include "tasks/series/standardisation.h"
#include "tasks/shares.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "sequences";
const std::vector<double> own_shares = {0.7, 0.1, 0.2};
constexpr std::array all_splits = {Split::train, Split::validation, Split::test};

std::string classes_path(const std::string& directory) {
  return (std::filesystem::path(directory) / "classes.json").string();
}

/// The names of the classes that a run was trained with; none: its targets are numbers.
std::vector<std::string> saved_classes(const std::string& directory) {
  const std::string path = classes_path(directory);
  if (!std::filesystem::exists(path)) return {};
  try {
    return nlohmann::json::parse(read_file(path)).get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    refuse(speaker, "{} must be a list of the names of classes: {}", path, error.what());
  }
}

/// The user's own sequences with a class or numbers each. Standardised with all steps of the training part.
class OwnSequences final : public SequenceSet {
 public:
  explicit OwnSequences(const SequencesConfig& config)
      : config_(config), shares_(shares_of(speaker, config.splits, own_shares)) {
    SequenceFiles files = read_sequence_files(config);
    all_ = std::move(files.sequences);
    has_classes_ = wants_classes();
    std::vector<std::int32_t> groups(all_.size(), 0);
    if (has_classes_) groups = groups_of_targets();
    cut(files.counts, groups);
    if (has_classes_) find_classes();
    set_targets();
    fit();
    describe_shape();
  }

  const SequenceShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override {
    if (!has_classes_) return {Metric::mse};
    return {Metric::accuracy, Metric::balanced_accuracy, Metric::cross_entropy};
  }
  double baseline() const override {
    const Split split = size(Split::test) > 0         ? Split::test
                        : size(Split::validation) > 0 ? Split::validation
                                                      : Split::train;
    return baselines(split).front();
  }
  std::vector<double> baselines(Split split) const override {
    return has_classes_ ? class_baselines(split) : std::vector<double>{mean_baseline(split)};
  }
  std::string baseline_text() const override {
    return has_classes_ ? "the most frequent class" : "the mean of the training targets";
  }
  std::vector<std::string> classes() const override { return classes_; }
  std::vector<std::string> notes() const override;
  std::string name(Split split, std::uint64_t number) const override { return all_.ids[members(split)[number]]; }

  bool endless() const override { return false; }
  std::int64_t size(Split split) const override { return static_cast<std::int64_t>(members(split).size()); }
  int length(Split split, std::uint64_t number) const override {
    return static_cast<int>(all_.steps(members(split)[number]));
  }

  void write(Split split, std::uint64_t number, int, const SequenceSpan& out) const override {
    const std::size_t sequence = members(split)[number], width = all_.columns.size();
    const float* from = all_.values.data() + all_.begins[sequence] * width;
    for (std::size_t i = 0; i < out.values.size(); ++i)
      out.values[i] = scaled(from[i], standardisation_.inputs[i % width]);
    if (has_classes_) {
      out.labels[0] = labels_[sequence];
      return;
    }
    for (std::size_t i = 0; i < out.targets.size(); ++i) out.targets[i] = target(sequence, i);
  }

  void save(const std::string& directory) const override {
    standardisation_.save(directory);
    if (has_classes_) replace_file(classes_path(directory), nlohmann::json(classes_).dump(2) + "\n");
  }
  void load(const std::string& directory) override {
    Standardisation saved = Standardisation::load(directory);
    std::vector<std::string> columns;
    for (const ColumnScale& scale : saved.inputs) columns.push_back(scale.column);
    if (columns != all_.columns)
      refuse(speaker, "the run was trained on the columns {}, the data has {}; name them with task.sequences.inputs",
             fmt::join(columns, ", "), fmt::join(all_.columns, ", "));
    standardisation_ = std::move(saved);
    classes_ = saved_classes(directory);
    has_classes_ = !classes_.empty();
    set_targets();
    describe_shape();
  }

 private:
  const std::vector<std::size_t>& members(Split split) const { return members_[static_cast<std::size_t>(split)]; }
  static float scaled(float value, const ColumnScale& scale) {
    return static_cast<float>((value - scale.mean) / scale.deviation);
  }
  float target(std::size_t sequence, std::size_t column) const {
    const std::vector<ColumnScale>& scales = standardisation_.targets;
    return scaled(numbers_[sequence * scales.size() + column], scales[column]);
  }
  /// Losses of a sequence, as the means of an evaluation count it.
  double losses(std::size_t sequence) const {
    return config_.loss == LossSteps::every ? static_cast<double>(all_.steps(sequence)) : 1.0;
  }

  bool wants_classes() const;
  std::vector<std::int32_t> groups_of_targets() const;
  void cut(const std::vector<std::size_t>& counts, const std::vector<std::int32_t>& groups);
  void find_classes();
  void set_targets();
  void fit();
  void describe_shape();
  std::vector<double> class_baselines(Split split) const;
  double mean_baseline(Split split) const;
  /// Of each class in a split, the sum of its losses.
  std::vector<double> class_weights(Split split) const {
    std::vector<double> weights(classes_.size());
    for (const std::size_t sequence : members(split)) weights[elements(labels_[sequence])] += losses(sequence);
    return weights;
  }

  SequencesConfig config_;
  std::vector<double> shares_;
  LabelledSequences all_;
  std::array<std::vector<std::size_t>, 3> members_;  // the sequences of each split
  bool has_classes_ = false;
  std::vector<std::string> classes_;
  std::vector<std::int32_t> labels_;  // [sequences], where there are classes
  std::vector<float> numbers_;        // [sequences, targets], where they are numbers; as in the file
  Standardisation standardisation_;   // of the inputs, and of targets that are numbers
  SequenceShape shape_;
};

/// Texts and whole numbers are classes unless told otherwise, numbers with a fraction are not.
bool OwnSequences::wants_classes() const {
  const bool several = all_.target_names.size() > 1;
  if (config_.kind == SequenceTarget::numbers) return false;
  if (config_.kind == SequenceTarget::automatic) {
    const auto number = [](const std::string& text) { return number_of(text); };
    const bool numbers = std::ranges::all_of(all_.targets, [&](const auto& text) { return number(text).has_value(); });
    const bool fractions = numbers && std::ranges::any_of(all_.targets, [&](const auto& text) {
                             return *number(text) != std::floor(*number(text));
                           });
    if (fractions || (numbers && several)) return false;
  }
  if (several)
    refuse(speaker, "a sequence has one class, got the targets {}; name one with task.sequences.targets",
           fmt::join(all_.target_names, ", "));
  return true;
}

std::vector<std::int32_t> OwnSequences::groups_of_targets() const {
  std::map<std::string, std::int32_t> known;
  std::vector<std::int32_t> groups;
  for (const std::string& name : all_.targets) known.try_emplace(name, 0);
  std::int32_t next = 0;
  for (auto& [name, number] : known) number = next++;
  for (const std::string& name : all_.targets) groups.push_back(known[name]);
  return groups;
}

/// Three files are the three splits. Of two, the first is cut into train and validation; one is cut into all.
void OwnSequences::cut(const std::vector<std::size_t>& counts, const std::vector<std::int32_t>& groups) {
  std::vector<Split> splits(all_.size(), Split::test);
  if (counts.size() == 3) {
    if (!config_.splits.empty())
      refuse(speaker, "task.sequences.splits cuts one file, or the first of two; with three files nothing is cut");
    std::fill_n(splits.begin(), counts[0], Split::train);
    std::fill_n(splits.begin() + static_cast<Index>(counts[0]), counts[1], Split::validation);
  } else {
    const double rest = counts.size() == 2 ? shares_[0] + shares_[1] : 1;
    const std::vector<double> shares = {shares_[0] / rest, shares_[1] / rest, counts.size() == 2 ? 0 : shares_[2]};
    const std::vector<Split> drawn = stratified(std::span(groups).first(counts[0]), shares, config_.split_seed);
    std::ranges::copy(drawn, splits.begin());
  }
  for (std::size_t i = 0; i < splits.size(); ++i) members_[static_cast<std::size_t>(splits[i])].push_back(i);
}

/// The classes of the training part, in their order: numbers by size, texts by letters.
void OwnSequences::find_classes() {
  std::set<std::string> names;
  for (const std::size_t sequence : members(Split::train)) names.insert(all_.targets[sequence]);
  classes_.assign(names.begin(), names.end());
  const auto number = [](const std::string& text) { return number_of(text); };
  if (std::ranges::all_of(classes_, [&](const auto& name) { return number(name).has_value(); }))
    std::ranges::stable_sort(classes_, {}, [&](const auto& name) { return *number(name); });
  for (const std::string& name : classes_) {
    if (invalid_utf8(name) != std::string::npos)
      refuse(speaker, "the class {} is no UTF-8 text; save the file in UTF-8", excerpt(name));
    if (const auto value = number(name); value && std::abs(*value) > 1 << 24)
      refuse(speaker, "the class {} is too large a number to be told apart from its neighbours; write classes as texts",
             excerpt(name));
  }
  if (classes_.size() < 2)
    refuse(speaker, "all training sequences have the class {}; a model needs two classes or more to choose between",
           excerpt(classes_.front()));
  if (classes_.size() > 2 && classes_.size() == members(Split::train).size())
    refuse(speaker,
           "each of the {} training sequences has a class of its own; if the targets are numbers to predict, say "
           "task.sequences.kind = \"number\"",
           classes_.size());
}

void OwnSequences::set_targets() {
  labels_.assign(has_classes_ ? all_.size() : 0, 0);
  numbers_.clear();
  const std::size_t width = all_.target_names.size();
  for (const Split split : all_splits)
    for (const std::size_t sequence : members(split)) {
      if (!has_classes_) break;
      const auto found = std::ranges::find(classes_, all_.targets[sequence]);
      if (found == classes_.end())
        refuse(speaker, "sequence {} of the {} split has the class {}, which no training sequence has; training has {}",
               excerpt(all_.ids[sequence]), split_name(split), excerpt(all_.targets[sequence]),
               fmt::join(classes_, ", "));
      labels_[sequence] = static_cast<std::int32_t>(found - classes_.begin());
    }
  for (std::size_t i = 0; !has_classes_ && i < all_.targets.size(); ++i) {
    const std::optional<double> value = number_of(all_.targets[i]);
    if (!value || !std::isfinite(static_cast<float>(*value)))
      refuse(speaker,
             "the target {} of sequence {} is no finite number; for classes say task.sequences.kind = \"class\"",
             excerpt(all_.targets[i]), excerpt(all_.ids[i / width]));
    numbers_.push_back(static_cast<float>(*value));
  }
}

/// Means and deviations of the training part, and of nothing else.
void OwnSequences::fit() {
  const std::size_t width = all_.columns.size(), targets = all_.target_names.size();
  std::vector<float> steps, numbers;
  for (const std::size_t sequence : members(Split::train)) {
    const auto first = all_.values.begin() + static_cast<Index>(all_.begins[sequence] * width);
    steps.insert(steps.end(), first, first + static_cast<Index>(all_.steps(sequence) * width));
    if (has_classes_) continue;
    const auto target = numbers_.begin() + static_cast<Index>(sequence * targets);
    numbers.insert(numbers.end(), target, target + static_cast<Index>(targets));
  }
  standardisation_.inputs = fit_scales(all_.columns, steps, steps.size() / width);
  if (!has_classes_) standardisation_.targets = fit_scales(all_.target_names, numbers, numbers.size() / targets);
  if (config_.standardise) return;
  for (std::vector<ColumnScale>* scales : {&standardisation_.inputs, &standardisation_.targets})
    for (ColumnScale& scale : *scales) scale = {scale.column, 0.0, 1.0};
}

void OwnSequences::describe_shape() {
  std::size_t longest = 0, shortest = SIZE_MAX;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    longest = std::max(longest, all_.steps(i));
    shortest = std::min(shortest, all_.steps(i));
  }
  constexpr std::size_t most = 10'000'000;
  if (longest > most) refuse(speaker, "a sequence may have {} steps at most, the longest has {}", most, longest);
  const int length = static_cast<int>(longest);
  const int outputs = static_cast<int>(has_classes_ ? classes_.size() : all_.target_names.size());
  shape_ = {.length = length,
            .input = {.reals = static_cast<int>(all_.columns.size())},
            .head = {.name = has_classes_ ? "softmax" : "regression", .outputs = outputs},
            .labels = has_classes_,
            .one_target = true,
            .first_loss = config_.loss == LossSteps::every ? 0 : length - 1,
            .lengths_vary = shortest < longest};
}

/// Accuracy and balanced accuracy of the most frequent class of the training part; cross-entropy of its shares.
std::vector<double> OwnSequences::class_baselines(Split split) const {
  const std::vector<double> known = class_weights(Split::train), here = class_weights(split);
  const auto favourite = elements(std::ranges::max_element(known) - known.begin());
  double all = 0, of_training = 0, entropy = 0, present = 0;
  for (const double weight : known) of_training += weight;
  for (std::size_t c = 0; c < here.size(); ++c) {
    all += here[c];
    present += here[c] > 0 ? 1 : 0;
    entropy -= here[c] * std::log(known[c] / of_training);
  }
  return {here[favourite] / all, here[favourite] > 0 ? 1 / present : 0.0, entropy / all};
}

double OwnSequences::mean_baseline(Split split) const {
  const std::size_t width = all_.target_names.size();
  double sum = 0, count = 0;
  for (std::size_t column = 0; column < width; ++column) {
    double total = 0, weight = 0;
    for (const std::size_t sequence : members(Split::train)) {
      total += losses(sequence) * target(sequence, column);
      weight += losses(sequence);
    }
    for (const std::size_t sequence : members(split)) {
      const double error = target(sequence, column) - total / weight;
      sum += losses(sequence) * error * error;
      count += losses(sequence);
    }
  }
  return sum / count;
}

std::vector<std::string> OwnSequences::notes() const {
  constexpr std::size_t most = 20;
  const auto list = [most](const std::vector<std::string>& names) {
    const std::size_t shown = std::min(names.size(), most);
    return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<Index>(shown), ", "),
                       shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "");
  };
  std::size_t shortest = SIZE_MAX;
  for (std::size_t i = 0; i < all_.size(); ++i) shortest = std::min(shortest, all_.steps(i));
  std::vector<std::string> lines = {
      fmt::format(
          "{} sequences of {} step{}: {} to train on, {} to validate, {} to test", all_.size(),
          shape_.lengths_vary ? fmt::format("{} to {}", shortest, shape_.length) : fmt::to_string(shape_.length),
          shape_.length == 1 ? "" : "s", size(Split::train), size(Split::validation), size(Split::test)),
      fmt::format("inputs: {}", list(all_.columns))};
  if (!has_classes_) lines.push_back(fmt::format("targets (numbers): {}", list(all_.target_names)));
  if (has_classes_) lines.push_back(fmt::format("{} classes: {}", classes_.size(), printable(list(classes_))));
  if (!all_.left_out.empty()) lines.push_back(fmt::format("not used: {}", list(all_.left_out)));
  return lines;
}

}  // namespace

void describe(SequencesConfig& config, OptionList& list) {
  list.add("files", config.files,
           "NPZ (x, y, lengths), CSV or folder. One is cut by `splits`; two are train and test; three are train, "
           "validation and test");
  list.add("target_path", config.target_path, "a folder's table of targets; empty: labels.csv in the folder");
  list.add("id", config.id,
           "the column that says which sequence a line belongs to; empty: id, or file in the table of a folder");
  list.add("inputs", config.inputs,
           "input columns by name or number; none: all columns of numbers except id and targets");
  list.add("targets", config.targets, "target columns by name; none: label");
  list.add("kind", config.kind,
           "whether targets are classes or numbers; auto: numbers if some have a fraction, else classes");
  list.add("loss", config.loss, "the steps with a loss: the last one, or every one");
  list.add("splits", config.splits, "shares of train, validation, test in every class; none: 0.7 0.1 0.2",
           between(0, 1));
  list.add("split_seed", config.split_seed, "seed that decides which sequences are in which split", at_least(0));
  list.add("standardise", config.standardise,
           "scale columns to mean 0 and standard deviation 1, measured on the training part");
  list.add("delimiter", config.delimiter, "the character between the fields of a CSV file, or `tab`");
}

std::unique_ptr<Task> make_task(const SequencesConfig& config, std::uint64_t seed) {
  return make_sequence_task("sequences", {}, seed, std::make_unique<OwnSequences>(config));
}

HeldOut give_back(SequencesConfig& config) {
  if (config.files.size() == 3) return HeldOut::kept;
  config.splits = joined(shares_of(speaker, config.splits, own_shares));
  return HeldOut::given_back;
}

ModelNames sequences_names(const std::string& directory, const Model& model) {
  ModelNames names{.scales = load_scales(directory, model)};
  for (const ColumnScale& scale : names.scales->inputs) names.inputs.push_back(scale.column);
  names.outputs = saved_classes(directory);
  if (names.scales->targets.empty() && names.outputs.size() != elements(model.outputs()))
    refuse("run", "{} names {} classes, and the model has {}: its files do not belong together",
           classes_path(directory), names.outputs.size(), model.outputs());
  for (const ColumnScale& scale : names.scales->targets) names.outputs.push_back(scale.column);
  return names;
}

}  // namespace throughtime
