#include "runtime/rma/tuning.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::rma {
namespace {

TEST(Tuning, FollowsTheModel) {
  EXPECT_EQ(tuning_of(nullptr, "")->single.atomic, model::AtomicPath::provider);
  model::TunedModel model = model::example_model();
  EXPECT_EQ(tuning_of(&model, "")->single.atomic, model::AtomicPath::message);
  model.rma->atomic.reset();
  EXPECT_EQ(tuning_of(&model, "")->single.atomic, model::AtomicPath::provider);
  model.rma.reset();
  EXPECT_EQ(tuning_of(&model, "")->single.atomic, model::AtomicPath::provider);
}

TEST(Tuning, CombinesPutsByTheModelUnlessGiven) {
  const PutCombiner::Rule standard;
  model::TunedModel model = model::example_model();
  const auto by_model = tuning_of(&model, "");
  EXPECT_EQ(by_model->combining.max_put_bytes, 256U);
  EXPECT_EQ(by_model->combining.message_bytes, 8192U);
  EXPECT_EQ(by_model->combining.max_delay_s, 100e-6);
  EXPECT_EQ(by_model->combining.budget_bytes, standard.budget_bytes);
  const auto given = tuning_of(&model,
                               "put_combining.max_put_bytes=0,put_combining.message_bytes=4K,"
                               "put_combining.max_delay_s=2e-5,put_combining.budget_bytes=64K");
  ASSERT_TRUE(given.ok()) << given.error().message();
  EXPECT_EQ(given->combining.max_put_bytes, 0U);
  EXPECT_EQ(given->combining.message_bytes, 4096U);
  EXPECT_EQ(given->combining.max_delay_s, 2e-5);
  EXPECT_EQ(given->combining.budget_bytes, 65536U);
  model.rma->put_combining.reset();
  EXPECT_EQ(tuning_of(&model, "")->combining.max_put_bytes, standard.max_put_bytes);
  for (const char* wrong : {"put_combining.max_put_bytes=-1", "put_combining.max_put_bytes=1M",
                            "put_combining.message_bytes=10", "put_combining.max_delay_s=-1",
                            "put_combining.max_delay_s=inf", "put_combining.max_delay_s=1x",
                            "put_combining.budget_bytes=0"}) {
    EXPECT_FALSE(tuning_of(nullptr, wrong).ok()) << wrong;
  }
}

// What `explain put` says is what combiners do.
TEST(Tuning, CombinesWhatThePlannerSays) {
  const model::TunedModel model = model::example_model();
  for (const model::TunedModel* const known :
       {static_cast<const model::TunedModel*>(nullptr), &model}) {
    for (const char* settings :
         {"", "put_combining.max_put_bytes=0", "put_combining.max_put_bytes=1",
          "put_combining.max_put_bytes=100", "put_combining.max_put_bytes=512K"}) {
      const auto tuning = tuning_of(known, settings);
      ASSERT_TRUE(tuning.ok()) << tuning.error().message();
      const uint64_t most = tuning->combining.max_put_bytes;
      for (const uint64_t bytes : {most, most + 1}) {
        const auto plan = plan::plan_put({.bytes = bytes, .implicit = true}, tuning->single);
        EXPECT_EQ(plan.method == plan::PutMethod::combined, bytes == most) << settings;
      }
    }
  }
}

TEST(Tuning, RefusesTwoValuesOfOneName) {
  const auto twice = tuning_of(nullptr, "progress.call_s=1,progress.answer_s=1,progress.call_s=2");
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code(), ErrorCode::invalid_argument);
  EXPECT_NE(twice.error().message().find("'progress.call_s' twice"), std::string::npos)
      << twice.error().message();
}

TEST(Tuning, JudgesProgressThreadsByTheModelUnlessGiven) {
  model::TunedModel model = model::example_model();
  EXPECT_EQ(tuning_of(&model, "")->single.progress.call_s, 40e-9);
  EXPECT_EQ(tuning_of(&model, "")->single.progress.answer_s, 30e-6);
  const auto given = tuning_of(&model, "progress.call_s=1e-6,progress.answer_s=2e-3");
  ASSERT_TRUE(given.ok()) << given.error().message();
  EXPECT_EQ(given->single.progress.call_s, 1e-6);
  EXPECT_EQ(given->single.progress.answer_s, 2e-3);
  EXPECT_EQ(tuning_of(nullptr, "")->single.progress.call_s, plan::ProgressCosts{}.call_s);
  for (const char* wrong : {"progress.call_s=-1", "progress.answer_s=x", "progress.call_s=nan"}) {
    EXPECT_FALSE(tuning_of(nullptr, wrong).ok()) << wrong;
  }
}

TEST(Tuning, CopiesBufferedPutsByTheModelUnlessGiven) {
  const Tuning standard;
  model::TunedModel model = model::example_model();
  EXPECT_EQ(tuning_of(&model, "")->single.copied_put_bytes, 32768U);
  EXPECT_EQ(tuning_of(&model, "")->buffered_budget_bytes, standard.buffered_budget_bytes);
  EXPECT_EQ(tuning_of(&model, "buffered_put.max_bytes=0")->single.copied_put_bytes, 0U);
  // What does not fit is not copied.
  const auto little = tuning_of(&model, "buffered_put.budget_bytes=10000");
  EXPECT_EQ(little->buffered_budget_bytes, 10000U);
  EXPECT_EQ(little->single.copied_put_bytes, 10000U);
  model.rma->buffered_put.reset();
  EXPECT_EQ(tuning_of(&model, "")->single.copied_put_bytes, standard.single.copied_put_bytes);
  EXPECT_FALSE(tuning_of(&model, "buffered_put.budget_bytes=0").ok());
}

TEST(Tuning, ForcesDecisionsByRulesAmongItsSettings) {
  const auto tuning = tuning_of(nullptr, "allreduce:0-4K:ring;progress.call_s=1,update:*:buffers");
  ASSERT_TRUE(tuning.ok()) << tuning.error().message();
  EXPECT_EQ(tuning->single.progress.call_s, 1);
  EXPECT_EQ(tuning->forced.forced("collective", 4096, "allreduce"), "reduce_scatter_allgather");
  EXPECT_EQ(tuning->forced.forced("update", 8), "buffers");
  const auto wrong = tuning_of(nullptr, "update:*:telepathy");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("STRIPLINE_TUNING: the rule 'update:*:telepathy'"),
            std::string::npos)
      << wrong.error().message();
}

TEST(Tuning, SaysWhatASettingMayBe) {
  for (const char* wrong : {"progress.call_s", "progress.call_s=", "progress.call_s=soon",
                            "progress", "progress.call_s=1,,", "progress.call_s=1,speed=11"}) {
    const auto tuning = tuning_of(nullptr, wrong);
    ASSERT_FALSE(tuning.ok()) << wrong;
    EXPECT_EQ(tuning.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(tuning.error().message().find("progress.call_s=(seconds)"), std::string::npos)
        << tuning.error().message();
  }
}

}  // namespace
}  // namespace stripline::rma
