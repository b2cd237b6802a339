// Methods of gathering beside packing by the owner: each by force against the elements of the whole
// array, and chosen where they pay.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/gather_plan.h>
#include <stripline/team.h>

#include "optimizer/plan/gather.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/gather/gather_state.h"
#include "runtime/gather/testing/gather_fixtures.h"
#include "runtime/gather/testing/gather_times.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

using gathers::kItanium;
using gathers::value_of;

class Methods : public bootstrap::RanksTest {};

// Elements of [begin, end) but every tenth.
std::vector<uint64_t> nearly_all(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> index;
  for (uint64_t i = begin; i < end; ++i) {
    if (i % 10 != 3) index.push_back(i);
  }
  return index;
}

// What the ranks print of their sites.
std::string sites_of(bootstrap::ThreadGroupOptions group,
                     const std::function<void(Context&)>& body) {
  group.context.trace = "sites";
  ::testing::internal::CaptureStderr();
  bootstrap::on_ranks(group, body);
  return ::testing::internal::GetCapturedStderr();
}

bootstrap::ThreadGroupOptions deciding(bootstrap::ThreadGroupOptions group,
                                       const ModelFile& model) {
  group.context.model_path = model.path();
  return group;
}

// What decides for two ranks of a cluster.
bootstrap::ThreadGroupOptions cluster_pair(const ModelFile& model) {
  return deciding(bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2),
                  model);
}

// A model that is right about the network kItanium.
model::TunedModel known_network() {
  model::TunedModel known = model::example_model();
  known.network["inter-node"] = exact_path(kItanium);
  return known;
}

// Gathers in both forms, with ranks that come late in turns.
template <typename T, typename Layout>
GatherStatistics gather_and_compare(Context& context, shared_array<T, Layout>& x,
                                    const std::vector<uint64_t>& index,
                                    const GatherOptions& options, uint64_t rounds = 6) {
  auto plan = GatherPlan<T>::create(x, index, options);
  EXPECT_TRUE(plan.ok()) << plan.error().message();
  if (!plan.ok()) return {};
  for (uint64_t round = 0; round < rounds; ++round) {
    gathers::fill(x, round);
    if (round % context.rank_n() == context.rank_me()) context.compute_for(1e-4);
    size_t visits = 0;
    if (round % 2 == 0) {
      plan->for_each(x, [&](size_t i, const T& value) {
        ++visits;
        ASSERT_EQ(value, value_of<T>(index[i], round)) << "round " << round << ", read " << i;
      });
      EXPECT_EQ(visits, index.size());
    } else {
      plan->start(x);
      plan->wait();
    }
    for (size_t i = 0; i < index.size(); ++i) {
      EXPECT_EQ((*plan)[i], value_of<T>(index[i], round)) << "round " << round << ", read " << i;
      if ((*plan)[i] != value_of<T>(index[i], round)) return {};
    }
  }
  return plan->statistics();
}

template <typename T, typename Layout>
void forced_gathers(Context& context, uint64_t elements, Layout layout, uint64_t seed) {
  auto x = shared_array<T, Layout>::create(context, elements, layout);
  ASSERT_TRUE(x.ok()) << x.error().message();
  const auto index = gathers::index_of_rank(elements, context.rank_me(), seed);
  for (const auto method : {GatherMethod::pull, GatherMethod::broadcast, GatherMethod::share}) {
    gather_and_compare(context, *x, index, {.method = method});
  }
  context.barrier();
  x->destroy();
}

TEST_P(Methods, BringTheSameByForce) {
  for (const rank_t ranks : {1U, 2U, 3U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      forced_gathers<double>(context, 600, blocked(600, ranks), 1);
      forced_gathers<uint32_t>(context, 603, cyclic{}, 2);
      forced_gathers<gathers::Triple>(context, 597, block_cyclic<16>{}, 3);
    });
  }
}

TEST_P(Methods, PullsAreTheReadersDoing) {
  on_ranks(3, [](Context& context) {
    auto x = shared_array<double, cyclic>::create(context, 300);
    ASSERT_TRUE(x.ok());
    const std::vector<uint64_t> index = {0, 1, 2, 30, 31, 32, 120, 299};
    const auto said = gather_and_compare(context, *x, index, {.method = GatherMethod::pull});
    EXPECT_EQ(said.pulled_owners, 2U);
    EXPECT_EQ(said.elements_told, 0U);
    EXPECT_EQ(said.bytes_sent, 0U);
    context.barrier();
  });
}

// All ranks read the same elements of rank 0, and others of each other's.
TEST_P(Methods, WhatAllNeedIsPassedOn) {
  for (const rank_t ranks : {3U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      auto x = shared_array<uint64_t, block_cyclic<>>::create(context, 100 * ranks,
                                                              blocked(100 * ranks, ranks));
      ASSERT_TRUE(x.ok());
      std::vector<uint64_t> index = {7, 9, 3, 90};
      const auto said =
          gather_and_compare(context, *x, index, {.method = GatherMethod::broadcast}, 20);
      if (context.rank_me() == 0) {
        EXPECT_EQ(said.readers, ranks - 1);
        // As many messages as a binomial tree's root sends.
        EXPECT_EQ(said.bytes_sent, (ranks == 3 ? 2U : 3U) * 4 * sizeof(uint64_t));
      } else {
        EXPECT_EQ(said.broadcast_owners, 1U);
      }
      index.push_back(100 * ((context.rank_me() + 1) % ranks) + 5);
      gather_and_compare(context, *x, index, {.method = GatherMethod::broadcast}, 20);
      // The same of every rank.
      index.clear();
      for (uint64_t rank = 0; rank < ranks; ++rank) index.push_back(100 * rank + 11);
      gather_and_compare(context, *x, index, {.method = GatherMethod::broadcast}, 20);
      context.barrier();
    });
  }
}

// A reader of several owners' elements that one rank sends, and that comes late, reports once that
// it has read them: a second report would land where the plan's memory was.
TEST(Credits, NothingLandsInMemoryThatAPlanHasGivenBack) {
  const auto group = bootstrap::group_on({"", kItanium, "virtual"}, 7);
  bootstrap::on_ranks(group, [](Context& context) {
    auto x = shared_array<uint64_t, cyclic>::create(context, 7);
    ASSERT_TRUE(x.ok());
    gathers::fill(*x, 0);
    {
      const std::vector<uint64_t> index = {0, 1, 2, 3, 4, 5, 6};
      auto plan = GatherPlan<uint64_t>::create(*x, index, {.method = GatherMethod::broadcast});
      ASSERT_TRUE(plan.ok()) << plan.error().message();
      plan->for_each(*x, [](size_t, uint64_t) {});
      EXPECT_EQ(plan->statistics().broadcast_owners, 6U);
      if (context.rank_me() == 1) context.compute_for(1e-3);
    }
    constexpr size_t kWords = 512;
    auto taken = context.allocate_local<uint64_t>(kWords);
    ASSERT_TRUE(taken.ok());
    const std::span<uint64_t> words(context.local(*taken), kWords);
    std::ranges::fill(words, uint64_t{0});
    context.barrier();
    for (size_t i = 0; i < kWords; ++i) ASSERT_EQ(words[i], 0U) << "word " << i;
    context.deallocate_local(*taken);
  });
}

// Four ranks read the same of rank 0, two others something else in common, and one what is its own.
TEST_P(Methods, WhatManyNeedIsPassedOnAmongThem) {
  on_ranks(8, [](Context& context) {
    auto x = shared_array<uint64_t, block_cyclic<>>::create(context, 800, blocked(800, 8));
    ASSERT_TRUE(x.ok());
    const rank_t me = context.rank_me();
    const uint64_t kind = me <= 4 ? 0 : me <= 6 ? 1 : 2;
    std::vector<uint64_t> index = {7 + kind, 19, 3 + 2 * kind, 90};
    for (int round = 0; round < 2; ++round) {
      const auto said =
          gather_and_compare(context, *x, index, {.method = GatherMethod::broadcast}, 20);
      if (me == 0) {
        EXPECT_EQ(said.readers, 7U);
        // To three of the four, to both of the two, and to the one.
        EXPECT_EQ(said.bytes_sent - (round == 0 ? 0 : 32), 6 * 4 * sizeof(uint64_t));
      } else {
        EXPECT_EQ(said.broadcast_owners, kind == 2 ? 0U : 1U);
      }
      // Besides, all read of the rank that comes next.
      for (uint64_t i = 0; i < 4; ++i) index.push_back(100 * ((me + 1) % 8) + 30 + i);
    }
    context.barrier();
  });
}

// All but one need the same of rank 0 and elements of their own besides.
TEST_P(Methods, WhatManyNeedBesideOthersIsPassedOn) {
  on_ranks(8, [](Context& context) {
    auto x = shared_array<uint64_t, block_cyclic<>>::create(context, 800, blocked(800, 8));
    ASSERT_TRUE(x.ok());
    const rank_t me = context.rank_me();
    std::vector<uint64_t> index;
    for (uint64_t i = 0; i < 20; ++i) index.push_back(3 * i + 1);
    if (me != 4) {
      for (uint64_t i = 0; i < 3; ++i) index.push_back(3 * me + 24 * i + 2);
    }
    for (const auto order : {GatherOrder::arrival, GatherOrder::ring}) {
      const auto said = gather_and_compare(context, *x, index,
                                           {.method = GatherMethod::broadcast, .order = order}, 20);
      if (me == 0) {
        EXPECT_EQ(said.readers, 7U);
        // What is hot to three, its own to each.
        EXPECT_EQ(said.bytes_sent, (3 * 20 + 6 * 3) * sizeof(uint64_t));
      } else {
        EXPECT_EQ(said.broadcast_owners, 1U);
        EXPECT_EQ(said.bytes_received, (20 + (me == 4 ? 0U : 3U)) * sizeof(uint64_t));
      }
    }
    context.barrier();
  });
}

TEST_P(Methods, InARingOwnersComeInTheOrderOfRanks) {
  for (const rank_t ranks : {1U, 2U, 5U}) {
    on_ranks(ranks, [ranks](Context& context) {
      auto x = shared_array<uint64_t, cyclic>::create(context, 40 * ranks);
      ASSERT_TRUE(x.ok());
      std::vector<uint64_t> index;
      for (uint64_t i = 0; i < 20 * ranks; ++i) index.push_back((13 * i) % (40 * ranks));
      for (const auto method :
           {GatherMethod::pack, GatherMethod::bound, GatherMethod::pull, GatherMethod::broadcast}) {
        gather_and_compare(context, *x, index, {.method = method, .order = GatherOrder::ring});
      }
      auto plan = GatherPlan<uint64_t>::create(*x, index, {.order = GatherOrder::ring});
      ASSERT_TRUE(plan.ok()) << plan.error().message();
      const rank_t me = context.rank_me();
      for (uint64_t round = 0; round < 3; ++round) {
        gathers::fill(*x, round);
        std::vector<rank_t> owners;
        plan->for_each(*x, [&](size_t i, uint64_t) {
          const rank_t owner = x->affinity(index[i]);
          if (owners.empty() || owners.back() != owner) owners.push_back(owner);
        });
        ASSERT_EQ(owners.size(), ranks);
        for (rank_t step = 0; step < ranks; ++step) {
          EXPECT_EQ(owners[step], (me + ranks - step) % ranks);
        }
      }
      context.barrier();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Methods, ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

// Ranks of this host as if every two of them were a node.
bootstrap::ThreadGroupOptions nodes_of_two(rank_t ranks) {
  return bootstrap::group_on({"nodes", "tcp", "real", "mapped:2"}, ranks);
}

TEST(NodeSharing, ElementsComeOnceToANode) {
  for (const rank_t ranks : {4U, 7U}) {
    bootstrap::on_ranks(nodes_of_two(ranks), [ranks](Context& context) {
      forced_gathers<double>(context, 600, blocked(600, ranks), 1);
      forced_gathers<uint32_t>(context, 603, cyclic{}, 2);
      auto x = shared_array<uint64_t, block_cyclic<>>::create(context, 100 * ranks,
                                                              blocked(100 * ranks, ranks));
      ASSERT_TRUE(x.ok());
      // Both ranks of a node need 50 of every other rank's elements, half of which the same.
      std::vector<uint64_t> index;
      for (uint64_t rank = 0; rank < ranks; ++rank) {
        for (uint64_t i = 0; i < 50; ++i) {
          index.push_back(100 * rank + (i + 25 * (context.rank_me() % 2)));
        }
      }
      const auto said = gather_and_compare(context, *x, index, {.method = GatherMethod::share}, 20);
      const team all = team::world(context);
      const uint64_t sent = all.allreduce(said.bytes_sent, op_add{});
      const auto apart = gather_and_compare(context, *x, index, {.method = GatherMethod::pack}, 2);
      const uint64_t sent_apart = all.allreduce(apart.bytes_sent, op_add{});
      EXPECT_LT(sent, sent_apart * 9 / 10);
      const rank_t mate = context.rank_me() ^ 1U;
      if (mate < ranks) {
        // This rank leads for one of two ranks of another node, and the other one does for the
        // next.
        EXPECT_GE(said.shared_owners, 1U);
      } else {
        EXPECT_EQ(said.shared_owners, 0U);
      }
      context.barrier();
    });
  }
}

TEST(NodeSharing, SeveralArraysAndReadersOfOneRank) {
  bootstrap::on_ranks(nodes_of_two(5), [](Context& context) {
    using Array = shared_array<double, cyclic>;
    auto x = Array::create(context, 200);
    auto y = Array::create(context, 200);
    ASSERT_TRUE(x.ok() && y.ok());
    // Elements of rank 4 alone, which reads nothing.
    std::vector<uint64_t> index;
    for (uint64_t i = 0; i < 30 && context.rank_me() < 4; ++i) {
      index.push_back(4 + 5 * (i + context.rank_me()));
    }
    auto plan =
        GatherPlan<double>::create(*x, index, {.method = GatherMethod::share, .vectors = 2});
    ASSERT_TRUE(plan.ok()) << plan.error().message();
    const std::vector<Array*> xs = {&*x, &*y};
    for (uint64_t round = 0; round < 10; ++round) {
      gathers::fill(*x, round);
      gathers::fill(*y, 100 + round);
      plan->start(xs);
      plan->wait();
      for (size_t i = 0; i < index.size(); ++i) {
        ASSERT_EQ(plan->value(0, i), value_of<double>(index[i], round));
        ASSERT_EQ(plan->value(1, i), value_of<double>(index[i], 100 + round));
      }
    }
    if (context.rank_me() == 4) {
      EXPECT_EQ(plan->statistics().readers, 2U);  // nodes
    }
    context.barrier();
  });
}

TEST(NodeSharing, IsChosenWhereRanksOfANodeNeedTheSame) {
  const ModelFile model("gather_sharing");
  const auto group = deciding(bootstrap::group_on({"nodes", "tcp", "real", "mapped:3"}, 6), model);
  bootstrap::on_ranks(group, [](Context& context) {
    constexpr uint64_t kEach = 4400;
    auto x = shared_array<double, block_cyclic<>>::create(context, 6 * kEach, {kEach});
    ASSERT_TRUE(x.ok());
    // Nearly all, so that a rank alone would be sent all between the first and the last.
    const auto said = gather_and_compare(context, *x, nearly_all(0, 6 * kEach), {}, 4);
    EXPECT_GE(said.shared_owners, 1U);
    context.barrier();
  });
}

// A plan that serves one gather has all that its inspection takes: no element is named to its
// owner. The number of gathers is known from the plan before at the same place, or the program says
// it.
TEST(MethodChoice, CountsTheInspectionByTheGathersThatItServes) {
  const ModelFile model("gather_uses");
  auto group = cluster_pair(model);
  bootstrap::on_ranks(group, [](Context& context) {
    constexpr uint64_t kEach = 4000;
    auto x = shared_array<double, block_cyclic<>>::create(context, 2 * kEach, {kEach});
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index;
    for (uint64_t i = 0; i < 2 * kEach; i += 4) index.insert(index.end(), {i, i + 1, i + 2});
    uint64_t before = 0;  // nothing is known of the first plan
    for (const uint64_t rounds : {1, 1, 200, 200}) {
      const auto said = gather_and_compare(context, *x, index, {}, rounds);
      EXPECT_EQ(said.bound_owners, before == 1 ? 1U : 0U) << before << " before";
      before = rounds;
    }
    EXPECT_EQ(gather_and_compare(context, *x, index, {.uses = 1}, 1).bound_owners, 1U);
    EXPECT_EQ(gather_and_compare(context, *x, index, {.uses = 1000}, 1).bound_owners, 0U);
    context.barrier();
  });
}

// With a rule for large ones, and one for all others.
TEST_P(Methods, AreForcedByTheirSize) {
  bootstrap::ThreadGroupOptions options = bootstrap::group_on(GetParam(), 2);
  options.context.tuning = "gather:*:pull;gather:2K-:bound";
  on_ranks(options, [](Context& context) {
    auto x = shared_array<double, cyclic>::create(context, 4000);
    ASSERT_TRUE(x.ok());
    const std::vector<uint64_t> few = {0, 1, 30, 31, 120, 121};
    EXPECT_EQ(gather_and_compare(context, *x, few, {}).pulled_owners, 1U);
    std::vector<uint64_t> many;
    for (uint64_t i = 0; i < 4000; i += 3) many.push_back(i);
    EXPECT_EQ(gather_and_compare(context, *x, many, {}).bound_owners, 1U);
    // What the program asks for stands.
    EXPECT_EQ(gather_and_compare(context, *x, many, {.method = GatherMethod::pack}).bound_owners,
              0U);
    context.barrier();
  });
}

// With a model, too, which would explain another method than the one that is carried out.
TEST(MethodChoice, IsAsAskedWhereARuleForcesTheBaseline) {
  const ModelFile model("gather_baseline_trace");
  auto group = cluster_pair(model);
  group.context.tuning = "gather:*:baseline";
  const std::string said = sites_of(group, [](Context& context) {
    constexpr uint64_t kEach = 4000;
    auto x = shared_array<double, block_cyclic<>>::create(context, 2 * kEach, {kEach});
    ASSERT_TRUE(x.ok());
    EXPECT_EQ(gather_and_compare(context, *x, nearly_all(0, 2 * kEach), {}).bound_owners, 0U);
    context.barrier();
  });
  EXPECT_NE(said.find("pack, as asked"), std::string::npos) << said;
  EXPECT_EQ(said.find("stripline explain gather "), std::string::npos) << said;
}

// What a rank receives for its whole node cannot be all between the first and the last: the command
// that explains it says so.
TEST(NodeSharing, IsExplainedAsItIsCarriedOut) {
  const ModelFile model("gather_sharing_trace");
  const auto group = deciding(bootstrap::group_on({"nodes", "tcp", "real", "mapped:3"}, 6), model);
  const std::string said = sites_of(group, [](Context& context) {
    constexpr uint64_t kEach = 4400;
    auto x = shared_array<double, block_cyclic<>>::create(context, 6 * kEach, {kEach});
    ASSERT_TRUE(x.ok());
    // Nearly all of the rank for which rank 0 leads, and little of others.
    gather_and_compare(context, *x, nearly_all(3 * kEach, 4 * kEach), {}, 4);
    context.barrier();
  });
  const size_t command = said.find("stripline explain gather ");
  ASSERT_NE(command, std::string::npos) << said;
  const std::string line = said.substr(command, said.find('\n', command) - command);
  EXPECT_NE(line.find(" --copied-on"), std::string::npos) << said;
  EXPECT_NE(said.find("pack, "), std::string::npos) << said;
}

// What another rank has decided is explained by what that one was asked.
TEST(NodeSharing, OfALeaderIsExplainedByItsRequest) {
  const ModelFile model("gather_followed_trace");
  const auto group = deciding(bootstrap::group_on({"nodes", "tcp", "real", "mapped:3"}, 6), model);
  const std::string said = sites_of(group, [](Context& context) {
    constexpr uint64_t kEach = 4400;
    auto x = shared_array<double, block_cyclic<>>::create(context, 6 * kEach, {kEach});
    ASSERT_TRUE(x.ok());
    // Rank 1 leads for the only owner that rank 0 reads of.
    const auto statistics =
        gather_and_compare(context, *x, nearly_all(4 * kEach, 5 * kEach), {}, 4);
    if (context.rank_me() == 0) {
      EXPECT_EQ(statistics.shared_owners, 1U);
    }
    context.barrier();
  });
  EXPECT_NE(said.find("share, "), std::string::npos) << said;
  const size_t command = said.find("stripline explain gather ");
  ASSERT_NE(command, std::string::npos) << said;
  const std::string line = said.substr(command, said.find('\n', command) - command);
  EXPECT_NE(line.find("--elements 3960 "), std::string::npos) << line;
  EXPECT_NE(line.find(" --node-ranks 3 --node-elements 11880"), std::string::npos) << line;
}

TEST(MethodChoice, WhatIsBroadcastIsExplainedByTheOwnersRequest) {
  const ModelFile model("gather_broadcast_trace", known_network());
  const auto group = deciding(bootstrap::group_on({"", kItanium, "virtual"}, 16), model);
  const std::string said = sites_of(group, [](Context& context) {
    auto x = shared_array<double, block_cyclic<>>::create(context, 16 * 8000, {8000});
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index(8000);
    for (size_t i = 0; i < index.size(); ++i) index[i] = 8 * 8000 + i;  // of rank 8
    const auto statistics = gather_and_compare(context, *x, index, {}, 2);
    if (context.rank_me() == 0) {
      EXPECT_EQ(statistics.broadcast_owners, 1U);
    }
    context.barrier();
  });
  EXPECT_NE(said.find("broadcast, "), std::string::npos) << said;
  const size_t command = said.find("stripline explain gather ");
  ASSERT_NE(command, std::string::npos) << said;
  const std::string line = said.substr(command, said.find('\n', command) - command);
  EXPECT_NE(line.find(" --readers 15 --alike"), std::string::npos) << line;
}

// --- methods that are compared while gathers are carried out -------------------------------------

void scale(std::optional<model::Parameter>& parameter, double factor) {
  if (!parameter) return;
  parameter->value *= factor;
  parameter->ci_low *= factor;
  parameter->ci_high *= factor;
}

// A model of kItanium whose large puts take longer than they do, so that the planner has what a
// rank needs of `elements` side by side fetched, though it is sent sooner.
model::TunedModel wrong_about_puts(uint64_t elements) {
  plan::GatherRequest request;
  request.elements = elements;
  request.span_bytes = elements * request.element_bytes;
  request.surroundings.flag_with_data = true;
  model::TunedModel wrong = known_network();
  for (int step = 0; step < 100; ++step) {
    const plan::CompiledPath path(wrong, *wrong.network.find("inter-node"));
    if (plan::plan_gather(request, &path).method == GatherMethod::pull) break;
    for (model::Segment& segment : wrong.network["inter-node"].put->segments) {
      scale(segment.G_s_per_byte, 1.05);
    }
  }
  return wrong;
}

// Gathers by a plan that is made here, with none of the ranks late.
GatherStatistics gather_often(Context& context, shared_array<double, block_cyclic<>>& x,
                              const std::vector<uint64_t>& index, uint64_t rounds) {
  auto plan = GatherPlan<double>::create(x, index);
  EXPECT_TRUE(plan.ok()) << plan.error().message();
  if (!plan.ok()) return {};
  for (uint64_t round = 0; round < rounds; ++round) {
    gathers::fill(x, round);
    plan->for_each(x, [&](size_t i, double value) {
      ASSERT_EQ(value, value_of<double>(index[i], round)) << "round " << round << ", read " << i;
    });
  }
  // All ranks change methods at the same gathers.
  const team all = team::world(context);
  const uint64_t mine = plan->statistics().as_without_model;
  EXPECT_EQ(all.allreduce(mine, op_max{}), all.allreduce(mine, op_min{}));
  return plan->statistics();
}

TEST(MethodChoice, WhatTakesLongerThanTheBaselineIsGivenUp) {
  constexpr uint64_t kEach = 512;
  const ModelFile model("gather_wrong", wrong_about_puts(kEach));
  for (const bool guard : {true, false}) {
    auto group = deciding(bootstrap::group_on({"", kItanium, "virtual"}, 2), model);
    group.context.guard = guard;
    bootstrap::on_ranks(group, [guard](Context& context) {
      auto x = shared_array<double, block_cyclic<>>::create(context, 2 * kEach, {kEach});
      ASSERT_TRUE(x.ok());
      std::vector<uint64_t> index(kEach);
      for (uint64_t i = 0; i < kEach; ++i) index[i] = (1 - context.rank_me()) * kEach + i;
      const GatherStatistics said = gather_often(context, *x, index, 600);
      EXPECT_EQ(said.pulled_owners, 1U);
      if (guard) {
        EXPECT_GT(said.as_without_model, 300U);
        // That is known from the first gather of the next plan on; one of them may be a check.
        EXPECT_GE(gather_often(context, *x, index, 5).as_without_model, 4U);
        // However many gathers that is for.
        EXPECT_EQ(gather_often(context, *x, index, 1).as_without_model, 1U);
      } else {
        EXPECT_EQ(said.as_without_model, 0U);
      }
      context.barrier();
    });
  }
}

// What the planner would say of itself is compared with nothing.
TEST(MethodChoice, TheBaselineIsNotCompared) {
  const ModelFile model("gather_baseline", known_network());
  auto group = deciding(bootstrap::group_on({"", kItanium, "virtual"}, 2), model);
  bootstrap::on_ranks(group, [](Context& context) {
    auto x = shared_array<double, block_cyclic<>>::create(context, 200, {100});
    ASSERT_TRUE(x.ok());
    const std::vector<uint64_t> index = {3, 5, 50, 103, 105, 150};
    EXPECT_EQ(gather_often(context, *x, index, 100).as_without_model, 0U);
    context.barrier();
  });
}

// Scattered elements in mapped memory, which readers fetch, and owners send from when the site says
// that this is faster until it says otherwise.
TEST(MethodChoice, ReadersAndOwnersChangeInStep) {
  model::TunedModel known = known_network();
  known.network["intra-node"] = exact_path(kItanium);
  known.pack = model::example_pack();
  // So that copying is all that counts, by each owner for all of its readers, or by each of these.
  for (model::Segment& segment : known.network["intra-node"].put->segments) {
    for (auto* const part : {&segment.o_base_s, &segment.L_s, &segment.g_s, &segment.r_base_s}) {
      scale(*part, 1e-3);
    }
  }
  const ModelFile model("gather_in_step", known);
  constexpr rank_t kRanks = 4;
  const auto group =
      deciding(bootstrap::group_on({"mapped", "tcp", "real", "mapped"}, kRanks), model);
  bootstrap::on_ranks(group, [](Context& context) {
    constexpr uint64_t kEach = 16000;
    auto x = shared_array<double, block_cyclic<>>::create(context, kRanks * kEach, {kEach});
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index;
    for (uint64_t i = context.rank_me(); i < kRanks * kEach; i += 16) index.push_back(i);
    const CallSite here = CallSite::current();
    auto plan = GatherPlan<double>::create(*x, index, {}, here);
    ASSERT_TRUE(plan.ok()) << plan.error().message();
    ASSERT_EQ(plan->statistics().pulled_owners, kRanks - 1);
    gathers::GatherState& state = gathers::GatherState::of(context);
    const bool decides = state.find_site(here) != nullptr;
    constexpr uint64_t kRounds = 160;
    for (uint64_t round = 0; round < kRounds; ++round) {
      if (decides && round == 40) state.site_at(here)->race().demote();
      if (decides && round == 100) {
        // As if nothing had been found out.
        gathers::GatherSite& site = *state.site_at(here);
        const plan::GatherDecision planned{GatherMethod::pull, plan::Reason::tuned};
        site.decide(decide::Arm{1}, planned, 2, decide::Race::Of::turns);
      }
      gathers::fill(*x, round);
      plan->for_each(*x, [&](size_t i, double value) {
        ASSERT_EQ(value, value_of<double>(index[i], round)) << "round " << round << ", read " << i;
      });
    }
    const team all = team::world(context);
    const uint64_t sent = plan->statistics().as_without_model;
    EXPECT_GT(sent, 10U);
    EXPECT_LT(sent, kRounds - 30);
    EXPECT_EQ(all.allreduce(sent, op_max{}), sent);
    EXPECT_EQ(all.allreduce(uint64_t{decides ? 1U : 0U}, op_add{}), 1U);
    context.barrier();
  });
}

// By a model that is right: many readers of the same large block.
TEST(MethodChoice, HotElementsAreBroadcastWhereThatIsFaster) {
  const ModelFile model("gather_methods", known_network());
  const auto group = deciding(bootstrap::group_on({"", kItanium, "virtual"}, 16), model);
  bootstrap::on_ranks(group, [](Context& context) {
    auto x = shared_array<double, indefinite>::create(context, 8000, {0});
    ASSERT_TRUE(x.ok());
    std::vector<uint64_t> index(8000);
    for (size_t i = 0; i < index.size(); ++i) index[i] = i;
    const auto seconds = [&](const GatherOptions& options) {
      auto plan = GatherPlan<double>::create(*x, index, options);
      EXPECT_TRUE(plan.ok());
      plan->for_each(*x, [](size_t, double) {});
      context.barrier();
      const double begun_s = context.now_s();
      plan->for_each(*x, [](size_t, double) {});
      context.barrier();
      const GatherStatistics& said = plan->statistics();
      if (context.rank_me() != 0 && options.method == GatherMethod::best) {
        EXPECT_EQ(said.broadcast_owners, 1U);
        EXPECT_GT(said.saved_s, 0);
        EXPECT_EQ(static_cast<double>(said.pays_after()),
                  std::ceil(said.inspection_s / said.saved_s));
      } else {
        EXPECT_EQ(said.pays_after(), 0U);  // nothing is read of others, or the model was not asked
      }
      return context.now_s() - begun_s;
    };
    const double chosen_s = seconds({});
    const double one_by_one_s = seconds({.method = GatherMethod::bound});
    EXPECT_LT(chosen_s, one_by_one_s / 2);
  });
}

TEST(MethodChoice, WhatIsHotBesideOthersIsBroadcastWhereThatIsFaster) {
  const ModelFile model("gather_hot", known_network());
  const auto group = deciding(bootstrap::group_on({"", kItanium, "virtual"}, 16), model);
  bootstrap::on_ranks(group, [](Context& context) {
    auto x = shared_array<double, indefinite>::create(context, 18000, {0});
    ASSERT_TRUE(x.ok());
    // So far apart that they are packed.
    std::vector<uint64_t> index(8000);
    for (size_t i = 0; i < index.size(); ++i) index[i] = 2 * i;
    for (uint64_t i = 0; i < 40; ++i) index.push_back(16000 + 100 * context.rank_me() + 2 * i);
    const auto seconds = [&](GatherMethod method) {
      auto plan = GatherPlan<double>::create(*x, index, {.method = method});
      EXPECT_TRUE(plan.ok());
      plan->for_each(*x, [](size_t, double) {});
      context.barrier();
      const double begun_s = context.now_s();
      plan->for_each(*x, [](size_t, double) {});
      context.barrier();
      if (context.rank_me() != 0 && method == GatherMethod::best) {
        EXPECT_EQ(plan->statistics().broadcast_owners, 1U);
      }
      return context.now_s() - begun_s;
    };
    const double chosen_s = seconds(GatherMethod::best);
    EXPECT_LT(chosen_s, seconds(GatherMethod::pack) / 2);
  });
}

}  // namespace
}  // namespace stripline
