#include "runtime/rma/rank_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/testing/assert_ok.h"
#include "optimizer/model/model_fixture.h"
#include "optimizer/model/model_json.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/mixed_group.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline::rma {
namespace {

using machine::Facts;
using machine::FactsOfRank;

constexpr rank_t kRanks = 6;

// Facts as long as those of a machine.
Facts facts_of(const std::string& kernel) {
  Facts facts = {{"kernel", kernel}, {"fabric", "tcp"}};
  for (int i = 0; i < 30; ++i) facts["fact " + std::to_string(i)] = std::string(30, 'x');
  return facts;
}

// What rank 0 finds out in a job whose ranks have these kernels, and the gets of all ranks for it.
struct Found {
  Facts facts;
  uint64_t gets = 0;
};

class RankFacts : public bootstrap::RanksTest {
 protected:
  Found found_by(const std::vector<std::string>& kernels) {
    Found found;
    on_ranks(kRanks, [&](Context& context) {
      detail::ContextState& state = context.state();
      fabric::Fabric& fabric = state.job.fabric();
      const std::span<std::byte> place = state.memory.collective().first(Memory::kCollectivePart);
      std::vector<DigestOfRank> digests;
      for (rank_t rank = 0; rank < kRanks; ++rank) {
        ASSERT_OK_AND_ASSIGN(const auto left, leave_facts(facts_of(kernels[rank]), place));
        const auto same = [&](const DigestOfRank& one) { return one.digest == left; };
        if (std::ranges::none_of(digests, same)) digests.push_back({rank, left});
      }
      const Facts mine = facts_of(kernels[context.rank_me()]);
      ASSERT_TRUE(leave_facts(mine, place).ok());
      context.barrier();
      const uint64_t gets_before = fabric.traffic().gets;
      if (context.rank_me() == 0) {
        const auto offset = static_cast<uint64_t>(place.data() - fabric.segment().data());
        ASSERT_OK_AND_ASSIGN(const auto facts, fetch_facts(fabric, offset, mine, digests));
        found.facts = facts;
        found.gets = fabric.traffic().gets - gets_before;
      }
      context.barrier();
    });
    return found;
  }
};

TEST_P(RankFacts, AreNotFetchedWhereAllAreAlike) {
  const Found found = found_by(std::vector<std::string>(kRanks, "6.1"));
  EXPECT_EQ(found.facts, facts_of("6.1"));
  EXPECT_EQ(found.gets, 0U);
}

TEST_P(RankFacts, AreFetchedOnceForEachThatDiffers) {
  const std::vector<std::string> kernels = {"6.1", "5.4", "6.1", "5.4", "4.9", "5.4"};
  std::vector<FactsOfRank> of_ranks;
  for (rank_t rank = 0; rank < kRanks; ++rank) of_ranks.push_back({rank, facts_of(kernels[rank])});
  const Found found = found_by(kernels);
  EXPECT_EQ(found.facts, machine::join_facts(of_ranks));
  EXPECT_EQ(found.facts.at("kernel"), "6.1 on rank 0, 5.4 on rank 1, 4.9 on rank 4");
  if (GetParam().same_node == "network") {
    EXPECT_EQ(found.gets, 2U);
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, RankFacts, ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

TEST(FetchedFacts, AreRefusedIfTheyAreNotWhatWasAnnounced) {
  const auto group = bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2);
  bootstrap::on_ranks(group, [](Context& context) {
    fabric::Fabric& fabric = context.state().job.fabric();
    const std::span<std::byte> segment = fabric.segment();
    ASSERT_OK_AND_ASSIGN(const auto left, leave_facts(facts_of("6.1"), segment));
    context.barrier();
    if (context.rank_me() == 0) {
      const std::vector<std::string> wrong = {"", "x", "7-" + sha256_hex(""), left + "0",
                                              "99999999999-" + sha256_hex("")};
      for (const std::string& digest : wrong) {
        const std::vector<DigestOfRank> digests = {{0, left}, {1, digest}};
        const auto facts = fetch_facts(fabric, 0, facts_of("6.1"), digests);
        ASSERT_FALSE(facts.ok()) << digest;
        EXPECT_EQ(facts.error().code(), ErrorCode::data_loss);
        EXPECT_NE(facts.error().message().find("rank 1"), std::string::npos);
      }
      std::vector<std::byte> small(10);
      EXPECT_EQ(leave_facts(facts_of("6.1"), small).error().code(), ErrorCode::resource_exhausted);
    }
    context.barrier();
  });
}

// What a job of three ranks on tcp writes to standard error, with a model whose fingerprint has
// `progress`. Rank 1 leaves progress to the provider if it differs.
std::string said_by_job(const std::string& progress, bool differs) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("rank-facts-" + std::to_string(::getpid()) + ".stripline.json");
  model::TunedModel m = model::example_model();
  m.fingerprint = {{"fabric.progress", {progress, model::MatchRule::soft}}};
  EXPECT_TRUE(model::save_model(m, path).ok());
  Options options = bootstrap::group_on(bootstrap::fabrics_under_test()[0], 3).context;
  options.model_path = path;
  std::vector<Options> of_ranks(3, options);
  if (differs) of_ranks[1].progress = "auto";
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_mixed_ranks(of_ranks, [](Context& context) {
    // Each rank has facts of its own afterwards as well.
    EXPECT_EQ(context.state().job.fingerprint().at("fabric.progress"),
              context.state().job.options().progress);
  });
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  std::filesystem::remove(path);
  return said;
}

TEST(FactsOfAJob, AreComparedWithTheModelByRank0) {
  EXPECT_EQ(said_by_job("manual", false), "");
  const std::string other = said_by_job("auto", false);
  EXPECT_NE(other.find("fabric.progress is 'manual' here, the model was measured with 'auto'"),
            std::string::npos)
      << other;
  for (const char* measured : {"manual", "auto"}) {
    const std::string said = said_by_job(measured, true);
    EXPECT_NE(said.find("fabric.progress is 'manual on rank 0, auto on rank 1' here, the model was "
                        "measured with '" +
                        std::string(measured) + "'"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("warning"), said.rfind("warning: model file")) << said;
  }
}

}  // namespace
}  // namespace stripline::rma
