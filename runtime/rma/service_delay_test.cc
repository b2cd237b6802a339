// How long a target lets requests wait: measured there, reported to the sender, used by planners.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/vis.h>

#include "optimizer/model/model_fixture.h"
#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;
using bootstrap::run_ranks_returning;

constexpr double kBusySeconds = 2e-3;

/// Rank 0 asks rank 1, one request after another, `requests` times.
class Asking {
 public:
  /// Collective.
  explicit Asking(Context& context) : context_(context) {
    answer_ = context.register_am([this](rank_t, std::span<const std::byte>) { ++answered_; });
    ask_ = context.register_am([this](rank_t source, std::span<const std::byte>) {
      ++served_;
      context_.am_send(source, answer_, {});
    });
    context.barrier();
  }

  void ask(uint64_t requests) {
    for (uint64_t i = 0; i < requests; ++i) {
      const uint64_t before = answered_;
      context_.am_send(1, ask_, {});
      context_.wait_until([&] { return answered_ > before; });
    }
  }

  /// Computes, and looks for messages now and then.
  void serve_between_computation(uint64_t requests) {
    expected_ += requests;  // the first ones may have come during a barrier
    while (served_ < expected_) {
      context_.compute_for(kBusySeconds);
      context_.progress();
    }
  }

  void serve_at_once(uint64_t requests) {
    expected_ += requests;
    context_.wait_until([&] { return served_ >= expected_; });
  }

 private:
  Context& context_;
  uint32_t ask_ = 0;
  uint32_t answer_ = 0;
  uint64_t served_ = 0;
  uint64_t expected_ = 0;
  uint64_t answered_ = 0;
};

class ServiceDelay : public ::testing::TestWithParam<bootstrap::FabricUnderTest> {};

TEST_P(ServiceDelay, OfARankThatComputesIsWhatItComputes) {
  bootstrap::on_ranks(group_on(GetParam(), 2), [](Context& context) {
    Asking asking(context);
    if (context.rank_me() == 0) {
      EXPECT_EQ(context.service_delay(1), 0.0);
      asking.ask(8);
      // Requests leave soon after an answer, which comes when the target begins to compute.
      EXPECT_GT(context.service_delay(1), kBusySeconds / 2);
      const double planned_s = context.state().operations.service_delays().expected_s(1);
      EXPECT_GT(planned_s, kBusySeconds / 8);
    } else {
      asking.serve_between_computation(8);
    }
    context.barrier();
    EXPECT_EQ(context.service_delay(context.rank_me()), 0.0);  // it sent itself nothing
  });
}

TEST_P(ServiceDelay, OfARankThatWaitsForMessagesIsNone) {
  bootstrap::on_ranks(group_on(GetParam(), 2), [](Context& context) {
    Asking asking(context);
    if (context.rank_me() == 0) {
      asking.ask(20);
      EXPECT_EQ(context.service_delay(1), 0.0);
      EXPECT_EQ(context.state().operations.service_delays().expected_s(1), 0.0);
    } else {
      asking.serve_at_once(20);
    }
    context.barrier();
  });
}

TEST_P(ServiceDelay, IsForgottenWhenThereIsNoNewsOrBetterNews) {
  bootstrap::on_ranks(group_on(GetParam(), 2), [](Context& context) {
    Asking asking(context);
    if (context.rank_me() == 0) {
      rma::ServiceDelays delays(context.state().operations.messages(), 2, 4);
      asking.ask(8);
      const double first_s = delays.expected_s(1);
      EXPECT_GT(first_s, 0);
      // Without news: the same for some plans, then a step less, and in the end none.
      for (int i = 0; i < 3; ++i) EXPECT_EQ(delays.expected_s(1), first_s);
      EXPECT_NEAR(delays.expected_s(1), first_s / 4, first_s * 1e-9);
      for (int i = 0; i < 4 * 16; ++i) delays.expected_s(1);
      EXPECT_EQ(delays.expected_s(1), 0.0);
      // News that it is as slow as ever.
      asking.ask(1);
      EXPECT_EQ(delays.expected_s(1), first_s);
      // It has become attentive.
      asking.ask(150);
      EXPECT_EQ(delays.expected_s(1), 0.0);
      EXPECT_EQ(context.service_delay(1), 0.0);
    } else {
      asking.serve_between_computation(9);
      asking.serve_at_once(150);
    }
    context.barrier();
  });
}

TEST_P(ServiceDelay, IsToldByAnswersToAtomicOperationsToo) {
  bootstrap::on_ranks(group_on(GetParam(), 2), [](Context& context) {
    Asking asking(context);
    const atomic_domain<uint64_t> domain(context, AtomicPath::message);
    const auto word = *context.new_symmetric_array<uint64_t>(1);
    *context.local(word) = 0;
    context.barrier();
    if (context.rank_me() == 0) {
      for (uint64_t i = 0; i < 8; ++i) {
        EXPECT_EQ(domain.fetch_add(context.on_rank(word, 1), uint64_t{1}), i);
      }
      EXPECT_GT(context.service_delay(1), kBusySeconds / 2);
      asking.ask(1);
    } else {
      asking.serve_between_computation(1);
    }
    context.barrier();
  });
}

// Many small regions are packed, unless the target lets messages wait and other methods do not need
// it.
TEST_P(ServiceDelay, DecidesHowTransfersOfManyRegionsTravel) {
  auto options = group_on(GetParam(), 2);
  options.context.guard = false;  // each transfer as the model says
  bootstrap::on_ranks(options, [](Context& context) {
    model::TunedModel model = model::example_model();
    model.pack = model::example_pack();
    detail::ContextState& state = context.state();
    ASSERT_TRUE(state.use_model(std::make_shared<const model::TunedModel>(model)).ok());
    Asking asking(context);
    constexpr size_t kRows = 256;
    const auto there = context.on_rank(*context.new_symmetric_array<double>(4 * kRows), 1);
    const std::vector<double> column(kRows, 1.5);
    const auto transfer = [&] {
      rput_strided(context, column.data(), std::array<std::ptrdiff_t, 1>{8}, there,
                   std::array<std::ptrdiff_t, 1>{32}, std::array<size_t, 1>{kRows})
          .wait();
    };
    const auto packed = [&] {
      return state.operations.vis().statistics().of(plan::VisMethod::packed).puts;
    };
    context.barrier();
    if (context.rank_me() == 0) {
      transfer();
      EXPECT_EQ(packed(), 1U);
      asking.ask(1);
      context.barrier();
      for (int i = 0; i < 3; ++i) transfer();  // the first ones find it out
      const uint64_t before = packed();
      for (int i = 0; i < 5; ++i) transfer();
      EXPECT_EQ(packed() - before, state.job.fabric().needs_target(1, true) ? 5U : 0U);
      asking.ask(1);
    } else {
      asking.serve_at_once(1);
      context.barrier();
      asking.serve_between_computation(1);
    }
    context.barrier();
  });
}

std::vector<bootstrap::FabricUnderTest> fabrics_with_clock(const std::string& clock) {
  auto fabrics = fabrics_under_test();
  std::erase_if(fabrics, [&](const auto& one) { return one.clock != clock; });
  return fabrics;
}

// How long a delay is can be foretold on the virtual clock only.
INSTANTIATE_TEST_SUITE_P(Fabrics, ServiceDelay, ::testing::ValuesIn(fabrics_with_clock("virtual")),
                         bootstrap::FabricLabel());

class ServiceDelayInRealTime : public ServiceDelay {};

TEST_P(ServiceDelayInRealTime, IsSeenAndForgotten) {
  static constexpr double kPatienceSeconds = 60;
  bootstrap::on_ranks(group_on(GetParam(), 2), [](Context& context) {
    Asking asking(context);
    int phase = 0;
    const uint32_t next = context.register_am([&](rank_t, std::span<const std::byte>) { ++phase; });
    context.barrier();
    if (context.rank_me() == 0) {
      const auto ask_while = [&](auto condition) {
        const double begin_s = context.now_s();
        while (condition(context.service_delay(1))) {
          ASSERT_LT(context.now_s() - begin_s, kPatienceSeconds);
          asking.ask(1);
        }
        context.am_send(1, next, {});
      };
      ask_while([](double delay_s) { return delay_s == 0; });
      ask_while([](double delay_s) { return delay_s > 0; });
    } else {
      while (phase < 1) {
        context.compute_for(kBusySeconds);
        context.progress();
      }
      context.wait_until([&] { return phase == 2; });
    }
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, ServiceDelayInRealTime,
                         ::testing::ValuesIn(fabrics_with_clock("real")), bootstrap::FabricLabel());

// One late answer after many prompt ones is soon tried again, and what is prompt then stays so.
TEST(ServiceDelays, OfARankThatWasLateOnceAreSoonTriedAgain) {
  bootstrap::on_ranks(group_on(fabrics_under_test()[1], 2), [](Context& context) {
    Asking asking(context);
    if (context.rank_me() == 0) {
      rma::ServiceDelays delays(context.state().operations.messages(), 2);
      for (int i = 0; i < 32; ++i) {
        asking.ask(1);
        EXPECT_EQ(delays.expected_s(1), 0.0);
      }
      asking.ask(1);
      const double late_s = delays.expected_s(1);
      EXPECT_GT(late_s, 0);
      int plans = 1;
      while (delays.expected_s(1) == late_s && plans < 1000) ++plans;
      EXPECT_EQ(plans, 8);
      // The average is still long, but falls.
      const double tried_s = delays.expected_s(1);
      EXPECT_LT(tried_s, late_s);
      for (int i = 0; i < 100; ++i) {
        asking.ask(1);
        EXPECT_LE(delays.expected_s(1), tried_s);
      }
      EXPECT_EQ(delays.expected_s(1), 0.0);
    } else {
      asking.serve_at_once(32);
      asking.serve_between_computation(1);
      asking.serve_at_once(100);
    }
    context.barrier();
  });
}

TEST(ServiceDelays, AreTheSameEveryTimeOnTheVirtualClock) {
  const auto delays = [] {
    return run_ranks_returning<double>(group_on(fabrics_under_test()[1], 2), [](Context& context) {
      Asking asking(context);
      if (context.rank_me() == 0) {
        asking.ask(5);
      } else {
        asking.serve_between_computation(5);
      }
      context.barrier();
      return context.service_delay(1 - context.rank_me());
    });
  };
  const auto once = delays();
  const auto again = delays();
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(*once, *again);
  EXPECT_GT(once->front(), 0.0);
}

}  // namespace
}  // namespace stripline
