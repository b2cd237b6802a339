#include "base/enum_names.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

enum class Colour { red, green, blue };
constexpr std::array<std::string_view, 2> kColours = {"RED", "GREEN"};

TEST(EnumNames, AreInTheOrderOfTheValues) {
  EXPECT_EQ(enum_name(kColours, Colour::green), "GREEN");
  EXPECT_EQ(enum_named<Colour>(kColours, "GREEN"), Colour::green);
  EXPECT_EQ(enum_name(kColours, Colour::blue), "") << "the table ends before it";
  for (const char* other : {"", "green", "BLUE"}) {
    EXPECT_EQ(enum_named<Colour>(kColours, other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace stripline
