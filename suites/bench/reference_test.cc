#include "suites/bench/reference.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "optimizer/experiment/json.h"
#include "suites/registry.h"

namespace stripline::suites::bench {
namespace {

TEST(Reference, ThePageInTheDocsIsCurrent) {
  const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_NE(source, nullptr);
  std::ifstream file(std::string(source) + "/docs/experiments.md");
  ASSERT_TRUE(file) << "docs/experiments.md is missing";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), reference_markdown())
      << "run: build/release/bin/stripline-bench list --markdown > docs/experiments.md";
}

TEST(Reference, NamesEveryExperimentVariantAndFactor) {
  const std::string text = reference_text();
  for (const Benchmark& benchmark : benchmarks()) {
    EXPECT_NE(text.find(benchmark.declaration.name + "  "), std::string::npos);
    for (const std::string& variant : benchmark.declaration.variants) {
      EXPECT_NE(text.find(variant), std::string::npos);
    }
    for (const experiment::Factor& factor : benchmark.declaration.factors) {
      EXPECT_NE(text.find(factor.name + ": "), std::string::npos);
    }
  }
}

TEST(Reference, TheTableSaysWhatEachExperimentDecides) {
  const std::string page = reference_markdown();
  for (const Benchmark& benchmark : benchmarks()) {
    const experiment::Experiment& e = benchmark.declaration;
    const size_t row = page.find("| [`" + e.name + "`](#");
    ASSERT_NE(row, std::string::npos) << e.name;
    const std::string line = page.substr(row, page.find('\n', row) - row);
    // What feeds the model says for which plans; both cells are empty otherwise.
    EXPECT_EQ(line.find("|  |") != std::string::npos, e.feeds.empty()) << line;
    EXPECT_EQ(line.find("|  |  |") != std::string::npos, e.feeds.empty()) << line;
  }
}

TEST(Reference, JsonIsReadableByWhoeverPlans) {
  const Json json = reference_json();
  ASSERT_EQ(json.size(), benchmarks().size());
  for (const Json& declaration : json) {
    EXPECT_TRUE(experiment::experiment_from_json(declaration).ok()) << declaration.dump();
  }
}

}  // namespace
}  // namespace stripline::suites::bench
