#include "core/names.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/errors.h"

namespace throughtime {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "gru"), 3u);
  EXPECT_EQ(edit_distance("lstn", "lstm"), 1u);
  EXPECT_EQ(edit_distance("lsm", "lstm"), 1u);
  EXPECT_EQ(edit_distance("lsttm", "lstm"), 1u);
  EXPECT_EQ(edit_distance("ltsm", "lstm"), 1u);
  EXPECT_EQ(edit_distance("abcd", "wxyz"), 4u);
}

RC_GTEST_PROP(EditDistance, IsSymmetricAndZeroOnlyForEqualNames, (const std::string& a, const std::string& b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
  RC_ASSERT((edit_distance(a, b) == 0) == (a == b));
  RC_ASSERT(edit_distance(a, b) <= std::max(a.size(), b.size()));
}

TEST(NearestName, IsEmptyWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("softmx", {"regression", "softmax"}), "softmax");
  EXPECT_EQ(nearest_name("transformer", {"lstm", "gru"}), "");
  EXPECT_EQ(nearest_name("", {"lstm"}), "");
  EXPECT_EQ(nearest_name("lstm", {}), "");
}

TEST(NearestName, CapitalLettersDoNotCount) {
  EXPECT_EQ(nearest_name("ot", {"op", "OT"}), "OT");
  EXPECT_EQ(nearest_name("HUFL", {"MUFL", "hufl"}), "hufl");
}

TEST(RefuseUnknown, SaysWhatWasMeantAndWhatIsKnown) {
  EXPECT_EQ(testing::refusal_of([] {
              refuse_unknown("model", "cell", "lstn", {"lstm", "gru"});
            }),
            "[model] unknown cell 'lstn'; did you mean 'lstm'? known: lstm, gru");
  EXPECT_EQ(testing::refusal_of([] {
              refuse_unknown("model", "cell", "x", {"lstm", "gru"});
            }),
            "[model] unknown cell 'x'; known: lstm, gru");
}

}  // namespace
}  // namespace throughtime
