#include "optimizer/plan/mechanism.h"

#include <string>
#include <type_traits>

#include <gtest/gtest.h>

#include "optimizer/plan/mechanisms.h"
#include "optimizer/plan/strip_fixture.h"
#include "optimizer/plan/toy_fixture.h"

namespace stripline::plan {
namespace {

ToyRequest ten_reads() { return {.reads = 10, .sorted = true}; }

TEST(Mechanism, IsDecidedAndExplainedByTheFrame) {
  const StripCosts costs = costs_of(model::example_model());
  const auto e = explain<ToyMechanism>(ten_reads(), &costs);
  EXPECT_EQ(e.decision.ahead, 8U);
  EXPECT_EQ(e.decision.reason, Reason::tuned);
  const std::string text = to_text(e);
  for (const char* part : {"10 reads, sorted\nplan: 8 ahead, predicted ", ", one by one ",
                           "\nwhy: gains ", "alternatives, the fastest first:\n  * 8 ahead: ",
                           "    1 ahead: ", "the gain may be smaller by", "    o: ", "    L: "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
  const Json json = to_json(e);
  EXPECT_EQ(json["reads"], 10);
  EXPECT_EQ(json["nic_ranks"], 1);
  EXPECT_EQ(json["plan"]["ahead"], 8);
  EXPECT_EQ(json["plan"]["reason"], "tuned");
  EXPECT_EQ(json["alternatives"].size(), 4U);
  EXPECT_EQ(json["alternatives"][3]["predicted_s"], json["plan"]["predicted_s"]);
  EXPECT_EQ(json["sensitivities"].size(), 2U);
}

TEST(Mechanism, SaysWhatIsDoneWithoutAModel) {
  const auto e = explain<ToyMechanism>(ten_reads(), nullptr);
  EXPECT_EQ(to_text(e),
            "10 reads, sorted\nplan: 1 ahead\nwhy: nothing is known, so values are read one by "
            "one\n");
  EXPECT_EQ(to_json(e)["plan"]["reason"], "no_model");
  EXPECT_FALSE(to_json(e).contains("alternatives"));
}

TEST(Mechanism, AsksAgainByACommand) {
  EXPECT_EQ(command_of<ToyMechanism>(ten_reads()), " --reads 10 --sorted");
}

TEST(Mechanism, OfManyAlternativesTheFastestAreRead) {
  Explanation e;
  e.has_times = true;
  for (uint64_t i = 0; i < 30; ++i) {
    Explanation::Alternative& a = e.alternatives.emplace_back();
    a.plan.number("ahead", i, "{} ahead");
    a.predicted_s = 1e-3 * static_cast<double>(30 - i);
  }
  e.plan.number("ahead", 3, "{} ahead");
  e.pruned = {{Row().say("those"), 3.0}, {Row().say("those"), 2.0}};
  const std::string text = to_text(e, ToyMechanism::kWords);
  EXPECT_NE(text.find("first:\n    29 ahead: 1.000 ms\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n    0 ahead: 30.00 ms\n"), std::string::npos) << "the baseline\n" << text;
  EXPECT_NE(text.find("\n  * 3 ahead: 27.00 ms\n"), std::string::npos) << "the plan\n" << text;
  EXPECT_EQ(text.find(" 9 ahead"), std::string::npos) << text;
  EXPECT_NE(text.find("others, of 30 in all: up to 30.00 ms"), std::string::npos) << text;
  EXPECT_NE(text.find("    those (2): at least 2.000 s, not considered further\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(to_json(e, ToyMechanism::kWords)["alternatives"].size(), 30U);
}

// An edit of a plan compiles: of all of it, or of a member of any plan that there is.
template <typename P>
constexpr bool can_be_edited() {
  constexpr auto any = [](auto... edits) {
    return (std::is_invocable_v<decltype(edits), P&> || ...);
  };
  return any([](auto& p) -> decltype(void(p = p)) {},
             [](auto& p) -> decltype(void(p.algorithm = p.algorithm)) {},
             [](auto& p) -> decltype(void(p.baseline_s = p.baseline_s)) {},
             [](auto& p) -> decltype(void(p.block = p.block)) {},
             [](auto& p) -> decltype(void(p.buffer_bytes = p.buffer_bytes)) {},
             [](auto& p) -> decltype(void(p.burst = p.burst)) {},
             [](auto& p) -> decltype(void(p.bytes = p.bytes)) {},
             [](auto& p) -> decltype(void(p.candidate = p.candidate)) {},
             [](auto& p) -> decltype(void(p.chunk_bytes = p.chunk_bytes)) {},
             [](auto& p) -> decltype(void(p.count = p.count)) {},
             [](auto& p) -> decltype(void(p.cut = p.cut)) {},
             [](auto& p) -> decltype(void(p.encoding = p.encoding)) {},
             [](auto& p) -> decltype(void(p.gain_low = p.gain_low)) {},
             [](auto& p) -> decltype(void(p.groups = p.groups)) {},
             [](auto& p) -> decltype(void(p.memory_bytes = p.memory_bytes)) {},
             [](auto& p) -> decltype(void(p.method = p.method)) {},
             [](auto& p) -> decltype(void(p.obstacle = p.obstacle)) {},
             [](auto& p) -> decltype(void(p.pieces = p.pieces)) {},
             [](auto& p) -> decltype(void(p.predicted_s = p.predicted_s)) {},
             [](auto& p) -> decltype(void(p.reason = p.reason)) {},
             [](auto& p) -> decltype(void(p.runner_up = p.runner_up)) {},
             [](auto& p) -> decltype(void(p.runner_up_s = p.runner_up_s)) {},
             [](auto& p) -> decltype(void(p.schedule = p.schedule)) {},
             [](auto& p) -> decltype(void(p.sort_interval = p.sort_interval)) {},
             [](auto& p) -> decltype(void(p.steps = p.steps)) {},
             [](auto& p) -> decltype(void(p.strategy = p.strategy)) {},
             [](auto& p) -> decltype(void(p.strip_bytes = p.strip_bytes)) {},
             [](auto& p) -> decltype(void(p.sync_burst = p.sync_burst)) {},
             [](auto& p) -> decltype(void(p.transfer = p.transfer)) {},
             [](auto& p) -> decltype(void(p.tunes_lists = p.tunes_lists)) {},
             [](auto& p) -> decltype(void(p.tunes_tiles = p.tunes_tiles)) {},
             [](auto& p) -> decltype(void(p.uncertain = p.uncertain)) {},
             [](auto& p) -> decltype(void(p.window = p.window)) {});
}

struct EditablePlan {
  const Reason reason = Reason::no_model;
  const double predicted_s = 0;
  int method = 0;
};
static_assert(can_be_edited<EditablePlan>());

template <typename... M>
struct NoPlanCanBeEdited {
  static_assert((!can_be_edited<typename M::Plan>() && ...));
};
static_assert(sizeof(OfEachMechanism<NoPlanCanBeEdited, Itself>) > 0);

}  // namespace
}  // namespace stripline::plan
