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

// No reader should guess which of two entries is meant, or whether they are to be added up.
TEST(MatrixMarket, RefusesASymmetricFileWithBothHalves) {
  const auto both = parse_matrix_market(
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n1 1 4\n2 1 -1\n1 2 -1\n2 2 4\n");
  ASSERT_FALSE(both.ok());
  EXPECT_NE(both.error().message().find("row 1, column 2 and of row 2, column 1"),
            std::string::npos)
      << both.error().message();
  EXPECT_NE(both.error().message().find("'general'"), std::string::npos);
  // Pairs of which each is said once, in whichever half, and one that is said twice in the same.
  const auto mixed = parse_matrix_market(
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n2 1 5\n1 3 6\n3 2 7\n3 2 1\n");
  ASSERT_TRUE(mixed.ok()) << mixed.error().message();
  EXPECT_EQ(mixed->column, (std::vector<uint64_t>{1, 2, 0, 2, 0, 1}));
  EXPECT_EQ(mixed->value, (std::vector<double>{5, 6, 5, 8, 6, 8}));
}

TEST(MatrixMarket, ASkewSymmetricMatrixHasNoDiagonal) {
  const std::string banner = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 3\n";
  const auto diagonal = parse_matrix_market(banner + "2 2 4\n");
  ASSERT_FALSE(diagonal.ok());
  EXPECT_NE(diagonal.error().message().find("line 4: row 2 has an entry on the diagonal"),
            std::string::npos)
      << diagonal.error().message();
  EXPECT_TRUE(parse_matrix_market(banner + "1 1 0\n").ok());
  EXPECT_FALSE(parse_matrix_market(banner + "1 2 -3\n").ok());
  EXPECT_FALSE(
      parse_matrix_market("%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n")
          .ok());
}

TEST(MatrixMarket, ReadsWhatOtherProgramsWrite) {
  const auto reads = [](const std::string& text) {
    const auto read = parse_matrix_market(text);
    EXPECT_TRUE(read.ok()) << read.error().message();
    return read.ok() ? *read : MatrixRows();
  };
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_EQ(reads(banner + "2 2 3\n1 1 1.5D+02\n1 2 -2d-1\n2 2 3E2\n").value,
            (std::vector<double>{150, -0.2, 300}));
  EXPECT_EQ(reads("\xef\xbb\xbf" + banner + "1 1 1\n1 1 2\n").value, (std::vector<double>{2}));
  EXPECT_EQ(reads(banner.substr(1) + "1 1 1\n1 1 2\n").value, (std::vector<double>{2}));
  EXPECT_EQ(reads(banner + "  % indented\n\t%\n1 1 1\n % here\n1 1 2\n").value,
            (std::vector<double>{2}));
  EXPECT_EQ(
      reads("%%MatrixMarket matrix coordinate real general\r% a\r2 2 2\r1 1 3\r2 2 4\r").value,
      (std::vector<double>{3, 4}));
  EXPECT_EQ(reads(banner + "1 1 1\n1 1 1e-400\n").value, (std::vector<double>{0}));
}

TEST(MatrixMarket, SaysWhatAnotherKindOfFileIs) {
  const auto message = [](const std::string& text) {
    const auto read = parse_matrix_market(text);
    return read.ok() ? "accepted" : read.error().message();
  };
  EXPECT_NE(message("\x1f\x8b\x08rest").find("gunzip"), std::string::npos);
  EXPECT_NE(message("BZh91AY").find("bunzip2"), std::string::npos);
  EXPECT_NE(message("PK\x03\x04rest").find("unzip"), std::string::npos);
  EXPECT_NE(message("\xff\xfe%\n").find("UTF-16"), std::string::npos);
  EXPECT_NE(message("<!DOCTYPE html>\n").find("HTML"), std::string::npos);
  std::string archive(512, '\0');
  archive.replace(257, 5, "ustar");
  EXPECT_NE(message(archive).find("tar archive"), std::string::npos);
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n1 1 1\n";
  EXPECT_NE(message(banner + "1 1 1e400\n").find("finite"), std::string::npos);
  EXPECT_NE(message(banner + "1 1 +-2\n").find("expected"), std::string::npos);
  EXPECT_NE(message(banner + "1 1 1.5F2\n").find("expected"), std::string::npos);
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
