#include "runtime/decide/visits.h"

#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "optimizer/plan/fine_mechanism.h"
#include "optimizer/plan/path_fixture.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/rma/context_state.h"

namespace stripline::decide {
namespace {

using plan::FineMethod;
using Reads = Visits<plan::FineMechanism, FineMethod::boxes, FineMethod::blocking>;

// A place that is visited again and again.
class VisitedPlace {
 public:
  explicit VisitedPlace(Context& context) : context_(context) {}

  // By which method a visit was carried out.
  FineMethod visit(const plan::CompiledPath* path, std::string_view forced = {}) {
    const FineMethod method = reads.begin(context_.state().mechanisms.instruments(), path, forced);
    context_.compute_for(method == FineMethod::blocking ? blocking_s : other_s);
    reads.end(scale, [](Trace&, double) {});
    if (reads.is_due()) reads.decide(request);
    return method;
  }

  Reads reads;
  plan::FineRequest request{.reads = 1, .boxes = 1};
  double blocking_s = 1e-3;
  double other_s = 1e-3;
  double scale = 1;

 private:
  Context& context_;
};

// On a virtual clock, with a guard, as a model brings it.
template <typename Body>
void with_a_place(const Body& body) {
  const auto group =
      bootstrap::group_on({"", "emulated:opteron-vapi,compute=none,jitter=off", "virtual"}, 1);
  const Status ran = bootstrap::run_ranks(group, [&](Context& context) {
    ASSERT_TRUE(context.state().use_model(std::make_shared<model::TunedModel>()).ok());
    VisitedPlace place(context);
    body(place);
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
}

TEST(Visits, AreMeasuredBeforeTheyArePlanned) {
  const plan::CompiledPath path = plan::example_path();
  with_a_place([&](VisitedPlace& place) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(place.reads.request());
      EXPECT_EQ(place.visit(&path), FineMethod::boxes);
      EXPECT_TRUE(place.reads.measures());
    }
    EXPECT_EQ(place.reads.request(), place.request);
    place.visit(&path);
    EXPECT_FALSE(place.reads.measures());
    // What has changed is measured once more.
    place.reads.forget_request();
    place.request.reads = 2;
    EXPECT_EQ(place.visit(&path), FineMethod::boxes);
    EXPECT_TRUE(place.reads.measures());
    EXPECT_EQ(place.reads.request(), place.request);
  });
}

TEST(Visits, WithoutAModelNothingIsMeasured) {
  with_a_place([](VisitedPlace& place) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(place.visit(nullptr), FineMethod::boxes);
      EXPECT_FALSE(place.reads.measures());
    }
    EXPECT_FALSE(place.reads.request());
  });
}

TEST(Visits, GoByAMethodThatIsForced) {
  const plan::CompiledPath path = plan::example_path();
  with_a_place([&](VisitedPlace& place) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(place.visit(&path, "lists"), FineMethod::lists);
      EXPECT_TRUE(place.reads.is_forced());
      EXPECT_EQ(place.visit(nullptr, plan::kForcedBaseline), FineMethod::boxes);
    }
    place.visit(&path);
    EXPECT_FALSE(place.reads.is_forced());
  });
}

TEST(Visits, ThatDoNothingAreNotCompared) {
  const plan::CompiledPath path = plan::example_path();
  with_a_place([&](VisitedPlace& place) {
    const auto taken_s = [&place] {
      Savings savings;
      place.reads.race().add_to(savings);
      return savings.taken_s;
    };
    for (int i = 0; i < 20; ++i) place.visit(&path);
    const double before_s = taken_s();
    EXPECT_GT(before_s, 0);
    place.scale = 0;
    for (int i = 0; i < 20; ++i) place.visit(&path);
    EXPECT_EQ(taken_s(), before_s);
  });
}

// A single read, of which the model says that it takes as long by either method.
TEST(Visits, WhatTheProgramDoesByItselfIsTakenWhereItIsFaster) {
  const plan::CompiledPath path = plan::example_path();
  for (const bool plain_is_faster : {false, true}) {
    with_a_place([&](VisitedPlace& place) {
      (plain_is_faster ? place.blocking_s : place.other_s) = 2e-4;
      for (int i = 0; i < 3000; ++i) place.visit(&path);
      int plain = 0;
      for (int i = 0; i < 300; ++i) {
        plain += place.visit(&path) == FineMethod::blocking ? 1 : 0;
      }
      EXPECT_EQ(plain > 150, plain_is_faster) << plain;
    });
  }
}

}  // namespace
}  // namespace stripline::decide
