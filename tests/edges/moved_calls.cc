// Calls of objects of gather_plan.h, cached_gather.h, sparse_matrix.h, halo.h, wavefront.h, lock.h,
// update.h, shared_updates.h, future.h and fine.h that have been moved.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <stripline/cached_gather.h>
#include <stripline/fine.h>
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

using Plan = GatherPlan<uint64_t>;
using Halo = halo_exchange<uint64_t, 1>;
using Matrix = SparseMatrix<uint64_t>;
using Epoch = UpdateEpoch<uint64_t, op_add>;
using Updates = SharedUpdates<uint64_t, op_add>;
using Fetched = future_of<uint64_t>;

// Calls of a plan that has gathered elements 1 and 2.
constexpr std::array<void (*)(Trial&, Plan&), 6> kOfPlans = {
    [](Trial& t, Plan& plan) { t.right(plan[1] == Trial::first(0, 2)); },
    [](Trial& t, Plan& plan) { t.right(plan.value(0, 1) == Trial::first(0, 2)); },
    [](Trial& t, Plan& plan) { t.right(plan.size() == 2); },
    [](Trial& t, Plan& plan) { t.right(plan.statistics().reads == 2); },
    [](Trial&, Plan& plan) { plan.wait(); },
    [](Trial& t, Plan& plan) { plan.for_each(t.elements, [](size_t, uint64_t) {}); },
};

constexpr std::array<void (*)(Trial&, Halo&), 3> kOfHalos = {
    [](Trial& t, Halo& exchange) {
      std::vector<uint64_t> cells(exchange.elements(), t.me);
      exchange.exchange(cells.data());
      t.right(cells.front() == t.other);
    },
    [](Trial&, Halo& exchange) { exchange.wait(); },
    [](Trial& t, Halo& exchange) { t.right(exchange.neighbours() > 0); },
};

constexpr std::array<void (*)(Trial&, Wavefront&), 3> kOfWavefronts = {
    [](Trial& t, Wavefront& sweep) { t.right(sweep.pieces(0) == 0); },
    [](Trial&, Wavefront& sweep) { sweep.finish(); },
    [](Trial&, Wavefront& sweep) {
      sweep.run(Wavefront::Stage<uint64_t>(), [](size_t, size_t) {});
    },
};

constexpr std::array<void (*)(Trial&, global_lock&), 3> kOfLocks = {
    [](Trial&, global_lock& lock) {
      lock.lock();
      lock.unlock();
    },
    [](Trial&, global_lock& lock) {
      if (lock.try_lock()) lock.unlock();
    },
    [](Trial& t, global_lock& lock) {
      if (t.kind(0) != Kind::nonsense) lock.lock();
      lock.unlock();
    },
};

constexpr std::array<void (*)(Trial&, Epoch&), 8> kOfEpochs = {
    [](Trial&, Epoch& epoch) { epoch.flush(); },
    [](Trial&, Epoch&) {},  // what follows ends it
    [](Trial& t, Epoch& epoch) { epoch.update(t.context.on_rank(t.array, t.other), 0); },
    [](Trial& t, Epoch& epoch) {
      epoch.update_run(t.context.on_rank(t.array, t.other), std::array<uint64_t, 2>{0, 0});
    },
    [](Trial& t, Epoch& epoch) {
      epoch.fetch(t.context.on_rank(t.array, t.other), 0, t.own.data()).wait();
    },
    [](Trial& t, Epoch& epoch) {
      epoch.fetch_async(t.context.on_rank(t.array, t.other), 0).wait();
    },
    [](Trial& t, Epoch& epoch) { epoch.into(t.elements).update(1, 0); },
    [](Trial& t, Epoch& epoch) {
      t.right(epoch.statistics().fetches == 0);
      t.right(epoch.in_use().method != UpdateMethod::automatic);
    },
};

// Calls of a matrix of one row, whose entries are 1.
constexpr std::array<void (*)(Trial&, Matrix&), 3> kOfMatrices = {
    [](Trial& t, Matrix& matrix) {
      std::array<uint64_t, 1> y{};
      matrix.multiply(t.elements, y);
      t.right(y[0] == Trial::first(0, 1) + Trial::first(0, 2));
    },
    [](Trial& t, Matrix& matrix) {
      std::array<uint64_t, 1> y{};
      matrix.multiply(std::array<const shared_array<uint64_t>*, 1>{&t.elements}, y);
      t.right(y[0] == Trial::first(0, 1) + Trial::first(0, 2));
    },
    [](Trial& t, Matrix& matrix) { t.right(matrix.statistics().reads == 2); },
};

struct OfFuture {
  std::string_view name;
  void (*use)(Trial&, Fetched&);
};
constexpr std::array kOfFutures = {
    OfFuture{"future_of",
             [](Trial& t, Fetched& there) { t.right(there.wait() == Trial::first(t.other)); }},
    OfFuture{"future_of", [](Trial&, Fetched& there) { (void)there.is_ready(); }},
    OfFuture{"then", [](Trial&, Fetched& there) { there.then([](uint64_t) {}).wait(); }},
    OfFuture{"when_all", [](Trial&, Fetched& there) { when_all(there, make_ready()).wait(); }},
};

constexpr uint64_t kOne = 1;

// Calls of one worker, for four cells that are 0.
constexpr std::array<void (*)(Updates&), 8> kOfUpdates = {
    [](Updates& updates) { updates.fill(0); },
    [](Updates& updates) { updates.update(1, 2); },
    [](Updates& updates) {
      updates.update_all(2, [](uint64_t k) { return std::pair(k, uint64_t{2}); });
    },
    [](Updates& updates) {
      updates.spread<1, 1, 1>({0, 0, 0}, &kOne);
    },
    [](Updates& updates) {
      updates.spread({1, 1, 1}, {0, 0, 0}, &kOne);
    },
    [](Updates& updates) {
      std::array<uint64_t, 1> points = {2};
      updates.arrange(std::span<uint64_t>(points),
                      [](uint64_t point) {
                        return grid_cell{point, 0, 0};
                      },
                      {1, 1, 1});
    },
    [](Updates& updates) { (void)updates.state(); },
    [](Updates&) {},  // what follows finishes it
};

// Adds a row for each of the calls, of an object that `make` has made; a Result, which may be an
// error.
template <typename Uses, typename Make>
void add_each(std::vector<Call>& calls, std::string_view header, std::string_view name,
              const Uses& uses, const Make& make) {
  for (const auto use : uses) {
    calls.push_back({header, name, true, {option}, [use, make](Trial& t) {
                       auto made = make(t);
                       if (!made.ok()) return t.refused(made.error());
                       use_moved(t, *made, [&](auto& one) { use(t, one); });
                     }});
  }
}

}  // namespace

void add_moved_calls(std::vector<Call>& calls) {
  add_each(calls, "gather_plan.h", "GatherPlan", kOfPlans, [](Trial& t) {
    auto made = Plan::create(t.elements, std::vector<uint64_t>{1, 2});
    if (made.ok()) {
      made->start(t.elements);
      made->wait();
    }
    return made;
  });
  add_each(calls, "halo.h", "halo_exchange", kOfHalos, [](Trial& t) {
    return Halo::create(t.context,
                        {.interior = {4}, .width = {1}, .grid = {2}, .periodic = {true}});
  });
  add_each(calls, "wavefront.h", "Wavefront", kOfWavefronts, [](Trial& t) {
    return Wavefront::create(t.context, 1, {.stages = Trial::kRanks, .all_busy = false});
  });
  add_each(calls, "lock.h", "global_lock", kOfLocks,
           [](Trial& t) { return global_lock::create(t.context); });
  add_each(calls, "sparse_matrix.h", "SparseMatrix", kOfMatrices, [](Trial& t) {
    return Matrix::create(t.elements, std::vector<size_t>{0, 2}, std::vector<uint64_t>{1, 2},
                          std::vector<uint64_t>{1, 1});
  });
  // Its gather is started at its new place.
  calls.push_back({"gather_plan.h", "GatherPlan", true, {option}, [](Trial& t) {
                     auto made = Plan::create(t.elements, std::vector<uint64_t>{1, 2});
                     if (!made.ok()) return t.refused(made.error());
                     use_moved(t, *made, [&t](Plan& plan) {
                       plan.start(t.elements);
                       plan.wait();
                       t.right(plan[1] == Trial::first(0, 2));
                     });
                   }});
  for (const auto use : kOfEpochs) {
    calls.push_back({"update.h", "UpdateEpoch", true, {option}, [use](Trial& t) {
                       Epoch made(t.context);
                       use_moved(t, made, [&](Epoch& epoch) {
                         use(t, epoch);
                         epoch.end();
                       });
                     }});
  }
  for (const auto use : kOfUpdates) {
    calls.push_back({"shared_updates.h", "SharedUpdates", false, {option}, [use](Trial& t) {
                       thread_workers(1).run([&](worker_team& team) {
                         std::array<uint64_t, 4> cells{};
                         auto made = Updates::create(team, std::span<uint64_t>(cells));
                         t.right(made.ok());
                         use_moved(t, *made, [&](Updates& updates) {
                           use(updates);
                           updates.finish();
                         });
                       });
                     }});
  }
  for (const auto& [name, use] : kOfFutures) {
    calls.push_back({"future.h", name, false, {option}, [of = use](Trial& t) {
                       auto made = rget_async(t.context, t.context.on_rank(t.array, t.other));
                       use_moved(t, made, [&](Fetched& there) { of(t, there); });
                     }});
  }
  // Its value may be there already, and is the other one's, too, then.
  calls.push_back({"fine.h",
                   "lazy",
                   false,
                   {option},
                   [](Trial& t) {
                     fine_region fine(t.context);
                     lazy<uint64_t> made = fine.read(t.context.on_rank(t.array, t.other));
                     const lazy<uint64_t> moved = std::move(made);
                     const bool wrong = t.kind(0) == Kind::nonsense;
                     // NOLINTNEXTLINE(bugprone-use-after-move)
                     t.right((wrong ? made : moved).get() == Trial::first(t.other));
                   },
                   {Kind::nonsense}});
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
