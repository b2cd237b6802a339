// What tests of the time of gathers share: jobs on the virtual clock of an emulated network, and
// models of networks that are right.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <stripline/shared_array.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/loop/testing/model_file.h"

namespace stripline::gathers {

/// A network on which computation takes no time.
inline constexpr const char* kItanium = "emulated:itanium-gm,compute=none,jitter=off";

/// What there is to know of a network.
inline model::TunedModel exact_model(const std::string& network) {
  model::TunedModel known = model::example_model();
  known.network["inter-node"] = exact_path(network);
  known.strip = exact_strip(network);
  return known;
}

/// Runs `body` on each rank of a job on kItanium with this model file (empty: none) and these rules
/// of a score map, and with an array whose elements hold their numbers. Ranks have met before and
/// meet after it.
inline void on_array(const std::string& model, rank_t ranks, uint64_t elements,
                     const std::function<void(Context&, shared_array<uint64_t>&)>& body,
                     const std::string& tuning = "") {
  auto group = bootstrap::group_on({"", kItanium, "virtual"}, ranks);
  group.context.model_path = model;
  group.context.tuning = tuning;
  const Status ran = bootstrap::run_ranks(group, [&](Context& context) {
    auto x = shared_array<uint64_t>::create(context, elements);
    ASSERT_TRUE(x.ok());
    for (size_t i = 0; i < x->local_span().size(); ++i) x->local_span()[i] = x->index_of(i);
    context.barrier();
    body(context, *x);
    context.barrier();
    x->destroy();
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
}

}  // namespace stripline::gathers
