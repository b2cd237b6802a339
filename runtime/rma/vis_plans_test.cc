#include "runtime/rma/vis_plans.h"

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::rma {
namespace {

using model::Path;

plan::VisRequest many_small_regions() {
  plan::VisRequest request;
  request.direction = plan::Direction::put;
  request.regions = 512;
  request.region_bytes = 16;
  request.local_regions = 512;
  request.extent_bytes = uint64_t{512} * 32;
  request.medium_bytes = 2048;
  return request;
}

TEST(VisPlans, EachPathHasItsOwn) {
  model::TunedModel model = model::example_model();
  model.pack = model::example_pack();
  // Single operations cost next to nothing between ranks of a node, messages what they do.
  model::PathModel& cma = model.network["intra-node-cma"] = model.network["inter-node"];
  for (model::Segment& segment : cma.put->segments) {
    segment.o_base_s = segment.L_s = segment.r_base_s = model::example_parameter(1e-9);
    segment.o_per_byte_s = segment.G_s_per_byte = model::example_parameter(1e-12);
    segment.g_s.reset();
  }
  const plan::CompiledModel compiled(model);
  VisPlans plans(compiled);
  const plan::VisRequest request = many_small_regions();
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(plans.best(request, Path::network).method, plan::VisMethod::packed);
    EXPECT_EQ(plans.best(request, Path::cma).method, plan::VisMethod::pipelined);
  }
  // What was not measured is planned as the network.
  EXPECT_EQ(plans.best(request, Path::mapped).method, plan::VisMethod::packed);
  const plan::CompiledModel none;
  EXPECT_EQ(VisPlans(none).costs(Path::network), nullptr);
}

}  // namespace
}  // namespace stripline::rma
