#include "cli/explain_options.h"

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/shell_words.h"
#include "optimizer/plan/toy_fixture.h"

namespace stripline::cli {
namespace {

// What a command line asks of a mechanism.
template <plan::Mechanism M>
typename M::Asked read(const std::string& options) {
  CLI::App explain;
  Explain<M> asked;
  explain_command(explain, asked);
  std::vector<std::string> words =
      *split_words(std::string(M::kWords.command) + " model.json " + options);
  std::ranges::reverse(words);
  try {
    explain.parse(words);
  } catch (const CLI::ParseError& error) {
    ADD_FAILURE() << options << ": " << error.what();
  }
  EXPECT_EQ(asked.source, "model.json");
  return asked.request;
}

TEST(ExplainOptions, AMechanismHasThoseOfItsTable) {
  EXPECT_EQ(read<plan::ToyMechanism>("--reads 10"), (plan::ToyRequest{.reads = 10}));
  const auto all = read<plan::ToyMechanism>("--reads 7 --sorted --nic-ranks 3 --path inter-node");
  EXPECT_TRUE(all.sorted);
  EXPECT_EQ(all.surroundings.nic_ranks, 3U);
  CLI::App explain;
  Explain<plan::ToyMechanism> asked;
  const std::string help = explain_command(explain, asked)->help();
  for (const char* part : {"Reads of a toy", "Values that are read", "--sorted", "--nic-ranks",
                           "stripline explain toy tcp --reads 10"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part << " is missing in\n" << help;
  }
}

// What a run writes asks for the same again.
template <plan::Mechanism M>
void expect_the_same(const typename M::Asked& asked) {
  EXPECT_EQ(read<M>(plan::options_text<M>(asked)), asked) << plan::options_text<M>(asked);
}

TEST(ExplainOptions, AreThoseThatARunWrites) {
  expect_the_same<plan::ToyMechanism>({.reads = 9, .sorted = true});
  plan::StripRequest loop = plan::StripMechanism::usual();
  loop.direction = plan::Direction::put;
  loop.total_bytes = 4096;
  loop.compute_s = 1.25e-5;
  loop.uneven = true;
  loop.surroundings.load.nodes = 3;
  loop.surroundings.load.add(1);
  expect_the_same<plan::StripMechanism>(loop);
  plan::AskedVis call = plan::VisMechanism::usual();
  call.regions = 5;
  call.region_bytes = 8;
  call.shape = plan::RegionShape::indexed;
  call.compute = plan::ComputeClass::heavy;
  call.surroundings.service_delay_s = 5e-6;
  expect_the_same<plan::VisMechanism>(call);
  plan::WavefrontRequest sweep{.lines = 7, .line_bytes = 24, .compute_s = 0, .all_busy = false};
  sweep.surroundings.flag_with_data = true;
  expect_the_same<plan::WavefrontMechanism>(sweep);
  plan::UpdateRequest update{.updates = 1000, .cells = 9, .span_bytes = 4096, .ranks = 3};
  update.ordered = true;
  update.most_hops = 2;
  update.node_ranks = 4;
  update.surroundings.nic_ranks = 2;
  expect_the_same<plan::UpdateMechanism>(update);
  expect_the_same<plan::NestMechanism>({.nest = R"({"loops": [], "it's": 1})"});
}

}  // namespace
}  // namespace stripline::cli
