// Calls of functions at other ranks. Processes with addresses of their own:
// tests/programs/rpc.cc.
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/rpc.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/program_images.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

const int kHere = 5;

TEST(ProgramImages, PlacesAreFoundAgain) {
  rma::ProgramImages images;
  rma::ProgramImages others;
  rma::ProgramImages::Place place;
  ASSERT_TRUE(images.find(&kHere, place));
  EXPECT_NE(place.image, 0U);
  EXPECT_EQ(others.at(place, sizeof kHere), &kHere);
  EXPECT_EQ(others.at({.image = place.image, .offset = uint64_t{1} << 40}, 4), nullptr);
  EXPECT_EQ(others.at({.image = place.image + 1, .offset = place.offset}, 4), nullptr);
  const auto on_heap = std::make_unique<int>(3);
  EXPECT_FALSE(images.find(on_heap.get(), place));
}

void answers_come_as_values(Context& context) {
  const auto array = context.new_symmetric_array<uint64_t>(10);
  ASSERT_TRUE(array.ok());
  std::iota(context.local(*array), context.local(*array) + 10, context.rank_me() * 100);
  context.barrier();
  for (rank_t target = 0; target < context.rank_n(); ++target) {  // itself, too
    const uint64_t factor = target + 2;
    const auto sum = rpc(
        context, target,
        [factor](Context& there, global_ptr<uint64_t> mine, size_t count) {
          const uint64_t* x = there.local(there.on_rank(mine, there.rank_me()));
          return factor * std::accumulate(x, x + count, uint64_t{0});
        },
        *array, size_t{10});
    EXPECT_EQ(sum.wait(), factor * (1000 * target + 45));
    // Text, vectors and spans, in both directions.
    const std::vector<double> numbers = {1, 2, 4};
    const auto text = rpc(
        context, target,
        [](const std::string& a, std::string_view b, const std::vector<double>& c,
           std::span<const int> d) {
          return a + "/" + std::string(b) + "/" + std::to_string(c.size()) + "/" +
                 std::to_string(d.empty() ? 0 : d.back());
        },
        std::string("one"), "two", numbers, std::span<const int>());
    EXPECT_EQ(text.wait(), "one/two/3/0");
    const std::vector<uint16_t> list = rpc(
                                           context, target,
                                           [](uint16_t n) {
                                             std::vector<uint16_t> all(n);
                                             std::iota(all.begin(), all.end(), n);
                                             return all;
                                           },
                                           uint16_t{500})
                                           .wait();
    ASSERT_EQ(list.size(), 500U);
    EXPECT_EQ(list[499], 999);
    EXPECT_EQ(rpc(context, target, [] { return "literal"; }).wait(), "literal");
    rpc(context, target, [] {}).wait();
  }
  context.barrier();
}

// More than there are credits, without waiting in between, from all to all.
void many_at_once(Context& context) {
  std::vector<future_of<uint64_t>> all;
  for (uint64_t i = 0; i < 300; ++i) {
    all.push_back(rpc(
        context, static_cast<rank_t>(i % 3),
        [](Context& there, uint64_t x) { return x * x + there.rank_me(); }, i));
  }
  const std::vector<uint64_t> answers = when_all(all).wait();
  for (uint64_t i = 0; i < 300; ++i) EXPECT_EQ(answers[i], i * i + i % 3);
  EXPECT_EQ(context.state().operations.rpc_calls().open(), 0U);
  context.barrier();
}

// A function that asks further, and what follows an answer.
void functions_return_futures(Context& context) {
  const rank_t next = (context.rank_me() + 1) % 4;
  const auto around = rpc(context, next, [](Context& second) {
    return rpc(second, (second.rank_me() + 1) % 4,
               [](Context& third) { return std::vector<rank_t>{third.rank_me()}; })
        .then([me = second.rank_me()](std::vector<rank_t> ranks) {
          ranks.push_back(me);
          return ranks;
        });
  });
  // Others follow for this rank only while it waits, as here.
  EXPECT_EQ(around.wait(), (std::vector<rank_t>{(next + 1) % 4, next}));
  context.barrier();
}

class Rpc : public bootstrap::RanksTest {};

// Several in one job, which takes longer to start than they do; with few credits.
TEST_P(Rpc, OfFourRanks) {
  on_ranks(4, 2, [](Context& context) {
    answers_come_as_values(context);
    many_at_once(context);
    functions_return_futures(context);
  });
}

TEST_P(Rpc, ExceptionsReachTheCaller) {
  on_ranks(2, [](Context& context) {
    const rank_t other = 1 - context.rank_me();
    const auto failing = rpc(
        context, other,
        [](int n) -> int {
          if (n > 0) throw std::runtime_error("n is " + std::to_string(n));
          return n;
        },
        3);
    try {
      (void)failing.wait();
      ADD_FAILURE() << "no exception";
    } catch (const rpc_error& error) {
      EXPECT_EQ(std::string(error.what()),
                "an rpc has thrown on rank " + std::to_string(other) + ": n is 3");
    }
    const auto later = rpc(context, other, [](Context& there) {
      return rpc(there, 1 - there.rank_me(), [] { throw std::runtime_error("far away"); });
    });
    EXPECT_THROW(later.wait(), rpc_error);
    const auto too_large = rpc(context, other, [] { return std::vector<char>(1 << 20); });
    EXPECT_THROW((void)too_large.wait(), rpc_error);
    const auto nothing = rpc(
        context, other, [] { return std::span<const int>(static_cast<const int*>(nullptr), 2); });
    try {
      (void)nothing.wait();
      ADD_FAILURE() << "no exception";
    } catch (const rpc_error& error) {
      EXPECT_EQ(std::string(error.what()), "an rpc has thrown on rank " + std::to_string(other) +
                                               ": its result is at a null pointer");
    }
    context.barrier();
  });
}

// A function without captures takes no byte of the message.
TEST_P(Rpc, TakesAsMuchAsItSays) {
  on_ranks(2, [](Context& context) {
    const std::string most(rpc_max_bytes(context) - sizeof(uint64_t), 'x');
    const auto length = rpc(
        context, 1 - context.rank_me(), [](const std::string& text) { return text.size(); }, most);
    EXPECT_EQ(length.wait(), most.size());
    context.barrier();
  });
}

// The answer to a call whose future is dropped is awaited before the rank leaves.
TEST_P(Rpc, DroppedFuturesAreAnsweredBeforeTheEnd) {
  static std::atomic<int> ran;
  ran = 0;
  on_ranks(2, [](Context& context) {
    (void)rpc(context, 1 - context.rank_me(), [] { ++ran; }).then([] { ++ran; });
  });
  EXPECT_EQ(ran, 4);
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Rpc, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class RpcDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(RpcDeathTest, MistakesAreNamed) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         rpc_ff(context, 1 - context.rank_me(),
                                [] { throw std::runtime_error("lost"); });
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2), "rpc_ff of rank . has thrown: lost");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const std::vector<char> much(1 << 20);
                         rpc_ff(
                             context, 0, [](const std::vector<char>&) {}, much);
                       }),
              ::testing::ExitedWithCode(2),
              "rpc_test.cc:[0-9]+: rpc to rank 0 with .* more than rpc_max_bytes.. = ");
  EXPECT_EXIT(on_ranks(2, [](Context& context) { (void)rpc(context, 2, [] {}); }),
              ::testing::ExitedWithCode(2),
              "rpc_test.cc:[0-9]+: rpc names rank 2, but the job has ranks 0 to 1");
  // Found before anything of it is copied, or read.
  for (const size_t elements : {size_t{1} << 40, ~size_t{0} / 2}) {
    EXPECT_EXIT(on_ranks(2,
                         [elements](Context& context) {
                           static const uint64_t one = 1;
                           rpc_ff(
                               context, 0, [](const std::vector<uint64_t>&) {},
                               std::span<const uint64_t>(&one, elements));
                         }),
                ::testing::ExitedWithCode(2), "of captures and arguments, more than rpc_max");
  }
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         rpc_ff(
                             context, 0, [](const std::vector<uint64_t>&) {},
                             std::span(static_cast<const uint64_t*>(nullptr), 2));
                       }),
              ::testing::ExitedWithCode(2),
              "rpc_test.cc:[0-9]+: rpc to rank 0 with an argument at a null pointer");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const char* const text = nullptr;
                         (void)rpc(
                             context, 1, [](const std::string&) {}, text);
                       }),
              ::testing::ExitedWithCode(2),
              "rpc_test.cc:[0-9]+: rpc to rank 1 with an argument at a null pointer");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         (void)rpc(context, 1 - context.rank_me(), [] { throw 3; });
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2), "no future's owner has asked for: an rpc has thrown");
}

}  // namespace
}  // namespace stripline
