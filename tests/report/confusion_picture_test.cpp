#include "report/charts/confusion_picture.h"

#include <gtest/gtest.h>

#include "report/support.h"

namespace throughtime::testing {
namespace {

Confusion read(const std::string& json) { return confusion_of({*parse_entries(json)}); }

TEST(ConfusionPicture, ReadsTheChosenWeightsOfAResult) {
  const std::string classes = R"("classes":["a","b"])";
  const Confusion last = read(R"({"confusion":{)" + classes + R"(,"test":[[1,2],[0,3]]}})");
  EXPECT_EQ(last.classes, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(last.counts, (std::vector<double>{1, 2, 0, 3}));
  const Confusion best = read(R"({"confusion":{)" + classes + R"(,"test":[[1,2],[0,3]],"best_test":[[3,0],[0,3]]}})");
  EXPECT_EQ(best.counts, (std::vector<double>{3, 0, 0, 3}));
}

TEST(ConfusionPicture, IsNoneOfADamagedResult) {
  for (const char* json :
       {"{}", R"({"confusion":{"classes":["a"]}})", R"({"confusion":{"classes":["a"],"test":[[1,2]]}})",
        R"({"confusion":{"classes":["a","b"],"test":[[1,2]]}})", R"({"confusion":{"classes":[1],"test":[[1]]}})",
        R"({"confusion":{"classes":["a"],"test":[["x"]]}})", R"({"confusion":{"classes":["a"],"test":[[-1]]}})"})
    EXPECT_TRUE(read(json).classes.empty()) << json;
}

TEST(ConfusionPicture, HasACellForEachPairAndItsCount) {
  const std::string svg = confusion_svg({{"<up>", "down"}, {7, 1, 0, 12}});
  EXPECT_EQ(count_of(svg, "<rect"), 4);
  EXPECT_EQ(count_of(svg, ">7<"), 1);
  EXPECT_EQ(count_of(svg, ">12<"), 1);
  EXPECT_EQ(count_of(svg, ">0<"), 0) << "zeros would hide what there is";
  EXPECT_EQ(count_of(svg, "<up>"), 0);
  EXPECT_NE(svg.find("&lt;up&gt; predicted as down: 1 of 8"), std::string::npos);
  EXPECT_NE(svg.find("fill-opacity=\"1.000\""), std::string::npos) << "all of the second class are right";
}

TEST(ConfusionPicture, OfOneAndOfManyClassesIsDrawn) {
  EXPECT_EQ(count_of(confusion_svg({{"a"}, {0}}), "<rect"), 1);
  const std::vector<std::string> many(60, "class");
  const std::string svg = confusion_svg({many, std::vector<double>(3600, 1)});
  EXPECT_EQ(count_of(svg, "<rect"), 3600);
  EXPECT_EQ(count_of(svg, "<text"), 2) << "names and counts of so many would not be legible";
}

}  // namespace
}  // namespace throughtime::testing
