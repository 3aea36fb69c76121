#include "reproduce/atlas.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "reproduce/arm_values.h"
#include "reproduce/atlas_text.h"
#include "reproduce/claims/claim_tables.h"
#include "reproduce/example.h"
#include "support/scratch.h"
#include "throughtime/error.h"

namespace throughtime::testing {
namespace {

TEST(Atlas, HasARowForEveryClaimAndIsTheSameEveryTime) {
  const ScratchDirectory directory;
  directory.write("paper/figure-0.toml", experiment);
  const auto atlas = [&] { return atlas_text(find_results(directory.path()), directory / "results"); };
  EXPECT_NE(atlas().find("| first \\| beats second | first 0.5 | – | – | – | – | not run |"), std::string::npos)
      << atlas();
  EXPECT_NE(atlas().find("| third is lost | third 7 | no data | – | – | – | not run |"), std::string::npos) << atlas();
  StoredResult stored{.scale = Scale::full, .version = "0", .commit = "c", .engine = "cpu", .seconds = 2};
  stored.values["first"]["train_loss, last"] = {{1, 0.1}, {2, 0.2}, {3, 0.1}};
  stored.values["second"]["train_loss, last"] = {{1, 1.1}, {2, 1.0}, {3, 1.0}};
  stored.values["first"]["train_loss, final"] = {{1, 0.1}, {2, 0.3}, {3, 0.2}};
  directory.write("results/paper/figure-0.full.json", json_of(stored));
  const std::string text = atlas();
  EXPECT_NE(text.find("second 1.033 ± 0.058 (n = 3) | full scale | 0.0041 | 0.0041 | reproduced |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("first 0.2 ± 0.1 (n = 3) | full scale | – | – | not reproduced |"), std::string::npos) << text;
  EXPECT_EQ(text, atlas());
  stored.scale = Scale::quick;
  stored.smaller = {"train.iterations=5"};
  std::filesystem::remove(directory / "results/paper/figure-0.full.json");
  directory.write("results/paper/figure-0.quick.json", json_of(stored));
  EXPECT_NE(atlas().find("These runs are at quick scale. They are smaller than the paper's: train.iterations=5."),
            std::string::npos)
      << atlas();
  EXPECT_EQ(atlas().find("reproduced |\n"), std::string::npos) << "quick scale never says so";
  EXPECT_EQ(json_of(parse_stored(json_of(stored), "here")), json_of(stored));
  EXPECT_THROW(parse_stored("{}", "here"), InvalidInput);
}

TEST(Atlas, AClaimIsJudgedAtFullScaleWhereAllItsArmsWereRunElseAtQuickScale) {
  const ScratchDirectory directory;
  ResultSpec spec{.name = "paper/figure-0", .file = {}, .arms = {"a", "b", "c"}};
  const auto claim = [](const std::string& says, const std::string& than) {
    return Claim{.says = says,
                 .measure = mse,
                 .rules = {{.kind = RuleKind::less, .arms = {"a"}, .than = {than}, .measure = mse, .trend = true}}};
  };
  spec.claims = {claim("a beats b", "b"), claim("a beats c", "c")};
  StoredResult stored{.scale = Scale::full, .version = "0", .commit = "large", .engine = "cpu"};
  stored.values = results({{1.0, 1.1, 1.2}, {2.0, 2.1, 2.0}});
  directory.write("paper/figure-0.full.json", json_of(stored));
  EXPECT_FALSE(is_complete(spec, stored)) << "there is no c";
  stored.scale = Scale::quick;
  stored.commit = "small";
  stored.values = results({{5.0, 5.1, 5.2}, {6.0, 6.1, 6.2}, {9.0, 9.1, 9.2}});
  directory.write("paper/figure-0.quick.json", json_of(stored));
  EXPECT_TRUE(is_complete(spec, stored));
  const std::string text = atlas_text({spec}, directory.path());
  EXPECT_NE(text.find("b 2.033 ± 0.058 (n = 3) | full scale | 0.0051 | 0.0051 | reproduced |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("c 9.1 ± 0.1 (n = 3) | quick scale | < 1e-4 | < 1e-4 | trend |"), std::string::npos) << text;
  EXPECT_LT(text.find("at commit large"), text.find("*a beats b*"));
  EXPECT_LT(text.find("*a beats b*"), text.find("at commit small"));
  EXPECT_LT(text.find("at commit small"), text.find("*a beats c*"));
}

TEST(Atlas, CorrectsForAllTestedClaimsOfAPaper) {
  const ScratchDirectory directory;
  const auto spec = [](const std::string& name, const std::string& paper) {
    const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
    ResultSpec one{.name = name, .file = {}, .arms = {"a", "b"}, .title = {}, .paper = paper};
    one.claims = {Claim{.says = "a beats b", .measure = mse, .rules = {rule}},
                  Claim{.says = "there is no c", .missing = "no data"}};
    return one;
  };
  const auto keep = [&](const std::string& name, const std::vector<double>& b) {
    StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu"};
    stored.values = results({{0, 0, 0}, b});
    directory.write(name + ".quick.json", json_of(stored));
  };
  keep("x/one", {1.4, 2, 2.6});  // p = 0.029
  keep("x/two", {1, 2, 3});      // p = 0.074
  keep("y/one", {1.4, 2, 2.6});
  const std::string text = atlas_text({spec("x/one", "X"), spec("x/two", "X"), spec("y/one", "Y")}, directory.path());
  EXPECT_NE(text.find("b 2 ± 0.6 (n = 3) | quick scale | 0.029 | 0.057 | trend |"), std::string::npos) << text;
  EXPECT_NE(text.find("b 2 ± 1 (n = 3) | quick scale | 0.074 | 0.074 | too small to tell |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("b 2 ± 0.6 (n = 3) | quick scale | 0.029 | 0.029 | trend |"), std::string::npos) << "one of Y";
  ResultSpec hopeless = spec("x/two", "X");
  hopeless.claims[0].needs_full = "it cannot tell";
  const std::string later = atlas_text({spec("x/one", "X"), hopeless}, directory.path());
  EXPECT_NE(later.find("b 2 ± 0.6 (n = 3) | quick scale | 0.029 | 0.057 | trend |"), std::string::npos)
      << "a test that was made counts, whatever is said of it afterwards: " << later;
  EXPECT_NE(later.find("| needs full scale: it cannot tell | – | – | – | not run |"), std::string::npos) << later;
}

TEST(Atlas, OurOwnQuestionsAndClaimsOfTwoResultsAreCountedApart) {
  const ScratchDirectory directory;
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
  ResultSpec figure{.name = "x/figure", .file = {}, .arms = {"a", "b"}, .title = {}, .paper = "X"}, table = figure;
  table.name = "x/table";
  figure.claims = {Claim{.says = "a beats b", .counted_in = "table", .measure = mse, .rules = {rule}},
                   Claim{.says = "we ask", .ours = true, .measure = mse, .rules = {rule}}};
  table.claims = {Claim{.says = "a beats b", .measure = mse, .rules = {rule}}};
  StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu"};
  stored.values = results({{0, 0, 0}, {1.4, 2, 2.6}});  // p = 0.029
  for (const char* name : {"x/figure", "x/table"}) directory.write(std::string(name) + ".quick.json", json_of(stored));
  const std::string text = atlas_text({figure, table}, directory.path());
  EXPECT_NE(text.find("| [x: X](#x-x) | 1 | 1 | 0 | 0 | 0 |\n\nA claim that two results have"), std::string::npos)
      << text;
  EXPECT_NE(
      text.find("| paper | questions | yes | no | cannot be told | not run |\n| --- | --- | --- | --- | --- | --- "
                "|\n| [x: X](#x-x) | 1 | 1 | 0 | 0 | 0 |"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("| 0.029 | in table | trend |"), std::string::npos) << text;
  EXPECT_NE(text.find("| we ask | no numbers | a 0 ± 0 (n = 3); b 2 ± 0.6 (n = 3) | quick scale | 0.029 | 0.029 |"),
            std::string::npos)
      << text;
}

TEST(Atlas, FullLengthWithFewerSeedsIsNotFullScale) {
  const ScratchDirectory directory;
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
  ResultSpec spec{.name = "x/figure", .file = {}, .arms = {"a", "b"}, .title = {}, .paper = "X"};
  spec.seeds = 9;
  spec.claims = {Claim{.says = "a beats b", .measure = mse, .rules = {rule}}};
  StoredResult stored{
      .scale = Scale::full, .version = "0", .commit = "c", .engine = "cpu", .note = "An older setting."};
  stored.values = results({{0, 0, 0}, {1.4, 2, 2.6}});
  directory.write("x/figure.full.json", json_of(stored));
  const std::string text = atlas_text({spec}, directory.path());
  EXPECT_NE(text.find("These runs are at full length, 3 of 9 seeds."), std::string::npos) << text;
  EXPECT_NE(text.find("s of training. An older setting."), std::string::npos) << text;
  EXPECT_NE(text.find("They show the direction at full length, 3 of 9 seeds (p 0.029)."), std::string::npos) << text;
  EXPECT_EQ(text.find("full scale", text.find("## x")), std::string::npos) << text;
}

TEST(Atlas, SaysWhereANumberWasNotStored) {
  const ScratchDirectory directory;
  const Measure later{"loss", MeasureHow::median};
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = later, .trend = true};
  ResultSpec spec{.name = "x/figure", .file = {}, .arms = {"a", "b"}, .title = {}, .paper = "X"};
  spec.claims = {Claim{.says = "a beats b", .measure = later, .rules = {rule}}};
  StoredResult stored{.scale = Scale::full, .version = "0", .commit = "c", .engine = "cpu"};
  stored.values = results({{0, 0, 0}});
  directory.write("x/figure.full.json", json_of(stored));
  EXPECT_NE(atlas_text({spec}, directory.path()).find("It has not been run yet."), std::string::npos) << "b was not";
  stored.values = results({{0, 0, 0}, {1, 1, 1}});
  directory.write("x/figure.full.json", json_of(stored));
  EXPECT_NE(atlas_text({spec}, directory.path()).find("| not run | The stored runs did not keep this number. |"),
            std::string::npos);
}

TEST(Atlas, SaysWhatNeverReachedItsLevel) {
  const double never = std::numeric_limits<double>::infinity();
  const Measure reach{"loss", MeasureHow::reach, 0.05};
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = reach, .trend = true};
  ResultSpec spec{.name = "x/figure", .file = {}, .arms = {"a", "b"}};
  const Claim claim{.says = "a is sooner", .measure = reach, .rules = {rule}};
  StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu"};
  stored.values["a"][reach.key()] = {{1, 100}, {2, 300}, {3, never}};
  stored.values["b"][reach.key()] = {{1, never}, {2, never}, {3, never}};
  EXPECT_EQ(ours_text(spec, claim, &stored),
            "a 200 ± 141 in 2, not reached in 1 of 3 (n = 3); b not reached in 3 of 3 (n = 3)");
}

TEST(Atlas, WhatNeedsFullScaleSaysWhy) {
  const ScratchDirectory directory;
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
  ResultSpec spec{.name = "paper/figure-0", .file = {}, .arms = {"a", "b"}};
  spec.claims = {Claim{.says = "a beats b", .needs_full = "three updates", .measure = mse, .rules = {rule}}};
  StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu"};
  stored.values = results({{0, 0, 0}, {1, 1, 1}});
  directory.write("paper/figure-0.quick.json", json_of(stored));
  EXPECT_NE(atlas_text({spec}, directory.path()).find("needs full scale: three updates | – | – | – | not run |"),
            std::string::npos);
  stored.scale = Scale::full;
  directory.write("paper/figure-0.full.json", json_of(stored));
  EXPECT_NE(atlas_text({spec}, directory.path()).find("| full scale | 0 | 0 | reproduced |"), std::string::npos)
      << atlas_text({spec}, directory.path());
}

TEST(Atlas, WhatRunsLearnedIsStored) {
  StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu"};
  stored.values = results({{0, 0}, {1, 1}});
  stored.learned = {{"a", {Learned::more, Learned::baseline}}, {"b", {Learned::nothing, Learned::nothing}}};
  EXPECT_EQ(parse_stored(json_of(stored), "here").learned, stored.learned);
  EXPECT_EQ(json_of(parse_stored(json_of(stored), "here")), json_of(stored));
}

TEST(Atlas, HasAnOverviewAndAPageForEachPaper) {
  const ScratchDirectory directory;
  directory.write("experiments/paper/figure-0.1.toml", experiment);
  directory.write("experiments/other/table-2.toml", experiment);
  const std::vector<std::filesystem::path> written = write_atlas(directory / "experiments", directory / "docs/deep");
  EXPECT_EQ(written, (std::vector<std::filesystem::path>{directory / "docs/deep/reproduction.md",
                                                         directory / "docs/deep/reproduction/other.md",
                                                         directory / "docs/deep/reproduction/paper.md"}));
  const std::string overview = text_of(written[0]), paper = text_of(written[2]);
  EXPECT_NE(overview.find("| [paper: Nobody, 1900](#paper-nobody-1900) | 3 | 0 | 0 | 0 | 3 |"), std::string::npos)
      << overview;
  EXPECT_NE(
      overview.find("| [figure-0.1](reproduction/paper.md#figure-01) | first \\| beats second | not run | It has "
                    "not been run yet. |\n|  | first is low | not run | It has not been run yet. |\n|  | third is "
                    "lost | not run | It cannot be run: no data. |\n"),
      std::string::npos)
      << overview;
  EXPECT_EQ(overview.find("table-2", overview.find("## paper")), std::string::npos) << "each paper has its table";
  EXPECT_NE(paper.find("[Its configuration](../../../experiments/paper/figure-0.1.toml)"), std::string::npos) << paper;
  EXPECT_NE(paper.find("[the overview](../reproduction.md)"), std::string::npos);
}

TEST(Atlas, SaysInASentenceWhatTheRunsShow) {
  const Rule rule{.kind = RuleKind::less, .arms = {"a"}, .than = {"b"}, .measure = mse, .trend = true};
  ResultSpec spec{.name = "paper/figure-0", .file = {}, .arms = {"a", "b"}};
  Claim claim{.says = "a beats b", .measure = mse, .rules = {rule}};
  StoredResult stored{.scale = Scale::quick, .version = "0", .commit = "c", .engine = "cpu"};
  const auto finding = [&](const std::vector<double>& a, const std::vector<double>& b) {
    stored.values = results({a, b});
    return finding_text(spec, claim, &stored);
  };
  EXPECT_EQ(finding({0, 0, 0}, {1.4, 2, 2.6}), "They show the direction at quick scale (3 seeds, p 0.029).");
  EXPECT_EQ(finding({1.4, 2, 2.6}, {0, 0, 0}), "They show the opposite at quick scale (3 seeds, p 0.029).");
  EXPECT_EQ(finding({0, 0, 0}, {1, 2, 3}), "They cannot tell it from chance at quick scale (3 seeds, p 0.074).");
  EXPECT_EQ(finding({0}, {1}), "They are too few at quick scale (1 seed).");
  stored.scale = Scale::full;
  EXPECT_EQ(finding({0, 0, 0}, {1, 1, 1}), "They show it at full scale (3 seeds, p 0).");
  EXPECT_EQ(finding({1, 1, 1}, {0, 0, 0}), "They do not show it at full scale (3 seeds, p 0).");
  EXPECT_EQ(finding_text(spec, claim, nullptr), "It has not been run yet.");
  claim.needs_full = "three updates.";
  EXPECT_EQ(finding_text(spec, claim, nullptr), "It needs full scale: three updates.");
}

TEST(Atlas, AnAnchorIsWhatARenderedHeadingHas) {
  EXPECT_EQ(anchor_of("figure-4.1"), "figure-41");
  EXPECT_EQ(anchor_of("fpp: Nath, 2019 (thesis)"), "fpp-nath-2019-thesis");
}

TEST(Atlas, ThePagesInTheDocumentationAreWhatTheStoredResultsSay) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  std::set<std::string> made;
  for (const AtlasPage& page : atlas_of(find_results(root / "experiments"), root / "experiments/results")) {
    EXPECT_EQ(page.text, text_of(root / "docs" / page.path)) << "throughtime reproduce --atlas docs";
    made.insert((root / "docs" / page.path).string());
  }
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs/reproduction"))
    EXPECT_TRUE(made.contains(entry.path().string())) << entry.path() << " is the page of no paper";
}

}  // namespace
}  // namespace throughtime::testing
