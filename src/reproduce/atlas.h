#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reproduce/results/stored.h"

namespace throughtime {

/// A page of the atlas: its path below the directory of all of them, and its text.
struct AtlasPage {
  std::filesystem::path path;
  std::string text;
};

/// reproduction.md, which has a table for each paper with a verdict and a sentence for every claim, then
/// reproduction/PAPER.md with the numbers, rules and curves behind them. A claim is judged at full scale where every
/// arm of it was run at it, else at quick scale. `experiments`: where the configurations are, as seen from the
/// directory of the pages; the links need it. The same results make the same pages, byte for byte.
std::vector<AtlasPage> atlas_of(const std::vector<ResultSpec>& specs, const std::filesystem::path& results,
                                const std::string& experiments = "../experiments");

/// Writes all of them below `directory`, each whole or not at all, from the experiments and what is stored of them.
/// Returns what was written.
std::vector<std::filesystem::path> write_atlas(const std::filesystem::path& experiments,
                                               const std::filesystem::path& directory);

/// What the runs say to a claim, in a sentence. `stored`: the evidence; null: there is none.
std::string finding_text(const ResultSpec& spec, const Claim& claim, const StoredResult* stored);

/// The anchor that a heading has on a rendered page: small letters, digits and hyphens.
std::string anchor_of(const std::string& heading);

}  // namespace throughtime
