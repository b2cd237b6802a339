// What is out of bounds ends the job with a message that says where the call stands, what it asked
// for and why that cannot be: counts whose bytes no number holds, ranks that do not exist, null
// pointers, and pointers that were moved out of their segment.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/am.h>
#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/loop.h>
#include <stripline/shared_array.h>
#include <stripline/strict.h>
#include <stripline/team.h>
#include <stripline/vis.h>
#include <stripline/wavefront.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

// Elements of 4 bytes: one more than 2^64 bytes, or 4 bytes if the product wraps around.
constexpr size_t kWraps = (size_t{1} << 62) + 1;

class BoundsDeathTest : public bootstrap::RanksDeathTest {
 protected:
  // Rank 0 of two does it with its own part of an array of 8, the other one's, and memory.
  using Body = std::function<void(Context&, global_ptr<int>, int*)>;
  static void wrong(const Body& body, bool debug = false,
                    const bootstrap::FabricUnderTest& fabric = bootstrap::fabrics_under_test()[1]) {
    auto options = bootstrap::group_on(fabric, 2);
    options.context.debug = debug;
    const Status ran = bootstrap::run_ranks(options, [&body](Context& context) {
      const auto array = context.new_symmetric_array<int>(8);
      context.barrier();
      std::array<int, 8> memory{};
      if (context.rank_me() == 0) body(context, context.on_rank(*array, 1), memory.data());
      context.barrier();
    });
    std::_Exit(ran.ok() ? 0 : 1);
  }
};

#define EXPECT_WRONG(statement, message) \
  EXPECT_EXIT(statement, ::testing::ExitedWithCode(2), message)

TEST_F(BoundsDeathTest, CountsThatOverflow) {
  const std::vector<std::pair<const char*, Body>> calls = {
      {"rget", [](Context& c, auto there, int* mine) { c.rget(there, mine, kWraps); }},
      {"rput", [](Context& c, auto there, int* mine) { c.rput(mine, there, kWraps); }},
      {"rput_buffered",
       [](Context& c, auto there, int* mine) { c.rput_buffered(mine, there, kWraps); }},
      {"rput_signal",
       [](Context& c, auto there, int* mine) {
         c.rput_signal(mine, there, kWraps, there.template reinterpret<uint64_t>(), 1);
       }},
      {"rget_nbi", [](Context& c, auto there, int* mine) { c.rget_nbi(there, mine, kWraps); }},
      {"rput_nbi", [](Context& c, auto there, int* mine) { c.rput_nbi(mine, there, kWraps); }},
      {"loop", [](Context& c, auto there,
                  int*) { strip_for(c, there, kWraps, {}, [](size_t, size_t, const int*) {}); }},
  };
  for (const auto& [name, call] : calls) {
    const std::string message = std::string("bounds_test.cc:[0-9]+: ") + name +
                                " of 2\\^64 bytes or more at offset 0 of rank 1 is out of bounds";
    EXPECT_WRONG(wrong(call, false), message);
    EXPECT_WRONG(wrong(call, true), message);
  }
}

TEST_F(BoundsDeathTest, ListsWhoseBytesOverflow) {
  EXPECT_WRONG(
      wrong([](Context& context, auto there, int* mine) {
        const std::vector<const int*> from = {mine};
        const std::vector<global_ptr<int>> to = {there};
        rput_regular(context, from.begin(), from.end(), kWraps, to.begin(), to.end(), 1);
      }),
      "bounds_test.cc:[0-9]+: rput_regular of 2\\^64 bytes or more of local and 4 bytes of "
      "remote pieces");
  EXPECT_WRONG(wrong([](Context& context, auto there, int* mine) {
                 // Together 16 bytes, if the sum wraps around.
                 constexpr size_t kHalf = size_t{1} << 63;
                 const auto* bytes = reinterpret_cast<const std::byte*>(mine);
                 const std::vector<std::pair<const std::byte*, size_t>> from = {
                     {bytes, kHalf}, {bytes, kHalf}, {bytes, 16}};
                 const std::vector<std::pair<global_ptr<std::byte>, size_t>> to = {
                     {there.template reinterpret<std::byte>(), 16}};
                 rput_irregular(context, from.begin(), from.end(), to.begin(), to.end());
               }),
               "rput_irregular of 2\\^64 bytes or more of local and 16 bytes of remote pieces");
  EXPECT_WRONG(wrong([](Context& context, auto there, int* mine) {
                 rput_strided<1>(context, mine, {4}, there, {4}, {kWraps});
               }),
               "bounds_test.cc:[0-9]+: rput_strided of a shape that no memory holds");
}

TEST_F(BoundsDeathTest, CollectivesWhoseBytesOverflow) {
  const auto on_both = [](const std::function<void(const team&, std::span<int>)>& body) {
    on_ranks(2, [&body](Context& context) {
      std::array<int, 4> memory{};
      body(team::world(context), std::span(memory.data(), kWraps));
    });
  };
  EXPECT_WRONG(on_both([](const team& all, std::span<int> data) { all.broadcast(data, 0); }),
               "broadcast with an output of 2\\^64 bytes or more");
  EXPECT_WRONG(
      on_both([](const team& all, std::span<int> data) { all.allreduce(data, data, op_add{}); }),
      "allreduce with an output of 2\\^64 bytes or more");
  EXPECT_WRONG(on_both([](const team& all, std::span<int> data) { all.allgather(data, data); }),
               "allgather with an output of 2\\^64 bytes or more");
}

TEST(Bounds, AllocationsThatOverflowAreErrorsOfAllRanks) {
  bootstrap::on_ranks(
      bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2), [](Context& context) {
        const auto array = context.new_symmetric_array<int>(kWraps);
        ASSERT_FALSE(array.ok());
        EXPECT_EQ(array.error().code(), ErrorCode::invalid_argument);
        EXPECT_NE(array.error().message().find("2^64 bytes or more; the count is wrong"),
                  std::string::npos)
            << array.error().message();
        // In blocks so large that the part of the first rank overflows.
        const auto spread = shared_array<int, block_cyclic<>>::create(
            context, uint64_t{1} << 63, block_cyclic<>{uint64_t{1} << 61});
        ASSERT_FALSE(spread.ok());
        EXPECT_EQ(spread.error().code(), ErrorCode::invalid_argument);
        context.barrier();  // still usable
      });
}

TEST_F(BoundsDeathTest, RanksThatDoNotExist) {
  const auto of_7 = [](const std::function<void(Context&, global_ptr<int>, int*)>& body) {
    wrong([&body](Context& context, global_ptr<int> there, int* mine) {
      body(context, context.on_rank(there, 7), mine);
    });
  };
  EXPECT_WRONG(of_7([](Context& context, auto there, int* mine) {
                 rput_strided<1>(context, mine, {4}, there, {8}, {2});
               }),
               ": rput_strided names rank 7, but the job has ranks 0 to 1");
  EXPECT_WRONG(
      of_7([](Context& context, auto there, int*) { atomic_domain<int>(context).add(there, 1); }),
      ": atomic operation of 4 bytes at offset 0 of rank 7 is out of bounds: the job has "
      "ranks 0 to 1");
  EXPECT_WRONG(of_7([](Context& context, auto, int*) { context.am_send(7, 16, {}); }),
               "bounds_test.cc:[0-9]+: am_send names rank 7, but the job has ranks 0 to 1");
}

TEST_F(BoundsDeathTest, PointersThatNameNothing) {
  for (const bool debug : {false, true}) {
    EXPECT_WRONG(
        wrong([](Context& context, auto, int*) { std::ignore = context.rget(global_ptr<int>()); },
              debug),
        "bounds_test.cc:[0-9]+: rget of 4 bytes through a null pointer is out of bounds");
    // Not into the memory of another rank.
    EXPECT_WRONG(
        wrong([](Context& context, auto there, int*) { context.rput(1, there - 2); }, debug),
        "bounds_test.cc:[0-9]+: rput of 4 bytes at offset -8 of rank 1 is out of bounds");
  }
  EXPECT_WRONG(wrong([](Context& context, auto, int*) {
                 context.wait_signal(global_ptr<uint64_t>(0, size_t{8} << 20), 1);
               }),
               "wait_signal of 8 bytes at offset 8388608 of rank 0 is out of bounds");
  EXPECT_WRONG(wrong([](Context& context, auto there, int*) {
                 std::ignore = strict_read(context, there.template reinterpret<char>() - 1);
               }),
               ": strict access of 1 byte at offset -1 of rank 1 is out of bounds");
}

TEST_F(BoundsDeathTest, NullPointersAreWrongForNoElementsToo) {
  const global_ptr<int> nowhere;
  const std::vector<std::pair<const char*, Body>> calls = {
      {"rget", [=](Context& c, auto, int* mine) { c.rget(nowhere, mine, 0); }},
      {"rput", [=](Context& c, auto, int* mine) { c.rput(mine, nowhere, 0); }},
      {"rput_buffered", [=](Context& c, auto, int* mine) { c.rput_buffered(mine, nowhere, 0); }},
      {"rput_signal",
       [=](Context& c, auto there, int* mine) {
         const auto flag = c.on_rank(there, 0).template reinterpret<uint64_t>();
         c.rput_signal(mine, nowhere, 0, flag, 1);
       }},
      {"rget_nbi", [=](Context& c, auto, int* mine) { c.rget_nbi(nowhere, mine, 0); }},
      {"rput_nbi", [=](Context& c, auto, int* mine) { c.rput_nbi(mine, nowhere, 0); }},
  };
  for (const auto& [name, call] : calls) {
    const std::string message = std::string("bounds_test.cc:[0-9]+: ") + name +
                                " of 0 bytes through a null pointer is out of bounds";
    EXPECT_WRONG(wrong(call, false), message);
    EXPECT_WRONG(wrong(call, true), message);
  }
}

TEST(Bounds, PointersKeepTheirRank) {
  const global_ptr<double> start(3, 0);
  EXPECT_EQ((start - 1).where(), 3U);
  EXPECT_EQ(start - 1 + 1, start);
  EXPECT_EQ((start - 1) - start, -1);
  const global_ptr<double> last(3, (uint64_t{1} << kOffsetBits) - 16);
  EXPECT_EQ((last + 2).where(), 3U);
  EXPECT_EQ(last + 2 - 2, last);
}

// Whatever it is moved by at once, a pointer does not come back into its segment.
TEST(Bounds, PointersDoNotComeBack) {
  constexpr std::ptrdiff_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
  constexpr uint64_t kLargestSegment = uint64_t{1} << (kOffsetBits - 1);
  const global_ptr<double> place(3, 64);
  for (const std::ptrdiff_t n :
       {kMost, -kMost - 1, std::ptrdiff_t{1} << (kOffsetBits - 3), -(std::ptrdiff_t{1} << 61),
        std::ptrdiff_t{1} << 61, (std::ptrdiff_t{1} << 61) + 1}) {
    for (const global_ptr<double> moved : {place + n, place - n}) {
      EXPECT_EQ(moved.where(), 3U) << n;
      EXPECT_GE(moved.offset(), kLargestSegment) << n;
    }
  }
}

TEST(Bounds, NullStaysNull) {
  global_ptr<double> null;
  EXPECT_TRUE((null + 3).is_null());
  EXPECT_TRUE((null - 3).is_null());
  EXPECT_TRUE((++null).is_null());
}

TEST(Bounds, PointersOfNoJobAreThoseOfNoOther) {
  const global_ptr<double> foreign(kMaxRanks, 64);
  EXPECT_EQ(foreign.where(), kMaxRanks - 1);
  EXPECT_EQ(foreign.offset(), 64U);
  const global_ptr<double> beyond(3, (uint64_t{1} << kOffsetBits) + 64);
  EXPECT_EQ(beyond.where(), 3U);
  EXPECT_EQ(beyond.offset(), uint64_t{1} << (kOffsetBits - 1));
}

TEST(Bounds, DifferencesAreThoseOfOffsets) {
  const global_ptr<double> first(1, 64);
  EXPECT_EQ(global_ptr<double>(2, 88) - first, 3);
  EXPECT_EQ(first - global_ptr<double>(2, 88), -3);
  EXPECT_EQ(global_ptr<double>(1, 92) - first, 3);  // half an element is none
}

TEST_F(BoundsDeathTest, PrivateMemoryThatIsNull) {
  constexpr const int* kNothing = nullptr;
  const std::vector<std::pair<const char*, Body>> calls = {
      {"rget", [](Context& c, auto there, int*) { c.rget(there, nullptr, 2).wait(); }},
      {"rput", [](Context& c, auto there, int*) { c.rput(kNothing, there, 2).wait(); }},
      {"rput_buffered", [](Context& c, auto there, int*) { c.rput_buffered(kNothing, there, 2); }},
      {"rput_signal",
       [](Context& c, auto there, int*) {
         c.rput_signal(kNothing, there, 2, there.template reinterpret<uint64_t>() + 2, 1);
       }},
      {"rget_nbi", [](Context& c, auto there, int*) { c.rget_nbi(there, nullptr, 2); }},
      {"rput_nbi", [](Context& c, auto there, int*) { c.rput_nbi(kNothing, there, 2); }},
      {"rput_strided",
       [](Context& c, auto there, int*) {
         const std::array<std::ptrdiff_t, 1> stride = {8};
         const std::array<size_t, 1> extent = {2};
         rput_strided(c, kNothing, stride, there, stride, extent);
       }},
      {"am_send",
       [](Context& c, auto, int*) { c.am_send(1, 0, std::as_bytes(std::span(kNothing, 2))); }},
  };
  const auto fabrics = bootstrap::fabrics_under_test();
  const auto mapped = std::ranges::find(fabrics, "mapped", &bootstrap::FabricUnderTest::same_node);
  ASSERT_NE(mapped, fabrics.end());
  for (const auto& [name, call] : calls) {
    const std::string message = std::string("bounds_test.cc:[0-9]+: ") + name +
                                " of 8 bytes with a null pointer for this rank's side";
    EXPECT_WRONG(wrong(call), message);
    EXPECT_WRONG(wrong(call, false, *mapped), message);
    // Its own memory, which loads and stores reach on every fabric.
    EXPECT_WRONG(wrong([&call = call](Context& context, auto there, int* mine) {
                   call(context, context.on_rank(there, context.rank_me()), mine);
                 }),
                 message);
  }
}

TEST_F(BoundsDeathTest, ListsThatAreNull) {
  EXPECT_WRONG(wrong([](Context& c, auto there, int* mine) {
                 const std::array<std::ptrdiff_t, 2> strides = {4, 8};
                 rget_strided<2>(c, there, strides.data(), mine, strides.data(), nullptr);
               }),
               "bounds_test.cc:[0-9]+: rget_strided with extents or strides at a null pointer");
  EXPECT_WRONG(wrong([](Context& c, auto there, int* mine) {
                 const std::array<std::ptrdiff_t, 2> strides = {4, 8};
                 const std::array<size_t, 2> extents = {2, 2};
                 rget_strided<2>(c, there, nullptr, mine, strides.data(), extents.data());
               }),
               "bounds_test.cc:[0-9]+: rget_strided with extents or strides at a null pointer");
  const std::span<const future> futures(static_cast<const future*>(nullptr), 3);
  EXPECT_WRONG(wrong([=](Context&, auto, int*) { wait_all(futures); }),
               "bounds_test.cc:[0-9]+: wait_all of 3 elements at a null pointer");
  EXPECT_WRONG(wrong([=](Context&, auto, int*) { std::ignore = wait_any(futures); }),
               "bounds_test.cc:[0-9]+: wait_any of 3 elements at a null pointer");
}

TEST_F(BoundsDeathTest, TimesThatAreNone) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
  EXPECT_WRONG(wrong([](Context& c, auto, int*) { c.wait_until([] { return false; }, kNoNumber); }),
               "bounds_test.cc:[0-9]+: wait_until for a time that is not a number");
  for (const double seconds : {-1.0, -kInfinity, kInfinity, kNoNumber}) {
    EXPECT_WRONG(wrong([seconds](Context& c, auto, int*) { c.compute_for(seconds); }),
                 "bounds_test.cc:[0-9]+: compute_for of [-.a-z0-9]+ s; a computation takes a "
                 "finite time, which is not negative");
  }
}

TEST_F(BoundsDeathTest, FunctionsThatAreEmpty) {
  EXPECT_WRONG(wrong([](Context& c, auto, int*) { c.wait_until(nullptr, 0); }),
               "bounds_test.cc:[0-9]+: wait_until: the condition is an empty std::function");
  const std::vector<std::function<void(Context&)>> registrations = {
      [](Context& c) { c.register_am(nullptr); },
      [](Context& c) { const short_am<int> message(c, nullptr); },
      [](Context& c) { const long_am message(c, nullptr); },
  };
  for (const auto& call : registrations) {
    EXPECT_WRONG(on_ranks(2, call),
                 "bounds_test.cc:[0-9]+: register_am: the handler is an empty std::function");
  }
}

TEST_F(BoundsDeathTest, OptionsThatAreNotEnumerators) {
  EXPECT_WRONG(wrong([](Context& c, auto, int*) { c.reduce_all(1.0, Context::ReduceOp(7)); }),
               "reduce_all by operator 7");
  EXPECT_WRONG(wrong([](Context& c, auto there, int* mine) {
                 const std::array<std::ptrdiff_t, 1> stride = {8};
                 const std::array<size_t, 1> extent = {2};
                 rput_strided(c, static_cast<const int*>(mine), stride, there, stride, extent,
                              {.method = static_cast<VisMethod>(17)});
               }),
               "VisOptions::method is 17");
}

TEST_F(BoundsDeathTest, HandlersThatThrow) {
  EXPECT_WRONG(on_ranks(2,
                        [](Context& c) {
                          const uint32_t handler =
                              c.register_am([](rank_t, std::span<const std::byte>) {
                                throw std::runtime_error("not today");
                              });
                          if (c.rank_me() == 0) c.am_send(1, handler, {});
                          c.barrier();
                        }),
               "rank 1 on .*: a handler of active messages has thrown, for a message of rank 0: "
               "not today");
}

TEST(CallPlaces, ThoseOfTheStandardLibraryAreSaidToBe) {
  EXPECT_EQ(rma::text(CallSite{"solve.cc", 4}), "solve.cc:4");
  EXPECT_EQ(rma::text(CallSite{"/usr/include/c++/12/bits/unique_ptr.h", 1065}),
            "/usr/include/c++/12/bits/unique_ptr.h:1065 (the standard library, on behalf of a call "
            "that passes no CallSite)");
}

// What was recorded last is not what is wrong.
TEST_F(BoundsDeathTest, NoOtherOperationIsNamed) {
  EXPECT_WRONG(wrong([](Context& context, auto there, int*) {
                 context.barrier_async().is_ready();
                 std::ignore = context.rget(there + (1 << 22));
               }),
               "the global pointer or the count is wrong\n");
}

TEST_F(BoundsDeathTest, ElementsOfSharedArrays) {
  using Array = shared_array<int>;
  EXPECT_WRONG(std::ignore = Array().read(0),
               "bounds_test.cc:[0-9]+: shared_array::read of element 0 of a handle that refers to "
               "no array");
  const auto of_ten = [](const std::function<void(const Array&)>& body) {
    on_ranks(2, [&body](Context& context) {
      const auto array = Array::create(context, 10);
      if (context.rank_me() == 0) body(*array);
      context.barrier();
    });
  };
  EXPECT_WRONG(of_ten([](const Array& array) { array.write(10, 1); }),
               "bounds_test.cc:[0-9]+: shared_array::write of element 10, but the shared array has "
               "10 elements, counted from 0");
  EXPECT_WRONG(of_ten([](const Array& array) { std::ignore = array.read(uint64_t{1} << 28); }),
               "shared_array::read of element 268435456");
  EXPECT_WRONG(of_ten([](const Array& array) { array.read(uint64_t{1} << 63); }),
               "shared_array::read of element 9223372036854775808");
  EXPECT_WRONG(of_ten([](const Array& array) {
                 int value = 0;
                 array.rget(11, &value);
               }),
               "shared_array::rget of element 11");
  EXPECT_WRONG(of_ten([](const Array& array) { std::ignore = array.global(11); }),
               "shared_array::global of element 11");
  EXPECT_WRONG(of_ten([](const Array& array) { std::ignore = array.ptr(11); }),
               "shared_array::ptr of element 11");
  EXPECT_WRONG(of_ten([](const Array& array) {
                 std::array<int, 4> four{};
                 array.read_range(8, 4, four.data());
               }),
               "bounds_test.cc:[0-9]+: read_range of 4 elements from 8 on of a shared array of 10");
}

}  // namespace
}  // namespace stripline
