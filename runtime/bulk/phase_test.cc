// What phases decide, and show of it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/bulk.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/plan/bulk_mechanism.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bulk/engine.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline {
namespace {

constexpr size_t kCopies = 20;
constexpr size_t kWordsOfCopy = 512;

// Two visits are measured, and the others go by a plan.
void put_and_get(Context& context) {
  const auto mine = context.new_symmetric_array<uint64_t>(2 * kCopies * kWordsOfCopy);
  ASSERT_TRUE(mine.ok());
  const auto there = context.on_rank(*mine, 1 - context.rank_me());
  const bulk_region region(context);
  std::vector<uint64_t> words(kWordsOfCopy);
  for (uint64_t turn = 0; turn < 8; ++turn) {
    context.barrier();
    context.compute_for(1e-4);
    for (size_t i = 0; i < kCopies; ++i) {
      const auto at = static_cast<std::ptrdiff_t>(i * kWordsOfCopy);
      memget(context, words.data(), there + at, kWordsOfCopy);
      EXPECT_EQ(words.back(), turn == 0 ? 0 : turn - 1);
      words.assign(kWordsOfCopy, turn);
      memput(context, there + at + static_cast<std::ptrdiff_t>(kCopies * kWordsOfCopy),
             words.data(), kWordsOfCopy);
    }
    context.barrier();
    uint64_t* const here = context.local(*mine);
    for (size_t i = 0; i < kCopies * kWordsOfCopy; ++i) here[i] = turn;
  }
  context.barrier();
}

// What a trace shows of a phase, and the command that explains it.
TEST(BulkTrace, ShowsTheMethodThatExplainNames) {
  model::TunedModel known = model::example_model();
  known.pack = model::example_pack();
  const ModelFile model("bulk_trace", known);
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.debug = false;
  group.context.model_path = model.path();
  group.context.trace = "sites";
  group.context.guard = false;  // which would compare it with others
  ::testing::internal::CaptureStderr();
  const Status ran = bootstrap::run_ranks(group, put_and_get);
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  EXPECT_NE(said.find("phase of 160 KiB (20 puts: issue "), std::string::npos) << said;
  EXPECT_NE(said.find("(20 gets: issue "), std::string::npos) << said;
  const std::string command =
      "stripline explain bulk " + model.path() + " --path inter-node --puts 20 --put-bytes 4096 ";
  const size_t at = said.find(command);
  ASSERT_NE(at, std::string::npos) << said;
  const std::string options = said.substr(at + command.size(), said.find('\n', at) - at);
  EXPECT_NE(options.find("--gets 20 --get-bytes 4096"), std::string::npos) << options;
  plan::BulkRequest request{.puts = kCopies, .put_bytes = 4096, .gets = kCopies, .get_bytes = 4096};
  const auto number = [&](std::string_view option) {
    const size_t place = options.find(option);
    return place == std::string::npos
               ? 0.0
               : std::strtod(options.c_str() + place + option.size(), nullptr);
  };
  request.compute_s = number("--compute ");
  request.lead_s = number("--lead ");
  EXPECT_GE(request.compute_s, 0.99e-4);
  EXPECT_GE(request.lead_s, 0.99e-4);
  if (const double in_flight = number("--in-flight "); in_flight > 0) {
    request.in_flight = static_cast<uint32_t>(in_flight);
  }
  if (const double ranks = number("--nic-ranks "); ranks > 0) {
    request.surroundings.nic_ranks = static_cast<uint32_t>(ranks);
  }
  const plan::CompiledModel compiled(known);
  const auto plan = plan::plan_bulk(request, compiled.path(model::Path::network));
  EXPECT_NE(said.find(std::string(to_string(plan.method)) + ", "), std::string::npos)
      << to_string(plan.method) << " in\n"
      << said;
}

// By the model a get whose result is needed at once gains nothing, and is not made ahead.
TEST(BulkPhase, UsesNoModelWhereItsOptionsSaySo) {
  const ModelFile model("bulk_no_model", model::example_model());
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.debug = false;
  group.context.model_path = model.path();
  bootstrap::on_ranks(group, [](Context& context) {
    const auto mine = context.new_symmetric_array<uint64_t>(1);
    ASSERT_TRUE(mine.ok());
    const auto there = context.on_rank(*mine, 1 - context.rank_me());
    const bulk_region region(context, {.use_model = false, .self_check = false});
    uint64_t fetched = 0;
    for (int turn = 0; turn < 6; ++turn) {
      context.barrier();
      memget(context, &fetched, there, 1);
    }
    EXPECT_EQ(bulk::BulkEngine::of(context).statistics().made_ahead, 5U);
    context.barrier();
  });
}

// Gets of more bytes than the model says are waited for, whatever the phase decides.
TEST(BulkPhase, MakesNoLargerGetsAheadThanTheModelSays) {
  model::TunedModel known = model::example_model();
  known.bulk.emplace();
  known.bulk->copies = {{1024, model::example_parameter(1e-7)}};
  known.bulk->max_get_bytes = 1024;
  const ModelFile model("bulk_limit", known);
  auto group = bootstrap::group_on({"", "emulated:opteron-vapi,compute=none", "virtual"}, 2);
  group.context.debug = false;
  group.context.model_path = model.path();
  bootstrap::on_ranks(group, [](Context& context) {
    const auto mine = context.new_symmetric_array<std::byte>(4096);
    ASSERT_TRUE(mine.ok());
    const auto there = context.on_rank(*mine, 1 - context.rank_me());
    const bulk_region region(context);
    std::vector<std::byte> fetched(2048);
    for (int turn = 0; turn < 2; ++turn) {
      context.barrier();
      memget(context, fetched.data(), there, 1024);
      memget(context, fetched.data(), there, 1025);
    }
    EXPECT_EQ(bulk::BulkEngine::of(context).statistics().made_ahead, 1U);
    context.barrier();
  });
}

}  // namespace
}  // namespace stripline
