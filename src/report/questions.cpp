#include "report/questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

#include "train/options/config.h"
#include "train/options/toml_document.h"

namespace throughtime {
namespace {

/// Options of tasks that leave the question as it is, whatever the task: where the data lies, what of it the model
/// sees, and how much of it at once.
constexpr std::array<std::string_view, 15> ways_of_reading = {
    "data",          "evaluation_columns", "history",     "steps", "window",     "header",
    "delimiter",     "published_metric",   "inputs",      "known", "difference", "season",
    "length_varies", "length_cap",         "pre_emphasis"};

/// Whether `length` is no more than the window of a stream or a recording: those tasks say how many steps a pass has,
/// or in how many columns they are evaluated. Of arrays it is nothing else.
bool is_cut_into_windows(const RunRecord& run, const std::string& table) {
  return table == "task.arrays." || !run.option(table + "steps").empty() ||
         !run.option(table + "evaluation_columns").empty();
}

/// The options of a task where nothing is said about them; none of a task that this program does not have.
Entries defaults_of(const std::string& task, const std::string& table) {
  Entries defaults;
  try {
    const std::string text = resolved_config(parse_config(fmt::format("[task]\nname = '{}'\n", task), "report"));
    const toml::table config = parse_toml(text, "report");
    for (const auto& [key, value] : values_under(config))
      if (key.starts_with(table))
        defaults.emplace_back(key.substr(table.size()),
                              value->is_string() ? value->as_string()->get() : value_text(*value));
  } catch (const std::exception&) {
    defaults.clear();
  }
  return defaults;
}

/// What a run was asked: options of its task without the task's name in front.
Entries question_of(const RunRecord& run) {
  Entries question;
  const std::string task = run.option("task.name"), table = "task." + task + ".";
  const bool windows = is_cut_into_windows(run, table);
  Entries options = run.config;
  const auto says = [&](const std::string& key) {
    return std::any_of(run.config.begin(), run.config.end(), [&](const auto& entry) { return entry.first == key; });
  };
  for (const auto& [name, value] : defaults_of(task, table))
    if (!says(table + name) && !says("task." + name)) options.emplace_back(table + name, value);
  for (const auto& [key, value] : options) {
    if (!key.starts_with("task.") || key == "task.data") continue;
    if (key == "task.arrays.path" && has_own_arrays(run)) continue;
    const std::string name = key.starts_with(table) ? key.substr(table.size()) : key.substr(5);
    const bool reading = std::find(ways_of_reading.begin(), ways_of_reading.end(), name) != ways_of_reading.end();
    if (!reading && !(name == "length" && windows)) question.emplace_back(name, value);
  }
  std::sort(question.begin(), question.end());
  if (run.counter == "row") question.emplace_back("as a stream", "yes");
  return question;
}

/// "add (length=20)": the task, and what tells its question from the others of that task.
std::string title_of(const Entries& question, const std::vector<Entries>& all) {
  const std::string task = find_entry(question, "name");
  std::vector<std::string> differing;
  for (const auto& [key, value] : question) {
    const auto differs = [&](const Entries& other) {
      return find_entry(other, "name") == task && find_entry(other, key) != value;
    };
    // What this one does not have, another one has in its title.
    if (!value.empty() && std::any_of(all.begin(), all.end(), differs))
      differing.push_back(value == "yes" ? key : fmt::format("{}={}", key, value));
  }
  return differing.empty() ? task : fmt::format("{} ({})", task, fmt::join(differing, ", "));
}

}  // namespace

std::vector<Question> by_question(const std::vector<RunGroup>& groups) {
  std::vector<Question> questions;
  std::vector<Entries> asked;
  for (const RunGroup& group : groups) {
    const Entries question = question_of(group.runs.front());
    const auto found = std::find(asked.begin(), asked.end(), question);
    const auto place = found - asked.begin();
    if (found == asked.end()) {
      asked.push_back(question);
      questions.emplace_back();
    }
    questions[static_cast<std::size_t>(place)].groups.push_back(group);
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    questions[i].known = !find_entry(asked[i], "name").empty();
    questions[i].name = questions[i].known ? title_of(asked[i], asked) : "a task that is not known";
  }
  return questions;
}

}  // namespace throughtime
