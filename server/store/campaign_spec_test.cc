#include "server/store/campaign_spec.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(CampaignSpec, DefaultsAreThoseOfTheContract) {
  const auto tcp = *complete_spec({.fabric = "tcp"});
  EXPECT_EQ(tcp.clock, "real");
  EXPECT_EQ(tcp.nodes, 2U);
  EXPECT_EQ(tcp.ranks, 2U);
  EXPECT_EQ(tcp.effort, Effort::budgeted);
  EXPECT_EQ(tcp.runs, 8U);
  EXPECT_EQ(tcp.width, 0.05);
  EXPECT_EQ(complete_spec({.fabric = "tcp", .effort = Effort::full})->width, 0.02);
  EXPECT_EQ(complete_spec({.fabric = "tcp", .runs = 8})->width, 0);
  EXPECT_EQ(complete_spec({.fabric = "tcp", .experiments = {"micro.latency"}})->width, 0);
  // Thirty node-minutes at any number of nodes, unless somebody asks for a time.
  EXPECT_EQ(budget_s(*complete_spec({.fabric = "tcp"})), 60);
  EXPECT_EQ(budget_s(*complete_spec({.fabric = "tcp", .nodes = 100})), 18);
  EXPECT_EQ(complete_spec({.fabric = "tcp", .nodes = 100, .time_budget_s = 90})->node_budget_s, 0);
  EXPECT_EQ(budget_s(*complete_spec({.fabric = "tcp", .nodes = 4, .node_budget_s = 100})), 25);
  EXPECT_DOUBLE_EQ(tcp.time_budget_s, 60);
  EXPECT_EQ(tcp.model, "models/tcp");

  const auto full = *complete_spec({.fabric = "emulated:gm", .nodes = 4, .effort = Effort::full});
  EXPECT_EQ(full.clock, "virtual");
  EXPECT_EQ(full.ranks, 4U);
  EXPECT_EQ(full.runs, 12U);
  EXPECT_DOUBLE_EQ(full.time_budget_s, 300);
  EXPECT_EQ(full.model, "models/emulated-gm");

  // How it is measured is not the network: models are the network's.
  EXPECT_EQ(complete_spec({.fabric = "emulated:gm,compute=declared,jitter=off"})->model,
            "models/emulated-gm");

  // Half of the budget is waited for quiet hosts; what the virtual clock says does not depend on
  // them.
  EXPECT_EQ(quiet_patience_s(tcp), 30);
  EXPECT_EQ(quiet_patience_s(full), 0);
  EXPECT_EQ(quiet_patience_s(*complete_spec({.fabric = "tcp", .when_busy = WhenBusy::refuse})), 10);
  EXPECT_EQ(quiet_patience_s(*complete_spec({.fabric = "tcp", .when_busy = WhenBusy::measure})), 0);

  EXPECT_EQ(complete_spec({.fabric = "tcp", .ranks = 1})->nodes, 1U);

  // What a part of the experiments would make must not become the fabric's latest model unasked.
  EXPECT_EQ(complete_spec({.fabric = "tcp", .experiments = {"a"}})->model, "");
  EXPECT_EQ(complete_spec({.fabric = "tcp", .experiments = {"a"}, .model = "models/mine"})->model,
            "models/mine");
}

TEST(CampaignSpec, WrongFieldsAreNamed) {
  const std::vector<std::pair<const char*, std::function<void(CampaignSpec&)>>> cases = {
      {"spec.fabric", [](CampaignSpec& s) { s.fabric = ""; }},
      {"spec.fabric", [](CampaignSpec& s) { s.fabric = "emulated:gm,compute=record:/tmp/x"; }},
      {"spec.fabric", [](CampaignSpec& s) { s.fabric = "emulated:gm,lose=0@1"; }},
      {"spec.when_busy", [](CampaignSpec& s) { s.when_busy = WhenBusy::unknown; }},
      {"spec.clock", [](CampaignSpec& s) { s.clock = "cpu"; }},
      {"spec.clock", [](CampaignSpec& s) { s.clock = "virtual"; }},
      {"spec.nodes", [](CampaignSpec& s) { s.nodes = 100000; }},
      {"spec.ranks", [](CampaignSpec& s) { s.ranks = 100000; }},
      {"spec.ranks", [](CampaignSpec& s) { s.nodes = 3, s.ranks = 2; }},
      {"spec.runs", [](CampaignSpec& s) { s.runs = 100000; }},
      {"spec.width", [](CampaignSpec& s) { s.width = 1.5; }},
      {"spec.node_budget_s", [](CampaignSpec& s) { s.node_budget_s = -1; }},
      {"spec.time_budget_s", [](CampaignSpec& s) { s.time_budget_s = -1; }},
      {"spec.time_budget_s", [](CampaignSpec& s) { s.time_budget_s = std::nan(""); }},
      {"spec.time_budget_s", [](CampaignSpec& s) { s.time_budget_s = INFINITY; }},
      {"spec.experiments",
       [](CampaignSpec& s) {
         s.experiments = {"a", "a"};
       }},
      {"spec.experiments", [](CampaignSpec& s) { s.experiments = {""}; }},
      {"spec.model", [](CampaignSpec& s) { s.model = "tcp"; }},
      {"spec.only_nodes",
       [](CampaignSpec& s) {
         s.only_nodes = {"a", "b"};
       }},
      {"spec.only_nodes",
       [](CampaignSpec& s) {
         s.only_nodes = {"nodes/a", "nodes/a"};
       }},
      {"spec.only_nodes", [](CampaignSpec& s) { s.only_nodes = {"nodes/a"}; }},
      {"spec.same_node", [](CampaignSpec& s) { s.same_node = {"network"}; }},
      {"spec.same_node",
       [](CampaignSpec& s) {
         s.same_node = {"cma", "cma"};
       }},
      {"spec.same_node",
       [](CampaignSpec& s) {
         s.fabric = "emulated:opteron-vapi";
         s.same_node = {"mapped"};
       }},
  };
  for (const auto& [field, spoil] : cases) {
    CampaignSpec spec{.fabric = "tcp"};
    spoil(spec);
    const auto answer = complete_spec(spec);
    ASSERT_FALSE(answer) << field;
    EXPECT_EQ(answer.problem().reason, "INVALID_FIELD");
    EXPECT_EQ(answer.problem().metadata.at("field"), field);
  }
}

TEST(CampaignSpec, ACampaignThatTunesHasOneRunOfOneRank) {
  const auto spec = complete_spec({.fabric = "tune:openmpi", .tune_ranks = "4,2,4"});
  ASSERT_TRUE(spec) << spec.problem().message;
  EXPECT_EQ(spec->nodes, 1U);
  EXPECT_EQ(spec->ranks, 1U);
  EXPECT_EQ(spec->runs, 1U);
  EXPECT_EQ(spec->experiments, std::vector<std::string>{"target.tune"});
  EXPECT_EQ(spec->tune_path, "shm");
  EXPECT_EQ(spec->model, "models/openmpi-shm");
  EXPECT_EQ(spec->time_budget_s, 375);
  EXPECT_EQ(spec->tune_ranks, "2,4");
  EXPECT_EQ(tuned_ranks(*spec), (std::vector<uint32_t>{2, 4}));
  // A campaign that is made again has its complete spec.
  EXPECT_EQ(to_json(*complete_spec(*spec)), to_json(*spec));
  EXPECT_EQ(complete_spec({.fabric = "tune:ucx", .cluster = "big", .tune_path = "tcp"})->model,
            "models/big-ucx-tcp");
  EXPECT_TRUE(tuned_ranks(*complete_spec({.fabric = "tcp"})).empty());
}

TEST(CampaignSpec, ACampaignThatValidatesAgainPublishesNothing) {
  auto spec = *complete_spec({.fabric = "tune:openmpi", .verifies = "models/openmpi/versions/3"});
  EXPECT_EQ(spec.model, "");
  EXPECT_EQ(spec.time_budget_s, 150);
  EXPECT_EQ(to_json(*complete_spec(spec)), to_json(spec));
  const auto read = campaign::spec_from_json(to_json(spec));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read->verifies, "models/openmpi/versions/3");
  EXPECT_FALSE(to_json(*complete_spec({.fabric = "tune:openmpi"})).contains("verifies"));
}

TEST(CampaignSpec, WhatDoesNotGoWithTuningIsNamed) {
  const std::vector<std::pair<const char*, CampaignSpec>> cases = {
      {"spec.tune_ranks", {.fabric = "tcp", .tune_ranks = "2"}},
      {"spec.tune_ranks", {.fabric = "tcp", .accept_untried = true}},
      {"spec.tune_ranks", {.fabric = "tune:openmpi", .tune_ranks = "1"}},
      {"spec.tune_ranks", {.fabric = "tune:openmpi", .tune_ranks = "2,"}},
      {"spec.tune_ranks", {.fabric = "tune:openmpi", .tune_ranks = "2 4"}},
      {"spec.tune_path", {.fabric = "tune:openmpi", .tune_path = "ib"}},
      {"spec.experiments", {.fabric = "tcp", .experiments = {"target.tune"}}},
      {"spec.fabric", {.fabric = "target:openmpi"}},
      {"spec.fabric", {.fabric = "tune:Open MPI"}},
      {"spec.fabric", {.fabric = "tune:openmpi", .nodes = 2}},
      {"spec.fabric", {.fabric = "tune:openmpi", .race = true}},
  };
  for (const auto& [field, spec] : cases) {
    const auto answer = complete_spec(spec);
    ASSERT_FALSE(answer) << field;
    EXPECT_EQ(answer.problem().metadata.at("field"), field) << answer.problem().message;
  }
}

TEST(CampaignSpec, EveryBudgetThatIsTooSmallIsNamed) {
  const auto spec = *complete_spec({.fabric = "tcp", .nodes = 4, .node_budget_s = 800});
  EXPECT_EQ(budget_text(spec, 100), "a time budget of 100 s");
  EXPECT_EQ(budget_text(spec, 250), "a time budget of 250 s and a node budget of 1000 s");
  const auto of_nodes =
      *complete_spec({.fabric = "tcp", .nodes = 4, .time_budget_s = 600, .node_budget_s = 100});
  EXPECT_EQ(budget_text(of_nodes, 50), "a node budget of 200 s");
}

TEST(CampaignSpec, JsonRoundTripsAndRejectsOtherThings) {
  const auto spec = *complete_spec({.fabric = "tcp",
                                    .effort = Effort::full,
                                    .experiments = {"a"},
                                    .seed = ~0ULL,
                                    .only_nodes = {"nodes/a", "nodes/b"},
                                    .same_node = {"mapped"}});
  const auto read = campaign::spec_from_json(to_json(spec));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_json(*read), to_json(spec));
  EXPECT_EQ(read->seed, ~0ULL);
  Json broken = to_json(spec);
  broken["nodes"] = "two";
  EXPECT_EQ(campaign::spec_from_json(broken).error().code(), ErrorCode::data_loss);
  EXPECT_EQ(campaign::spec_from_json(Json::array()).error().code(), ErrorCode::data_loss);
}

}  // namespace
}  // namespace stripline::server
