#include "optimizer/model/paths.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::model {
namespace {

TEST(Paths, AreNamedAfterThePathBetweenRanksOfANode) {
  EXPECT_EQ(path_name(*path_of_same_node("network")), "inter-node");
  EXPECT_EQ(path_name(*path_of_same_node("mapped")), "intra-node");
  EXPECT_EQ(path_name(*path_of_same_node("cma")), "intra-node-cma");
  EXPECT_FALSE(path_of_same_node("telepathy"));
}

TEST(Paths, ThatWereNotMeasuredArePlannedAsTheNetwork) {
  TunedModel model = example_model();
  EXPECT_EQ(find_path(model, Path::cma)->first, "inter-node");
  model.network["intra-node-cma"] = model.network["inter-node"];
  model.network["intra-node"] = model.network["inter-node"];
  EXPECT_EQ(find_path(model, Path::network)->first, "inter-node");
  EXPECT_EQ(find_path(model, Path::mapped)->first, "intra-node");
  EXPECT_EQ(find_path(model, Path::cma)->first, "intra-node-cma");
  model.network.erase("inter-node");
  EXPECT_EQ(find_path(model, Path::network)->first, "intra-node");
  model.network.clear();
  EXPECT_EQ(find_path(model, Path::network), nullptr);
}

}  // namespace
}  // namespace stripline::model
