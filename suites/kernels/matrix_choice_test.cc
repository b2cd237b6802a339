// Kernels on sparse matrices take that of a file.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "suites/registry.h"
#include "suites/testing/ranks.h"

namespace stripline::suites {
namespace {

using experiment::Point;
using experiment::SampleSeries;

// Five points of a line, and one that is apart.
constexpr const char* kMatrix =
    "%%MatrixMarket matrix coordinate real symmetric\n"
    "6 6 10\n"
    "1 1 4\n2 2 4\n3 3 4\n4 4 4\n5 5 4\n6 6 4\n"
    "2 1 -1\n3 2 -1\n4 3 -1\n5 4 -1\n";

std::vector<SampleSeries> measure(const std::string& kernel, const std::string& file) {
  std::vector<SampleSeries> all;
  on_ranks(3, "emulated:opteron-vapi,compute=none", "virtual", [&](Session& session) {
    session.set_matrix_file(file);
    for (const std::string& variant : find_benchmark(kernel)->declaration.variants) {
      if (variant == "tuned") continue;  // as pack, without a model
      const Point point{kernel, variant, {{"matrix", std::string("file")}}};
      auto series = as_series(run_point(session, point, {.min_reps = 1, .max_reps = 1}), point,
                              session.run());
      if (session.context().rank_me() == 0) all.push_back(std::move(series));
    }
  });
  return all;
}

TEST(MatrixOfAFile, IsMultipliedAndSolvedWith) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "matrix_choice_line.mtx";
  std::ofstream(file) << kMatrix;
  for (const char* kernel : {"kernel.spmv", "kernel.sparse_cg", "kernel.earthquake"}) {
    for (const SampleSeries& series : measure(kernel, file)) {
      EXPECT_TRUE(series.verified) << experiment::point_key(series.point) << ": " << series.note;
      EXPECT_FALSE(series.values.empty());
    }
  }
  const auto solved = measure("kernel.sparse_cg", file);
  ASSERT_FALSE(solved.empty());
  EXPECT_NE(solved.back().note.find("matrix of matrix_choice_line.mtx"), std::string::npos)
      << solved.back().note;
  std::filesystem::remove(file);
}

TEST(MatrixOfAFile, HasToBeGiven) {
  for (const SampleSeries& series : measure("kernel.sparse_cg", "")) {
    EXPECT_FALSE(series.verified);
    EXPECT_NE(series.note.find("--matrix FILE"), std::string::npos) << series.note;
  }
  for (const SampleSeries& series : measure("kernel.sparse_cg", "/no/such/file.mtx")) {
    EXPECT_FALSE(series.verified);
    EXPECT_NE(series.note.find("/no/such/file.mtx"), std::string::npos) << series.note;
  }
}

}  // namespace
}  // namespace stripline::suites
