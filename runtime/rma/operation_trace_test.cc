#include "runtime/rma/operation_trace.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/am.h>
#include <stripline/atomic.h>
#include <stripline/context.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/bootstrap/testing/thread_group.h"

namespace stripline::rma {
namespace {

using Kind = OperationTrace::Kind;

constexpr CallSite kHere{"/home/someone/app/gather.cc", 44};

OperationTrace::Operation get_of(rank_t target, uint64_t offset, uint64_t bytes = 8) {
  return {{"rget", kHere}, Kind::get, target, offset, bytes};
}

// `waits`: for each before the next one.
void gets(OperationTrace& trace, const std::vector<OperationTrace::Operation>& all, bool waits) {
  for (uint32_t i = 0; i < all.size(); ++i) {
    const uint32_t slot = waits ? 0 : i;
    trace.begun(all[i], 1e-6, slot, i);
    if (waits) trace.waited(slot, i, 9e-6);
  }
}

TEST(OperationTrace, OneTransferTakesThePlaceOfElementsInARow) {
  OperationTrace trace;
  EXPECT_EQ(trace.text(1), "");
  std::vector<OperationTrace::Operation> all;
  for (uint64_t i = 0; i < 2048; ++i) all.push_back(get_of(1, 8 * i));
  gets(trace, all, true);
  EXPECT_EQ(trace.text(0.0206),
            "  gather.cc:44: 2,048 blocking rget of 8 B, 20.5 ms, 99 % of the time; one rget of 16 "
            "KiB would do\n");
}

TEST(OperationTrace, HintsFollowWhereOperationsGo) {
  const auto hint = [](uint64_t count, auto place, bool waits) {
    OperationTrace trace;
    std::vector<OperationTrace::Operation> all;
    for (uint64_t i = 0; i < count; ++i) all.push_back(place(i));
    gets(trace, all, waits);
    const std::string text = trace.text(1);
    const size_t at = text.find("; ");
    return at == std::string::npos ? std::string() : text.substr(at + 2);
  };
  EXPECT_EQ(hint(
                100, [](uint64_t i) { return get_of(1, 800 * i); }, true),
            "one rget_strided would do\n");
  // A block of rows, whose elements are by two distances from each other.
  EXPECT_EQ(hint(
                100, [](uint64_t i) { return get_of(1, 800 * (i / 4) + 8 * (i % 4)); }, true),
            "one rget_regular of a list of places would do\n");
  // In no order: of one rank, as always where there are two, and of several.
  const std::string by_index =
      "for_each_indirect() or gather() where an index says which elements; else begin them all "
      "before wait_all()\n";
  EXPECT_EQ(hint(
                100, [](uint64_t i) { return get_of(1, 8 * (i * i % 97)); }, true),
            by_index);
  EXPECT_EQ(hint(
                100, [](uint64_t i) { return get_of(1, 8 * (i * i % 97)); }, false),
            "");
  EXPECT_EQ(hint(
                100, [](uint64_t i) { return get_of(static_cast<rank_t>(i % 7), 8 * i); }, true),
            by_index);
  EXPECT_EQ(hint(
                100, [](uint64_t i) { return get_of(static_cast<rank_t>(i % 7), 8 * i); }, false),
            "");
  EXPECT_EQ(hint(
                100, [](uint64_t i) { return get_of(1, i << 20, 1 << 20); }, true),
            "");
  EXPECT_EQ(hint(
                3, [](uint64_t i) { return get_of(1, 8 * i); }, true),
            "");
}

// Whatever waits for a slot that has been used again waits for another operation.
TEST(OperationTrace, KnowsWhatIsWaitedFor) {
  OperationTrace trace;
  trace.begun(get_of(1, 0), 0, 5, 1);
  trace.begun({{"rput", {"scatter.cc", 7}}, Kind::put, 1, 0, 64}, 0, 5, 2);
  trace.waited(5, 1, 1.0);
  trace.waited(5, 2, 2.0);
  trace.waited(6, 1, 4.0);
  EXPECT_EQ(trace.text(4),
            "  scatter.cc:7: 1 rput of 64 B, 2.00 s, 50 % of the time\n"
            "  gather.cc:44: 1 rget of 8 B, 0 s, 0.0 % of the time\n");
}

class TracedRanks : public ::testing::TestWithParam<bootstrap::FabricUnderTest> {};

TEST_P(TracedRanks, AreShownWhatTheyDoOneByOne) {
  ::testing::internal::CaptureStderr();
  auto options = bootstrap::group_on(GetParam(), 2);
  options.context.trace = "sites";
  const Status ran = bootstrap::run_ranks(options, [](Context& context) {
    const auto array = context.new_symmetric_array<double>(512);
    ASSERT_TRUE(array.ok());
    uint64_t served = 0;
    const short_am<int> message(context, [&](rank_t, const int&) { ++served; });
    const atomic_domain<uint64_t> domain(context);
    const auto there = context.on_rank(*array, 1 - context.rank_me());
    context.barrier();
    double sum = 0;
    for (int i = 0; i < 256; ++i) sum += context.rget(there + i);
    EXPECT_EQ(sum, 0);
    for (int i = 0; i < 20; ++i) {
      context.rput_nbi(&sum, there + 300 + i, 1);
      domain.fetch_add(there.reinterpret<uint64_t>() + 400, 1);
      message.send(1 - context.rank_me(), i);
    }
    context.wait_until([&] { return served == 20; });
    context.barrier();
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ran.ok()) << ran.error().message();
  const auto shows = [&said](const std::string& text) {
    EXPECT_NE(said.find(text), std::string::npos) << text << "\nin\n" << said;
  };
  shows("operations of rank 0 one by one, of ");
  shows(": 256 blocking rget of 8 B, ");
  shows("one rget of 2 KiB would do");
  shows(": 20 rput_nbi of 8 B, ");
  shows(": 20 blocking atomic operation of 8 B, ");
  shows(": 20 am_send of 4 B, ");
  shows("operation_trace_test.cc:");
}

INSTANTIATE_TEST_SUITE_P(Fabrics, TracedRanks, ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline::rma
