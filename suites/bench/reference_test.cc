#include "suites/bench/reference.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/whole_file.h"
#include "optimizer/experiment/json.h"
#include "suites/registry.h"

namespace stripline::suites::bench {
namespace {

TEST(Reference, ThePagesInTheDocsAreCurrent) {
  const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_NE(source, nullptr);
  const std::filesystem::path docs = std::filesystem::path(source) / "docs";
  const std::vector<ReferencePage> pages = reference_pages();
  for (const ReferencePage& page : pages) {
    const Result<std::string> text = read_whole_file(docs / page.file);
    ASSERT_TRUE(text.ok()) << text.error().message();
    EXPECT_EQ(*text, page.text) << "run: build/release/bin/stripline-bench list --markdown docs";
  }
  for (const auto& there : std::filesystem::directory_iterator(docs / "experiments")) {
    EXPECT_TRUE(std::ranges::any_of(
        pages, [&](const ReferencePage& page) { return docs / page.file == there.path(); }))
        << there.path() << " is not written any more";
  }
}

// Pages that can be read at a sitting.
TEST(Reference, SharesTheDetailsOutAmongItsPages) {
  const std::vector<ReferencePage> pages = reference_pages();
  for (const Benchmark& benchmark : benchmarks()) {
    const std::string heading = "\n## `" + benchmark.declaration.name + "`\n";
    EXPECT_EQ(std::ranges::count_if(pages,
                                    [&](const ReferencePage& page) {
                                      return page.text.find(heading) != std::string::npos;
                                    }),
              1)
        << heading;
  }
  for (const ReferencePage& page : pages) {
    EXPECT_LT(std::ranges::count_if(page.text, [](char c) { return c == ' ' || c == '\n'; }), 8000)
        << page.file;
  }
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
  const std::string page = reference_pages().front().text;
  for (const Benchmark& benchmark : benchmarks()) {
    const experiment::Experiment& e = benchmark.declaration;
    const size_t row = page.find("| [`" + e.name + "`](experiments/");
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
