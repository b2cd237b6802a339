#include "server/core/campaigns/scheduler.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

NodeSnapshot node(const std::string& name, bool free = true) {
  return {name, free, std::make_shared<const std::set<std::string>>(std::set<std::string>{"tcp"}),
          std::make_shared<const std::set<std::pair<std::string, int64_t>>>(
              std::set<std::pair<std::string, int64_t>>{{"micro.latency", 1}})};
}

CampaignSnapshot campaign(int64_t number, size_t runs = 8, uint32_t nodes = 2) {
  CampaignSnapshot c;
  c.number = number;
  c.fabric = "tcp";
  c.spec.nodes = nodes;
  c.requirements = {{"micro.latency", 1}};
  c.spec.time_budget_s = 60;
  for (uint32_t i = 1; i <= runs; ++i) {
    c.runs.emplace_back();
    c.runs.back().run = i;
    c.runs.back().points_core = 40;
    c.runs.back().points_all = 100;
  }
  return c;
}

void finish(CampaignSnapshot& c, size_t runs, double each_s) {
  c.state = CampaignState::running;
  for (size_t i = 0; i < runs; ++i) {
    c.runs[i].state = RunState::finished;
    c.runs[i].duration_s = each_s;
    c.runs[i].points = 100;
    c.runs[i].rank_nodes = {"b", "c"};
    c.measured_s += each_s;
  }
}

std::vector<Decision> decisions(const Snapshot& snapshot) { return decide(snapshot, 3); }

template <typename Kind>
Kind only(const Snapshot& snapshot) {
  const auto all = decisions(snapshot);
  EXPECT_EQ(all.size(), 1U);
  if (all.size() != 1 || !std::holds_alternative<Kind>(all[0])) {
    ADD_FAILURE() << "another decision: " << (all.empty() ? -1 : static_cast<int>(all[0].index()));
    return {};
  }
  return std::get<Kind>(all[0]);
}

TEST(Scheduler, PlacesAGroupWhenAllNodesAreFree) {
  const auto place = only<PlaceRun>({{node("a"), node("b"), node("c", false)}, {campaign(1)}});
  EXPECT_EQ(place.campaign, 1);
  EXPECT_EQ(place.run, 1U);
  EXPECT_EQ(place.nodes, (std::vector<std::string>{"a", "b"}));
}

TEST(Scheduler, NodesInQuarantineAreLeftOut) {
  Snapshot s{{node("a"), node("b"), node("c")}, {campaign(1)}};
  s.nodes[0].left_out = "left out for 60 s";
  EXPECT_EQ(only<PlaceRun>(s).nodes, (std::vector<std::string>{"b", "c"}));
  s.nodes[1].left_out = "left out for 120 s";
  const auto wait = only<Wait>(s);
  EXPECT_NE(wait.reason.find("1 is there; nodes/a is left out for 60 s; nodes/b is left out for"),
            std::string::npos)
      << wait.reason;
}

TEST(Scheduler, NodesWithoutRoomForTheirRanksAreLeftOut) {
  Snapshot s{{node("a"), node("b"), node("c")}, {campaign(1)}};
  s.campaigns[0].spec.ranks = 7;
  s.nodes[0].max_ranks = 3;
  s.nodes[1].max_ranks = 4;
  EXPECT_EQ(only<PlaceRun>(s).nodes, (std::vector<std::string>{"b", "c"}))
      << "of c it is not known";
  s.nodes[1].max_ranks = 3;
  EXPECT_NE(only<Wait>(s).reason.find("have room for its ranks are needed, 1 is there"),
            std::string::npos);
}

// Other work takes the processors of ranks: on a host of two, seven tasks do, and on one of 64 not.
TEST(Scheduler, WaitsForAQuietMomentAndThenMeasuresOrRefuses) {
  Snapshot s{{node("a"), node("b")}, {campaign(1)}};
  s.campaigns[0].spec.ranks = 2;
  s.campaigns[0].quiet_patience_s = 30;
  EXPECT_EQ(only<PlaceRun>(s).campaign, 1) << "agents of before do not say what hosts do";
  s.nodes[0].load = HostLoad{8.1, 7, 2};
  const auto wait = only<Wait>(s);
  EXPECT_TRUE(wait.for_quiet);
  EXPECT_EQ(wait.reason,
            "waits for a quiet moment: nodes/a is at load 8.1, 7 other tasks on 2 processors; it "
            "measures all the same after 30 s more");
  s.campaigns[0].quiet_patience_s = 0;
  EXPECT_EQ(only<PlaceRun>(s).campaign, 1);
  s.campaigns[0].when_busy = WhenBusy::refuse;
  const auto refused = only<FailCampaign>(s);
  EXPECT_TRUE(refused.reason.starts_with(
      "nodes/a is at load 8.1, 7 other tasks on 2 processors; not now: "))
      << refused.reason;
  s.nodes[0].load->processors = 64;
  EXPECT_EQ(only<PlaceRun>(s).campaign, 1);
  s.nodes[0].load = HostLoad{8.1, 7, 2};
  s.campaigns[0].when_busy = WhenBusy::measure;
  EXPECT_EQ(only<PlaceRun>(s).campaign, 1);
}

TEST(Scheduler, RanksOfAllNodesOfAHostNeedProcessors) {
  Snapshot s{{node("a"), node("b")}, {campaign(1)}};
  s.campaigns[0].spec.ranks = 2;
  s.campaigns[0].quiet_patience_s = 30;
  for (NodeSnapshot& one : s.nodes) one.load = HostLoad{1, 1, 2};
  EXPECT_EQ(only<PlaceRun>(s).campaign, 1) << "a rank on each of two hosts";
  for (NodeSnapshot& one : s.nodes) one.host = "the same";
  EXPECT_TRUE(only<Wait>(s).for_quiet);
}

TEST(Scheduler, NobodyWaitsForEver) {
  Snapshot s{{node("a")}, {campaign(1)}};
  s.campaigns[0].overdue = true;
  EXPECT_NE(only<FailCampaign>(s).reason.find("no nodes came in time: it waits for nodes: 2"),
            std::string::npos);
  s.nodes.push_back(node("b"));
  EXPECT_EQ(only<PlaceRun>(s).campaign, 1);
}

TEST(Scheduler, AfterAFailureTheNextAttemptIsLater) {
  Snapshot s{{node("a"), node("b")}, {campaign(1), campaign(2)}};
  s.campaigns[0].paused = true;
  EXPECT_EQ(only<PlaceRun>(s).campaign, 2);
  s.campaigns[0].measured_s = s.campaigns[0].spec.time_budget_s;  // that does not wait
  EXPECT_EQ(decisions(s).size(), 2U);
}

TEST(Scheduler, PlacesAllOrNobody) {
  const auto wait = only<Wait>({{node("a"), node("b", false)}, {campaign(1)}});
  EXPECT_NE(wait.reason.find("1 is free"), std::string::npos) << wait.reason;
}

TEST(Scheduler, SaysWhenNodesAreMissing) {
  const auto wait = only<Wait>({{node("a")}, {campaign(1)}});
  EXPECT_NE(wait.reason.find("waits for nodes"), std::string::npos) << wait.reason;
}

TEST(Scheduler, NodesMustOfferFabricExperimentAndName) {
  Snapshot s{{node("a"), node("b")}, {campaign(1)}};
  s.nodes[1].fabrics = std::make_shared<const std::set<std::string>>();
  only<Wait>(s);
  s.nodes[1] = node("b");
  s.nodes[1].experiments = std::make_shared<const std::set<std::pair<std::string, int64_t>>>(
      std::set<std::pair<std::string, int64_t>>{{"micro.latency", 2}});
  only<Wait>(s);
  s.nodes[1] = node("b");
  s.campaigns[0].only_nodes = {"a", "x"};
  only<Wait>(s);
}

TEST(Scheduler, NodesOfTwoClustersMakeNoGroup) {
  Snapshot s{{node("a"), node("b"), node("c")}, {campaign(1)}};
  s.nodes[0].cluster = "other";
  EXPECT_EQ(only<PlaceRun>(s).nodes, (std::vector<std::string>{"b", "c"}));
  s.nodes[1].cluster = "other";
  only<Wait>(s);
  s.campaigns[0].cluster = "other";
  EXPECT_EQ(only<PlaceRun>(s).nodes, (std::vector<std::string>{"a", "b"}));
}

TEST(Scheduler, ANodeThatWillBeGoneBeforeTheRunEndsIsLeftOut) {
  Snapshot s{{node("a"), node("b"), node("c")}, {campaign(1)}};
  s.campaigns[0].planned_run_s = 10;
  s.nodes[0].available_s = 10;
  s.nodes[1].available_s = 100;
  EXPECT_EQ(only<PlaceRun>(s).nodes, (std::vector<std::string>{"b", "c"}));
  // What was measured counts more than what was planned.
  finish(s.campaigns[0], 1, 95);
  s.campaigns[0].spec.time_budget_s = 3600;
  only<Wait>(s);
}

TEST(Scheduler, ACampaignRunsOneRunAtATime) {
  Snapshot s{{node("a"), node("b"), node("c", false), node("d", false)}, {campaign(1)}};
  s.campaigns[0].state = CampaignState::running;
  s.campaigns[0].runs[0].state = RunState::active;
  EXPECT_TRUE(decisions(s).empty());
}

TEST(Scheduler, CampaignsRunBesideEachOtherOnTheirOwnNodes) {
  const auto all =
      decisions({{node("a"), node("b"), node("c"), node("d")}, {campaign(1), campaign(2)}});
  ASSERT_EQ(all.size(), 2U);
  std::set<std::string> taken;
  for (const Decision& decision : all) {
    const auto& nodes = std::get<PlaceRun>(decision).nodes;
    taken.insert(nodes.begin(), nodes.end());
  }
  EXPECT_EQ(taken.size(), 4U);
}

TEST(Scheduler, NewerCampaignsDoNotStarveAnOlderOne) {
  // The older campaign needs three nodes, of which one is busy.
  const auto all =
      decisions({{node("a"), node("b"), node("c", false)}, {campaign(1, 8, 3), campaign(2, 8, 1)}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Wait>(all[0]));
  EXPECT_TRUE(std::holds_alternative<Wait>(all[1]));
}

TEST(Scheduler, AnOlderCampaignThatCannotRunDoesNotBlock) {
  const auto all = decisions({{node("a"), node("b")}, {campaign(1, 8, 3), campaign(2, 8, 2)}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Wait>(all[0]));
  EXPECT_EQ(std::get<PlaceRun>(all[1]).campaign, 2);
}

// What lies between pairs of nodes must show in the intervals.
TEST(Scheduler, RunsTakeDifferentNodes) {
  Snapshot s{{node("a"), node("b"), node("c"), node("d")}, {campaign(1, 12)}};
  CampaignSnapshot& c = s.campaigns[0];
  c.spec.time_budget_s = 600;
  std::set<std::vector<std::string>> pairs;
  for (size_t finished = 0; finished < 12; ++finished) {
    c.measured_s = 0;
    finish(c, finished, 2);
    const auto place = only<PlaceRun>(s);
    EXPECT_TRUE(pairs.size() < 6 || pairs.contains(place.nodes));
    pairs.insert(place.nodes);
    EXPECT_EQ(only<PlaceRun>(s).nodes, place.nodes);  // the same run, the same nodes
  }
  EXPECT_GE(pairs.size(), 3U);
}

// Two leaf switches: pairs below one and across both take turns.
TEST(Scheduler, NearAndFarPairsTakeTurns) {
  Snapshot s;
  for (int i = 0; i < 40; ++i) {
    s.nodes.push_back(node("n" + std::to_string(10 + i)));
    s.nodes.back().switches = i < 38 ? "core.leaf1" : "core.leaf2";
  }
  s.campaigns.push_back(campaign(1, 12));
  CampaignSnapshot& c = s.campaigns[0];
  c.spec.time_budget_s = 600;
  size_t far = 0;
  for (size_t run = 0; run < 12; ++run) {
    const auto nodes = only<PlaceRun>(s).nodes;
    if ((nodes[0] >= "n48") != (nodes[1] >= "n48")) ++far;
    c.state = CampaignState::running;
    c.runs[run].state = RunState::finished;
    c.runs[run].points = 100;
    c.runs[run].duration_s = 2;
    c.runs[run].rank_nodes = nodes;
  }
  EXPECT_EQ(far, 6U);
}

TEST(Scheduler, NodesThatFailedComeLast) {
  Snapshot s{{node("a"), node("b"), node("c")}, {campaign(1)}};
  s.campaigns[0].suspects = {"b"};
  EXPECT_EQ(only<PlaceRun>(s).nodes, (std::vector<std::string>{"a", "c"}));
  s.campaigns[0].suspects = {};
  s.nodes[0].failures = 0.5;
  EXPECT_EQ(only<PlaceRun>(s).nodes, (std::vector<std::string>{"b", "c"}));
  // It is better than none.
  s.nodes.pop_back();
  EXPECT_EQ(only<PlaceRun>(s).nodes, (std::vector<std::string>{"a", "b"}));
  s.campaigns[0].unfit = {"b"};
  only<Wait>(s);
}

TEST(Scheduler, WhatFailsForGoodOnOneNodeIsTriedOnOthers) {
  Snapshot s{{node("a"), node("b"), node("c")}, {campaign(1)}};
  CampaignSnapshot& c = s.campaigns[0];
  c.state = CampaignState::running;
  c.runs[0].state = RunState::active;
  c.runs[0].lost = "nodes/a: no such address";
  c.runs[0].lost_for_good = true;
  c.runs[0].lost_at = "a";
  const auto lose = only<LoseRun>(s);
  EXPECT_TRUE(lose.again);
  EXPECT_EQ(lose.blamed, "a");
  EXPECT_TRUE(lose.for_good);
  c.unfit = {"c"};  // another one has said so before
  EXPECT_FALSE(only<LoseRun>(s).again);
  c.unfit = {};
  s.nodes.pop_back();
  EXPECT_FALSE(only<LoseRun>(s).again);
}

TEST(Scheduler, ALostRunIsGivenUpAndTriedAgain) {
  CampaignSnapshot c = campaign(1);
  c.state = CampaignState::running;
  c.runs[0].state = RunState::active;
  c.runs[0].lost = "nodes/a was not heard of";
  auto lose = only<LoseRun>({{}, {c}});
  EXPECT_TRUE(lose.again);
  EXPECT_EQ(lose.reason, "nodes/a was not heard of");
  c.runs[0].failures = 2;
  EXPECT_FALSE(only<LoseRun>({{}, {c}}).again);
  c.runs[0].failures = 0;
  c.runs[0].lost_for_good = true;
  EXPECT_FALSE(only<LoseRun>({{}, {c}}).again);
}

TEST(Scheduler, ALossThatSomebodyWantedIsTriedAgainHoweverOftenOthersFailed) {
  CampaignSnapshot c = campaign(1);
  c.state = CampaignState::running;
  c.runs[0].state = RunState::active;
  c.runs[0].lost = "nodes/a is drained";
  EXPECT_TRUE(only<LoseRun>({{}, {c}}).counts);
  c.runs[0].lost_at_will = true;
  c.runs[0].failures = 2;
  const auto lose = only<LoseRun>({{}, {c}});
  EXPECT_TRUE(lose.again);
  EXPECT_FALSE(lose.counts);
}

TEST(Scheduler, AFailedRunFailsItsCampaign) {
  CampaignSnapshot c = campaign(1);
  c.runs[2].state = RunState::failed;
  c.runs[2].message = "no such provider";
  EXPECT_EQ(only<FailCampaign>({{node("a"), node("b")}, {c}}).reason,
            "run 3 failed: no such provider");
}

TEST(Scheduler, ACompleteRunIsClosed) {
  CampaignSnapshot c = campaign(1);
  c.runs[0].state = RunState::active;
  c.runs[0].complete = true;
  EXPECT_EQ(only<CompleteRun>({{}, {c}}).run, 1U);
}

TEST(Scheduler, FinishesWhenAllRunsHave) {
  CampaignSnapshot c = campaign(1);
  finish(c, 8, 2);
  EXPECT_EQ(only<FinishMeasuring>({{}, {c}}).reason, campaign::StopReason::max_runs);
}

TEST(Scheduler, TheTimeBudgetEndsACampaignThatHasEnough) {
  CampaignSnapshot c = campaign(1);
  finish(c, 6, 8);
  c.runs[6].state = RunState::active;
  c.measured_s = 60;
  EXPECT_EQ(only<FinishMeasuring>({{}, {c}}).reason, campaign::StopReason::time_budget);
}

TEST(Scheduler, NoRunIsStartedThatCannotEndInTime) {
  CampaignSnapshot c = campaign(1);
  finish(c, 6, 9);  // 54 s; a seventh would take it to 63
  EXPECT_EQ(only<FinishMeasuring>({{node("a"), node("b")}, {c}}).reason,
            campaign::StopReason::time_budget);
  CampaignSnapshot few = campaign(1);
  finish(few, 5, 11);  // 55 s, but five are not enough: it tries
  only<PlaceRun>({{node("b"), node("c")}, {few}});
}

TEST(Scheduler, TheTimeBudgetEndsACampaignThatHasEnoughForAProvisionalModel) {
  CampaignSnapshot c = campaign(1);
  finish(c, 3, 20);
  EXPECT_EQ(only<FinishMeasuring>({{}, {c}}).reason, campaign::StopReason::time_budget);
}

TEST(Scheduler, TheTimeBudgetFailsACampaignThatHasTooLittle) {
  CampaignSnapshot c = campaign(1);
  finish(c, 2, 30);
  const auto fail = only<FailCampaign>({{}, {c}});
  EXPECT_NE(fail.reason.find("TIME_BUDGET: 60 s passed after 2 of 8 runs"), std::string::npos)
      << fail.reason;
  // Four more of the coarse grid take 12.6 s each.
  EXPECT_NE(fail.reason.find("130 s would do"), std::string::npos) << fail.reason;
  // Without a model nothing needs six runs.
  CampaignSnapshot samples = campaign(1, 2);
  samples.feeds_model = false;
  EXPECT_EQ(enough_runs(samples), 2U);
  finish(samples, 2, 40);
  only<FinishMeasuring>({{}, {samples}});
}

// Everyone who reads the messages of a campaign has been warned by then.
TEST(Scheduler, ABudgetIsAdvisedAgainOnlyAfterRunsThatNeededNone) {
  const auto advised_after = [](const std::vector<double>& runs_s) {
    CampaignSnapshot c = campaign(1);
    finish(c, runs_s.size(), 0);
    for (size_t i = 0; i < runs_s.size(); ++i) {
      c.runs[i].duration_s = runs_s[i];
      c.measured_s += runs_s[i];
    }
    return newly_advised_budget_s(c).has_value();
  };
  EXPECT_FALSE(advised_after({}));
  EXPECT_TRUE(advised_after({30}));
  EXPECT_FALSE(advised_after({30, 30}));
  EXPECT_FALSE(advised_after({30, 20, 30}));
  EXPECT_FALSE(advised_after({2}));
  EXPECT_TRUE(advised_after({2, 58}));
}

TEST(Scheduler, APilotRunMeasuresTheCoarseGrid) {
  Snapshot s{{node("b"), node("c")}, {campaign(1)}};
  EXPECT_EQ(only<PlaceRun>(s).points, 100U);
  s.campaigns[0].pilot = true;
  EXPECT_EQ(only<PlaceRun>(s).points, 40U);
}

TEST(Scheduler, PlansAreCutWhenTheyCannotBeDoneInTime) {
  Snapshot s{{node("b"), node("c")}, {campaign(1)}};
  CampaignSnapshot& c = s.campaigns[0];
  c.pilot = true;
  finish(c, 1, 2);
  c.runs[0].points = 40;  // 20 points a second: seven whole runs take 35 of the 58 s left
  EXPECT_EQ(only<PlaceRun>(s).points, 100U);
  // Half as fast: seven whole runs would take 70 of 56 s, but those of six eighths of the rest fit.
  c.runs[0].duration_s = c.measured_s = 4;
  EXPECT_EQ(only<PlaceRun>(s).points, 82U);
  // When the rest is faster, it goes back as long as enough runs are left.
  finish(c, 2, 0.1);
  c.runs[0].points = c.runs[1].points = 40;
  EXPECT_EQ(only<PlaceRun>(s).points, 100U);
  finish(c, 3, 0.1);
  for (size_t i = 0; i < 3; ++i) c.runs[i].points = 40;
  EXPECT_EQ(only<PlaceRun>(s).points, 40U);
}

TEST(Scheduler, WholePlansAreMadeOnlyIfEnoughRunsWillMakeThem) {
  Snapshot s{{node("b"), node("c")}, {campaign(1, 6)}};
  s.campaigns[0].pilot = true;
  finish(s.campaigns[0], 1, 0.1);
  s.campaigns[0].runs[0].points = 40;
  EXPECT_EQ(only<PlaceRun>(s).points, 40U);  // five more would not be six
}

TEST(Scheduler, WhatTheCoarseGridTakesTooLongForIsAPartOfIt) {
  Snapshot s{{node("b"), node("c")}, {campaign(1)}};
  CampaignSnapshot& c = s.campaigns[0];
  c.pilot = true;
  for (RunSnapshot& run : c.runs) run.points_least = 10;
  EXPECT_EQ(only<PlaceRun>(s).points, 10U);
  finish(c, 1, 4);
  c.runs[0].points =
      10;  // 0.3 s a point: seven coarse runs take 91 of the 56 s left, of 19 points 47
  EXPECT_EQ(only<PlaceRun>(s).points, 19U);
  c.runs[0].duration_s = c.measured_s =
      6;  // 0.5 s a point: seven runs of the coarsest take 39 of 54 s
  EXPECT_EQ(only<PlaceRun>(s).points, 10U);
  c.runs[0].duration_s = c.measured_s =
      2;  // 0.1 s a point: seven coarse runs take 35 s, of 61 points 50
  EXPECT_EQ(only<PlaceRun>(s).points, 61U);
  c.runs[0].duration_s = c.measured_s = 1.2;  // 0.06 s a point, by half its time
  EXPECT_EQ(only<PlaceRun>(s).points, 100U);
}

TEST(Scheduler, AdvisesABudgetWhenItsOwnWillNotDo) {
  CampaignSnapshot c = campaign(1);
  for (RunSnapshot& run : c.runs) run.points_least = 10;
  EXPECT_EQ(sufficient_budget_s(c), std::nullopt);  // nothing is known
  // In the first run, from the points it has measured so far.
  c.runs[0].state = RunState::active;
  c.runs[0].points = 10;
  c.runs[0].active_s = c.measured_s = 10;
  EXPECT_EQ(sufficient_budget_s(c), std::nullopt);
  c.runs[0].pace = campaign::Pace{0, 2};
  EXPECT_EQ(sufficient_budget_s(c), 140);  // six of 20 s, with a reserve
  // A start of eight seconds is not the pace of its few points.
  c.runs[0].pace = campaign::Pace{8, 0.3};
  EXPECT_EQ(sufficient_budget_s(c), 80);  // six of 11 s
  c.runs[0].pace = campaign::Pace{2, 0.3};
  EXPECT_EQ(sufficient_budget_s(c), std::nullopt);
  c.measured_s = 0;
  finish(c, 1, 3);
  EXPECT_EQ(sufficient_budget_s(c), std::nullopt);
  c.measured_s = 58;
  EXPECT_EQ(sufficient_budget_s(c), 80);
}

TEST(Scheduler, TheStartOfARunCountsOnceARun) {
  Snapshot s{{node("b"), node("c")}, {campaign(1)}};
  CampaignSnapshot& c = s.campaigns[0];
  c.pilot = true;
  for (RunSnapshot& run : c.runs) run.points_least = 10;
  finish(c, 1, 6);
  c.runs[0].points = 10;
  c.runs[0].start_s =
      4;  // 0.2 s a point: seven coarse runs take 84 s of the 54 left, of 13 points 46
  EXPECT_EQ(only<PlaceRun>(s).points, 13U);
  EXPECT_EQ(sufficient_budget_s(c), std::nullopt);  // five more of 6 s
  c.spec.time_budget_s = 100;
  EXPECT_EQ(only<PlaceRun>(s).points, 40U);
}

// All points of a plan of a hundred, in this many runs, with medians that differ by this share.
std::shared_ptr<const campaign::PointTable> measured(uint32_t runs, double spread) {
  campaign::PointTable table;
  for (int64_t i = 0; i < 100; ++i) table.add({"micro.latency", "get", {{"bytes", 8 * i}}});
  for (uint32_t run = 1; run <= runs; ++run) {
    std::vector<campaign::PointResult> results;
    for (uint32_t place = 0; place < 100; ++place) {
      results.push_back({place, 1e-6 * (1 + spread * run / runs), 6, 0.01});
    }
    table.add_run(run, results);
  }
  return std::make_shared<const campaign::PointTable>(std::move(table));
}

TEST(Scheduler, ACampaignWithAWidthEndsWhenItIsReached) {
  CampaignSnapshot c = campaign(1);
  c.spec.width = 0.05;
  finish(c, 6, 2);
  c.points = measured(6, 0.01);
  EXPECT_EQ(only<FinishMeasuring>({{}, {c}}).reason, campaign::StopReason::converged);
  c.spec.width = 0;
  EXPECT_EQ(only<PlaceRun>({{node("b"), node("c")}, {c}}).run, 7U);
}

TEST(Scheduler, ACampaignWithAWidthMayMakeMoreRunsThanPlanned) {
  CampaignSnapshot c = campaign(1);
  c.spec.width = 0.05;
  finish(c, 8, 2);
  c.points = measured(8, 0.13);  // within 5.3 %: four more runs would do
  const auto place = only<PlaceRun>({{node("b"), node("c")}, {c}});
  EXPECT_EQ(place.run, 9U);
  EXPECT_EQ(place.places.size(), 100U);
  c.points = measured(8, 0.5);  // they would not
  EXPECT_EQ(only<FinishMeasuring>({{}, {c}}).reason, campaign::StopReason::max_runs);
}

TEST(Scheduler, NodeSecondsEndACampaign) {
  CampaignSnapshot c = campaign(1);
  c.spec.node_budget_s = 40;
  finish(c, 6, 4);
  EXPECT_EQ(only<FinishMeasuring>({{}, {c}}).reason, campaign::StopReason::node_budget);
}

TEST(Scheduler, APausedCampaignMakesNoNewRun) {
  CampaignSnapshot c = campaign(1);
  finish(c, 1, 2);
  c.state = CampaignState::paused;
  EXPECT_TRUE(decisions({{node("b"), node("c")}, {c}}).empty());
  c.runs[1].state = RunState::active;
  EXPECT_TRUE(decisions({{node("b"), node("c")}, {c}}).empty());
  c.runs[1].complete = true;
  EXPECT_EQ(only<CompleteRun>({{node("b"), node("c")}, {c}}).run, 2U);
  // It does not keep others from the nodes.
  EXPECT_EQ(only<PlaceRun>({{node("b"), node("c")},
                            {[&] {
                               CampaignSnapshot waits = c;
                               waits.runs[1].state = RunState::pending;
                               return waits;
                             }(),
                             campaign(2)}})
                .campaign,
            2);
}

TEST(Scheduler, ADrainingCampaignEndsAfterItsRun) {
  CampaignSnapshot c = campaign(1);
  finish(c, 1, 2);
  c.state = CampaignState::draining;
  EXPECT_EQ(only<EndDraining>({{node("b"), node("c")}, {c}}).campaign, 1);
  c.runs[1].state = RunState::active;
  EXPECT_TRUE(decisions({{node("b"), node("c")}, {c}}).empty());
  c.measured_s = 60;  // its budget is used up meanwhile
  EXPECT_EQ(only<EndDraining>({{node("b"), node("c")}, {c}}).campaign, 1);
  c.runs[1].lost = "a rank died";
  EXPECT_EQ(only<LoseRun>({{node("b"), node("c")}, {c}}).run, 2U);
}

TEST(Scheduler, FinishedCampaignsNeedNothing) {
  CampaignSnapshot c = campaign(1);
  c.state = CampaignState::fitting;
  EXPECT_TRUE(decisions({{node("a"), node("b")}, {c}}).empty());
}

}  // namespace
}  // namespace stripline::server
