#include "optimizer/plan/collective.h"

#include <gtest/gtest.h>

namespace stripline::plan {
namespace {

using model::CollectiveAlgorithm;
using model::CollectiveOperation;
using model::CollectiveRequest;

TEST(CollectivePlanner, EveryDefaultIsAnAlgorithmOfItsOperation) {
  const CollectivePlanner planner;
  for (size_t i = 0; i < model::kCollectiveOperations; ++i) {
    const auto operation = static_cast<CollectiveOperation>(i);
    for (const uint32_t ranks : {1U, 2U, 3U, 8U, 1000U}) {
      for (const uint64_t bytes : {0U, 8U, 1000U, 4096U, 1U << 16, 1U << 17, 1U << 30}) {
        EXPECT_TRUE(model::has_algorithm(operation, planner.choose({operation, ranks, bytes})))
            << model::to_string(operation) << " " << ranks << " " << bytes;
      }
    }
  }
}

TEST(CollectivePlanner, DefaultsChangeWithSizeAndRanks) {
  const CollectivePlanner planner;
  using Op = CollectiveOperation;
  using Alg = CollectiveAlgorithm;
  EXPECT_EQ(planner.choose({Op::broadcast, 4, 1 << 16}), Alg::binomial);
  EXPECT_EQ(planner.choose({Op::broadcast, 4, (1 << 16) + 1}), Alg::scatter_allgather);
  EXPECT_EQ(planner.choose({Op::broadcast, 2, 1 << 20}), Alg::binomial);
  EXPECT_EQ(planner.choose({Op::reduce, 3, 1 << 20}), Alg::reduce_scatter_gather);
  EXPECT_EQ(planner.choose({Op::allreduce, 4, 8}), Alg::in_order);
  EXPECT_EQ(planner.choose({Op::allreduce, 5, 8}), Alg::recursive_doubling);
  EXPECT_EQ(planner.choose({Op::allreduce, 2, 1 << 20}), Alg::reduce_scatter_allgather);
  EXPECT_EQ(planner.choose({Op::gather, 4, 8}), Alg::binomial);
  EXPECT_EQ(planner.choose({Op::gather, 4, 1 << 20}), Alg::direct);
  EXPECT_EQ(planner.choose({Op::allgather, 4, 16384}), Alg::bruck);
  EXPECT_EQ(planner.choose({Op::allgather, 5, 16384}), Alg::ring);
  EXPECT_EQ(planner.choose({Op::all_to_all, 8, 256}), Alg::bruck);
  EXPECT_EQ(planner.choose({Op::all_to_all, 7, 256}), Alg::direct);
  EXPECT_EQ(planner.choose({Op::all_to_all, 8, 1 << 20}), Alg::pairwise);
  EXPECT_EQ(planner.choose({Op::scan, 2, 8}), Alg::linear);
  EXPECT_EQ(planner.choose({Op::scan, 3, 8}), Alg::recursive_doubling);
  for (const Op operation : {Op::allgatherv, Op::reduce_scatter}) {
    EXPECT_EQ(planner.choose({operation, 4, 16384}), Alg::direct);
    EXPECT_EQ(planner.choose({operation, 4, 16385}), Alg::ring);
  }
}

TEST(CollectivePlanner, FewRanksOfOneNodeOrOfSharedCoresTakeFewRounds) {
  const CollectivePlanner planner;
  using Op = CollectiveOperation;
  using Alg = CollectiveAlgorithm;
  const auto choose = [&](Op operation, uint32_t ranks, uint64_t bytes, bool in_node,
                          bool crowded) {
    const Alg chosen = planner.choose({.operation = operation,
                                       .ranks = ranks,
                                       .bytes = bytes,
                                       .in_node = in_node,
                                       .crowded = crowded});
    EXPECT_TRUE(model::has_algorithm(operation, chosen)) << model::to_string(operation);
    return chosen;
  };
  EXPECT_EQ(choose(Op::allreduce, 4, 8, true, false), Alg::direct);
  EXPECT_EQ(choose(Op::allreduce, 4, 1 << 16, true, false), Alg::recursive_doubling);
  EXPECT_EQ(choose(Op::allreduce, 9, 8, true, false), Alg::recursive_doubling);
  EXPECT_EQ(choose(Op::allreduce, 4, 8, false, true), Alg::linear);
  EXPECT_EQ(choose(Op::scan, 4, 1 << 16, false, true), Alg::linear);
  EXPECT_EQ(choose(Op::scan, 4, 1 << 16, true, true), Alg::linear);
  for (size_t i = 0; i < model::kCollectiveOperations; ++i) {
    for (const uint64_t bytes : {uint64_t{8}, uint64_t{1} << 16, uint64_t{1} << 20}) {
      choose(static_cast<Op>(i), 5, bytes, true, true);
      choose(static_cast<Op>(i), 5, bytes, false, true);
    }
  }
}

TEST(CollectivePlanner, RulesOfTheModelAreAboutNetworks) {
  model::CollectiveModel model;
  model.rules.push_back({.operation = CollectiveOperation::allreduce,
                         .algorithm = CollectiveAlgorithm::reduce_scatter_allgather,
                         .min_ranks = 4,
                         .max_ranks = 4,
                         .from_bytes = 0,
                         .to_bytes = 1 << 20});
  const CollectivePlanner planner(model);
  CollectiveRequest request{CollectiveOperation::allreduce, 4, 8};
  EXPECT_EQ(planner.choose(request), CollectiveAlgorithm::reduce_scatter_allgather);
  request.in_node = true;
  EXPECT_EQ(planner.choose(request), CollectiveAlgorithm::direct);
}

TEST(CollectivePlanner, RulesOfTheModelHoldWithinTheirRanges) {
  model::CollectiveModel model;
  const auto add = [&](uint32_t ranks, uint64_t from, uint64_t to, CollectiveAlgorithm algorithm) {
    model.rules.push_back({.operation = CollectiveOperation::allreduce,
                           .algorithm = algorithm,
                           .min_ranks = ranks,
                           .max_ranks = ranks + 1,
                           .from_bytes = from,
                           .to_bytes = to});
  };
  add(2, 0, 100, CollectiveAlgorithm::recursive_doubling);
  add(2, 100, 5000, CollectiveAlgorithm::reduce_scatter_allgather);
  add(8, 0, 100, CollectiveAlgorithm::in_order);
  const CollectivePlanner planner(model);
  const auto choose = [&](uint32_t ranks, uint64_t bytes) {
    return planner.choose({CollectiveOperation::allreduce, ranks, bytes});
  };
  EXPECT_EQ(choose(2, 0), CollectiveAlgorithm::recursive_doubling);
  EXPECT_EQ(choose(3, 99), CollectiveAlgorithm::recursive_doubling);
  EXPECT_EQ(choose(3, 100), CollectiveAlgorithm::reduce_scatter_allgather);
  EXPECT_EQ(choose(9, 99), CollectiveAlgorithm::in_order);
  // Beyond: the defaults.
  EXPECT_EQ(choose(2, 5000), CollectiveAlgorithm::recursive_doubling);
  EXPECT_EQ(choose(4, 8), CollectiveAlgorithm::in_order);
  EXPECT_EQ(choose(9, 100), CollectiveAlgorithm::recursive_doubling);
  EXPECT_EQ(planner.choose({CollectiveOperation::broadcast, 2, 8}), CollectiveAlgorithm::binomial);
}

}  // namespace
}  // namespace stripline::plan
