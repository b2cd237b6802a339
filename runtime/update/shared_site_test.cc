// What is decided about updates that workers share, on a virtual clock: a program that takes the
// times that a test says.
#include "runtime/update/shared_site.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/shell_words.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/program_trace.h"

namespace stripline::update {
namespace {

using plan::SharedMechanism;
using plan::SharedRequest;
using plan::SharedStrategy;

constexpr uint64_t kCalls = 10000;

// Cells that are updated alike. By these costs replicas take 0.82 of the time.
SharedRequest counts() {
  SharedRequest request = SharedMechanism::usual();
  request.spread.workers = 2;
  request.spread.updates = kCalls;
  request.spread.cells = 1000;
  request.spread.competing = plan::Competing::atomic;
  request.spread.unordered = true;
  request.costs = {.plain_s = 4e-9, .atomic_s = 5e-9, .fold_s = 1e-9};
  return request;
}

// `guard`: as a model brings one.
template <typename Body>
void on_one_worker(bool guard, const Body& body) {
  auto group =
      bootstrap::group_on({"", "emulated:opteron-vapi,compute=none,jitter=off", "virtual"}, 1);
  group.context.trace = "sites";
  ::testing::internal::CaptureStderr();
  bootstrap::on_ranks(group, [&](Context& context) {
    if (guard) {
      ASSERT_TRUE(context.state().use_model(std::make_shared<model::TunedModel>()).ok());
    }
    body(context);
  });
  ::testing::internal::GetCapturedStderr();
}

// Carries out epochs as announce() says. Returns how many of them competed.
uint32_t carry_out(Context& context, SharedSite& site, uint32_t epochs, double planned_s,
                   double competing_s) {
  uint64_t baselines = site.announce();
  site.restart_clock();
  uint32_t competed = 0;
  for (uint32_t i = 0; i < epochs; ++i, baselines >>= 1U) {
    const bool competes = (baselines & 1U) != 0;
    competed += competes ? 1 : 0;
    context.compute_for(competes ? competing_s : planned_s);
    const bool over = site.is_over(kCalls);
    site.end(kCalls);
    if (!over) continue;
    baselines = site.announce() << 1U;
    site.restart_clock();
  }
  return competed;
}

std::vector<decide::Trace::Row> rows(Context& context) {
  std::vector<decide::Trace::Row> all;
  context.state().job.observers().trace()->choices().for_each(
      [&](const decide::Trace::Row& row) { all.push_back(row); });
  return all;
}

// What the options of a command ask.
SharedRequest asked_by(std::string_view command) {
  const std::vector<std::string> words = *split_words(command);
  SharedRequest asked = SharedMechanism::usual();
  for (const auto& field : SharedMechanism::fields()) {
    const auto at = std::ranges::find(words, std::string_view(field.text.option));
    if (at == words.end()) continue;
    plan::FieldValue value = field.get(asked);
    if (std::holds_alternative<bool>(value)) {
      value = true;
    } else if (std::holds_alternative<uint64_t>(value)) {
      value = uint64_t{std::stoull(at[1])};
    } else if (std::holds_alternative<double>(value)) {
      value = std::stod(at[1]);
    } else {
      value = std::string_view(at[1]);
    }
    field.set(asked, value);
  }
  return asked;
}

TEST(SharedSite, KeepsWhatIsFasterAndComparesItRarely) {
  on_one_worker(true, [](Context& context) {
    SharedSite site(context, CallSite::current(), nullptr);
    site.decide(counts(), kCalls, false);
    const uint32_t competed = carry_out(context, site, 3000, 40e-6, 50e-6);
    EXPECT_GT(competed, 0U);
    EXPECT_LT(competed, 100U);
  });
}

TEST(SharedSite, ComesToUpdatesThatCompeteAgainstWrongCosts) {
  on_one_worker(true, [](Context& context) {
    SharedSite site(context, CallSite::current(), nullptr);
    site.decide(counts(), kCalls, false);
    carry_out(context, site, 3000, 60e-6, 40e-6);
    EXPECT_GT(carry_out(context, site, 100, 60e-6, 40e-6), 95U);
  });
}

TEST(SharedSite, ComparesNothingWhereUpdatesCompete) {
  on_one_worker(true, [](Context& context) {
    SharedRequest few = counts();
    few.spread.updates = 10;
    SharedSite site(context, CallSite::current(), nullptr);
    site.decide(few, kCalls, false);
    EXPECT_EQ(carry_out(context, site, 1000, 40e-6, 50e-6), 0U);
  });
}

// What announce() said before does not hold for the epochs after it.
TEST(SharedSite, DecidesAgainInTheMiddleOfAnEpoch) {
  on_one_worker(true, [](Context& context) {
    SharedSite site(context, CallSite::current(), nullptr);
    EXPECT_EQ(site.announce(), 0U) << "nothing has been decided";
    EXPECT_FALSE(site.is_over(kCalls));
    site.end(kCalls);
    site.decide(counts(), kCalls, true);
    EXPECT_TRUE(site.is_over(kCalls)) << "there is more to announce";
    site.end(kCalls);
    site.announce();
    site.restart_clock();
    EXPECT_FALSE(site.is_over(kCalls));
    EXPECT_TRUE(site.is_over(0)) << "an epoch without updates says nothing of others";
    SharedRequest hot = counts();
    hot.spread.cells = 1 << 20;
    hot.spread.hot_cells = 64;
    hot.spread.hot_share = 0.99;
    hot.spread.budget_bytes = 4096;
    site.decide(hot, kCalls, true);
    EXPECT_TRUE(site.is_over(kCalls));
    site.end(kCalls);
    site.announce();
    const auto of_both = rows(context);
    ASSERT_EQ(of_both.size(), 2U);
    for (const decide::Trace::Row& row : of_both) EXPECT_EQ(row.executions, 1U) << row.what;
  });
}

TEST(SharedSite, IsShownAndExplained) {
  on_one_worker(false, [](Context& context) {
    {
      SharedSite site(context, CallSite::current(), nullptr);
      site.decide(counts(), kCalls, false);
      carry_out(context, site, 50, 40e-6, 50e-6);
    }
    const auto shown = rows(context);
    ASSERT_EQ(shown.size(), 1U);
    const decide::Trace::Row& row = shown.front();
    EXPECT_EQ(row.executions, 50U) << "the last ones, too";
    EXPECT_EQ(row.what, "shared updates of 1000 cells");
    EXPECT_EQ(row.choice.text, "replicate, tuned");
    EXPECT_NE(row.command.find(" --unordered"), std::string::npos) << row.command;
    EXPECT_EQ(asked_by(row.command), counts()) << row.command;
    EXPECT_EQ(plan::explain<SharedMechanism>(asked_by(row.command), nullptr).brief,
              row.choice.text);
    EXPECT_NEAR(row.times.mean_s(), 40e-6, 1e-9);
  });
}

}  // namespace
}  // namespace stripline::update
