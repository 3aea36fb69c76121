#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "report/runs.h"
#include "reproduce/claims/verdict.h"
#include "reproduce/results/sweep.h"
#include "train/evaluate/dynamic_evaluation.h"

namespace throughtime {

/// One thing that a paper says, and what counts as having found it again.
struct Claim {
  std::string says;                      // a sentence
  std::string missing;                   // why it cannot be run; empty: it can
  std::string needs_full;                // why quick scale cannot decide it; empty: it can where it runs its arms
  bool ours = false;                     // our own question, not the paper's: counted and corrected apart
  std::string counted_in;                // the result of the paper that has the same claim on the same runs: it counts
  Measure measure;                       // the number to show, and that of the paper's values
  std::map<std::string, double> values;  // the paper's, by arm
  std::vector<std::string> show;         // the arms of the atlas' row; empty: those of the trend, else of all rules
  std::vector<Rule> rules;

  std::vector<std::string> shown_arms() const;
};

/// `[result.dynamic]`: how runs are evaluated while they go on learning, for claims that are about that.
struct DynamicSettings {
  std::vector<double> rates, decays;  // to choose from on validation data; none: those of evaluate --dynamic --tune
  int segment = DynamicConfig().segment;
  int columns = DynamicConfig().columns;
};

/// The `[result]` of an experiment: a figure or table of a paper.
struct ResultSpec {
  std::string name;  // "fptt/figure-1": the file below the experiments, without its ending
  std::filesystem::path file;
  std::vector<std::string> arms;  // all of the file's; none where nothing of it can be run
  std::string title;
  std::string paper;
  std::string note;
  std::string cost;
  Measure measure;  // of claims that name none
  int seeds = 3;    // at full scale
  int quick_seeds = 3;
  std::vector<std::string> quick_arms;  // empty: all
  std::vector<std::string> quick;       // assignments key=value
  DynamicSettings dynamic;
  Sweep sweep;             // of full scale; empty: the settings of the file
  std::string needs_full;  // why quick scale can decide nothing; empty: it can
  bool unlearned = false;  // runs that learned nothing count too
  std::vector<Claim> claims;

  const std::vector<std::string>& arms_at(Scale scale) const;
  int seeds_at(Scale scale) const { return scale == Scale::quick ? quick_seeds : seeds; }
  /// Why quick scale cannot decide a claim, in words; empty: it can.
  std::string needs_full_text(const Claim& claim) const;
  /// How many claims runs of that scale can decide.
  std::size_t decided(Scale scale) const;
  /// All measures that the rules and the tables need, each once.
  std::vector<Measure> measures() const;
};

/// The results of all experiments below a directory, by name. Refuses a table that cannot be meant.
std::vector<ResultSpec> find_results(const std::filesystem::path& experiments);
/// One of them; refuses an unknown name with the nearest.
ResultSpec find_result(const std::filesystem::path& experiments, const std::string& name);
/// The table of one file; false where it has none.
bool read_result(const std::filesystem::path& file, const std::string& name, ResultSpec& spec);

/// The keys of [result], [[result.claim]] and [[result.claim.rule]] with their types and meanings, as a page of the
/// documentation.
std::string result_keys_markdown();

/// What a run learned, from its result.json.
Learned learned_by(const ResultFile& result);

/// The number of a run: the `last` value of a curve, the mean of its `final` tenth, the `median` of that (infinite
/// where most of its values have no bound), the mean of the last 50 iterations (`end`) or of all (`mean`), its `lowest`
/// or `highest`, the first iteration at which it is no higher than the level (`reach`; infinite where it never is), the
/// `share` of its values after the first that are no higher than the level, the `rise` from its first value to its
/// final tenth, the `decay` from its highest to its final tenth (their ratio), how many `relapses` it has (above ten
/// times the level after it was no higher than the level), a number of the `result`, or one of its `dynamic`
/// evaluation. A curve begins at its first number: what was no estimate yet is no part of it. NaN where the run has no
/// such thing.
double measure_run(const Measure& measure, const RunRecord& run);

}  // namespace throughtime
