#include "suites/kernels/sparse/matrix_market.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::sparse {
namespace {

TEST(MatrixMarket, ReadsEntriesInAnyOrder) {
  const auto read = parse_matrix_market(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 3 4\n3 1 -2.5e1\n1 2 1\n"
      "% another\n1 1 +4\r\n3 3 7");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->begin, (std::vector<size_t>{0, 2, 2, 4}));
  EXPECT_EQ(read->column, (std::vector<uint64_t>{0, 1, 0, 2}));
  EXPECT_EQ(read->value, (std::vector<double>{4, 1, -25, 7}));
}

TEST(MatrixMarket, MirrorsSymmetricHalves) {
  const auto read =
      parse_matrix_market("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->begin, (std::vector<size_t>{0, 2, 3}));
  EXPECT_EQ(read->value, (std::vector<double>{1, 1, 1}));
  const auto skew = parse_matrix_market(
      "%%MatrixMarket Matrix Coordinate Integer Skew-symmetric\n2 2 1\n2 1 3\n");
  ASSERT_TRUE(skew.ok()) << skew.error().message();
  EXPECT_EQ(skew->value, (std::vector<double>{-3, 3}));
}

TEST(MatrixMarket, AddsUpWhatHasOnePlace) {
  const auto read =
      parse_matrix_market("%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 2\n1 1 3\n");
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->value, (std::vector<double>{5}));
}

TEST(MatrixMarket, SaysWhatIsWrongAndWhere) {
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  const auto message = [](const std::string& text) {
    const auto read = parse_matrix_market(text);
    return read.ok() ? "accepted" : read.error().message();
  };
  EXPECT_NE(message("").find("first line"), std::string::npos);
  EXPECT_NE(message("%%MatrixMarket matrix array real general\n").find("coordinate"),
            std::string::npos);
  EXPECT_NE(message("%%MatrixMarket matrix coordinate complex general\n").find("complex"),
            std::string::npos);
  EXPECT_NE(message(banner + "2 3 1\n1 1 1\n").find("line 2: 2 rows and 3 columns"),
            std::string::npos);
  EXPECT_NE(message(banner + "2 2 2\n1 1 1\n").find("after 1 of 2 entries"), std::string::npos);
  EXPECT_NE(message(banner + "2 2 1\n3 1 1\n").find("line 3: row 3, column 1"), std::string::npos);
  EXPECT_NE(message(banner + "2 2 1\n0 1 1\n").find("line 3: row 0"), std::string::npos);
  EXPECT_NE(message(banner + "2 2 1\n1 1\n").find("a row, a column and a value"),
            std::string::npos);
  EXPECT_NE(message(banner + "2 2 1\n1 1 1 1\n").find("expected"), std::string::npos);
  EXPECT_NE(message(banner + "2 2 1\n1 1 1\n2 2 1\n").find("more entries"), std::string::npos);
  EXPECT_NE(message(banner + "2 2 1\n1 1 nan\n").find("finite"), std::string::npos);
  EXPECT_NE(message(banner + "2 2 900000000000\n1 1 1\n").find("too short"), std::string::npos);
  EXPECT_NE(message(banner + "4000000000 4000000000 1\n1 1 1\n").find("empty"), std::string::npos);
}

TEST(MatrixMarket, NamesTheFile) {
  const auto read = read_matrix_market("/nowhere/matrix.mtx");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message().find("/nowhere/matrix.mtx"), std::string::npos);
}

}  // namespace
}  // namespace stripline::sparse
