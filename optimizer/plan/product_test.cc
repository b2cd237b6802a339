#include "optimizer/plan/product.h"

#include <gtest/gtest.h>

#include "optimizer/plan/path_fixture.h"
#include "optimizer/plan/product_mechanism.h"

namespace stripline::plan {
namespace {

// Rows of a mesh: most of their entries are of this rank's elements.
ProductRequest mesh() {
  return {.rows = 10000,
          .own_rows = 10000,
          .own_entries = 68000,
          .own_elements = 10000,
          .other_rows = 400,
          .visits = 420,
          .other_entries = 2000,
          .elements = 400,
          .owners = 4};
}

// Rows with entries all over the place.
ProductRequest scattered() {
  return {.rows = 10000,
          .own_rows = 6000,
          .own_entries = 9000,
          .own_elements = 10000,
          .other_rows = 9900,
          .visits = 60000,
          .other_entries = 61000,
          .elements = 40000,
          .owners = 7};
}

TEST(PlanProduct, WithoutAModelTheNumbersDecide) {
  ProductRequest request = mesh();
  EXPECT_EQ(plan_product(request, nullptr).method, ProductMethod::by_owner);
  EXPECT_EQ(plan_product(request, nullptr).reason, Reason::no_model);
  request.reachable = true;
  EXPECT_EQ(plan_product(request, nullptr).method, ProductMethod::by_owner);
  request = scattered();
  EXPECT_EQ(plan_product(request, nullptr).method, ProductMethod::together);
  request.reachable = true;
  EXPECT_EQ(plan_product(request, nullptr).method, ProductMethod::whole);
  request.vectors = 3;
  EXPECT_EQ(plan_product(request, nullptr).method, ProductMethod::together);
  EXPECT_EQ(plan_product({}, nullptr).method, ProductMethod::by_owner);
}

// Elements would seem to be there at once, and what is hidden behind them to cost time.
TEST(PlanProduct, WithoutPutsTheNumbersDecide) {
  model::TunedModel model = model::example_model();
  model.pack = model::example_pack();
  auto& network = *model.network.find("inter-node");
  network.second.put.reset();
  const CompiledPath path(model, network);
  ASSERT_FALSE(path.vis.has(Direction::put));
  ProductRequest request = mesh();
  request.visits = 790;
  const ProductPlan plan = plan_product(request, &path);
  EXPECT_EQ(plan.method, ProductMethod::by_owner);
  EXPECT_EQ(plan.reason, Reason::no_model);
}

TEST(PlanProduct, AllowsWhatKeepsTheOrderAndHasAPlaceForAllVectors) {
  ProductRequest request = scattered();
  EXPECT_TRUE(allows(request, ProductMethod::whole));
  request.ordered = true;
  EXPECT_FALSE(allows(request, ProductMethod::whole));
  request.reachable = true;
  EXPECT_TRUE(allows(request, ProductMethod::whole));
  request.vectors = 2;
  EXPECT_FALSE(allows(request, ProductMethod::whole));
  request.owners = 0;
  EXPECT_FALSE(allows(request, ProductMethod::together));
  EXPECT_TRUE(allows(request, ProductMethod::by_owner));
}

// Rows that are begun for each owner cost more than those that are begun once; what is computed
// while the rest is in flight costs nothing.
TEST(PlanProduct, PredictsVisitsCopiesAndOverlap) {
  const CompiledPath path = example_path();
  const auto predicted = [&](const ProductRequest& request, ProductMethod method) {
    return predict_product(request, path, method);
  };
  const ProductRequest rows = scattered();
  EXPECT_LT(predicted(rows, ProductMethod::together), predicted(rows, ProductMethod::by_owner));
  // Own entries hide what is in flight; where there are none, only loads of others' elements do not
  // wait.
  ProductRequest here = mesh();
  here.reachable = true;
  EXPECT_EQ(predicted(here, ProductMethod::by_owner), predicted(mesh(), ProductMethod::by_owner));
  ProductRequest bare = mesh();
  bare.own_rows = bare.own_entries = bare.own_elements = 0;
  const double waits_s = predicted(bare, ProductMethod::by_owner);
  bare.reachable = true;
  EXPECT_LT(predicted(bare, ProductMethod::by_owner), waits_s);
  // More elements lie farther apart for every method, and are copied by one.
  ProductRequest more = here;
  more.elements *= 2;
  const auto grows = [&](ProductMethod method) {
    return predicted(more, method) - predicted(here, method);
  };
  EXPECT_GT(grows(ProductMethod::whole), grows(ProductMethod::by_owner));
  ProductRequest two = here;
  two.vectors = 2;
  EXPECT_GT(predicted(two, ProductMethod::together), predicted(here, ProductMethod::together));
}

TEST(PlanProduct, TakesAnotherMethodOnlyIfItIsSurelyFaster) {
  const CompiledPath path = example_path();
  for (ProductRequest request : {mesh(), scattered()}) {
    for (const bool reachable : {false, true}) {
      request.reachable = reachable;
      ProductRecord record;
      const ProductPlan plan = plan_product(request, &path, record);
      EXPECT_EQ(plan, plan_product(request, &path));
      EXPECT_EQ(record.alternatives.size(), 3U);
      EXPECT_EQ(plan.baseline_s, predict_product(request, path, usual_product(request)));
      EXPECT_EQ(plan.predicted_s, predict_product(request, path, plan.method));
      if (plan.method == usual_product(request)) continue;
      EXPECT_EQ(plan.reason, Reason::tuned);
      EXPECT_GT(plan.gain_low, path.strip.minimum_gain());
    }
  }
}

TEST(ProductMechanism, RefusesWhatIsNotPossible) {
  EXPECT_TRUE(ProductMechanism::request_of(mesh()).ok());
  ProductRequest request = mesh();
  request.own_rows = 10001;
  EXPECT_FALSE(ProductMechanism::request_of(request).ok());
  request = mesh();
  request.visits = 399;
  EXPECT_FALSE(ProductMechanism::request_of(request).ok());
  request = mesh();
  request.owners = 0;
  EXPECT_FALSE(ProductMechanism::request_of(request).ok());
}

}  // namespace
}  // namespace stripline::plan
