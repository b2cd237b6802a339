#include "runtime/rma/explain_command.h"

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <stripline/loop.h>
#include <stripline/nest.h>

#include "optimizer/plan/mechanisms.h"
#include "optimizer/plan/nest_json.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline::detail {
namespace {

constexpr auto kTuned = plan::Reason::tuned;

// What stands behind `begin` in the same line.
std::string rest_of_line(const std::string& text, const std::string& begin) {
  const size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  return text.substr(at + begin.size(), text.find('\n', at) - at - begin.size());
}

// The commands hold all that the planner was asked: what they ask is planned alike.
TEST(ExplainCommand, IsShownOfEachPlaceOfATracedRun) {
  const ModelFile file("explain_command_test");
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 3);
  group.context.model_path = file.path();
  group.context.trace = "sites";
  std::optional<NestPlan> nest_plan;
  std::optional<LoopPlan> loop_plan;
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, [&](Context& context) {
    constexpr size_t kCount = 65536;
    const auto array = *context.new_symmetric_array<double>(kCount);
    context.barrier();
    if (context.rank_me() == 0) {
      const std::vector<global_ptr<double>> parts{context.on_rank(array, 1),
                                                  context.on_rank(array, 2)};
      const PieceArray<double> pieces(parts);
      const auto [r, i] = loop_indices<2>();
      for (int time = 0; time < 8; ++time) {
        nest_plan.emplace(for_nest(
            context, {size_t{2}, kCount / 2}, {.self_check = false},
            [&](const std::array<size_t, 2>& at, const double&, const double&) {
              if (at[1] % 1024 == 0) context.compute_for(5e-6);
            },
            read(pieces[r], i), read(parts[0], r * (kCount / 2) + i)));
        loop_plan.emplace(strip_for(context, global_ptr<const double>(parts[1]), kCount,
                                    {.sweeps = 3, .granule = 4, .self_check = false},
                                    [&](size_t begin, size_t end, const double*) {
                                      context.compute_for(static_cast<double>(end - begin) * 5e-9);
                                    }));
        const std::vector<LoopBlock<const double>> blocks{{parts[0], 1000}, {parts[1], 1008}};
        strip_for_blocks(
            context, std::span(blocks), {.self_check = false}, [] {},
            [](size_t, size_t, size_t, const double*) {});
        // The model is not to be asked.
        for_nest(
            context, {size_t{1}, size_t{99}}, {.use_model = false}, [](const double&) {},
            read(parts[0], i));
      }
    }
    context.barrier();
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  EXPECT_NE(said.find("(nest of 1 x 99)\n    stripline explain nest none '"), std::string::npos)
      << said;

  EXPECT_NE(said.find(" --blocks 2 --peers 2 --uneven --largest-block 8064 "), std::string::npos)
      << said;

  const std::string document = rest_of_line(said, "stripline explain nest " + file.path() + " '");
  ASSERT_TRUE(document.ends_with('\'')) << said;
  auto nest = plan::parse_nest(document.substr(0, document.size() - 1), "the nest");
  ASSERT_TRUE(nest.ok()) << nest.error().message();
  const model::TunedModel m = model::example_model();
  const auto& network = m.network.at("inter-node");
  const plan::StripCosts strip(network, m.compute, m.strip, m.service_levels);
  const plan::VisCosts vis(network, m.pack, nullptr);
  plan::NestLink& link = nest->request.links[plan::link_by(model::Path::network)];
  link.strip = &strip;
  link.vis = &vis;
  const NestPlan again = plan::plan_nest(nest->request);
  EXPECT_EQ(again.reason, nest_plan->reason);
  EXPECT_EQ(again.steps, nest_plan->steps);
  EXPECT_EQ(again.predicted_s, nest_plan->predicted_s);
  EXPECT_GT(again.predicted_s, 300e-6);

  const std::string options =
      rest_of_line(said, "stripline explain loop " + file.path() +
                             " --path inter-node --bytes 524288 --compute ");
  EXPECT_TRUE(options.ends_with(
      " --sweeps 3 --granule 4 --buffer 67108864 --nodes 3 --distances 1,0,0,0,0,0,0,0"))
      << said;
  plan::StripRequest request;
  request.total_bytes = 524288;
  request.granule_elements = 4;
  request.surroundings.load.nodes = 3;
  request.surroundings.load.add(0);
  request.max_buffer_bytes = 67108864;
  request.slot_alignment = plan::kUsualSlotAlignment;
  request.sweeps = 3;
  request.compute_s = std::stod(options);
  EXPECT_EQ(plan::plan_strip(request, &strip), *loop_plan) << options;
}

TEST(ExplainCommand, OfALoopSaysWhenPeersServe) {
  const ModelFile file("explain_command_test");
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 1);
  group.context.model_path = file.path();
  bootstrap::on_ranks(group, [&](Context& context) {
    plan::StripRequest request;
    request.total_bytes = 800;
    request.compute_s = 0;
    request.slot_alignment = plan::kUsualSlotAlignment;
    const auto command = [&] {
      return explain_command<plan::StripMechanism>(context.state(), request, kTuned,
                                                   model::Path::network);
    };
    const std::string begin =
        "stripline explain loop " + file.path() + " --path inter-node --bytes 800 ";
    EXPECT_EQ(command(), begin + "--compute 0.0");
    request.surroundings.target_polls_only = true;
    EXPECT_EQ(command(), begin + "--compute 0.0 --target-polls-only");
  });
}

TEST(ExplainCommand, OfASweepSaysWhatIsNotUsual) {
  const ModelFile file("explain_command_test");
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 1);
  group.context.model_path = file.path();
  bootstrap::on_ranks(group, [&](Context& context) {
    const plan::WavefrontRequest usual{.lines = 5, .line_bytes = 0, .compute_s = 1.25e-5};
    const std::string begin = "stripline explain sweep " + file.path() + " --path inter-node ";
    EXPECT_EQ(explain_command<plan::WavefrontMechanism>(context.state(), usual, kTuned,
                                                        model::Path::network),
              begin + "--stages 2 --lines 5 --line-bytes 0 --compute 1.25e-05");
    const plan::WavefrontRequest chain{
        .lines = 7,
        .line_bytes = 24,
        .compute_s = 0,
        .stages = 0,
        .all_busy = false,
        .surroundings = {.nic_ranks = 4, .target_polls_only = true, .flag_with_data = true}};
    EXPECT_EQ(explain_command<plan::WavefrontMechanism>(context.state(), chain, kTuned,
                                                        model::Path::network),
              begin +
                  "--stages 1 --lines 7 --line-bytes 24 --compute 0.0 --kind pipeline "
                  "--nic-ranks 4 --target-polls-only --flag-with-data");
  });
}

TEST(ExplainCommand, OfATransferSaysWhatIsNotUsual) {
  const ModelFile file("explain_command_test");
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 1);
  group.context.model_path = file.path();
  bootstrap::on_ranks(group, [&](Context& context) {
    const std::string begin = "stripline explain call " + file.path() + " --path inter-node ";
    plan::VisRequest request;
    request.regions = 5;
    request.region_bytes = 8;
    request.extent_bytes = 80;
    request.message_header_bytes = plan::kStridedHeaderBytes + plan::kDimensionHeaderBytes;
    EXPECT_EQ(
        explain_command<plan::VisMechanism>(context.state(), request, kTuned, model::Path::network),
        begin + "--regions 5 --region-bytes 8 --extent 80");
    request.region_header_bytes = plan::kListRegionHeaderBytes;
    EXPECT_EQ(
        explain_command<plan::VisMechanism>(context.state(), request, kTuned, model::Path::network),
        begin + "--regions 5 --region-bytes 8 --extent 80 --kind indexed");
    request.region_header_bytes = 0;
    request.direction = plan::Direction::put;
    request.message_header_bytes += 2 * plan::kDimensionHeaderBytes + plan::kSignalHeaderBytes;
    request.local_regions = 3;
    request.compute = plan::ComputeClass::heavy;
    request.bounding_box_allowed = true;
    request.iov_limit = 4;
    request.peers = 2;
    request.surroundings.service_delay_s = 5e-6;
    request.surroundings.target_polls_only = true;
    request.signalled = true;
    request.surroundings.flag_with_data = true;
    EXPECT_EQ(
        explain_command<plan::VisMechanism>(context.state(), request, kTuned, model::Path::network),
        begin +
            "--direction put --regions 5 --region-bytes 8 --extent 80 --dimensions 3 "
            "--local-regions 3 --class heavy --bounding-box --iov-limit 4 --signal "
            "--peers 2 --target-polls-only --flag-with-data --service-delay 5e-06");
  });
}

TEST(ExplainCommand, AsksNoModelAboutAPathThatItDoesNotHave) {
  model::TunedModel without = model::example_model();
  without.network.clear();
  const ModelFile file("explain_command_test", without);
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 1);
  group.context.model_path = file.path();
  bootstrap::on_ranks(group, [&](Context& context) {
    const ContextState& state = context.state();
    const auto asks_none = [](const std::string& command) {
      return command.find(" none") != std::string::npos;
    };
    for (const auto path : {model::Path::network, model::Path::mapped, model::Path::cma}) {
      EXPECT_TRUE(asks_none(explain_command<plan::StripMechanism>(state, {}, kTuned, path)));
      EXPECT_TRUE(asks_none(explain_command<plan::WavefrontMechanism>(state, {}, kTuned, path)));
      EXPECT_TRUE(asks_none(explain_command<plan::VisMechanism>(state, {}, kTuned, path)));
    }
    EXPECT_NE(explain_command<plan::NestMechanism>(state, {}, kTuned), "");
  });
}

TEST(ExplainCommand, AsksNoModelAboutWhatWasDecidedWithoutOne) {
  const ModelFile file("explain_command_test");
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 1);
  for (const bool with_model : {false, true}) {
    group.context.model_path = with_model ? file.path() : "";
    bootstrap::on_ranks(group, [&](Context& context) {
      const auto command = [&](plan::Reason reason) {
        return explain_command<plan::VisMechanism>(context.state(), {.regions = 5}, reason,
                                                   model::Path::network);
      };
      EXPECT_TRUE(command(plan::Reason::no_model).starts_with("stripline explain call none "));
      EXPECT_EQ(command(kTuned).starts_with("stripline explain call none "), !with_model);
      EXPECT_EQ(command(plan::Reason::forced), "");
      EXPECT_EQ(command(plan::Reason::own_memory), "");
      // The planner says what the guard does not do.
      EXPECT_EQ(command(plan::Reason::tied), "");
      EXPECT_EQ(command(plan::Reason::guarded), "");
    });
  }
}

// As in a worker, which gets its model with its assignment.
TEST(ExplainCommand, IsNoneForAModelThatIsInNoFile) {
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 1);
  bootstrap::on_ranks(group, [&](Context& context) {
    ContextState& state = context.state();
    const auto model = std::make_shared<const model::TunedModel>(model::example_model());
    ASSERT_TRUE(state.use_model(model).ok());
    EXPECT_EQ(explain_command<plan::StripMechanism>(state, {}, kTuned, model::Path::network), "");
    EXPECT_EQ(explain_command<plan::NestMechanism>(state, {}, kTuned), "");
    EXPECT_EQ(explain_command<plan::WavefrontMechanism>(state, {}, kTuned, model::Path::network),
              "");
    EXPECT_EQ(explain_command<plan::VisMechanism>(state, {}, kTuned, model::Path::network), "");
  });
}

}  // namespace
}  // namespace stripline::detail
