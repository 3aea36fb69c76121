#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/groups.h"
#include "reproduce/results/stored.h"
#include "reproduce/runs/known_runs.h"
#include "study/jobs.h"

namespace throughtime {

/// How a result is to be reproduced.
struct ReproduceRequest {
  Scale scale = Scale::quick;
  std::vector<std::string> arms = {};        // empty: all of the scale
  int seeds = 0;                             // of each arm; 0: as many as the result asks for
  int jobs = 0;                              // runs at a time; 0: the cores over the threads of a run
  std::string engine = RunOptions().engine;  // what computes
  std::string data = {};                     // task.data; empty: as the experiment says
  std::filesystem::path directory = {};      // empty: runs/reproduce/RESULT-SCALE

  /// Where the runs of a result go.
  std::filesystem::path directory_of(const ResultSpec& spec) const;
  /// What was run before, for any result. Those of a result with dynamic evaluations are apart: the runs of others have
  /// none, and no weights any more.
  KnownRuns known_runs(bool dynamic = false) const;
  /// Assignments key=value that hold for every run.
  std::vector<std::string> circumstances() const;
};

/// The cores that runs share: at most one for each of `jobs` (0: all of the machine).
int cores_of(int jobs);

/// One arm with one seed.
struct Part {
  std::string arm;
  RunConfig config;
};

/// The arms that are asked for; refuses one that the result does not have, with the nearest.
const std::vector<std::string>& chosen_arms(const ResultSpec& spec, const ReproduceRequest& request);
/// Gives a run a name and a directory below that of its result, or those of an equal run that is finished already.
void place(Part& part, const std::string& folder, const std::filesystem::path& directory, const KnownRuns& known);
std::vector<RunConfig> configs_of(const std::vector<Part>& parts);
/// As many runs at a time as the machine has cores for their threads; a run that asks for every core gets its share.
int share_cores(std::vector<Part>& parts, int jobs);

/// Everything that is run for one result.
struct Undertaking {
  ResultSpec spec;
  Scale scale = Scale::quick;
  std::string engine;
  std::filesystem::path directory;
  std::vector<Part> parts;  // seed by seed, so that a stop leaves whole comparisons behind
  SweepChoices chosen = {};
  KnownRuns known;
  int jobs = 1;

  std::filesystem::path report() const { return directory / "report.html"; }
};
/// The runs of arms that are not asked for belong to it where they were finished before. `chosen`: what a sweep found
/// for each arm (sweep_runs.h). Refuses what cannot be run before anything is.
Undertaking undertake(const ResultSpec& spec, const ReproduceRequest& request, const SweepChoices& chosen = {});

/// What the runs of an undertaking gave.
struct Reproduction {
  StoredResult stored;           // NaN of a run that broke, nothing of one that has no answer
  std::vector<RunGroup> groups;  // all that were begun
  bool complete = false;         // every run has an answer
};
/// Reads each run once and remembers those that are finished; `ends` are those of the parts.
Reproduction gather(const Undertaking& task, const std::vector<JobEnd>& ends);
/// Writes values.json and, where a run was begun, report.html: the verdicts, the curves of each claim with the paper's
/// values, all other curves where they can be told apart, then the rules of each claim.
void write_down(const Undertaking& task, const Reproduction& reproduction);
/// Keeps the numbers under `results`, beside those of arms that were stored before and not run again, and, where
/// gnuplot is there to draw them (true), the curves of claims that did not hold.
bool store(const Undertaking& task, const Reproduction& reproduction, const std::filesystem::path& results);

}  // namespace throughtime
