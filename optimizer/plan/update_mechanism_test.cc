#include "optimizer/plan/update_mechanism.h"

#include <string>

#include <gtest/gtest.h>

#include "optimizer/plan/update_fixture.h"

namespace stripline::plan {
namespace {

TEST(UpdateExplanation, SaysWhatWasConsidered) {
  const UpdateCosts costs = update_costs_of(model::example_model());
  UpdateRequest request = histogram();
  request.provider = true;
  const auto e = explain<UpdateMechanism>(request, &costs);
  EXPECT_EQ(e.decision, plan_update(request, &costs));
  const std::string text = to_text(e);
  for (const char* part :
       {"1000000 updates of 65536 cells among 8 MiB of each owner, each of 8 B, on 64 ranks",
        ", atomic in the fabric\nplan: ", " in buffers of ", " together", "an update takes ",
        " into a buffer", " by the fabric", ", of a put", "the gain may be smaller by",
        "    computation: "}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in\n" << text;
  }
  const Json json = to_json(e);
  EXPECT_EQ(json["updates"], 1000000);
  EXPECT_EQ(json["ranks"], 64);
  EXPECT_EQ(json["plan"]["method"], "buffers");
  EXPECT_TRUE(json["plan"].contains("memory_bytes"));
  EXPECT_EQ(json["alternatives"].back()["method"], "cell_locks");
  EXPECT_GT(json["alternatives"].back()["predicted_s"],
            100 * json["plan"]["predicted_s"].get<double>());
  EXPECT_GT(json["apply_s"], 0);
}

// Those are left out whose costs the model does not have.
TEST(UpdateExplanation, LeavesOutWhatNobodyKnows) {
  auto m = model::example_model();
  m.update->provider_s.reset();
  m.update->message_s.reset();
  const UpdateCosts costs = update_costs_of(m);
  UpdateRequest request = histogram();
  request.provider = true;
  const auto e = explain<UpdateMechanism>(request, &costs);
  for (const auto& one : e.record.alternatives) {
    EXPECT_NE(one.candidate.method, UpdateMethod::provider);
    EXPECT_NE(one.candidate.method, UpdateMethod::messages);
  }
  EXPECT_EQ(force_update(request, &costs, {.method = UpdateMethod::provider}).predicted_s, 0);
}

TEST(UpdateExplanation, IsShortWithoutAModel) {
  EXPECT_EQ(to_text(explain<UpdateMechanism>(histogram(), nullptr)),
            "1000000 updates of 65536 cells among 8 MiB of each owner, each of 8 B, on 64 ranks\n"
            "plan: merged in buffers of 64 KiB, 8704 KiB together\n"
            "why: the model does not hold puts, messages and what updates cost a processor, so "
            "they travel in buffers as large as messages and memory allow\n");
}

TEST(UpdateMechanism, IsShownInAFewWords) {
  const auto text = [](const UpdateCandidate& candidate) {
    return brief_text<UpdateMechanism>(histogram(), UpdateMechanism::unfold(histogram(), candidate),
                                       "tuned");
  };
  EXPECT_EQ(text({.hops = 1, .buffer_bytes = 8192}), "8 KiB, tuned");
  EXPECT_EQ(text({.merges = true, .hops = 2, .buffer_bytes = 65536}),
            "64 KiB merged, 2 hops, tuned");
  EXPECT_EQ(text({.merges = true, .buffer_bytes = 65536, .sums = true}), "64 KiB summed up, tuned");
  EXPECT_EQ(text({.method = UpdateMethod::provider}), "atomics of the fabric, tuned");
}

TEST(UpdateMechanism, RefusesWhatCannotBe) {
  const auto refused_as = [](const UpdateRequest& request) {
    const auto made = UpdateMechanism::request_of(request);
    return made.ok() ? std::string() : made.error().message();
  };
  EXPECT_EQ(refused_as(histogram()), "");
  UpdateRequest request = histogram();
  request.updates = 10;
  EXPECT_EQ(refused_as(request), "--cells 65536 are updated once at least; --updates says 10");
  request = histogram();
  request.span_bytes = 4;
  EXPECT_EQ(refused_as(request), "--span 4 does not hold one cell; it is at least --item, 8");
}

TEST(UpdateMechanism, AsksAgainByACommand) {
  UpdateRequest request = histogram();
  request.local_percent = 25;
  request.separate = true;
  request.surroundings.service_delay_s = 5e-6;
  EXPECT_EQ(command_of<UpdateMechanism>(request),
            " --updates 1000000 --cells 65536 --span 8388608 --ranks 64 --local 25 --separate "
            "--service-delay 5e-06");
}

}  // namespace
}  // namespace stripline::plan
