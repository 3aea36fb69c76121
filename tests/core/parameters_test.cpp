#include "throughtime/parameters.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/errors.h"

namespace throughtime {
namespace {

RC_GTEST_PROP(ParameterLayout, BlocksFollowEachOtherWithoutGaps, ()) {
  const auto shapes = *rc::gen::container<std::vector<std::vector<int>>>(
      rc::gen::nonEmpty(rc::gen::resize(3, rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 9)))));
  ParameterLayout layout;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    RC_ASSERT(layout.add("block" + std::to_string(i), shapes[i]) == static_cast<int>(i));
  std::size_t end = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const ParameterBlock& block = layout.find("block" + std::to_string(i));
    RC_ASSERT(&block == &layout.block(static_cast<int>(i)));
    RC_ASSERT(block.offset == end);
    std::size_t count = 1;
    for (const int length : shapes[i]) count *= static_cast<std::size_t>(length);
    RC_ASSERT(block.size() == count);
    end += count;
  }
  RC_ASSERT(layout.size() == end);
}

TEST(ParameterLayout, RefusesWhatCannotBeABlock) {
  ParameterLayout layout;
  layout.add("head.weight", {2, 3});
  EXPECT_REFUSED(layout.add("head.weight", {1}), "[parameters] there is already a block named 'head.weight'");
  EXPECT_REFUSED(layout.add("", {1}), "[parameters] a block needs a name");
  EXPECT_REFUSED(layout.add("a", {}), "'a' needs at least one dimension");
  EXPECT_REFUSED(layout.add("a", {4, 0}), "every dimension of 'a' must be at least 1, got [4, 0]");
  EXPECT_REFUSED(layout.add("a", {-1}), "got [-1]");
  EXPECT_REFUSED(layout.add("a", {2147483647, 2147483647, 4}), "larger than any memory");
  EXPECT_EQ(layout.blocks().size(), 1u);
  EXPECT_EQ(layout.size(), 6u);
}

TEST(ParameterLayout, NamesTheKnownBlocks) {
  ParameterLayout layout;
  layout.add("head.weight", {2, 3});
  layout.add("head.bias", {2});
  EXPECT_REFUSED(layout.find("head.wieght"),
                 "[parameters] unknown block 'head.wieght'; did you mean 'head.weight'? known: head.weight, head.bias");
}

}  // namespace
}  // namespace throughtime
