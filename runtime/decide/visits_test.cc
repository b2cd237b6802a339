#include "runtime/decide/visits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "optimizer/plan/fine_mechanism.h"
#include "optimizer/plan/path_fixture.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline::decide {
namespace {

using plan::FineMethod;
using Methods = std::vector<FineMethod>;
using Reads = Visits<plan::FineMechanism, FineMethod::boxes>;

constexpr uint64_t kAmount = 100;

// A place that is visited again and again.
class VisitedPlace {
 public:
  explicit VisitedPlace(Context& context) : context_(context) {}

  // By which method a visit was carried out.
  FineMethod visit(const plan::CompiledPath* path, std::string_view forced = {}) {
    const FineMethod method = reads.begin(context_.state().mechanisms.instruments(), path, forced);
    patience_s = reads.patience_s();
    context_.compute_for(method == FineMethod::blocking ? blocking_s : other_s);
    reads.end(amount, [](Trace&, double) {});
    if (reads.is_due()) reads.decide(request);
    return method;
  }
  // Without a model.
  Methods visits(size_t number) {
    Methods methods;
    while (methods.size() < number) methods.push_back(visit(nullptr));
    return methods;
  }

  Instruments instruments() { return context_.state().mechanisms.instruments(); }
  void compute_for(double seconds) { context_.compute_for(seconds); }

  Reads reads;
  plan::FineRequest request{.reads = 1, .boxes = 1};
  double blocking_s = 1e-3;
  double other_s = 1e-3;
  uint64_t amount = kAmount;
  double patience_s = 0;  // of the last visit

 private:
  Context& context_;
};

// On a virtual clock.
template <typename Body>
void with_a_place(const Body& body, bool guard = true) {
  auto group =
      bootstrap::group_on({"", "emulated:opteron-vapi,compute=none,jitter=off", "virtual"}, 1);
  group.context.guard = guard;
  bootstrap::on_ranks(group, [&](Context& context) {
    VisitedPlace place(context);
    body(place);
  });
}

// A model says nothing of a single read but that it takes as long by either method.
TEST(Visits, AreMeasuredBeforeTheyArePlanned) {
  const plan::CompiledPath path = plan::example_path();
  with_a_place([&](VisitedPlace& place) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(place.reads.request());
      EXPECT_EQ(place.visit(&path), FineMethod::boxes);
      EXPECT_TRUE(place.reads.measures());
    }
    EXPECT_EQ(place.reads.request(), place.request);
    EXPECT_EQ(place.visit(&path), FineMethod::blocking);
    EXPECT_FALSE(place.reads.measures());
  });
}

// What some visits in succession do differently is measured once more.
TEST(Visits, ThatChangeArePlannedAgain) {
  const plan::CompiledPath path = plan::example_path();
  with_a_place([&](VisitedPlace& place) {
    for (int i = 0; i < 3; ++i) place.visit(&path);
    const plan::FineRequest before = place.request;
    place.request.reads = 2;
    for (uint32_t i = 0; i < Reads::kChanged; ++i) {
      EXPECT_EQ(place.reads.request(), before);
      place.amount = 3 * kAmount;
      place.visit(&path);
      EXPECT_FALSE(place.reads.measures());
    }
    EXPECT_FALSE(place.reads.request());
    EXPECT_EQ(place.visit(&path), FineMethod::boxes);
    EXPECT_TRUE(place.reads.measures());
    EXPECT_EQ(place.reads.request(), place.request);
  });
}

TEST(Visits, WithoutAModelAreComparedWithTheBaselineAtOnce) {
  for (const bool loses : {false, true}) {
    with_a_place([&](VisitedPlace& place) {
      place.blocking_s = loses ? 7e-4 : 1.5e-3;
      EXPECT_EQ(place.visits(4), (Methods{FineMethod::boxes, FineMethod::boxes,
                                          FineMethod::blocking, FineMethod::blocking}));
      const FineMethod kept = loses ? FineMethod::blocking : FineMethod::boxes;
      EXPECT_EQ(place.visits(200), Methods(200, kept));
      EXPECT_FALSE(place.reads.measures());
      EXPECT_FALSE(place.reads.request());
      // From then on as the budget allows.
      Savings savings;
      const Methods later = place.visits(20000);
      EXPECT_GT(std::ranges::count(later, kept), 19800);
      place.reads.race().add_to(savings);
      EXPECT_LT(savings.excess_s, plan::Guard::kBudget * savings.taken_s);
      EXPECT_EQ(place.reads.race().is_demoted(), loses);
    });
  }
}

// Without a model, what else a program may do is tried, too.
TEST(Visits, TakeTheFastestOfSeveralMethods) {
  for (const bool lists_are_faster : {false, true}) {
    with_a_place([&](VisitedPlace& place) {
      Visits<plan::FineMechanism, FineMethod::boxes, FineMethod::lists> reads;
      const auto visit = [&] {
        const FineMethod method = reads.begin(place.instruments(), nullptr, {});
        const double lists_s = lists_are_faster ? 5e-4 : 2e-3;
        place.compute_for(method == FineMethod::blocking ? 1.5e-3
                          : method == FineMethod::lists  ? lists_s
                                                         : 1e-3);
        if (method == FineMethod::lists && reads.patience_s() < 1) {
          EXPECT_NEAR(reads.patience_s(), plan::Guard::kHopeless * 1e-3, 1e-6);
          EXPECT_EQ(reads.rival(), FineMethod::boxes);
        }
        reads.end(kAmount, [](Trace&, double) {});
        return method;
      };
      Methods methods;
      while (methods.size() < 6) methods.push_back(visit());
      EXPECT_EQ(methods, (Methods{FineMethod::boxes, FineMethod::boxes, FineMethod::blocking,
                                  FineMethod::blocking, FineMethod::lists, FineMethod::lists}));
      methods.clear();
      while (methods.size() < 200) methods.push_back(visit());
      EXPECT_EQ(methods, Methods(200, lists_are_faster ? FineMethod::lists : FineMethod::boxes));
    });
  }
}

// All ranks compare at the same visits, whatever their own ones take.
TEST(Visits, OfAllRanksAreComparedTogether) {
  for (const double times : {0.1, 1.0, 10.0}) {
    with_a_place([&](VisitedPlace& place) {
      place.reads.share_budget(16);
      place.blocking_s = 1.2e-3 * times;
      place.other_s = 1e-3 * times;
      const Methods methods = place.visits(50);
      for (size_t i = 0; i < methods.size(); ++i) {
        EXPECT_EQ(methods[i] == FineMethod::blocking, i == 2 || i == 3) << i;
      }
    });
  }
}

TEST(Visits, NeedNotWaitUntilTheEndForWhatIsFarSlower) {
  with_a_place([](VisitedPlace& place) {
    place.blocking_s = 5e-3;
    place.visits(2);
    EXPECT_EQ(place.patience_s, std::numeric_limits<double>::infinity());
    EXPECT_EQ(place.visit(nullptr), FineMethod::blocking);
    EXPECT_NEAR(place.patience_s, plan::Guard::kHopeless * place.other_s, 1e-6);
    EXPECT_EQ(place.reads.rival(), FineMethod::boxes);
    EXPECT_EQ(place.visit(nullptr), FineMethod::boxes) << "one visit is enough";
    EXPECT_EQ(place.patience_s, std::numeric_limits<double>::infinity());
  });
}

TEST(Visits, WithoutAGuardAreNotCompared) {
  with_a_place(
      [](VisitedPlace& place) {
        place.blocking_s = 1e-4;
        EXPECT_EQ(place.visits(50), Methods(50, FineMethod::boxes));
      },
      false);
}

TEST(Visits, GoByAMethodThatIsForced) {
  const plan::CompiledPath path = plan::example_path();
  with_a_place([&](VisitedPlace& place) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(place.visit(&path, "lists"), FineMethod::lists);
      EXPECT_EQ(place.visit(nullptr, plan::kForcedBaseline), FineMethod::blocking);
    }
    EXPECT_EQ(place.visit(&path), FineMethod::boxes);
  });
}

TEST(Visits, ThatDoNothingAreNone) {
  with_a_place([](VisitedPlace& place) {
    place.blocking_s = 1.5e-3;
    Methods methods;
    for (int i = 0; i < 8; ++i) {
      place.amount = 0;
      place.visits(static_cast<size_t>(i) % 3);
      place.amount = kAmount;
      methods.push_back(place.visit(nullptr));
    }
    Methods expected(8, FineMethod::boxes);
    expected[2] = expected[3] = FineMethod::blocking;
    EXPECT_EQ(methods, expected);
    Savings savings;
    place.reads.race().add_to(savings);
    EXPECT_NEAR(savings.taken_s, 6 * place.other_s + 2 * place.blocking_s, 1e-5);
  });
}

// What is compared is the time in proportion to what visits do.
TEST(Visits, ThatDoFarMoreAreNotCompared) {
  with_a_place([](VisitedPlace& place) {
    Methods methods;
    for (int i = 0; i < 60; ++i) {
      const bool more = i % 2 == 1;
      place.amount = more ? 10 * kAmount : kAmount + (i % 4 == 0 ? kAmount / 2 : 0);
      const double scale = static_cast<double>(place.amount) / static_cast<double>(kAmount);
      place.other_s = (more ? 4 : 1) * scale * 1e-3;
      place.blocking_s = 1.5 * scale * 1e-3;
      methods.push_back(place.visit(nullptr));
    }
    EXPECT_EQ(std::ranges::count(methods, FineMethod::blocking), 4)
        << "two that are compared, each behind one that is not";
    EXPECT_EQ(methods.back(), FineMethod::boxes);
  });
}

TEST(Visits, ThatChangeAreComparedAgain) {
  with_a_place([](VisitedPlace& place) {
    place.blocking_s = 1.5e-3;
    place.visits(10);
    place.amount = 10 * kAmount;
    place.blocking_s = 5e-4;
    EXPECT_EQ(place.visits(Reads::kChanged), Methods(Reads::kChanged, FineMethod::boxes));
    EXPECT_EQ(place.visits(3),
              (Methods{FineMethod::boxes, FineMethod::blocking, FineMethod::blocking}));
    EXPECT_EQ(place.visits(50), Methods(50, FineMethod::blocking));
    // What has lost stays given up, whatever visits do.
    place.amount = kAmount;
    EXPECT_EQ(place.visits(20), Methods(20, FineMethod::blocking));
  });
}

TEST(Visits, ThatChangeAgainAndAgainAreComparedAFewTimes) {
  with_a_place([](VisitedPlace& place) {
    place.blocking_s = 1.5e-3;
    int64_t blocking = 0;
    for (int change = 0; change < 10; ++change) {
      place.amount = change % 2 == 0 ? kAmount : 10 * kAmount;
      blocking += std::ranges::count(place.visits(12), FineMethod::blocking);
    }
    EXPECT_EQ(blocking, 2 * Reads::kEarlyChecks);
  });
}

// The model says that it takes as long by either method.
TEST(Visits, TheFasterMethodIsTakenWhereAModelKnowsNone) {
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

// A plan that takes longer than predicted is compared at once, and given up if it loses.
TEST(Visits, APlanThatLosesToTheBaselineIsGivenUp) {
  const plan::CompiledPath path = plan::example_path();
  with_a_place([&](VisitedPlace& place) {
    place.request = {.reads = 1000, .boxes = 100, .box_bytes = 160, .bursts = 10};
    place.other_s = 0.1;
    place.blocking_s = 0.05;
    for (int i = 0; i < 4; ++i) EXPECT_NE(place.visit(&path), FineMethod::blocking) << i;
    for (int i = 0; i < 50; ++i) EXPECT_EQ(place.visit(&path), FineMethod::blocking) << i;
  });
}

}  // namespace
}  // namespace stripline::decide
