// Rules of models for collective operations, compared with what is done without one.
#include "runtime/rma/compared_collective.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/team.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/testing/model_file.h"
#include "runtime/rma/context_state.h"

namespace stripline::rma {
namespace {

using model::CollectiveAlgorithm;
using model::CollectiveOperation;

constexpr rank_t kRanks = 9;
constexpr const char* kNetwork = "emulated:itanium-gm,compute=none,jitter=off";

// By which small blocks, and small sums, are passed on from rank to rank, one after another; and
// broadcasts as without a model.
model::TunedModel wrong_model() {
  model::TunedModel wrong = model::example_model();
  wrong.collective.emplace();
  const auto add = [&](CollectiveOperation operation, CollectiveAlgorithm algorithm) {
    wrong.collective->rules.push_back({.operation = operation,
                                       .algorithm = algorithm,
                                       .min_ranks = 2,
                                       .max_ranks = 64,
                                       .from_bytes = 0,
                                       .to_bytes = 4096,
                                       .bytes = 64,
                                       .time_s = model::example_parameter(1e-6)});
  };
  add(CollectiveOperation::allgather, CollectiveAlgorithm::ring);
  add(CollectiveOperation::allreduce, CollectiveAlgorithm::linear);
  add(CollectiveOperation::broadcast, CollectiveAlgorithm::binomial);
  return wrong;
}

// Seconds of an allgather, the last ones of many.
double seconds_of_allgather(Context& context, const team& all, collective_algorithm algorithm,
                            int calls) {
  constexpr int kTimed = 64;
  std::vector<uint64_t> blocks(all.rank_n());
  double begun_s = 0;
  for (int call = 0; call < calls; ++call) {
    if (call == calls - kTimed) begun_s = context.now_s();
    const uint64_t mine = 1000 * call + all.rank_me();
    all.allgather(std::span(&mine, 1), blocks, algorithm);
    for (rank_t rank = 0; rank < all.rank_n(); ++rank) {
      EXPECT_EQ(blocks[rank], 1000U * call + rank) << "call " << call;
    }
  }
  const double mine_s = (context.now_s() - begun_s) / kTimed;
  return all.allreduce(mine_s, op_max{}, CollectiveAlgorithm::recursive_doubling);
}

void on_network(bool guard, const std::string& trace, const std::function<void(Context&)>& body) {
  const ModelFile model("compared_collectives", wrong_model());
  auto group = bootstrap::group_on({"", kNetwork, "virtual"}, kRanks);
  group.context.model_path = model.path();
  group.context.guard = guard;
  group.context.trace = trace;
  bootstrap::on_ranks(group, body);
}

TEST(ComparedCollectives, ARuleThatIsWrongIsGivenUp) {
  constexpr int kMany = 600;  // the budget of guards allows for no check by then
  double standard_s = 0;
  double by_rule_s = 0;
  double guarded_s = 0;
  for (const bool guard : {false, true}) {
    on_network(guard, "off", [&](Context& context) {
      const team all = team::world(context);
      const double seconds =
          seconds_of_allgather(context, all, CollectiveAlgorithm::automatic, guard ? kMany : 100);
      const double of_default_s =
          seconds_of_allgather(context, all, CollectiveAlgorithm::bruck, 100);
      if (context.rank_me() != 0) return;
      standard_s = of_default_s;
      (guard ? guarded_s : by_rule_s) = seconds;
    });
  }
  EXPECT_GT(by_rule_s, 1.2 * standard_s);
  EXPECT_LT(guarded_s, 1.1 * standard_s);
}

// Teams that come and go, and operations of several sizes, each of which agrees on its own calls.
TEST(ComparedCollectives, TeamsAndSizesAreComparedByThemselves) {
  on_network(true, "off", [](Context& context) {
    const team all = team::world(context);
    for (int round = 0; round < 3; ++round) {
      const team half = all.split(context.rank_me() % 2, 0);
      for (int call = 0; call < 200; ++call) {
        const size_t elements = 1 + static_cast<size_t>(call % 3);
        const team& of = call % 2 == 0 ? all : half;
        const std::vector<uint32_t> mine(elements, of.rank_me() + call);
        std::vector<uint32_t> blocks(elements * of.rank_n());
        of.allgather(mine, blocks);
        for (size_t i = 0; i < blocks.size(); ++i) {
          ASSERT_EQ(blocks[i], i / elements + static_cast<uint32_t>(call));
        }
      }
    }
  });
}

// The bits of a sum do not depend on what the guard has found.
TEST(ComparedCollectives, SumsAreMadeByTheirRules) {
  on_network(true, "off", [](Context& context) {
    const team all = team::world(context);
    const double mine = 0.1 * (1 + context.rank_me());
    const double first = all.allreduce(mine, op_add{});
    for (int call = 0; call < 1000; ++call) ASSERT_EQ(all.allreduce(mine, op_add{}), first);
  });
}

// The model takes scatters for gathers, whose times are others.
TEST(ComparedCollectives, ScattersAreNotComparedWithGathers) {
  on_network(true, "off", [](Context& context) {
    const team all = team::world(context);
    auto& compared = context.state().mechanisms.of<ComparedCollectives>(context.state());
    const plan::AskedCollective request{
        .operation = CollectiveOperation::gather, .ranks = kRanks, .bytes = 8};
    const plan::CollectivePlan planned{CollectiveAlgorithm::direct, plan::Reason::measured};
    const ComparedCollective* const gather = compared.of(all.id(), "", request, planned);
    ASSERT_NE(gather, nullptr);
    EXPECT_NE(compared.of(all.id(), "scatter", request, planned), gather);
    EXPECT_EQ(compared.of(all.id(), "", request, planned), gather);
  });
}

TEST(ComparedCollectives, AreTracedWithTheirCommands) {
  ::testing::internal::CaptureStderr();
  on_network(false, "sites", [](Context& context) {
    const team all = team::world(context);
    std::vector<uint64_t> blocks(all.rank_n());
    const uint64_t mine = 7;
    for (int call = 0; call < 10; ++call) {
      all.allgather(std::span(&mine, 1), blocks);
      all.broadcast(blocks, 0);  // by the default, which is not shown
    }
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("allgather of 8 B"), std::string::npos) << said;
  EXPECT_NE(said.find("stripline explain collective "), std::string::npos) << said;
  EXPECT_NE(said.find("ring, "), std::string::npos) << said;
  EXPECT_EQ(said.find("broadcast of "), std::string::npos) << said;
}

}  // namespace
}  // namespace stripline::rma
