#include "suites/targets/validation.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "optimizer/targets/registry.h"

namespace stripline::suites::tune {
namespace {

using targets::Collective;

const targets::Target& named(const char* name) { return **targets::find_target(name); }

std::vector<Checked> two(stats::NonInferiority second, size_t pairs, double upper = 1.01) {
  Checked one{.pairs = pairs};
  one.test.verdict = stats::NonInferiority::non_inferior;
  Checked other{.pairs = pairs};
  other.test.verdict = second;
  other.test.upper = upper;
  return {one, other};
}

TEST(Validation, AStageFailsBySomethingSlowerOrTooFewPairs) {
  const ValidationOptions options{.least_pairs = 5};
  using stats::NonInferiority;
  const auto passed = [&](NonInferiority second, size_t pairs) {
    return judge_stage(Stage::held_out, two(second, pairs), options).passed;
  };
  EXPECT_TRUE(passed(NonInferiority::non_inferior, 5));
  EXPECT_FALSE(passed(NonInferiority::inferior, 5));
  EXPECT_FALSE(passed(NonInferiority::non_inferior, 4));
  EXPECT_TRUE(judge_stage(Stage::held_out, {}, options).passed);
  const auto short_of_time =
      judge_stage(Stage::held_out, two(NonInferiority::inconclusive, 1), options);
  EXPECT_NE(short_of_time.verdict.find("the time was up"), std::string::npos);
}

TEST(Validation, AStageFailsByWhatIsInconclusiveUnlessItsLossIsBounded) {
  const ValidationOptions options{.least_pairs = 5};
  using stats::NonInferiority;
  const auto bounded =
      judge_stage(Stage::programs, two(NonInferiority::inconclusive, 5, 1.09), options);
  EXPECT_TRUE(bounded.passed);
  EXPECT_EQ(bounded.inconclusive, 0U);
  const auto open =
      judge_stage(Stage::programs, two(NonInferiority::inconclusive, 5, 1.11), options);
  EXPECT_FALSE(open.passed);
  EXPECT_EQ(open.inconclusive, 1U);
  EXPECT_NE(open.verdict.find("1 inconclusive, of which 0 lose less than 10 %"), std::string::npos)
      << open.verdict;
}

TEST(Validation, RanksThatNoRuleMayReachAreHeldOut) {
  std::vector<targets::Choice> by_cell;
  for (const uint32_t ranks : {2U, 3U, 4U}) {
    by_cell.push_back({{Collective::bcast, ranks, ranks, 64}, {.name = "binomial", .id = 6}});
  }
  std::set<uint32_t> fitted;
  std::set<uint32_t> held_out;
  std::set<uint32_t> programs;
  for (const Check& check : checks_of(named("openmpi"), by_cell, {}, {2, 3, 4}, 1, {})) {
    auto& ranks = check.stage == Stage::fitted     ? fitted
                  : check.stage == Stage::held_out ? held_out
                                                   : programs;
    ranks.insert(check.asked.ranks);
  }
  EXPECT_EQ(fitted, (std::set<uint32_t>{2, 3, 4}));
  // Others are measured.
  EXPECT_EQ(held_out, (std::set<uint32_t>{2, 3, 4, 5}));
  EXPECT_EQ(programs, (std::set<uint32_t>{2, 3, 4}));
}

TEST(Validation, RanksThatChoicesArePredictedForAreHeldOut) {
  const targets::Target& target = named("openmpi");
  const auto binomial = target.candidates(targets::Collective::bcast).back();
  const auto held_out = [&](const targets::Candidate& of_eight) {
    const std::vector<targets::Choice> choices = {
        {{targets::Collective::bcast, 4, 4, 1024}, binomial},
        {{targets::Collective::bcast, 8, 8, 1024}, of_eight}};
    std::set<uint32_t> ranks;
    for (const Check& check : checks_of(target, choices, {}, {4, 8}, 1, {})) {
      if (check.stage == Stage::held_out) ranks.insert(check.asked.ranks);
    }
    return ranks;
  };
  EXPECT_TRUE(held_out(binomial).contains(6));
  EXPECT_FALSE(held_out(target.candidates(targets::Collective::bcast).front()).contains(6));
  // The number behind four ranks, too: it is looked at once.
  const std::vector<targets::Choice> near = {{{targets::Collective::bcast, 4, 4, 1024}, binomial},
                                             {{targets::Collective::bcast, 6, 6, 1024}, binomial}};
  EXPECT_EQ(std::ranges::count_if(checks_of(target, near, {}, {4, 6}, 1, {}),
                                  [](const Check& one) { return one.asked.ranks == 5; }),
            1);
}

// However much else is held out, of which only a few are looked at.
TEST(Validation, EveryCollectiveWithPredictionsIsLookedAt) {
  const targets::Target& target = named("openmpi");
  std::vector<targets::Choice> choices;
  std::set<std::string> all;
  for (const Collective collective : targets::kCollectives) {
    const auto candidate = target.candidates(collective).back();
    if (candidate.id != 0) all.insert(std::string(to_string(collective)));
    for (const uint32_t ranks : {4U, 6U, 9U}) {
      for (const uint64_t bytes : {64U, 512U, 4096U, 32768U}) {
        choices.push_back({{collective, ranks, ranks, bytes}, candidate});
      }
    }
  }
  std::map<uint32_t, std::set<std::string>> by_ranks;
  std::set<std::tuple<std::string, uint32_t, uint64_t, std::string, bool>> calls;
  for (const Check& check : checks_of(target, choices, {}, {4, 6, 9}, 1, {})) {
    const DriverCell& asked = check.asked;
    by_ranks[asked.ranks].insert(asked.operation);
    EXPECT_TRUE(
        calls.insert({asked.operation, asked.ranks, asked.bytes, asked.type, asked.in_place})
            .second);
  }
  EXPECT_EQ(by_ranks[5], all);
  EXPECT_EQ(by_ranks[7], all);
}

TEST(Validation, AChoiceForAllSizesIsHeldOutBeyondThem) {
  const targets::Target& target = named("openmpi");
  const auto sizes_beyond = [&](Collective collective, int id, uint64_t most) {
    std::vector<targets::Choice> choices;
    for (const uint64_t bytes : {uint64_t{8}, most}) {
      choices.push_back({{collective, 4, 4, bytes}, {.name = "it", .id = id}});
    }
    std::set<uint64_t> sizes;
    for (const Check& check : checks_of(target, choices, {}, {4}, 1, {})) {
      const bool is_it = check.stage == Stage::held_out && check.asked.bytes > most;
      if (is_it) sizes.insert(check.asked.bytes);
    }
    return sizes;
  };
  EXPECT_EQ(sizes_beyond(Collective::scan, 2, 4096), (std::set<uint64_t>{16384, 65536}));
  EXPECT_EQ(sizes_beyond(Collective::gather, 2, 4096), (std::set<uint64_t>{16384, 65536}));
  EXPECT_TRUE(sizes_beyond(Collective::scan, 0, 4096).empty());
  // Rules of bcast end where it was measured.
  EXPECT_TRUE(sizes_beyond(Collective::bcast, 6, 4096).empty());
  // No larger than what ranks have room for.
  const uint64_t most = largest_size(Collective::gather, 4);
  EXPECT_EQ(sizes_beyond(Collective::gather, 2, most), (std::set<uint64_t>{4 * most}));
}

TEST(Validation, KnobsThatDepartAreLookedAtByMessagesAndOtherRanks) {
  const targets::Target& target = named("openmpi");
  const auto of_knobs = [&](const std::vector<targets::Setting>& settings, Stage stage,
                            uint32_t processors = 1) {
    std::set<uint32_t> ranks;
    for (const Check& check : checks_of(target, {}, settings, {2, 3, 4}, processors, {})) {
      if (check.of_knobs && check.stage == stage) ranks.insert(check.asked.ranks);
    }
    return ranks;
  };
  const std::vector<targets::Setting> settings = {{"btl_tcp_links", "2"}};
  EXPECT_EQ(of_knobs(settings, Stage::fitted), (std::set<uint32_t>{2}));
  EXPECT_EQ(of_knobs(settings, Stage::fitted, 3), (std::set<uint32_t>{2, 3}));
  EXPECT_EQ(of_knobs(settings, Stage::held_out), (std::set<uint32_t>{4}));
  EXPECT_TRUE(of_knobs({}, Stage::fitted).empty());
  // Knobs of UCX act on one-sided operations.
  const auto has = [&](const char* name, const char* operation) {
    const auto checks = checks_of(named(name), {}, settings, {2, 4}, 1, {});
    return std::ranges::any_of(checks,
                               [&](const Check& one) { return one.asked.operation == operation; });
  };
  const auto has_puts = [&](const char* name) { return has(name, "put"); };
  EXPECT_TRUE(has("ucx", "accumulate"));
  // Thresholds of MPICH are those of nonblocking operations.
  EXPECT_TRUE(has("mpich", "ibcast"));
  EXPECT_FALSE(has("openmpi", "ibcast"));
  EXPECT_FALSE(has("oshmem", "accumulate"));
  EXPECT_TRUE(has("gasnet", "strided_put"));
  EXPECT_FALSE(has("ucx", "strided_put"));
  EXPECT_TRUE(has_puts("ucx"));
  EXPECT_TRUE(has_puts("oshmem"));
  EXPECT_TRUE(has_puts("gasnet"));
  EXPECT_FALSE(has_puts("openmpi"));
  EXPECT_FALSE(has_puts("mpich"));
  EXPECT_FALSE(has("mpich", "get"));
  EXPECT_FALSE(has_puts("libfabric"));
  // What is held out is not what was fitted.
  std::set<std::tuple<std::string, uint32_t, uint64_t>> seen;
  for (const Check& check : checks_of(named("openmpi"), {}, settings, {2}, 1, {})) {
    const auto& asked = check.asked;
    EXPECT_TRUE(seen.emplace(asked.operation, asked.ranks, asked.bytes).second) << asked.operation;
  }
}

}  // namespace
}  // namespace stripline::suites::tune
