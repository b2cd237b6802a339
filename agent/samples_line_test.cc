#include "agent/samples_line.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::agent {
namespace {

using Series = std::vector<std::string_view>;

TEST(SamplesLine, SeriesAreFoundAsTheyWereWritten) {
  EXPECT_EQ(series_of_line(R"({"type":"samples","series":[]})"), Series());
  EXPECT_EQ(
      series_of_line(R"({"series":[{"values":[1.0e-06,2]}, {"note":"]}\"\\"}],"type":"samples"})"),
      (Series{R"({"values":[1.0e-06,2]})", R"({"note":"]}\"\\"})"}));
  EXPECT_EQ(series_of_line(
                "{ \"type\" : \"samples\" , \"more\":{\"series\":[0]}, \"series\" : [ 1 ] }\r"),
            Series{"1 "})
      << "what follows a number is its";
}

TEST(SamplesLine, OtherLinesHaveNone) {
  for (const char* line :
       {"", "{", "{}", "[1]", "null", R"({"type":"join","address":"a"})", R"({"type":"samples"})",
        R"({"type":"samples","series":{}})", R"({"type":"samples","series":[1,]})",
        R"({"type":"samples","series":[1)", R"({"type":"samples","series":[{"a":"])",
        R"({"type":"samples","series":[]}})", R"({"type":"samples","series":[]},)",
        R"({"type":"samples" "series":[]})", R"({"type":"samples","series":["\)",
        R"({"type":"progress","series":[{}]})"}) {
    EXPECT_FALSE(series_of_line(line)) << line;
  }
}

}  // namespace
}  // namespace stripline::agent
