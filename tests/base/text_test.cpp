#include "tamis/text.hpp"

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

}  // namespace
}  // namespace tamis
