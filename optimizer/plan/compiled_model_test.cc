#include "optimizer/plan/compiled_model.h"

#include <utility>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::plan {
namespace {

using model::Path;

TEST(CompiledModel, OfNoModelKnowsNoPath) {
  const CompiledModel none;
  EXPECT_EQ(none.path(Path::network), nullptr);
  EXPECT_EQ(none.strip(Path::cma), nullptr);
  EXPECT_EQ(none.vis(Path::mapped), nullptr);
  model::TunedModel without = model::example_model();
  without.network.clear();
  EXPECT_EQ(CompiledModel(without).path(Path::network), nullptr);
}

// Compiled once, where several paths are planned by one entry.
TEST(CompiledModel, PathsWithoutAnEntryAreTheNetworks) {
  model::TunedModel m = model::example_model();
  EXPECT_EQ(CompiledModel(m).path(Path::network)->name, "inter-node");
  m.network["intra-node-cma"] = m.network["inter-node"];
  m.network["intra-node-cma"].put.reset();
  CompiledModel first(m);
  const StripCosts* const costs = first.strip(Path::network);
  const CompiledModel compiled = std::move(first);
  EXPECT_EQ(compiled.strip(Path::network), costs) << "moved";
  EXPECT_EQ(compiled.path(Path::mapped), compiled.path(Path::network));
  EXPECT_EQ(compiled.path(Path::cma)->name, "intra-node-cma");
  EXPECT_TRUE(compiled.strip(Path::network)->has_put());
  EXPECT_FALSE(compiled.strip(Path::cma)->has_put());
  EXPECT_FALSE(compiled.vis(Path::cma)->has(Direction::put));
}

}  // namespace
}  // namespace stripline::plan
