#include "tamis/text.hpp"

#include "base/edit_distance.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tamis {
namespace {

TEST(EditDistance, CountsASwapAsOne) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("tarin", "train"), 1);
  EXPECT_EQ(edit_distance("thread", "threads"), 1);
}

TEST(NearestName, GuessesSlipsOnly) {
  const std::vector<std::string_view> known = {"train", "predict", "info", "scale"};
  EXPECT_EQ(nearest_name("tarin", known), "train");
  EXPECT_EQ(nearest_name("pred", known), "predict");
  EXPECT_EQ(nearest_name("xyzzy", known), "");
  EXPECT_EQ(nearest_name("", known), "");
}

TEST(Text, CountsAreSingularOrPlural) {
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(2, "support vector"), "2 support vectors");
  EXPECT_EQ(counted(1, "class"), "1 class");
  EXPECT_EQ(counted(3, "class"), "3 classes");
  EXPECT_EQ(counted(1, "row is", "rows are"), "1 row is");
  EXPECT_EQ(counted(4, "row is", "rows are"), "4 rows are");
}

}  // namespace
}  // namespace tamis
