// Calls of objects of gather_plan.h, cached_gather.h, sparse_matrix.h, halo.h, wavefront.h, lock.h,
// update.h, shared_updates.h and future.h that have been moved.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <stripline/cached_gather.h>
#include <stripline/future.h>
#include <stripline/gather_plan.h>
#include <stripline/halo.h>
#include <stripline/lock.h>
#include <stripline/shared_updates.h>
#include <stripline/sparse_matrix.h>
#include <stripline/update.h>
#include <stripline/wavefront.h>
#include <stripline/worker_team.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

// Moves `made`, and uses it at its new place; nonsense: where it was.
template <typename T, typename Use>
void use_moved(Trial& t, T& made, const Use& use) {
  T moved = std::move(made);
  const bool wrong = t.kind(0) == Kind::nonsense;
  use(wrong ? made : moved);
  t.right(!wrong);
}

}  // namespace

void add_moved_calls(std::vector<Call>& calls) {
  const auto add = [&calls](std::string_view header, std::string_view name, void (*make)(Trial&)) {
    calls.push_back(
        {.header = header, .name = name, .collective = true, .arguments = {option}, .make = make});
  };
  add("gather_plan.h", "GatherPlan", [](Trial& t) {
    auto made = GatherPlan<uint64_t>::create(t.elements, std::vector<uint64_t>{1, 2});
    if (!made.ok()) return t.refused(made.error());
    use_moved(t, *made, [&t](auto& plan) {
      plan.start(t.elements);
      plan.wait();
      t.right(plan[1] == Trial::first(0, 2));
    });
  });
  add("halo.h", "halo_exchange", [](Trial& t) {
    const halo_shape<1> shape{.interior = {4}, .width = {1}, .grid = {2}, .periodic = {true}};
    auto made = halo_exchange<uint64_t, 1>::create(t.context, shape);
    if (!made.ok()) return t.refused(made.error());
    use_moved(t, *made, [&t](auto& exchange) {
      std::vector<uint64_t> cells(exchange.elements(), t.me);
      exchange.exchange(cells.data());
      t.right(cells.front() == t.other);
    });
  });
  add("wavefront.h", "Wavefront", [](Trial& t) {
    auto made = Wavefront::create(t.context, 1, {.stages = Trial::kRanks, .all_busy = false});
    if (!made.ok()) return t.refused(made.error());
    use_moved(t, *made, [&t](Wavefront& sweep) {
      t.right(sweep.pieces(0) == 0);
      sweep.finish();
    });
  });
  add("lock.h", "global_lock", [](Trial& t) {
    auto made = global_lock::create(t.context);
    if (!made.ok()) return t.refused(made.error());
    use_moved(t, *made, [](global_lock& lock) {
      lock.lock();
      lock.unlock();
    });
  });
  add("update.h", "UpdateEpoch", [](Trial& t) {
    UpdateEpoch<uint64_t, op_add> made(t.context);
    use_moved(t, made, [](auto& epoch) {
      epoch.flush();
      epoch.end();
    });
  });
  add("update.h", "UpdateEpoch", [](Trial& t) {
    UpdateEpoch<uint64_t, op_add> made(t.context);
    use_moved(t, made, [&t](auto& epoch) {
      epoch.update(t.context.on_rank(t.array, t.other), 0);
      epoch.end();
    });
  });
  add("sparse_matrix.h", "SparseMatrix", [](Trial& t) {
    auto made =
        SparseMatrix<uint64_t>::create(t.elements, std::vector<size_t>{0, 2},
                                       std::vector<uint64_t>{1, 2}, std::vector<uint64_t>{1, 1});
    if (!made.ok()) return t.refused(made.error());
    use_moved(t, *made, [&t](auto& matrix) {
      std::array<uint64_t, 1> y{};
      matrix.multiply(t.elements, y);
      t.right(y[0] == Trial::first(0, 1) + Trial::first(0, 2));
    });
  });
  calls.push_back({"shared_updates.h", "SharedUpdates", false, {option}, [](Trial& t) {
                     thread_workers(1).run([&t](worker_team& team) {
                       std::array<uint64_t, 4> cells{};
                       auto made = SharedUpdates<uint64_t, op_add>::create(
                           team, std::span<uint64_t>(cells));
                       t.right(made.ok());
                       use_moved(t, *made, [&](auto& updates) {
                         updates.update(1, 2);
                         updates.finish();
                         t.right(cells[1] == 2);
                       });
                     });
                   }});
  calls.push_back(
      {"future.h", "future_of", false, {option}, [](Trial& t) {
         auto made = rget_async(t.context, t.context.on_rank(t.array, t.other));
         use_moved(t, made, [&t](auto& there) { t.right(there.wait() == Trial::first(t.other)); });
       }});
  // Both may be used: the one that was moved from keeps nothing.
  calls.push_back({"cached_gather.h", "CachedGather", true, {}, [](Trial& t) {
                     const std::vector<uint64_t> index = {3};
                     CachedGather<uint64_t> made;
                     if (const Status s = made.gather(t.elements, index); !s.ok())
                       return t.refused(s.error());
                     const CachedGather<uint64_t> moved = std::move(made);
                     t.right(moved[0] == Trial::first(0, 3) && made.size() == 0);
                     if (const Status s = made.gather(t.elements, index); !s.ok())
                       return t.refused(s.error());
                     t.right(made[0] == Trial::first(0, 3));
                   }});
}

}  // namespace stripline::edges
