#include "cli/parse.h"

#include <algorithm>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/processes.h"

namespace stripline::cli {
namespace {

template <typename Action>
Action parse_as(const std::vector<std::string>& arguments) {
  const Parsed parsed = parse_command_line(arguments);
  EXPECT_TRUE(parsed.command) << parsed.err;
  const Action* action = parsed.command ? std::get_if<Action>(&parsed.command->action) : nullptr;
  EXPECT_NE(action, nullptr);
  return action != nullptr ? *action : Action{};
}

using ExplainLoop = Explain<plan::StripMechanism>;
using ExplainNest = Explain<plan::NestMechanism>;
using ExplainCall = Explain<plan::VisMechanism>;
using ExplainSweep = Explain<plan::WavefrontMechanism>;

template <typename Asked>
Asked explain_as(const std::vector<std::string>& arguments) {
  const auto any = parse_as<ExplainAny>(arguments);
  const auto* const asked = std::get_if<Asked>(&any);
  EXPECT_NE(asked, nullptr);
  return asked != nullptr ? *asked : Asked{};
}

Parsed refuse(const std::vector<std::string>& arguments) {
  Parsed parsed = parse_command_line(arguments);
  EXPECT_FALSE(parsed.command);
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_TRUE(parsed.out.empty());
  EXPECT_TRUE(parsed.err.starts_with("stripline: error: ")) << parsed.err;
  return parsed;
}

TEST(Parse, HelpersGetTheirArgumentsUnchanged) {
  const auto helper = parse_as<ExecHelper>({"run", "-n", "2", "--help", "--", "prog", "--server"});
  EXPECT_EQ(helper.program, "stripline-run");
  EXPECT_EQ(helper.arguments,
            (std::vector<std::string>{"-n", "2", "--help", "--", "prog", "--server"}));
  EXPECT_EQ(parse_as<ExecHelper>({"doctor"}).program, "stripline-doctor");
  EXPECT_EQ(parse_as<ExecHelper>({"bench", "list"}).program, "stripline-bench");
  const auto tune = parse_as<ExecHelper>({"tune", "openmpi", "--minutes", "5"});
  EXPECT_EQ(tune.program, "stripline-tune");
  EXPECT_EQ(tune.arguments, (std::vector<std::string>{"openmpi", "--minutes", "5"}));
  const auto verify = parse_as<ExecHelper>({"export", "verify", "a.conf"});
  EXPECT_EQ(verify.program, "stripline-tune");
  EXPECT_EQ(verify.arguments, (std::vector<std::string>{"export", "verify", "a.conf"}));
  EXPECT_NE(refuse({"--json", "bench", "list"}).err.find("come after it"), std::string::npos);
}

TEST(Parse, CampaignRunWithEverything) {
  const auto run =
      parse_as<CampaignRun>({"campaign",     "run",     "--fabric",      "emulated:x",
                             "--clock",      "virtual", "--nodes",       "3",
                             "--ranks",      "6",       "--effort",      "full",
                             "--runs",       "9",       "--time-budget", "1500ms",
                             "--experiment", "a",       "--experiment",  "b",
                             "--same-node",  "mapped",  "--same-node",   "cma",
                             "--model",      "m",       "--seed",        "5",
                             "--node",       "n1",      "--detach",      "--validate-only"});
  EXPECT_EQ(run.fabrics, std::vector<std::string>{"emulated:x"});
  EXPECT_EQ(run.clock, "virtual");
  EXPECT_EQ(run.nodes, 3U);
  EXPECT_EQ(run.ranks, 6U);
  EXPECT_EQ(run.effort, campaign::Effort::full);
  EXPECT_EQ(run.runs, 9U);
  EXPECT_DOUBLE_EQ(run.time_budget_s, 1.5);
  EXPECT_EQ(run.experiments, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(run.model, "models/m");
  EXPECT_EQ(run.only_nodes, std::vector<std::string>{"nodes/n1"});
  EXPECT_EQ(run.same_node, (std::vector<std::string>{"mapped", "cma"}));
  EXPECT_EQ(run.seed, 5U);
  EXPECT_TRUE(run.detach);
  EXPECT_TRUE(run.validate_only);
}

TEST(Parse, DefaultsLeaveTheChoiceToTheServer) {
  const auto run = parse_as<CampaignRun>({"campaign", "run", "--fabric", "tcp"});
  EXPECT_EQ(run.clock, "");
  EXPECT_EQ(run.nodes, 0U);
  EXPECT_EQ(run.runs, 0U);
  EXPECT_EQ(run.time_budget_s, 0);
  EXPECT_EQ(run.model, "");
  EXPECT_EQ(run.effort, campaign::Effort::budgeted);
}

TEST(Parse, GlobalOptionsStandBeforeOrAfterTheCommand) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--server", "h:1", "--json", "--timeout", "500ms", "campaign",
                                 "list"},
        {"campaign", "list", "--server", "h:1", "--json", "--timeout", "500ms"},
        {"campaign", "--server=h:1", "list", "--json", "--timeout=500ms"}}) {
    const Parsed parsed = parse_command_line(arguments);
    ASSERT_TRUE(parsed.command) << parsed.err;
    EXPECT_EQ(parsed.command->global.server, "h:1");
    EXPECT_TRUE(parsed.command->global.json);
    EXPECT_DOUBLE_EQ(parsed.command->global.timeout_s, 0.5);
  }
}

TEST(Parse, EstimatesTakeWhatRunsTake) {
  const TempFolder folder;
  const std::string file = (folder.path() / "weekly.toml").string();
  std::ofstream(file) << "fabric = 'tcp'\neffort = 'full'\nmodel = 'm'\nnode = ['a', 'b']\n";
  const auto estimate =
      parse_as<CampaignEstimate>({"campaign", "estimate", file, "--effort", "budgeted"});
  EXPECT_EQ(estimate.request.fabrics, std::vector<std::string>{"tcp"});
  EXPECT_EQ(estimate.request.effort, campaign::Effort::budgeted);
  EXPECT_EQ(estimate.request.model, "models/m");
  EXPECT_EQ(estimate.request.only_nodes, (std::vector<std::string>{"nodes/a", "nodes/b"}));
  EXPECT_NE(parse_command_line({"campaign", "estimate"}).err.find("campaign estimate --help"),
            std::string::npos);
}

TEST(Parse, PlansAreOfCampaignsOrOfWhatIsAskedFor) {
  const auto parsed = [](const std::vector<std::string>& arguments) {
    const Parsed result = parse_command_line(arguments);
    EXPECT_TRUE(result.command) << result.err;
    return result.command ? std::get<CampaignExportPlan>(result.command->action)
                          : CampaignExportPlan();
  };
  EXPECT_EQ(parsed({"campaign", "export-plan", "c3", "-o", "p"}).name, "campaigns/c3");
  const auto asked = parsed({"campaign", "export-plan", "--fabric", "tcp", "-o", "p"});
  EXPECT_EQ(asked.name, "");
  EXPECT_EQ(asked.request.fabrics, std::vector<std::string>{"tcp"});
  EXPECT_FALSE(parse_command_line({"campaign", "export-plan", "-o", "p"}).command);
  EXPECT_FALSE(parse_command_line({"campaign", "export-plan", "c3"}).command);
  const auto helper = parse_command_line({"campaign", "run-plan", "p", "-o", "r", "--hosts", "a"});
  ASSERT_TRUE(helper.command);
  const auto& bench = std::get<ExecHelper>(helper.command->action);
  EXPECT_EQ(bench.program, "stripline-bench");
  EXPECT_EQ(bench.arguments,
            (std::vector<std::string>{"run-plan", "p", "-o", "r", "--hosts", "a"}));
}

TEST(Parse, FitsNameCampaignsAndRuns) {
  const Parsed parsed = parse_command_line({"model", "fit", "tcp", "--campaign", "c3", "--campaign",
                                            "campaigns/c7", "--without", "c7/2"});
  ASSERT_TRUE(parsed.command) << parsed.err;
  const auto& fit = std::get<ModelFit>(parsed.command->action);
  EXPECT_EQ(fit.model, "models/tcp");
  EXPECT_EQ(fit.campaigns, (std::vector<std::string>{"campaigns/c3", "campaigns/c7"}));
  EXPECT_EQ(fit.without, std::vector<std::string>{"campaigns/c7/runs/2"});
  EXPECT_FALSE(parse_command_line({"model", "fit", "tcp"}).command);
  EXPECT_FALSE(
      parse_command_line({"model", "fit", "tcp", "--campaign", "c3", "--without", "c3"}).command);
}

TEST(Parse, NamesAreCompleted) {
  EXPECT_EQ(parse_as<CampaignWatch>({"campaign", "watch", "c3"}).name, "campaigns/c3");
  EXPECT_EQ(parse_as<CampaignCancel>({"campaign", "cancel", "campaigns/c3"}).name, "campaigns/c3");
  EXPECT_EQ(parse_as<CampaignPause>({"campaign", "pause", "c3"}).name, "campaigns/c3");
  EXPECT_EQ(parse_as<CampaignResume>({"campaign", "resume", "c3"}).name, "campaigns/c3");
  EXPECT_EQ(parse_as<CampaignDelete>({"campaign", "delete", "c3"}).name, "campaigns/c3");
  const auto retry = parse_as<CampaignRetry>({"campaign", "retry", "c3", "--time-budget", "2min"});
  EXPECT_EQ(retry.name, "campaigns/c3");
  EXPECT_DOUBLE_EQ(retry.budgets.time_budget_s, 120);
  EXPECT_TRUE(parse_as<CampaignCancel>({"campaign", "cancel", "c3", "--drain"}).drain);
  const auto points = parse_as<CampaignPoints>({"campaign", "points", "c3", "--param", "bytes=8"});
  EXPECT_EQ(points.name, "campaigns/c3");
  EXPECT_EQ(points.params, std::vector<std::string>{"bytes=8"});
  EXPECT_EQ(parse_as<CampaignExport>({"campaign", "export", "c3", "-o", "f"}).output, "f");
  EXPECT_EQ(parse_as<ModelFetch>({"model", "fetch", "tcp@2"}).name, "models/tcp/versions/2");
  EXPECT_EQ(parse_as<OperationCancel>({"operation", "cancel", "o3"}).name, "operations/o3");
  EXPECT_EQ(parse_as<ModelShow>({"model", "show", "dir/a.stripline.json"}).source,
            "dir/a.stripline.json");
  EXPECT_NE(refuse({"campaign", "show", "No Such"}).err.find("campaign list"), std::string::npos);
}

TEST(Parse, VersionsAreNamedByNumberOrLabel) {
  const auto fetch = parse_command_line({"model", "fetch", "tcp@stable"});
  ASSERT_TRUE(fetch.command) << fetch.err;
  EXPECT_EQ(std::get<ModelFetch>(fetch.command->action).name, "models/tcp/labels/stable");
  const auto promote = parse_command_line({"model", "promote", "tcp@3", "--label", "canary"});
  ASSERT_TRUE(promote.command) << promote.err;
  EXPECT_EQ(std::get<ModelPromote>(promote.command->action).name, "models/tcp/versions/3");
  EXPECT_TRUE(parse_command_line({"model", "promote", "tcp@canary", "--label", "stable"}).command);
  const auto unjudged = parse_command_line(
      {"model", "promote", "tcp@3", "--label", "stable", "--unjudged", "our own network"});
  ASSERT_TRUE(unjudged.command) << unjudged.err;
  EXPECT_EQ(std::get<ModelPromote>(unjudged.command->action).unjudged, "our own network");
  EXPECT_TRUE(parse_as<ModelFetch>({"model", "fetch", "tcp", "--accept-failed"}).accept_failed);
  EXPECT_FALSE(parse_as<ModelFetch>({"model", "fetch", "tcp"}).accept_failed);
  EXPECT_FALSE(parse_command_line({"model", "promote", "tcp", "--label", "stable"}).command);
  EXPECT_FALSE(parse_command_line({"model", "promote", "tcp@3", "--label", "newest"}).command);
  EXPECT_FALSE(parse_command_line({"model", "withdraw", "tcp@stable"}).command);
  const auto validate =
      parse_command_line({"model", "validate", "tcp", "--campaign", "c2", "--campaign", "c3"});
  ASSERT_TRUE(validate.command) << validate.err;
  EXPECT_EQ(std::get<ModelValidate>(validate.command->action).campaigns,
            (std::vector<std::string>{"campaigns/c2", "campaigns/c3"}));
  const auto rollback = parse_command_line({"model", "rollback", "tcp"});
  ASSERT_TRUE(rollback.command) << rollback.err;
  EXPECT_EQ(std::get<ModelRollback>(rollback.command->action).label, "stable");
}

TEST(Parse, ExplainLoop) {
  const auto explain =
      explain_as<ExplainLoop>({"explain",     "loop",        "tcp",      "--bytes",
                               "512KiB",      "--direction", "put",      "--compute",
                               "400us",       "--buffer",    "64k",      "--fp-ops",
                               "2",           "--blocks",    "4",        "--peers",
                               "2",           "--own",       "1k",       "--placed",
                               "--nic-ranks", "3",           "--nodes",  "16",
                               "--distances", "1,0,2",       "--uneven", "--target-polls-only"});
  EXPECT_EQ(explain.source, "tcp");
  EXPECT_EQ(explain.request.total_bytes, 524288U);
  EXPECT_EQ(explain.request.direction, plan::Direction::put);
  EXPECT_DOUBLE_EQ(explain.request.compute_s, 400e-6);
  EXPECT_EQ(explain.request.max_buffer_bytes, 65536U);
  EXPECT_EQ(explain.request.loop.n_fp_alu, 2U);
  EXPECT_EQ(explain.request.blocks, 4U);
  EXPECT_EQ(explain.request.peers, 2U);
  EXPECT_EQ(explain.request.own_bytes, 1024U);
  EXPECT_EQ(explain.request.surroundings.nic_ranks, 3U);
  EXPECT_EQ(explain.request.surroundings.load.nodes, 16U);
  EXPECT_EQ(explain.request.surroundings.load.at_distance[2], 2U);
  EXPECT_TRUE(explain.request.placed);
  EXPECT_TRUE(explain.request.uneven);
  EXPECT_TRUE(explain.request.surroundings.target_polls_only);
  const auto defaults = explain_as<ExplainLoop>({"explain", "loop", "tcp", "--bytes", "8"});
  EXPECT_LT(defaults.request.compute_s, 0);
  EXPECT_EQ(defaults.request.max_buffer_bytes, UINT64_MAX);
  EXPECT_FALSE(defaults.request.uneven);
  EXPECT_EQ(defaults.request.loop.n_fp_alu, 1U);
  const auto earlier = explain_as<ExplainLoop>(
      {"explain", "loop", "tcp", "--bytes", "8", "--served-between-strips"});
  EXPECT_TRUE(earlier.request.surroundings.target_polls_only);
  EXPECT_EQ(defaults.request.surroundings, plan::Surroundings());
}

TEST(Parse, ExplainList) {
  (void)parse_as<ExplainList>({"explain", "--list"});  // checks the type
  EXPECT_FALSE(parse_command_line({"explain"}).command);
}

TEST(Parse, ExplainNestAndCall) {
  const auto nest =
      explain_as<ExplainNest>({"explain", "nest", "tcp", R"({"loops":[]})", "--json"});
  EXPECT_EQ(nest.source, "tcp");
  EXPECT_EQ(nest.request.nest, R"({"loops":[]})");
  const auto call = explain_as<ExplainCall>(
      {"explain", "call", "tcp", "--regions", "256", "--region-bytes", "64", "--stride", "1k",
       "--kind", "indexed", "--class", "light", "--bounding-box", "--service-delay", "5us"});
  EXPECT_EQ(call.request.regions, 256U);
  EXPECT_EQ(call.request.region_bytes, 64U);
  EXPECT_EQ(call.request.stride_bytes, 1024U);
  EXPECT_EQ(call.request.shape, plan::RegionShape::indexed);
  EXPECT_EQ(call.request.compute, plan::ComputeClass::light);
  EXPECT_TRUE(call.request.bounding_box_allowed);
  EXPECT_DOUBLE_EQ(call.request.surroundings.service_delay_s, 5e-6);
  EXPECT_FALSE(call.request.signalled);
  const auto signalled = explain_as<ExplainCall>(
      {"explain", "call", "tcp", "--regions", "2", "--region-bytes", "64", "--direction", "put",
       "--signal", "--flag-with-data", "--extent", "4k", "--dimensions", "3", "--needs-target"});
  EXPECT_EQ(signalled.request.extent_bytes, 4096U);
  EXPECT_EQ(signalled.request.dimensions, 3U);
  EXPECT_TRUE(signalled.request.surroundings.target_polls_only);
  EXPECT_TRUE(signalled.request.signalled);
  EXPECT_TRUE(signalled.request.surroundings.flag_with_data);
}

TEST(Parse, ExplainSweep) {
  const auto sweep = explain_as<ExplainSweep>(
      {"explain", "sweep", "tcp", "--stages", "80", "--lines", "64", "--line-bytes", "1k",
       "--compute", "1.25e-05", "--kind", "pipeline", "--path", "inter-node", "--nic-ranks", "3",
       "--flag-with-data", "--served-between-pieces"});
  EXPECT_EQ(sweep.source, "tcp");
  EXPECT_EQ(sweep.request.stages, 80U);
  EXPECT_EQ(sweep.request.lines, 64U);
  EXPECT_EQ(sweep.request.line_bytes, 1024U);
  EXPECT_DOUBLE_EQ(sweep.request.compute_s, 12.5e-6);
  EXPECT_FALSE(sweep.request.all_busy);
  EXPECT_EQ(sweep.path, "inter-node");
  EXPECT_EQ(sweep.request.surroundings.nic_ranks, 3U);
  EXPECT_TRUE(sweep.request.surroundings.flag_with_data);
  EXPECT_TRUE(sweep.request.surroundings.target_polls_only);
  const auto defaults =
      explain_as<ExplainSweep>({"explain", "sweep", "tcp", "--stages", "2", "--lines", "1",
                                "--line-bytes", "8", "--compute", "0"});
  EXPECT_TRUE(defaults.request.all_busy);
  EXPECT_EQ(defaults.request.surroundings, plan::Surroundings());
}

// Each of its options is needed, and has to be what it says.
TEST(Parse, ExplainSweepRefusesWhatIsNoSweep) {
  const std::vector<std::string> whole = {"explain", "sweep",     "tcp", "--stages",
                                          "8",       "--lines",   "64",  "--line-bytes",
                                          "640",     "--compute", "50us"};
  explain_as<ExplainSweep>(whole);
  for (size_t option = 3; option < whole.size(); option += 2) {
    std::vector<std::string> without = whole;
    const auto begin = without.begin() + static_cast<std::ptrdiff_t>(option);
    without.erase(begin, begin + 2);
    EXPECT_NE(refuse(without).err.find(whole[option]), std::string::npos);
    for (const char* wrong : {"-1", "many"}) {
      std::vector<std::string> bad = whole;
      bad[option + 1] = wrong;
      EXPECT_NE(refuse(bad).err.find("see 'stripline explain sweep --help'"), std::string::npos);
    }
  }
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"--kind", "ring"}, {"--nic-ranks", "0"}, {"--stages", "0"}, {"--lines", "0"}}) {
    std::vector<std::string> bad = whole;
    const auto said = std::ranges::find(bad, option);
    if (said != bad.end()) {
      *(said + 1) = value;
    } else {
      bad.insert(bad.end(), {option, value});
    }
    EXPECT_NE(refuse(bad).err.find(option), std::string::npos) << option;
  }
  EXPECT_NE(refuse({"explain", "swep", "tcp"}).err.find("'stripline explain sweep'"),
            std::string::npos);
}

TEST(Parse, MistakesGetASuggestion) {
  EXPECT_NE(refuse({"campain", "list"}).err.find("did you mean 'stripline campaign'?"),
            std::string::npos);
  EXPECT_NE(refuse({"campaign", "wtach", "c1"}).err.find("'stripline campaign watch'"),
            std::string::npos);
  EXPECT_NE(refuse({"--server", "h:1", "modle", "list"}).err.find("'stripline model'"),
            std::string::npos);
  EXPECT_NE(refuse({"zebra"}).err.find("--help"), std::string::npos);
}

TEST(Parse, UnknownOptionsNameTheNearestOne) {
  EXPECT_NE(refuse({"campaign", "run", "--fabrik", "tcp"}).err.find("did you mean --fabric?"),
            std::string::npos);
  EXPECT_NE(
      refuse({"campaign", "run", "tcp"})
          .err.find("cannot read 'tcp': No such file or directory; a network is named by --fabric"),
      std::string::npos);
  EXPECT_NE(refuse({"campaign", "run", "a.toml", "tcp"})
                .err.find("unexpected argument 'tcp'; name the network by --fabric"),
            std::string::npos);
  EXPECT_NE(refuse({"campaign", "compare", "c1"}).err.find("error: B is missing ("),
            std::string::npos);
  EXPECT_NE(refuse({"token"}).err.find("the command is missing: create, list, revoke"),
            std::string::npos);
  EXPECT_NE(refuse({"model", "list", "--jsn"}).err.find("did you mean --json?"), std::string::npos);
}

TEST(Parse, NumbersOutOfRangeAreRefused) {
  const std::vector<std::string> run = {"campaign", "run", "--fabric", "tcp"};
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"--time-budget", "0"},
                                                        {"--seed", "-1"},
                                                        {"--seed", "99999999999999999999"},
                                                        {"--ranks", "4294967296"},
                                                        {"--timeout", "0"}}) {
    std::vector<std::string> arguments = run;
    arguments.insert(arguments.end(), {option, value});
    EXPECT_NE(refuse(arguments).err.find(option), std::string::npos) << option;
  }
  EXPECT_DOUBLE_EQ(
      parse_as<CampaignRun>({"campaign", "run", "--fabric", "tcp", "--time-budget", "1:30"})
          .time_budget_s,
      90);
  refuse({"explain", "loop", "tcp", "--bytes", "8", "--fp-ops", "-1"});
  refuse({"explain", "loop", "tcp", "--bytes", "8", "--distances", "1,-1"});
}

TEST(Parse, TheAddressOfTheServerIsChecked) {
  EXPECT_NE(refuse({"nodes", "--server", ""}).err.find("is empty"), std::string::npos);
  EXPECT_NE(refuse({"nodes", "--server", "head"}).err.find("names no port"), std::string::npos);
  parse_as<NodeList>({"nodes", "--server", "[::1]:7411"});
}

TEST(Parse, WrongValuesAreRefused) {
  refuse({"campaign", "run"});
  refuse({"campaign", "run", "--fabric", "tcp", "--effort", "huge"});
  refuse({"campaign", "run", "--fabric", "tcp", "--nodes", "0"});
  refuse({"campaign", "run", "--fabric", "tcp", "--time-budget", "soon"});
  refuse({"campaign", "run", "--fabric", "tcp", "--no-such-option"});
  refuse({"explain", "tcp"});
  refuse({"explain", "loop", "tcp"});
  refuse({"explain", "loop", "tcp", "--bytes", "8", "--direction", "sideways"});
  refuse({"explain", "nest", "tcp"});
  refuse({"explain", "call", "tcp", "--regions", "8"});
  refuse({"explain", "call", "tcp", "--regions", "0", "--region-bytes", "8"});
  refuse({"campaign", "list", "--timeout", "-1"});
  refuse({});
  refuse({"model"});
}

TEST(Parse, MistakesAreOneLineThatSaysWhatIsAccepted) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{},
        {"campaign"},
        {"campaign", "run"},
        {"campaign", "run", "--fabric", "tcp", "--ranks", "-3"},
        {"campaign", "run", "--fabric", "tcp", "--runs", "1e3"},
        {"campaign", "list", "--limit", "0"},
        {"model", "fetch", "tcp@X!"},
        {"nodes", "--frob"}}) {
    const std::string err = refuse(arguments).err;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_LT(err.size(), 160U) << err;
    EXPECT_NE(err.find("'stripline"), std::string::npos) << err;
  }
  EXPECT_NE(refuse({"campaign", "run"}).err.find("see 'stripline campaign run --help'"),
            std::string::npos);
  EXPECT_NE(refuse({"campaign", "run", "--fabric", "tcp", "--ranks", "-3"})
                .err.find("whole number from 1 to"),
            std::string::npos);
}

TEST(Parse, EveryCommandHasHelpWithExitCodesOrExamples) {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"campaign"},
                                                          {"campaign", "run"},
                                                          {"campaign", "watch"},
                                                          {"campaign", "list"},
                                                          {"campaign", "show"},
                                                          {"campaign", "cancel"},
                                                          {"campaign", "export"},
                                                          {"model"},
                                                          {"model", "list"},
                                                          {"model", "show"},
                                                          {"model", "fetch"},
                                                          {"explain"},
                                                          {"explain", "loop"},
                                                          {"explain", "nest"},
                                                          {"explain", "call"},
                                                          {"explain", "sweep"},
                                                          {"nodes"},
                                                          {"version"}};
  for (std::vector<std::string> command : commands) {
    command.emplace_back("--help");
    const Parsed parsed = parse_command_line(command);
    EXPECT_EQ(parsed.exit_code, kExitOk);
    EXPECT_FALSE(parsed.command);
    EXPECT_TRUE(parsed.err.empty());
    EXPECT_GT(parsed.out.size(), 150U);
    EXPECT_EQ(parsed.out.find("\n\n\n"), std::string::npos) << parsed.out;
    EXPECT_NE(parsed.out.find("Usage: stripline"), std::string::npos);
  }
}

TEST(CampaignFile, SaysWhatOptionsLeaveOpen) {
  const TempFolder folder;
  const std::string file = (folder / "weekly.toml").string();
  std::ofstream(file) << "fabric = ['tcp', 'shm']\nruns = 9\ntime-budget = '2m'\nwidth = '2%'\n"
                         "node = ['a', 'b']\nexperiment = 'micro.latency'\ndetach = true\n";
  const auto run = parse_as<CampaignRun>({"campaign", "run", "--runs", "7", file});
  EXPECT_EQ(run.fabrics, (std::vector<std::string>{"tcp", "shm"}));
  EXPECT_EQ(run.runs, 7U);
  EXPECT_EQ(run.time_budget_s, 120);
  EXPECT_EQ(run.width, 0.02);
  EXPECT_EQ(run.only_nodes, (std::vector<std::string>{"nodes/a", "nodes/b"}));
  EXPECT_EQ(run.experiments, std::vector<std::string>{"micro.latency"});
  EXPECT_TRUE(run.detach);
  const auto other = parse_as<CampaignRun>({"campaign", "run", "--fabric", "net", file});
  EXPECT_EQ(other.fabrics, std::vector<std::string>{"net"});
}

TEST(CampaignFile, IsRefusedWithTheLineThatIsWrong) {
  const TempFolder folder;
  const std::string file = (folder / "weekly.toml").string();
  const std::map<std::string, std::string> wrong = {
      {"fabrik = 'tcp'\n", "line 1, fabrik: there is no such option; did you mean fabric?"},
      {"fabric = 'tcp'\nruns = -3\n", "line 2, runs: "},
      {"fabric = 'tcp'\ndetach = 'yes'\n", "line 2, detach: true or false is needed"},
      {"fabric = ['tcp', 'shm']\nmodel = 'x'\n", "each fabric has a model of its own"},
      {"runs = 8\n", "--fabric or --target is required"},
      {"fabric = {a = 1}\n", "line 1, fabric: expected a string"},
      {"fabric = \n", "line 1: "}};
  for (const auto& [text, message] : wrong) {
    std::ofstream(file) << text;
    EXPECT_NE(refuse({"campaign", "run", file}).err.find(message), std::string::npos)
        << text << refuse({"campaign", "run", file}).err;
  }
  EXPECT_NE(refuse({"campaign", "run", (folder / "none").string()}).err.find("none"),
            std::string::npos);
}

}  // namespace
}  // namespace stripline::cli
