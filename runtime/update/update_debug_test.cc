// What debug mode finds of updates.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/update.h>

#include "base/exit_codes.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"

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

TEST_F(UpdateDebugTest, FindsArraysThatGoBeforeTheirUpdates) {
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding& epoch, Cell) {
                const auto array = *context.new_symmetric_array<uint64_t>(5000);
                // Its own ones too, and those that have been sent.
                for (int i = 0; i < 5000; ++i) epoch.update(array + i, 1);
                context.delete_symmetric_array(array);
              }),
              ::testing::ExitedWithCode(kExitUsage),
              "update_debug_test.cc:[0-9]+: delete_symmetric_array of the array of 40000 bytes at "
              "offset [0-9]+ that was allocated at .*update_debug_test.cc:[0-9]+, with an earlier "
              "UpdateEpoch::update of 8 bytes.*update_debug_test.cc:[0-9]+");
}

TEST_F(UpdateDebugTest, FindsAnEndThatMeetsABarrier) {
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding& epoch, Cell) {
                context.rank_me() == 0 ? epoch.end() : context.barrier();
                context.barrier();
              }),
              ::testing::ExitedWithCode(kExitUsage),
              "rank 0 is in UpdateEpoch::end, epoch 0, .* at .*update_debug_test.cc:[0-9]+, rank 1 "
              "is in barrier at ");
}

TEST_F(UpdateDebugTest, FindsEpochsThatEndOrGoInAnotherOrder) {
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding& epoch, Cell) {
                Adding other(context);
                context.rank_me() == 0 ? epoch.end() : other.end();
                context.rank_me() == 0 ? other.end() : epoch.end();
              }),
              ::testing::ExitedWithCode(kExitUsage),
              "rank 0 is in UpdateEpoch::end, epoch 0, .*, rank 1 is in UpdateEpoch::end, epoch 1");
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding&, Cell) {
                std::optional<Adding> one(std::in_place, context);
                std::optional<Adding> other(std::in_place, context);
                if (context.rank_me() == 0) one.reset();
                other.reset();
                one.reset();
              }),
              ::testing::ExitedWithCode(kExitUsage),
              "rank 0 is in end of an UpdateEpoch, epoch 1, .*, rank 1 is in end of an "
              "UpdateEpoch, epoch 2");
}

TEST_F(UpdateDebugTest, FindsModesAndOperatorsThatDifferWithoutAnUpdate) {
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding&, Cell) {
                Adding other(context, {.mode = context.rank_me() == 0 ? UpdateMode::log
                                                                      : UpdateMode::accumulate});
              }),
              ::testing::ExitedWithCode(kExitUsage),
              "rank 0 is in UpdateEpoch, epoch 1, UpdateMode::log, .*, rank 1 is in UpdateEpoch, "
              "epoch 1, UpdateMode::accumulate");
}

TEST_F(UpdateDebugTest, FindsUpdatesInHandlers) {
  EXPECT_EXIT(in_debug_mode([](Context& context, Adding& epoch, Cell cell) {
                const uint32_t handler = context.register_am(
                    [&](rank_t, std::span<const std::byte>) { epoch.update(cell, 1); });
                context.barrier();
                context.am_send(1 - context.rank_me(), handler, {});
                context.am_quiesce();
              }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::update inside an active message handler");
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
