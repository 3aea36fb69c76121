#include "reproduce/atlas.h"

#include <gtest/gtest.h>

#include "reproduce/arm_values.h"
#include "reproduce/example.h"
#include "support/scratch.h"
#include "throughtime/error.h"

namespace throughtime::testing {
namespace {

TEST(Atlas, HasARowForEveryClaimAndIsTheSameEveryTime) {
  const ScratchDirectory directory;
  directory.write("paper/figure-0.toml", experiment);
  const auto atlas = [&] { return atlas_of(find_results(directory.path()), directory / "results"); };
  EXPECT_NE(atlas().find("| first \\| beats second | first 0.5 | – | – | not run |"), std::string::npos) << atlas();
  EXPECT_NE(atlas().find("| third is lost | third 7 | no data | – | not run |"), std::string::npos) << atlas();
  StoredResult stored{.scale = Scale::full, .version = "0", .commit = "c", .engine = "cpu", .seconds = 2};
  stored.values["first"]["train_loss, last"] = {{1, 0.1}, {2, 0.2}, {3, 0.1}};
  stored.values["second"]["train_loss, last"] = {{1, 1.1}, {2, 1.0 / 3}, {3, 1.0}};
  stored.values["first"]["train_loss, final"] = {{1, 0.1}, {2, 0.3}, {3, 0.2}};
  directory.write("results/paper/figure-0.full.json", json_of(stored));
  const std::string text = atlas();
  EXPECT_NE(text.find("second 0.8111 ± 0.42 (n = 3) | full scale | reproduced |"), std::string::npos) << text;
  EXPECT_NE(text.find("first 0.2 ± 0.1 (n = 3) | full scale | not reproduced |"), std::string::npos) << text;
  EXPECT_EQ(text, atlas());
  stored.scale = Scale::quick;
  stored.smaller = {"train.iterations=5"};
  std::filesystem::remove(directory / "results/paper/figure-0.full.json");
  directory.write("results/paper/figure-0.quick.json", json_of(stored));
  EXPECT_NE(atlas().find("quick scale (train.iterations=5)"), std::string::npos) << atlas();
  EXPECT_EQ(atlas().find("reproduced |"), std::string::npos) << "quick scale never says so";
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
  const std::string text = atlas_of({spec}, directory.path());
  EXPECT_NE(text.find("b 2.033 ± 0.058 (n = 3) | full scale | reproduced |"), std::string::npos) << text;
  EXPECT_NE(text.find("c 9.1 ± 0.1 (n = 3) | quick scale | trend |"), std::string::npos) << text;
  EXPECT_LT(text.find("at commit large"), text.find("*a beats b*"));
  EXPECT_LT(text.find("*a beats b*"), text.find("at commit small"));
  EXPECT_LT(text.find("at commit small"), text.find("*a beats c*"));
}

TEST(Atlas, ThePageInTheDocumentationIsWhatTheStoredResultsSay) {
  const std::filesystem::path root = std::filesystem::path(THROUGHTIME_TEST_DIRECTORY).parent_path();
  EXPECT_EQ(atlas_of(find_results(root / "experiments"), root / "experiments/results"),
            text_of(root / "docs/reproduction.md"));
}

}  // namespace
}  // namespace throughtime::testing
