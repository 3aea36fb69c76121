#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reproduce/results/result.h"

namespace throughtime {

/// What the runs of one result gave: all that a verdict needs, and small.
struct StoredResult {
  Scale scale = Scale::quick;
  std::string version, commit, engine;
  double seconds = 0;                // of training, all runs together
  std::vector<std::string> smaller;  // what quick scale changed: assignments key=value
  SweepChoices chosen;               // what a sweep chose for each arm
  std::string note = {};             // what a reader of these runs alone must know; written by hand
  ArmValues values;
  LearnedByArm learned = {};  // empty in files from before it was stored
};

std::string scale_text(Scale scale);
std::string json_of(const StoredResult& result);
/// Refuses what is no such text; `where` is the file.
StoredResult parse_stored(const std::string& text, const std::string& where);
/// Where it is kept: RESULTS/fptt/figure-1.full.json.
std::filesystem::path stored_path(const std::filesystem::path& results, const std::string& name, Scale scale);
/// What is stored of a result, full scale first.
std::vector<StoredResult> find_stored(const std::filesystem::path& results, const std::string& name);
/// Adds the arms that `newer` does not have; what both have stays as it is there. Nothing where quick scale was another
/// one.
void keep_other_arms(const StoredResult& older, StoredResult& newer);
/// Whether it has all arms and seeds of its scale.
bool is_complete(const ResultSpec& spec, const StoredResult& stored);

/// Whether the settings of all arms of a claim were chosen as the paper chose them. Full scale may be said of those
/// alone.
bool is_swept(const ResultSpec& spec, const Claim& claim, const StoredResult& result);
/// "quick scale", "full scale", or what keeps full length from it: "full length, not swept", "full length, 5 of 9
/// seeds".
std::string scale_text(const ResultSpec& spec, const Claim& claim, const StoredResult& result);
/// The same of all arms that were run.
std::string scale_text(const ResultSpec& spec, const StoredResult& result);

/// Quick scale says nothing of a claim that it cannot decide: not_run, unless all of its arms were run by hand.
Verdict judge(const ResultSpec& spec, const Claim& claim, const StoredResult& result);

}  // namespace throughtime
