#include "optimizer/model/model_text.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"
#include "optimizer/model/section.h"

namespace stripline::model {
namespace {

TEST(ModelText, RangesOfOneValueAreSaidAsOne) {
  TunedModel model = example_model();
  const auto holds_for = [&](const std::string& text) {
    return model_text(model).find("holds for  " + text + "\n") != std::string::npos;
  };
  EXPECT_TRUE(holds_for("2 to 8 ranks, 8 B to 4 MiB"));
  model.domain = {2, 2, 8, 8};
  EXPECT_TRUE(holds_for("2 ranks, 8 B"));
  model.domain = {1, 1, 8, 16};
  EXPECT_TRUE(holds_for("1 rank, 8 B to 16 B"));
}

TEST(ModelText, SaysWhatIsKnownOfManyRegions) {
  TunedModel model = example_model();
  EXPECT_EQ(model_text(model).find("many regions"), std::string::npos);
  model.pack = example_pack();
  model.vis["inter-node"] = example_vis();
  const std::string text = model_text(model);
  for (const char* part :
       {"packing of regions", "unpack, per byte", "inter-node get of many regions",
        "inter-node put of many regions", "packed in messages of 8 KiB, 8 in flight",
        "32 in flight", "in 9 cells", "wait at a heavily busy target"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in:\n" << text;
  }
}

TEST(ModelText, SaysWhatIsChosenForSingleOperations) {
  TunedModel model = example_model();
  const std::string text = model_text(model);
  for (const char* part : {"single operations", "buffered puts of up to 32 KiB are copied",
                           "of up to 256 B travel together in messages of 8 KiB", "waits at most",
                           "atomic operations by message", "by provider",
                           "a thread serves peers where that pays", "leaves a request waiting"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in:\n" << text;
  }
  // Also where that is all.
  model.rma = RmaModel{.progress = model.rma->progress};
  EXPECT_NE(model_text(model).find("adds to a call"), std::string::npos);
  model.rma.reset();
  EXPECT_EQ(model_text(model).find("single operations"), std::string::npos);
}

TEST(ModelText, LargeSharesHaveNoExponent) {
  EXPECT_EQ(share_text(260), "26000 %");
  EXPECT_EQ(share_text(0.02), "2 %");
}

}  // namespace
}  // namespace stripline::model
