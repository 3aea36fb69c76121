#include "report/questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

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

/// What a run was asked: options of its task without the task's name in front.
Entries question_of(const RunRecord& run) {
  Entries question;
  const std::string task = run.option("task.name"), table = "task." + task + ".";
  const bool windows = is_cut_into_windows(run, table);
  for (const auto& [key, value] : run.config) {
    if (!key.starts_with("task.") || key == "task.data") continue;
    if (key == "task.arrays.path" && has_own_arrays(run)) continue;
    const std::string name = key.starts_with(table) ? key.substr(table.size()) : key.substr(5);
    const bool reading = std::find(ways_of_reading.begin(), ways_of_reading.end(), name) != ways_of_reading.end();
    if (!reading && !(name == "length" && windows)) question.emplace_back(name, value);
  }
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
    if (std::any_of(all.begin(), all.end(), differs))
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
