#include "runtime/rma/tuning.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::rma {
namespace {

TEST(Tuning, FollowsTheModelUnlessTold) {
  EXPECT_EQ(tuning_of(nullptr, "")->atomic_way, AtomicPath::provider);
  model::TunedModel model = model::example_model();
  EXPECT_EQ(tuning_of(&model, "")->atomic_way, AtomicPath::message);
  EXPECT_EQ(tuning_of(&model, "atomic.way=provider")->atomic_way, AtomicPath::provider);
  model.rma->atomic.reset();
  EXPECT_EQ(tuning_of(&model, "")->atomic_way, AtomicPath::provider);
  model.rma.reset();
  EXPECT_EQ(tuning_of(&model, "")->atomic_way, AtomicPath::provider);
}

TEST(Tuning, SaysWhatASettingMayBe) {
  for (const char* wrong : {"atomic.way", "atomic.way=", "atomic.way=telepathy", "atomic",
                            "atomic.way=message,,", "atomic.way=message,speed=11"}) {
    const auto tuning = tuning_of(nullptr, wrong);
    ASSERT_FALSE(tuning.ok()) << wrong;
    EXPECT_EQ(tuning.error().code(), ErrorCode::invalid_argument);
    EXPECT_NE(tuning.error().message().find("atomic.way=(provider or message)"), std::string::npos)
        << tuning.error().message();
  }
}

}  // namespace
}  // namespace stripline::rma
