// What debug mode finds of updates.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/update.h>

#include "base/exit_codes.h"
#include "runtime/bootstrap/rank_fixtures.h"

namespace stripline {
namespace {

using Cell = global_ptr<uint64_t>;
using Adding = UpdateEpoch<uint64_t, op_add>;

class UpdateDebugTest : public bootstrap::RanksDeathTest {
 protected:
  /// `body` on two ranks in debug mode, with a cell of the other one.
  static void in_debug_mode(const std::function<void(Context&, Adding&, Cell)>& body) {
    bootstrap::ThreadGroupOptions options =
        bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2);
    options.context.debug = true;
    const Status ran = bootstrap::run_ranks(options, [&body](Context& context) {
      const auto cells = context.new_symmetric_array<uint64_t>(8);
      Adding epoch(context);
      body(context, epoch, context.on_rank(*cells, 1 - context.rank_me()));
    });
    if (!ran.ok()) std::fprintf(stderr, "%s\n", ran.error().message().c_str());
    std::_Exit(ran.ok() ? 0 : 1);
  }
};

TEST_F(UpdateDebugTest, KeepsQuietWhereEpochsEnd) {
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding& epoch, Cell cell) {
                UpdateEpoch<uint64_t, op_max> other(context);
                atomic_domain<uint64_t> domain(context);
                for (int i = 0; i < 3; ++i) {
                  epoch.update(cell, 1);
                  epoch.update(cell, 2);
                  context.barrier();
                  epoch.fetch_async(cell, 3).wait();
                  epoch.flush();
                  (void)context.rget(cell);
                  epoch.end();
                  other.update(cell, 1);
                  other.end();
                  domain.fetch_add(cell, 1);
                  context.barrier();
                }
              }),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(UpdateDebugTest, FindsCellsThatAreReadBeforeTheEnd) {
  EXPECT_EXIT(
      in_debug_mode([](Context& context, Adding& epoch, Cell cell) {
        epoch.update(cell, 1);
        context.barrier();  // completes no updates
        (void)context.rget(cell);
      }),
      ::testing::ExitedWithCode(kExitUsage),
      "rget of 8 bytes.* conflicts with an earlier UpdateEpoch::update.*end\\(\\) the epoch");
}

TEST_F(UpdateDebugTest, FindsCellsOfTwoEpochs) {
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding& epoch, Cell cell) {
                UpdateEpoch<uint64_t, op_max> other(context);
                epoch.update(cell, 1);
                other.update(cell + 1, 1);
                other.update(cell, 1);
              }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::update of 8 bytes.* conflicts with an earlier UpdateEpoch::update");
}

TEST_F(UpdateDebugTest, FindsAtomicOperationsOnTheSameCell) {
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding& epoch, Cell cell) {
                atomic_domain<uint64_t> domain(context);
                const future pending = domain.add(cell, 1);
                epoch.update(cell, 1);
                pending.wait();
              }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::update of 8 bytes.* conflicts with an earlier atomic");
}

}  // namespace
}  // namespace stripline
