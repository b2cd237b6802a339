#include "optimizer/plan/gather.h"

#include <limits>

#include <gtest/gtest.h>

#include "optimizer/plan/gather_mechanism.h"
#include "optimizer/plan/path_fixture.h"

namespace stripline::plan {
namespace {

GatherRequest request_of(uint64_t elements, uint64_t runs, uint64_t span_bytes) {
  GatherRequest request;
  request.elements = elements;
  request.runs = runs;
  request.span_bytes = span_bytes;
  return request;
}

TEST(PlanGather, WithoutAModelElementsArePacked) {
  const GatherDecision decision = plan_gather(request_of(100, 100, 1600), nullptr);
  EXPECT_EQ(decision.method, GatherMethod::pack);
  EXPECT_EQ(decision.reason, Reason::no_model);
}

TEST(PlanGather, AllThatLiesSideBySideGoesUnpacked) {
  const CompiledPath path = example_path();
  EXPECT_EQ(plan_gather(request_of(4096, 1, 32768), &path).method, GatherMethod::bound);
  const GatherDecision unknown = plan_gather(request_of(4096, 1, 32768), nullptr);
  EXPECT_EQ(unknown.method, GatherMethod::bound);
  EXPECT_EQ(unknown.reason, Reason::no_model);
}

// The program's array is in use until the put is answered, its copy is not.
TEST(PlanGather, OnePieceIsCopiedWhereAnAnswerTakesLonger) {
  model::TunedModel model = model::example_model();
  for (auto& segment : model.network["inter-node"].put->segments) {
    segment.L_s = model::example_parameter(500e-6);
  }
  const CompiledPath path(model, *model.network.find("inter-node"));
  GatherRequest request = request_of(64, 1, 512);
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::bound) << "flags follow answers";
  request.surroundings.flag_with_data = true;
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::pack);
  EXPECT_GT(predict_gather(request, path, GatherMethod::bound),
            predict_gather(request, path, GatherMethod::pack) + 400e-6);
  request.by_stores = true;
  EXPECT_EQ(explain<GatherMechanism>(request, &path).alternatives.size(), 2U) << "bound and pull";
}

TEST(PlanGather, WhatLiesDenseGoesUnpacked) {
  const CompiledPath path = example_path();
  const GatherDecision decision = plan_gather(request_of(4000, 96, 32768), &path);
  EXPECT_EQ(decision.method, GatherMethod::bound);
  EXPECT_EQ(decision.reason, Reason::tuned);
  EXPECT_LT(decision.predicted_s, decision.baseline_s);
}

TEST(PlanGather, ElementsOfSeveralArraysAreGatheredByEitherMethod) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(4000, 96, 32768);
  request.vectors = 4;
  EXPECT_EQ(request.bytes(), 4 * 4000U * 8);
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::pack);
  EXPECT_LT(predict_gather(request, path, GatherMethod::pack),
            predict_gather(request, path, GatherMethod::bound));
  // Less than four times as long as of one array: the message has its overheads once.
  const GatherRequest one = request_of(20, 20, 320);
  GatherRequest four = one;
  four.vectors = 4;
  EXPECT_LT(predict_gather(four, path, GatherMethod::pack),
            2 * predict_gather(one, path, GatherMethod::pack));
}

// What others copy from where it arrives is not what lies between, and does not wait to be fetched.
TEST(PlanGather, WhatOthersCopyIsSentAndPacked) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(4000, 96, 32768);
  ASSERT_EQ(plan_gather(request, &path).method, GatherMethod::bound);
  request.copied_on = true;
  const GatherDecision decision = plan_gather(request, &path);
  EXPECT_EQ(decision.method, GatherMethod::pack);
  EXPECT_EQ(decision.reason, Reason::no_faster_plan);
  EXPECT_EQ(decision.predicted_s, predict_gather(request, path, GatherMethod::pack));
  EXPECT_FALSE(allows(request, GatherMethod::bound));
  EXPECT_FALSE(allows(request, GatherMethod::pull));
  EXPECT_TRUE(allows(request_of(4096, 1, 32768), GatherMethod::bound));
}

// What is named to owners before weighs the more the fewer gathers follow.
TEST(PlanGather, InspectionsCountByTheGathersThatTheyAreMadeFor) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(2000, 1500, 32000);
  const double always_s = predict_gather(request, path, GatherMethod::pack);
  const double bound_s = predict_gather(request, path, GatherMethod::bound);
  ASSERT_LT(always_s, bound_s);
  double before_s = std::numeric_limits<double>::infinity();
  for (const uint64_t uses : {1, 2, 10, 1000}) {
    request.uses = uses;
    const double seconds = predict_gather(request, path, GatherMethod::pack);
    EXPECT_LT(seconds, before_s);
    EXPECT_GT(seconds, always_s);
    EXPECT_EQ(predict_gather(request, path, GatherMethod::bound), bound_s);
    before_s = seconds;
  }
  EXPECT_NEAR(before_s, always_s, 0.01 * always_s);
  request.uses = 1;
  const double once_s = predict_gather(request, path, GatherMethod::pack);
  EXPECT_GT(once_s, bound_s) << "the example is to decide otherwise";
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::bound);
  request.uses = 0;
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::pack);
}

TEST(PlanGather, AMethodThatIsAskedForIsTakenWhereItIsPossible) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(4000, 96, 32768);
  const GatherDecision pull = force_gather(request, &path, GatherMethod::pull);
  EXPECT_EQ(pull.method, GatherMethod::pull);
  EXPECT_EQ(pull.reason, Reason::forced);
  EXPECT_EQ(pull.predicted_s, predict_gather(request, path, GatherMethod::pull));
  EXPECT_EQ(force_gather(request, &path, GatherMethod::share).method, GatherMethod::pack);
  request.vectors = 2;
  EXPECT_EQ(force_gather(request, nullptr, GatherMethod::pull).method, GatherMethod::pack);
  request.by_stores = true;
  EXPECT_EQ(force_gather(request, nullptr, GatherMethod::pull).method, GatherMethod::pull);
}

TEST(PlanGather, FewElementsFarApartArePacked) {
  const CompiledPath path = example_path();
  const GatherDecision decision = plan_gather(request_of(10, 10, 8 << 20), &path);
  EXPECT_EQ(decision.method, GatherMethod::pack);
  EXPECT_EQ(decision.reason, Reason::no_faster_plan);
}

TEST(PlanGather, TheThinnerTheSlowerTheBound) {
  const CompiledPath path = example_path();
  double before_s = 0;
  bool packs = false;
  for (uint64_t span = 32768; span <= 32768 << 8; span *= 2) {
    const GatherRequest request = request_of(4096, span == 32768 ? 1 : 4096, span);
    const double bound_s = predict_gather(request, path, GatherMethod::bound);
    EXPECT_GT(bound_s, before_s);
    before_s = bound_s;
    const bool packs_now = plan_gather(request, &path).method == GatherMethod::pack;
    EXPECT_TRUE(packs_now || !packs) << span;  // one change, in one direction
    packs = packs_now;
  }
  EXPECT_TRUE(packs);
}

TEST(PlanGather, WhereStoresReachOnlyCopyingCounts) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(512, 512, 1 << 16);
  request.by_stores = true;
  EXPECT_DOUBLE_EQ(predict_gather(request, path, GatherMethod::pack),
                   path.vis.pack().pack(512, 4096, 1 << 16));
  EXPECT_DOUBLE_EQ(predict_gather(request, path, GatherMethod::bound),
                   path.vis.pack().pack(1, 1 << 16, 1 << 16));
}

TEST(PlanGather, RanksThatShareANicTakeTurns) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(4096, 4096, 1 << 17);
  const auto difference = [&] {
    return predict_gather(request, path, GatherMethod::bound) -
           predict_gather(request, path, GatherMethod::pack);
  };
  const double alone_s = difference();
  request.surroundings.nic_ranks = 4;
  EXPECT_GT(difference(), alone_s);
}

TEST(PlanGather, ReadsOneByOneTakeARoundTripEach) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(100, 100, 1600);
  const double one_s = one_by_one_s(request, path, 1);
  EXPECT_GT(one_s, 0);
  EXPECT_DOUBLE_EQ(one_by_one_s(request, path, 300), 300 * one_s);
  EXPECT_GT(one_by_one_s(request, path, 100), predict_gather(request, path, GatherMethod::pack));
  request.vectors = 2;
  EXPECT_DOUBLE_EQ(one_by_one_s(request, path, 1), 2 * one_s);
}

TEST(PlanGather, ManyReadersOfTheSameArePassedOn) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(8192, 1, 65536);
  request.alike = true;
  bool direct = true;
  for (const uint32_t readers : {1U, 2U, 4U, 8U, 16U, 64U, 256U}) {
    request.readers = readers;
    const bool passed_on = plan_gather(request, &path).method == GatherMethod::broadcast;
    EXPECT_TRUE(passed_on || direct) << readers;  // one change, in one direction
    direct = !passed_on;
  }
  EXPECT_FALSE(direct);
  request.alike = false;
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::bound);
}

// Readers pass on what they get of all their owners: each sends as much as an owner would.
TEST(PlanGather, NothingIsPassedOnWhereAllRanksReadOfAll) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(8192, 1, 65536);
  request.alike = true;
  request.readers = 63;
  bool passed_on = true;
  for (const uint32_t owners : {1U, 2U, 8U, 63U}) {
    request.owners = owners;
    const bool now = plan_gather(request, &path).method == GatherMethod::broadcast;
    EXPECT_TRUE(passed_on || !now) << owners;
    passed_on = now;
    if (owners == 1) {
      EXPECT_TRUE(passed_on);
    }
  }
  EXPECT_FALSE(passed_on);
  request.owners = 0;
  EXPECT_FALSE(GatherMechanism::request_of(request).ok());
}

TEST(PlanGather, WhatManyNeedIsPassedOnBesideWhatEachNeeds) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(8192, 8192, 1 << 18);
  request.alike = true;
  request.readers = 64;
  for (const uint64_t besides : {0U, 10U, 1000U}) {
    request.besides = besides;
    EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::broadcast) << besides;
  }
  // Where each is sent a message anyway, few elements in it cost less than another method for them.
  request.elements = 4;
  request.runs = 4;
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::pack);
  // The more each needs besides, the longer either takes.
  double packed_s = 0;
  double passed_on_s = 0;
  for (const uint64_t besides : {0U, 1U, 100U, 10000U}) {
    request.besides = besides;
    EXPECT_GT(predict_gather(request, path, GatherMethod::pack), packed_s);
    EXPECT_GE(predict_gather(request, path, GatherMethod::broadcast), passed_on_s);
    packed_s = predict_gather(request, path, GatherMethod::pack);
    passed_on_s = predict_gather(request, path, GatherMethod::broadcast);
  }
  request.alike = false;
  EXPECT_FALSE(GatherMechanism::request_of(request).ok());
}

TEST(PlanGather, ReadersPullWhereTheirLoadsReachAndTheOwnerHasMany) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(50000, 50000, 800000);
  request.by_stores = true;
  EXPECT_NE(plan_gather(request, &path).method, GatherMethod::pull);
  request.readers = 16;
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::pull);
  request.by_stores = false;
  EXPECT_NE(plan_gather(request, &path).method, GatherMethod::pull);
  EXPECT_GT(predict_gather(request, path, GatherMethod::pull),
            predict_gather(request, path, GatherMethod::pack));
}

TEST(PlanGather, OnePieceIsPulledThroughANetworkWherePutsOfItsSizeHaveADearProtocol) {
  model::TunedModel model = model::example_model();
  GatherRequest request = request_of(2000, 1, 16000);
  const auto decide = [&] {
    const CompiledPath path(model, *model.network.find("inter-node"));
    return plan_gather(request, &path).method;
  };
  EXPECT_EQ(decide(), GatherMethod::bound);
  for (auto& segment : model.network["inter-node"].put->segments) {
    if (segment.to_bytes > 8192) segment.L_s = model::example_parameter(500e-6);
  }
  EXPECT_EQ(decide(), GatherMethod::pull);
  request.vectors = 2;
  EXPECT_NE(decide(), GatherMethod::pull) << "pieces of two arrays are two gets";
  request.vectors = 1;
  request.runs = 1000;
  EXPECT_NE(decide(), GatherMethod::pull) << "a list of places goes to the owner";
}

TEST(PlanGather, ReadersPullOnlyWhereTheWordsThatTellThemAreSurelyQuick) {
  model::TunedModel model = model::example_model();
  model.pack = model::example_pack();
  GatherRequest request = request_of(50000, 50000, 800000);
  request.by_stores = true;
  request.readers = 16;
  const auto decide = [&] {
    const CompiledPath path(model, *model.network.find("inter-node"));
    return plan_gather(request, &path);
  };
  EXPECT_EQ(decide().method, GatherMethod::pull);
  for (auto& segment : model.network["inter-node"].put->segments) segment.L_s->ci_high = 1;
  const GatherDecision doubtful = decide();
  EXPECT_EQ(doubtful.method, GatherMethod::pack);
  EXPECT_EQ(doubtful.reason, Reason::below_margin);
}

TEST(PlanGather, NodesShareWhatSeveralOfTheirRanksNeed) {
  const CompiledPath path = example_path();
  GatherRequest request = request_of(8192, 8192, 1 << 18);
  request.node_ranks = 8;
  request.node_elements = 8 * request.elements;  // all need all
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::share);
  request.node_ranks = 2;
  request.node_elements = request.elements;  // each needs others
  EXPECT_EQ(plan_gather(request, &path).method, GatherMethod::pack);
}

TEST(PlanGather, IsExplained) {
  const CompiledPath path = example_path();
  const GatherRequest request = request_of(4000, 96, 32768);
  const auto explained = explain<GatherMechanism>(request, &path);
  EXPECT_EQ(explained.alternatives.size(), 2U);
  EXPECT_NE(to_text(explained).find("bound"), std::string::npos) << to_text(explained);
  EXPECT_FALSE(GatherMechanism::request_of(request_of(100, 1, 8)).ok());
  EXPECT_FALSE(GatherMechanism::request_of(request_of(100, 101, 8000)).ok());
  GatherRequest shared = request_of(100, 100, 8000);
  shared.node_ranks = 4;
  for (const uint64_t all : {100U, 400U}) {
    shared.node_elements = all;
    EXPECT_TRUE(GatherMechanism::request_of(shared).ok()) << all;
  }
  for (const uint64_t all : {99U, 401U}) {
    shared.node_elements = all;
    EXPECT_FALSE(GatherMechanism::request_of(shared).ok()) << all;
  }
}

}  // namespace
}  // namespace stripline::plan
