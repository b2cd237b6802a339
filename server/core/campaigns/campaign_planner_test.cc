#include "server/core/campaigns/campaign_planner.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/tuning.h"
#include "server/testing/experiments.h"

namespace stripline::server {
namespace {

NodeOffer offer(const std::string& node, std::vector<std::string> fabrics = {"tcp"}) {
  return {node, std::move(fabrics),
          std::make_shared<const std::vector<experiment::Experiment>>(test_experiments())};
}

// Lets `how` change a copy of what the node offers.
template <typename Change>
void change(NodeOffer& offer, Change how) {
  auto experiments = *offer.experiments;
  how(experiments);
  offer.experiments =
      std::make_shared<const std::vector<experiment::Experiment>>(std::move(experiments));
}

Answer<CampaignPlan> plan(const CampaignSpec& spec, const std::vector<NodeOffer>& offers) {
  return plan_campaign(*complete_spec(spec), offers);
}

std::set<std::string> experiments_of(const experiment::Assignment& assignment) {
  std::set<std::string> names;
  for (const auto& point : assignment.points) names.insert(point.experiment);
  return names;
}

TEST(CampaignPlanner, TakesWhatFeedsTheModel) {
  const auto planned = plan({.fabric = "tcp", .seed = 5}, {offer("a"), offer("b")});
  ASSERT_TRUE(planned);
  EXPECT_TRUE(planned->feeds_model);
  EXPECT_EQ(planned->runs.size(), 8U);
  EXPECT_EQ(
      experiments_of(planned->runs[0]),
      (std::set<std::string>{"micro.flood", "micro.issue", "micro.latency", "micro.overlap"}));
  EXPECT_EQ(planned->requirements.at("micro.issue"), 1);
  EXPECT_NE(planned->note.find("pruned grid"), std::string::npos) << planned->note;
}

// Nodes offer networks; what a campaign says besides of measuring goes with its orders.
TEST(CampaignPlanner, OptionsOfMeasuringNeedNoOfferOfTheirOwn) {
  const std::vector<NodeOffer> offers = {offer("a", {"emulated:gm"}), offer("b", {"emulated:gm"})};
  const auto planned = plan({.fabric = "emulated:gm,compute=declared"}, offers);
  ASSERT_TRUE(planned) << planned.problem().message;
  EXPECT_EQ(planned->runs.at(0).fabric, "emulated:gm,compute=declared");
  EXPECT_FALSE(plan({.fabric = "emulated:gm,ranks_per_node=2"}, offers));
}

TEST(CampaignPlanner, TuningHasAPointForEachNumberOfRanks) {
  NodeOffer node = offer("a", {"tcp", "tune:openmpi"});
  change(node, [](auto& experiments) { experiments.push_back(experiment::tune_declaration()); });
  const auto planned =
      plan({.fabric = "tune:openmpi", .tune_ranks = "2,6", .tune_path = "tcp"}, {node, offer("b")});
  ASSERT_TRUE(planned) << planned.problem().message;
  ASSERT_EQ(planned->runs.size(), 1U);
  EXPECT_EQ(planned->runs[0].ranks, 1U);
  ASSERT_EQ(planned->runs[0].points.size(), 2U);
  for (const auto& [at, ranks] : {std::pair(0, 2), std::pair(1, 6)}) {
    const experiment::Point& point = planned->runs[0].points[static_cast<size_t>(at)];
    EXPECT_EQ(number_param(point, experiment::tune_factor::kRanks), ranks);
    EXPECT_EQ(text_param(point, experiment::tune_factor::kPath), "tcp");
  }
  EXPECT_FALSE(planned->feeds_model);
  EXPECT_EQ(record_of(*planned).planned_run_s, 375);
  EXPECT_EQ(planned->runs[0].deadline_s, 375);
  // It searches for as long as both budgets allow.
  EXPECT_EQ(plan({.fabric = "tune:openmpi", .node_budget_s = 200}, {node})->runs[0].deadline_s,
            200);
  // What no agent offers is not tuned, and it is no part of the model of a network.
  EXPECT_EQ(plan({.fabric = "tune:mpich"}, {node}).problem().reason, "UNSUPPORTED_FABRIC");
  const auto usual = plan({.fabric = "tcp"}, {node, offer("b")});
  ASSERT_TRUE(usual);
  EXPECT_FALSE(usual->requirements.contains("target.tune"));
}

TEST(CampaignPlanner, ACampaignIsOfOneCluster) {
  std::vector<NodeOffer> offers = {offer("a"), offer("b"), offer("c"), offer("d")};
  for (const size_t i : {2, 3}) offers[i].cluster = "big";
  const auto either = plan({.fabric = "tcp"}, offers);
  ASSERT_FALSE(either);
  EXPECT_NE(either.problem().message.find("(big, default)"), std::string::npos)
      << either.problem().message;
  const auto big = plan({.fabric = "tcp", .cluster = "big"}, offers);
  ASSERT_TRUE(big);
  EXPECT_EQ(big->spec.model, "models/big-tcp");
  EXPECT_EQ(plan({.fabric = "tcp", .cluster = "default"}, offers)->spec.model, "models/tcp");
  EXPECT_EQ(plan({.fabric = "tcp", .cluster = "none"}, offers).problem().reason,
            "NOT_ENOUGH_NODES");
  // Where there is no choice none is to be made.
  const auto alone = plan({.fabric = "tcp"}, {offers[2], offers[3]});
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->spec.cluster, "big");
}

TEST(CampaignPlanner, MeasuresPathsOnANodeWhereTheyAreAskedFor) {
  std::vector<NodeOffer> offers = {offer("a"), offer("b")};
  experiment::Factor path;
  path.name = experiment::factor::kSameNode;
  path.values = {std::string("mapped"), std::string("cma")};
  for (NodeOffer& one : offers) {
    change(one, [&](auto& all) {
      all.push_back(declared("micro.node_latency", {powers("bytes", "B", 8, 64), path},
                             {"get", "put"}, {"network.intra-node"}));
    });
  }
  EXPECT_FALSE(
      experiments_of(plan({.fabric = "tcp"}, offers)->runs[0]).contains("micro.node_latency"));
  const auto asked = plan({.fabric = "tcp", .same_node = {"cma"}}, offers);
  ASSERT_TRUE(asked);
  std::set<std::string> paths;
  for (const auto& point : asked->runs[0].points) {
    if (const auto of_point = text_param(point, experiment::factor::kSameNode))
      paths.insert(*of_point);
  }
  EXPECT_EQ(paths, std::set<std::string>{"cma"});
  EXPECT_TRUE(experiments_of(asked->runs[0]).contains("micro.latency"));
  // By name, all of it.
  const auto named = plan({.fabric = "tcp", .experiments = {"micro.node_latency"}}, offers);
  EXPECT_EQ(named->runs[0].points.size(), 2U * 4 * 2);
}

TEST(CampaignPlanner, WhatNeedsAThreadIsLeftOutOnEmulatedNetworks) {
  std::vector<NodeOffer> offers = {offer("a", {"emulated:x", "tcp"}),
                                   offer("b", {"emulated:x", "tcp"})};
  for (NodeOffer& one : offers) {
    change(one, [&](auto& all) {
      all.push_back(declared("micro.progress_call", {powers("bytes", "B", 8, 8)},
                             {"calls", experiment::variant::kThread}, {"rma.progress.call"}));
    });
  }
  const auto measures = [&](const std::string& fabric) {
    return experiments_of(plan({.fabric = fabric}, offers)->runs[0])
        .contains("micro.progress_call");
  };
  EXPECT_TRUE(measures("tcp"));
  EXPECT_FALSE(measures("emulated:x"));
  const auto named = plan({.fabric = "emulated:x", .experiments = {"micro.progress_call"}}, offers);
  ASSERT_FALSE(named);
  EXPECT_NE(named.problem().message.find("no thread can serve"), std::string::npos);
}

TEST(CampaignPlanner, RunsMeasureTheSamePointsWithSeedsOfTheirOwn) {
  const auto planned = *plan({.fabric = "tcp", .seed = 5}, {offer("a"), offer("b")});
  std::set<uint64_t> seeds;
  for (uint32_t i = 0; i < planned.runs.size(); ++i) {
    EXPECT_EQ(planned.runs[i].run, i + 1);
    EXPECT_EQ(planned.runs[i].fabric, "tcp");
    EXPECT_EQ(planned.runs[i].ranks, 2U);
    EXPECT_EQ(planned.runs[i].points, planned.runs[0].points);
    seeds.insert(planned.runs[i].seed);
  }
  EXPECT_EQ(seeds.size(), planned.runs.size());
  const auto again = *plan({.fabric = "tcp", .seed = 5}, {offer("a"), offer("b")});
  EXPECT_EQ(planned.runs[3].seed, again.runs[3].seed);
  const auto other = *plan({.fabric = "tcp", .seed = 6}, {offer("a"), offer("b")});
  EXPECT_NE(planned.runs[3].seed, other.runs[3].seed);
}

TEST(CampaignPlanner, EveryRunBeginsWithTheCoarseGrid) {
  const auto planned = *plan({.fabric = "tcp", .seed = 5}, {offer("a"), offer("b")});
  const auto core = planned.core_points;
  const auto least = planned.least_points;
  EXPECT_GT(least, 10U);
  EXPECT_LT(least, core);
  EXPECT_GT(core, 20U);
  EXPECT_LT(core, 2 * planned.runs[0].points.size() / 3);
  std::set<double> sizes;
  for (uint32_t i = 0; i < core; ++i) {
    const auto& point = planned.runs[0].points[i];
    if (point.experiment == "micro.latency") sizes.insert(*number_param(point, "bytes"));
  }
  EXPECT_GE(sizes.size(), 5U);
}

TEST(CampaignPlanner, ABudgetedPlanFitsItsBudgetWithRoomToSpare) {
  const auto planned = *plan({.fabric = "tcp"}, {offer("a"), offer("b")});
  const auto points = static_cast<double>(planned.runs.front().points.size());
  EXPECT_LT(run_seconds(planned.pace, points) * static_cast<double>(planned.runs.size()),
            0.75 * 60);
  const auto hurried = *plan({.fabric = "tcp", .time_budget_s = 20}, {offer("a"), offer("b")});
  EXPECT_LT(hurried.runs[0].stop_rule.time_budget_s, planned.runs[0].stop_rule.time_budget_s);
}

TEST(CampaignPlanner, SaysWhenTheTimeBudgetWillHardlyDo) {
  const std::vector<NodeOffer> offers = {offer("a"), offer("b")};
  EXPECT_EQ(plan({.fabric = "tcp"}, offers)->note.find("time budget"), std::string::npos);
  EXPECT_NE(plan({.fabric = "tcp", .time_budget_s = 2}, offers)->note.find("time budget"),
            std::string::npos);
}

TEST(CampaignPlanner, AFullPlanMeasuresTheDeclaredGrids) {
  const auto full = *plan({.fabric = "tcp", .effort = Effort::full}, {offer("a"), offer("b")});
  const auto budgeted = *plan({.fabric = "tcp"}, {offer("a"), offer("b")});
  EXPECT_EQ(full.runs.size(), 12U);
  EXPECT_GT(full.runs[0].points.size(), 2 * budgeted.runs[0].points.size());
  EXPECT_GT(full.runs[0].stop_rule.max_reps, budgeted.runs[0].stop_rule.max_reps);
  EXPECT_LT(full.runs[0].stop_rule.relative_half_width,
            budgeted.runs[0].stop_rule.relative_half_width);
}

TEST(CampaignPlanner, AVirtualClockNeedsFewerRepetitions) {
  const std::vector<NodeOffer> offers = {offer("a", {"emulated:x"}), offer("b", {"emulated:x"})};
  const auto virtual_plan = *plan({.fabric = "emulated:x"}, offers);
  const auto real_plan = *plan({.fabric = "emulated:x", .clock = "real"}, offers);
  EXPECT_LT(virtual_plan.runs[0].stop_rule.max_reps, real_plan.runs[0].stop_rule.max_reps);
  EXPECT_GE(virtual_plan.runs[0].stop_rule.max_reps, virtual_plan.runs[0].stop_rule.min_reps);
  EXPECT_EQ(virtual_plan.runs[0].clock, "virtual");
  EXPECT_GT(virtual_plan.runs[0].points.size(), real_plan.runs[0].points.size());
}

TEST(CampaignPlanner, NamedExperimentsMayFeedNothing) {
  const auto planned =
      *plan({.fabric = "tcp", .experiments = {"kernel.loop"}, .runs = 2}, {offer("a"), offer("b")});
  EXPECT_FALSE(planned.feeds_model);
  EXPECT_EQ(planned.runs.size(), 2U);
  EXPECT_EQ(experiments_of(planned.runs[0]), std::set<std::string>{"kernel.loop"});
}

TEST(CampaignPlanner, NamedExperimentsFeedAModelOnlyIfItIsNamed) {
  const std::vector<NodeOffer> offers{offer("a"), offer("b")};
  EXPECT_FALSE(plan({.fabric = "tcp", .experiments = {"micro.latency"}}, offers)->feeds_model);
  EXPECT_TRUE(
      plan({.fabric = "tcp", .experiments = {"micro.latency"}, .model = "models/mine"}, offers)
          ->feeds_model);
}

TEST(CampaignPlanner, AModelNeedsSixRuns) {
  const auto planned = plan({.fabric = "tcp", .runs = 5}, {offer("a"), offer("b")});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.problem().metadata.at("field"), "spec.runs");
}

TEST(CampaignPlanner, AModelNeedsANetwork) {
  std::vector<NodeOffer> offers{offer("a"), offer("b")};
  for (NodeOffer& one : offers) {
    change(one, [&](auto& all) {
      all.push_back(
          declared("micro.compute", {powers("bytes", "B", 8, 64)}, {"all"}, {"compute.red_in"}));
      all.back().min_ranks = 1;
    });
  }
  const auto alone = plan({.fabric = "tcp", .ranks = 1}, offers);
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.problem().metadata.at("field"), "spec.ranks");
  EXPECT_NE(alone.problem().message.find("one rank has no network"), std::string::npos)
      << alone.problem().message;
  const auto named =
      plan({.fabric = "tcp", .experiments = {"micro.compute"}, .model = "models/x"}, offers);
  ASSERT_FALSE(named);
  EXPECT_EQ(named.problem().metadata.at("field"), "spec.experiments");
  EXPECT_TRUE(plan({.fabric = "tcp", .ranks = 1, .experiments = {"micro.compute"}}, offers));
}

TEST(CampaignPlanner, TheCoarsestGridIsOfTheNetworkAlone) {
  std::vector<NodeOffer> offers{offer("a"), offer("b")};
  for (NodeOffer& one : offers) {
    change(one, [&](auto& all) {
      all.push_back(declared("micro.pack", {powers("bytes", "B", 8, 64)}, {"all"}, {"pack.pack"}));
    });
  }
  const auto planned = *plan({.fabric = "tcp"}, offers);
  EXPECT_TRUE(experiments_of(planned.runs[0]).contains("micro.pack"));
  for (uint32_t i = 0; i < planned.least_points; ++i) {
    EXPECT_NE(planned.runs[0].points[i].experiment, "micro.pack");
  }
}

TEST(CampaignPlanner, NamedExperimentsAreRefusedForWhatTheyNeed) {
  std::vector<NodeOffer> offers{offer("a"), offer("b")};
  for (NodeOffer& one : offers) {
    change(one, [&](auto& all) {
      all.push_back(declared("kernel.square", {}, {"all"}, {}));
      all.back().rank_count = experiment::RankCount::square;
    });
  }
  const auto two = plan({.fabric = "tcp", .ranks = 2, .experiments = {"kernel.square"}}, offers);
  ASSERT_FALSE(two);
  EXPECT_NE(two.problem().message.find("takes a square"), std::string::npos)
      << two.problem().message;
  EXPECT_TRUE(plan({.fabric = "tcp", .ranks = 4, .experiments = {"kernel.square"}}, offers));
}

TEST(CampaignPlanner, APlanHasALimit) {
  const auto planned = plan({.fabric = "tcp", .effort = Effort::full, .runs = 1000, .seed = 5},
                            {offer("a"), offer("b")});
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.problem().metadata.at("field"), "spec.runs");
}

TEST(CampaignPlanner, SaysWhatTheFleetLacks) {
  const auto unsupported = plan({.fabric = "shm"}, {offer("a"), offer("b")});
  ASSERT_FALSE(unsupported);
  EXPECT_EQ(unsupported.problem().reason, "UNSUPPORTED_FABRIC");
  EXPECT_NE(unsupported.problem().message.find("they offer: tcp"), std::string::npos);

  const auto none = plan({.fabric = "tcp"}, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.problem().reason, "NOT_ENOUGH_NODES");

  const auto one = plan({.fabric = "tcp"}, {offer("a"), offer("b", {"shm"})});
  ASSERT_FALSE(one);
  EXPECT_EQ(one.problem().reason, "NOT_ENOUGH_NODES");
  EXPECT_EQ(one.problem().metadata.at("available"), "1");

  const auto unknown =
      plan({.fabric = "tcp", .experiments = {"micro.nothing"}}, {offer("a"), offer("b")});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.problem().reason, "UNKNOWN_EXPERIMENT");
  EXPECT_NE(unknown.problem().message.find("micro.latency"), std::string::npos);

  const auto ranks = plan({.fabric = "tcp", .ranks = 100, .experiments = {"micro.latency"}},
                          {offer("a"), offer("b")});
  ASSERT_FALSE(ranks);
  EXPECT_EQ(ranks.problem().metadata.at("field"), "spec.experiments");
  EXPECT_NE(ranks.problem().message.find("takes 2 to 64 ranks, not 100"), std::string::npos);
}

// A campaign of more would fail with its first order.
TEST(CampaignPlanner, RanksMustFitTheNodes) {
  std::vector<NodeOffer> small = {offer("a"), offer("b")};
  for (NodeOffer& one : small) one.max_ranks = 8;
  const auto asked = [&](uint32_t ranks) {
    return plan({.fabric = "tcp", .nodes = 2, .ranks = ranks, .experiments = {"micro.latency"}},
                small);
  };
  EXPECT_TRUE(asked(16));
  const auto uneven = asked(17);
  ASSERT_FALSE(uneven);
  EXPECT_NE(uneven.problem().message.find("room for 9 ranks each"), std::string::npos);
  const auto more = asked(32);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.problem().reason, "NOT_ENOUGH_NODES");
  EXPECT_EQ(more.problem().metadata.at("available"), "0");
  EXPECT_NE(more.problem().message.find("room for 16 ranks each"), std::string::npos);
  for (NodeOffer& one : small) one.max_ranks = 0;  // older agents do not say
  EXPECT_TRUE(asked(32));
}

TEST(CampaignPlanner, OnlyNodesRestrictsTheChoice) {
  const auto refused =
      plan({.fabric = "tcp", .only_nodes = {"nodes/a", "nodes/x"}}, {offer("a"), offer("b")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.problem().reason, "NOT_ENOUGH_NODES");
  EXPECT_TRUE(plan({.fabric = "tcp", .only_nodes = {"nodes/a", "nodes/b"}},
                   {offer("a"), offer("b"), offer("c")}));
}

TEST(CampaignPlanner, TakesTheNewestVersionThatEnoughNodesOffer) {
  std::vector<NodeOffer> offers = {offer("a"), offer("b"), offer("c")};
  change(offers[0], [](auto& all) {
    for (auto& experiment : all) experiment.version = 3;
  });
  change(offers[1], [](auto& all) {
    for (auto& experiment : all) experiment.version = 2;
  });
  change(offers[2], [](auto& all) {
    for (auto& experiment : all) experiment.version = 2;
  });
  EXPECT_EQ(plan({.fabric = "tcp"}, offers)->requirements.at("micro.latency"), 2);
  const auto three = plan({.fabric = "tcp", .nodes = 3, .experiments = {"micro.latency"}}, offers);
  ASSERT_FALSE(three);
  EXPECT_EQ(three.problem().reason, "NOT_ENOUGH_NODES");
}

// Every experiment is offered by two nodes, but no two offer all of them.
TEST(CampaignPlanner, NodesMustOfferAllExperimentsTogether) {
  std::vector<NodeOffer> offers = {offer("a"), offer("b"), offer("c"), offer("d")};
  for (size_t i = 0; i < 2; ++i) {
    const auto lacks = [](const char* name) {
      return
          [name](auto& all) { std::erase_if(all, [&](const auto& e) { return e.name == name; }); };
    };
    change(offers[i], lacks("micro.latency"));
    change(offers[i + 2], lacks("kernel.loop"));
  }
  const auto planned =
      plan({.fabric = "tcp", .experiments = {"micro.latency", "kernel.loop"}}, offers);
  ASSERT_FALSE(planned);
  EXPECT_EQ(planned.problem().reason, "NOT_ENOUGH_NODES");
}

}  // namespace
}  // namespace stripline::server
