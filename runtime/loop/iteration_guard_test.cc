// What a model says of strided calls, loops and nests is given up where it makes the iteration of
// the program longer, and kept where it makes it shorter, by all ranks.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/loop.h>
#include <stripline/nest.h>
#include <stripline/vis.h>

#include "runtime/bootstrap/testing/fabrics_under_test.h"
#include "runtime/loop/testing/exact_costs.h"
#include "runtime/loop/testing/model_file.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/fiber_group.h"

namespace stripline {
namespace {

constexpr const char* kFabric = "emulated:itanium-gm,compute=declared,jitter=off";
constexpr rank_t kRanks = 4;
constexpr int kWarmUp = 1500;
constexpr int kTimes = 600;

// To which messages are far more expensive than they are, so that each region travels by itself.
// That is wrong for small regions, and right for large ones, which are packed without a model.
model::TunedModel model_without_packing() {
  const auto profile = fabric::resolve_profile(kFabric);
  EXPECT_TRUE(profile.ok());
  model::TunedModel m = model::example_model();
  model::PathModel path = exact_path(kFabric);
  fabric::OperationProfile message = profile->profile.am;
  for (fabric::ProfileSegment& segment : message.segments) {
    segment.o_base_s *= 1000;
    segment.L_s *= 1000;
  }
  path.am = exactly(message, profile->profile.queue_depth);
  m.network["inter-node"] = path;
  m.vis.clear();
  m.compute.reset();
  m.strip = exact_strip(kFabric);
  return m;
}

// What comes of a program on one rank after the first iterations.
struct Outcome {
  double seconds = 0;
  double packed = 0;  // share of its transfers of many regions
  bool right = true;
};

double share_packed(const vis::Transfers::Statistics& now,
                    const vis::Transfers::Statistics& before) {
  std::array<double, plan::kVisMethods> since{};
  for (size_t i = 0; i < plan::kVisMethods; ++i) {
    since[i] = static_cast<double>(now.methods[i].puts + now.methods[i].gets -
                                   before.methods[i].puts - before.methods[i].gets);
  }
  return since[static_cast<size_t>(plan::VisMethod::packed)] /
         std::accumulate(since.begin(), since.end(), 0.0);
}

// Carries out `prepare(context)`, whose result is an iteration that says whether all was right.
template <typename Prepare>
std::vector<Outcome> run(const std::string& model, bool guard, const Prepare& prepare) {
  const Options options = [&] {
    Options of_all = bootstrap::group_on({"", kFabric, "virtual"}, kRanks).context;
    of_all.model_path = model;
    of_all.guard = guard;
    return of_all;
  }();
  std::vector<Outcome> outcomes(kRanks);
  const bootstrap::FiberGroupOptions group{.ranks = kRanks, .context = options};
  const Status ran = bootstrap::run_fibers(group, [&](Context& context) {
    auto iterate = prepare(context);
    Outcome& outcome = outcomes[context.rank_me()];
    for (int i = 0; i < kWarmUp; ++i) outcome.right = iterate() && outcome.right;
    const vis::Transfers::Statistics before = context.state().operations.vis().statistics();
    const double begin_s = context.now_s();
    for (int i = 0; i < kTimes; ++i) outcome.right = iterate() && outcome.right;
    outcome.seconds = context.now_s() - begin_s;
    outcome.packed = share_packed(context.state().operations.vis().statistics(), before);
    context.barrier();
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  for (const Outcome& outcome : outcomes) EXPECT_TRUE(outcome.right);
  return outcomes;
}

double longest_s(const std::vector<Outcome>& outcomes) {
  return std::ranges::max(outcomes, {}, &Outcome::seconds).seconds;
}

// Each rank puts `rows` rows of doubles out of a wider matrix to the next one, with a flag, into
// the one of two such matrices that no one reads at that time, and computes.
auto ring_of(size_t rows, size_t columns, const VisOptions& options) {
  return [=](Context& context) {
    const size_t pitch = 2 * columns;
    const size_t elements = rows * pitch;
    const auto matrices = *context.new_symmetric_array<double>(3 * elements);
    const auto flag = *context.new_symmetric_array<uint64_t>(1);
    context.barrier();
    return [=, &context, step = uint64_t{0}]() mutable {
      ++step;
      const rank_t me = context.rank_me();
      const auto value_from = [&](rank_t rank) { return static_cast<double>(step * 100 + rank); };
      double* const mine = context.local(matrices);
      std::fill_n(mine, elements, value_from(me));
      const auto free = static_cast<std::ptrdiff_t>((1 + step % 2) * elements);
      const rank_t next = (me + 1) % kRanks;
      const std::array<std::ptrdiff_t, 2> strides{
          sizeof(double), static_cast<std::ptrdiff_t>(pitch * sizeof(double))};
      const std::array<size_t, 2> extents{columns, rows};
      const future put = rput_strided_signal<2, double>(
          context, mine, strides, context.on_rank(matrices, next) + free, strides, extents,
          context.on_rank(flag, next), step, options);
      context.compute_for(2e-5);
      context.wait_signal(context.on_rank(flag, me), step);
      put.wait();
      bool right = true;
      for (size_t row = 0; row < rows; ++row) {
        const double* const come = mine + free + row * pitch;
        const double expected = value_from((me + kRanks - 1) % kRanks);
        right = right && std::all_of(come, come + columns,
                                     [&](double element) { return element == expected; });
      }
      return right;
    };
  };
}

TEST(IterationGuard, AllRanksGiveStridedCallsUpThatLose) {
  const ModelFile file("iterations", model_without_packing());
  const auto simple = run(file.path(), true, ring_of(32, 2, {.use_model = false}));
  const auto unguarded = run(file.path(), false, ring_of(32, 2, {}));
  const auto unchecked = run(file.path(), true, ring_of(32, 2, {.self_check = false}));
  const auto guarded = run(file.path(), true, ring_of(32, 2, {}));
  EXPECT_GT(longest_s(unguarded), 1.2 * longest_s(simple));
  EXPECT_EQ(longest_s(unchecked), longest_s(unguarded));
  EXPECT_LT(longest_s(guarded), 1.02 * longest_s(simple));
  for (rank_t rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(unguarded[rank].packed, 0) << rank;
    EXPECT_GT(guarded[rank].packed, 0.95) << rank;
    // Together.
    EXPECT_EQ(guarded[rank].packed, guarded[0].packed) << rank;
  }
}

TEST(IterationGuard, StridedCallsKeepWhatARightModelSays) {
  const ModelFile file("iterations", model_without_packing());
  const auto simple = run(file.path(), true, ring_of(16, 1024, {.use_model = false}));
  const auto unguarded = run(file.path(), false, ring_of(16, 1024, {}));
  const auto guarded = run(file.path(), true, ring_of(16, 1024, {}));
  EXPECT_LT(longest_s(unguarded), 0.97 * longest_s(simple));
  EXPECT_LT(longest_s(guarded), 1.02 * longest_s(unguarded));
  for (const Outcome& outcome : guarded) EXPECT_LT(outcome.packed, 0.1);
}

TEST(IterationGuard, ListsAreGivenUpToo) {
  const auto lists = [](const VisOptions& options) {
    return [=](Context& context) {
      constexpr size_t kPieces = 128;
      const auto array = *context.new_symmetric_array<double>(4 * kPieces);
      const rank_t next = (context.rank_me() + 1) % kRanks;
      std::vector<std::pair<global_ptr<const double>, size_t>> sources;
      for (size_t i = 0; i < kPieces; ++i) {
        sources.emplace_back(context.on_rank(array, next) + static_cast<std::ptrdiff_t>(4 * i), 1);
      }
      context.barrier();
      return [=, &context, sink = std::vector<double>(kPieces)]() mutable {
        const std::array<std::pair<double*, size_t>, 1> sinks{{{sink.data(), sink.size()}}};
        rget_irregular(context, sources.begin(), sources.end(), sinks.begin(), sinks.end(), options)
            .wait();
        return true;
      };
    };
  };
  const ModelFile file("iterations", model_without_packing());
  const auto simple = run(file.path(), true, lists({.use_model = false}));
  const auto unguarded = run(file.path(), false, lists({}));
  const auto guarded = run(file.path(), true, lists({}));
  EXPECT_GT(longest_s(unguarded), 1.2 * longest_s(simple));
  EXPECT_LT(longest_s(guarded), 1.02 * longest_s(simple));
}

// Tiles of nests are transfers of many regions, too. What the baseline takes says how wrong the
// model is about them.
TEST(IterationGuard, NestsMoveTheirTilesAsTheBaselineWhereThatIsFaster) {
  const auto nests = [](bool use_model) {
    return [=](Context& context) {
      constexpr size_t kRows = 128;
      constexpr size_t kPitch = 64;
      const auto matrix = *context.new_symmetric_array<double>(kRows * kPitch);
      std::fill_n(context.local(matrix), kRows * kPitch, 1.0);
      const global_ptr<const double> remote =
          context.on_rank(matrix, (context.rank_me() + 1) % kRanks);
      context.barrier();
      return [=, &context] {
        const auto [i, j] = loop_indices<2>();
        double sum = 0;
        for_nest(
            context, {kRows, size_t{2}}, {.compute_s = 1e-6, .use_model = use_model},
            [&](const double& in) { sum += in; }, read(remote, i * kPitch + j));
        context.compute_for(1e-6);
        return sum == 2 * kRows;
      };
    };
  };
  const ModelFile file("iterations", model_without_packing());
  const auto simple = run(file.path(), true, nests(false));
  const auto guarded = run(file.path(), true, nests(true));
  EXPECT_EQ(simple[0].packed, 1);
  for (const Outcome& outcome : guarded) EXPECT_GT(outcome.packed, 0.95);
  EXPECT_LT(longest_s(guarded), 1.02 * longest_s(simple));
}

// What a loop gains by its plan, the rest of the iteration may lose, which the loop's own guard
// does not see.
TEST(IterationGuard, ALoopIsJudgedByTheIterationToo) {
  const auto loops = [](bool use_model) {
    return [=](Context& context) {
      constexpr size_t kElements = 16384;
      const auto array = *context.new_symmetric_array<double>(kElements);
      std::fill_n(context.local(array), kElements, 1.0);
      const global_ptr<const double> remote =
          context.on_rank(array, (context.rank_me() + 1) % kRanks);
      context.barrier();
      return [=, &context] {
        double sum = 0;
        const LoopPlan plan =
            strip_for(context, remote, kElements, {.compute_s = 5e-4, .use_model = use_model},
                      [&](size_t begin, size_t end, const double* strip) {
                        for (size_t k = 0; k < end - begin; ++k) sum += strip[k];
                        context.compute_for(5e-4 / kElements * static_cast<double>(end - begin));
                      });
        if (plan.reason == plan::Reason::tuned) context.compute_for(8e-4);
        context.barrier();
        return sum == kElements;
      };
    };
  };
  const ModelFile file("iterations", model_without_packing());
  const auto simple = run(file.path(), true, loops(false));
  const auto unguarded = run(file.path(), false, loops(true));
  const auto guarded = run(file.path(), true, loops(true));
  EXPECT_GT(longest_s(unguarded), 1.1 * longest_s(simple));
  EXPECT_LT(longest_s(guarded), 1.02 * longest_s(simple));
}

}  // namespace
}  // namespace stripline
