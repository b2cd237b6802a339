// Calls of worker_team.h and shared_updates.h.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <stripline/shared_updates.h>
#include <stripline/worker_team.h>

#include "tests/edges/edges.h"

namespace stripline::edges {
namespace {

using enum Argument;

void add_workers(std::vector<Call>& calls) {
  calls.push_back({"worker_team.h",
                   "thread_workers",
                   false,
                   {option},
                   [](Trial& t) {
                     thread_workers threads(t.kind(0) == Kind::zero ? 1 : 2);
                     std::array<uint64_t, 2> of{};
                     threads.run([&](worker_team& team) {
                       of[team.index()] = team.allgather(team.index())[0] + 1;
                     });
                     t.right(of[0] == 1);
                   },
                   {Kind::nonsense}});
  calls.push_back({"worker_team.h",
                   "node_workers",
                   true,
                   {count},
                   [](Trial& t) {
                     const auto made = node_workers(t.context);
                     // Ranks on the virtual clock do not run at the same time.
                     t.right(made.ok() == t.context.is_local(t.other));
                     if (!made.ok()) return;
                     t.right((*made)->count() == Trial::kRanks);
                     const auto array = team_array<uint64_t>::create(**made, t.count(0));
                     if (!array.ok()) return t.refused(array.error());
                     t.right(array->all().size() == t.count(0));
                   },
                   {Kind::beyond, Kind::nonsense}});
  // zero: one that has been moved; nonsense: the workers give different counts.
  calls.push_back({"worker_team.h",
                   "team_array",
                   false,
                   {count, option},
                   [](Trial& t) {
                     Status status;
                     thread_workers(2).run([&](worker_team& team) {
                       const size_t count =
                           t.count(0) + (t.kind(1) == Kind::nonsense ? team.index() : 0);
                       auto made = team_array<uint64_t>::create(team, count);
                       if (!made.ok()) {
                         if (team.index() == 0) status = made.error();
                         return;
                       }
                       if (t.kind(1) == Kind::zero) {
                         const team_array<uint64_t> moved = std::move(*made);
                         t.right(made->all().empty() && moved.all().size() == count);
                         return;
                       }
                       const std::span<uint64_t> all = made->all();
                       if (team.index() == 0 && !all.empty()) all.front() = all.back() = 7;
                       team.barrier();
                       t.right(all.size() == count && (all.empty() || all.back() == 7));
                     });
                     if (!status.ok()) t.refused(status.error());
                   },
                   {Kind::beyond}});
  calls.push_back({"shared_updates.h", "update", false, {element, memory}, [](Trial& t) {
                     Status status;
                     thread_workers threads(1);
                     threads.run([&](worker_team& team) {
                       const std::span<uint64_t> cells(t.memory(1), Trial::kElements);
                       auto made = SharedUpdates<uint64_t, op_add>::create(team, cells);
                       if (!made.ok()) {
                         status = made.error();
                         return;
                       }
                       made->update(t.element(0), 2);
                       made->finish();
                       t.right(t.own[t.element(0)] == 5000 + t.element(0) + 2);
                       t.own[t.element(0)] -= 2;
                     });
                     if (!status.ok()) t.refused(status.error());
                   }});
}

void add_of_teams_of_threads(std::vector<Call>& calls) {
  // zero: no threads, which counts as one; nonsense: bound to a processor that there is not.
  calls.push_back({"worker_team.h",
                   "thread_workers",
                   false,
                   {option},
                   [](Trial& t) {
                     const std::array<uint32_t, 1> none = {100000};
                     const uint32_t count = t.kind(0) == Kind::zero ? 0 : 2;
                     thread_workers threads(
                         count, std::span(none).first(t.kind(0) == Kind::nonsense ? 1 : 0));
                     std::array<uint64_t, 2> of{};
                     threads.run([&](worker_team& team) {
                       of[team.index()] = team.count();
                       team.relax();
                       t.right(team.now_s() >= 0 && team.context() == nullptr);
                       team.barrier();
                     });
                     t.right(of[0] == (count == 0 ? 1 : 2) && of[1] == count);
                   },
                   {Kind::nonsense}});
  calls.push_back({"worker_team.h",
                   "worker_team",
                   false,
                   {count},
                   [](Trial& t) {
                     Status status;
                     const size_t bytes = t.kind(0) == Kind::nonsense ? ~size_t{0} : t.count(0);
                     thread_workers(1).run([&](worker_team& team) {
                       const auto block = team.allocate(bytes);
                       if (!block.ok()) {
                         status = block.error();
                         return;
                       }
                       std::byte* const memory = team.at(*block);
                       t.right(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
                       for (size_t i = 0; i < bytes; ++i) memory[i] = std::byte{7};
                       team.deallocate(*block);
                       team.deallocate(*block);  // of nothing
                     });
                     if (!status.ok()) t.refused(status.error());
                   },
                   {Kind::beyond}});
  // nonsense: ends the process, as what is wrong for a worker does.
  calls.push_back({"worker_team.h", "worker", false, {option}, [](Trial& t) {
                     thread_workers(1).run([&](worker_team& team) {
                       if (t.kind(0) != Kind::nonsense) return;
                       team.fail(Error(ErrorCode::invalid_argument, "not today"));
                     });
                     t.right(t.kind(0) != Kind::nonsense);
                   }});
  // zero: gives back nothing; nonsense: memory of another rank. On the virtual clock there are no
  // teams of ranks.
  calls.push_back({"worker_team.h",
                   "deallocate_local",
                   true,
                   {option},
                   [](Trial& t) {
                     const auto made = node_workers(t.context);
                     if (!made.ok()) return;
                     worker_team& team = **made;
                     const auto block = team.allocate(64);
                     if (!block.ok()) return t.refused(block.error());
                     *team.at(*block) = std::byte{7};
                     team.relax();
                     t.right(team.now_s() >= 0 && team.context() == &t.context);
                     if (t.kind(0) == Kind::zero) team.deallocate(0);
                     if (t.kind(0) == Kind::nonsense) {
                       team.deallocate(global_ptr<std::byte>(t.other, 64).word());
                     }
                     team.deallocate(*block);
                   },
                   {Kind::nonsense}});
}

using Counts = SharedUpdates<uint64_t, op_add>;

// One worker's updates of cells of this shape, all 0 at first: `use(updates)`, and then
// `expect(cells)`.
template <typename Use, typename Expect>
void update_cells(Trial& t, const grid_extent& shape, const SharedUpdatesOptions& options,
                  const Use& use, const Expect& expect) {
  std::vector<uint64_t> cells(shape.cells());
  Status status;
  thread_workers(1).run([&](worker_team& team) {
    auto made = Counts::create(team, cells.data(), shape, options);
    if (!made.ok()) {
      status = made.error();
      return;
    }
    use(*made);
    made->finish();
    expect(std::span<const uint64_t>(cells));
  });
  if (!status.ok()) t.refused(status.error());
}

void add_of_shared_updates(std::vector<Call>& calls) {
  calls.push_back({"shared_updates.h", "update", false, {element}, [](Trial& t) {
                     const uint64_t last = t.element(0);
                     update_cells(
                         t, {Trial::kElements, 1, 1}, {},
                         [&](Counts& updates) {
                           updates.fill(3);
                           updates.update_all(4, [&](uint64_t k) {
                             return std::pair(k == 3 ? last : k, uint64_t{2});
                           });
                         },
                         [&](std::span<const uint64_t> cells) {
                           for (uint64_t i = 0; i < cells.size(); ++i) {
                             const uint64_t updates = (i < 3 ? 1 : 0) + (i == last ? 1 : 0);
                             t.right(cells[i] == 3 + 2 * updates);
                           }
                         });
                   }});
  // The extents of the patch are known when the program is compiled.
  calls.push_back({"shared_updates.h", "spread", false, {element}, [](Trial& t) {
                     constexpr std::array<uint64_t, 2> kOfPatch = {4, 5};
                     update_cells(
                         t, {Trial::kElements, 1, 2}, {},
                         [&](Counts& updates) {
                           updates.spread<1, 1, 2>({t.element(0), 0, 0}, kOfPatch.data());
                         },
                         [&](std::span<const uint64_t> cells) {
                           t.right(cells[2 * t.element(0)] == 4);
                           t.right(cells[2 * t.element(0) + 1] == 5);
                         });
                   }});
  calls.push_back({"shared_updates.h", "update", false, {option}, [](Trial& t) {
                     SharedUpdatesOptions options;
                     options.force = t.option<plan::SharedStrategy>(0);
                     update_cells(
                         t, {Trial::kElements, 1, 1}, options,
                         [](Counts& updates) { updates.update(3, 2); },
                         [&](std::span<const uint64_t> cells) { t.right(cells[3] == 2); });
                   }});
  // Replicas that take 8 bytes; and of cells that there may not be.
  calls.push_back({"shared_updates.h",
                   "update",
                   false,
                   {count},
                   [](Trial& t) {
                     SharedUpdatesOptions options;
                     options.force = plan::SharedStrategy::replicate;
                     if (t.kind(0) != Kind::usual) options.replica_bytes = t.count(0);
                     update_cells(
                         t, {1, 1, 1}, options, [](Counts& updates) { updates.update(0, 2); },
                         [&](std::span<const uint64_t> cells) { t.right(cells[0] == 2); });
                   },
                   {Kind::beyond, Kind::nonsense}});
  calls.push_back({"shared_updates.h", "update", false, {element}, [](Trial& t) {
                     SharedUpdatesOptions options;
                     options.force = plan::SharedStrategy::hybrid;
                     options.hot = {t.element(0), 1};
                     update_cells(
                         t, {Trial::kElements, 1, 1}, options,
                         [](Counts& updates) { updates.update(3, 2); },
                         [&](std::span<const uint64_t> cells) { t.right(cells[3] == 2); });
                   }});
}

// Points are the planes of cells at which their patches begin; the last one's is that of the
// element argument. zero: patches without cells; nonsense: larger ones than the grid.
void arrange(Trial& t) {
  constexpr grid_extent kGrid{Trial::kElements, 2, 3};
  const grid_extent patch = t.kind(3) == Kind::usual  ? grid_extent{1, 2, 3}
                            : t.kind(3) == Kind::zero ? grid_extent{1, 2, 0}
                                                      : grid_extent{1, 2, ~uint64_t{0}};
  std::vector<uint64_t> planes(t.count(1));
  std::iota(planes.begin(), planes.end(), uint64_t{0});
  if (!planes.empty()) planes.back() = t.element(2);
  const std::vector<uint64_t> before = planes;
  const std::span<uint64_t> points(t.kind(0) == Kind::null ? nullptr : planes.data(),
                                   planes.size());
  const auto corner_of = [](uint64_t plane) { return grid_cell{plane, 0, 0}; };
  std::vector<uint64_t> cells(kGrid.cells());
  const std::array<uint64_t, 6> ones = {1, 1, 1, 1, 1, 1};
  // Mistakes of all workers at once would be one line of each.
  const bool wrong = t.kind(0) == Kind::null || t.kind(2) == Kind::beyond ||
                     t.kind(2) == Kind::nonsense || t.kind(3) != Kind::usual;
  Status status;
  constexpr int kEpochs = 2;
  thread_workers(wrong ? 1 : 2).run([&](worker_team& team) {
    auto made = SharedUpdates<uint64_t, op_add>::create(team, cells.data(), kGrid);
    if (!made.ok()) {
      if (team.index() == 0) status = made.error();
      return;
    }
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      for (const uint64_t plane : made->arrange(points, corner_of, patch)) {
        made->spread(patch, corner_of(plane), ones.data());
      }
      made->finish();
    }
  });
  if (!status.ok()) return t.refused(status.error());
  for (uint64_t plane = 0; plane < kGrid.x; ++plane) {
    const auto of_plane = static_cast<uint64_t>(std::ranges::count(before, plane));
    for (uint64_t k = 0; k < 6; ++k) t.right(cells[plane * 6 + k] == kEpochs * of_plane);
  }
}

void add_arrange(std::vector<Call>& calls) {
  calls.push_back(
      {"shared_updates.h", "arrange", false, {memory, length, element, option}, arrange});
  // zero: no points; nonsense: one worker gives fewer points than the other.
  calls.push_back({"shared_updates.h", "arrange", false, {option}, [](Trial& t) {
                     std::array<uint64_t, Trial::kElements> cells{};
                     std::array<uint64_t, 4> points = {3, 1, 2, 0};
                     std::array<size_t, 2> mine{};
                     thread_workers(2).run([&](worker_team& team) {
                       const std::span<uint64_t> all(cells);
                       auto made = SharedUpdates<uint64_t, op_add>::create(team, all);
                       if (!made.ok()) return;
                       const size_t count = t.kind(0) == Kind::zero       ? 0
                                            : t.kind(0) == Kind::nonsense ? 4 - team.index()
                                                                          : 4;
                       mine[team.index()] = made->arrange(std::span(points).first(count),
                                                          [](uint64_t point) {
                                                            return grid_cell{point, 0, 0};
                                                          },
                                                          {1, 1, 1})
                                                .size();
                       made->finish();
                     });
                     t.right(mine[0] + mine[1] == (t.kind(0) == Kind::zero ? 0 : 4));
                     t.right(t.kind(0) != Kind::nonsense);
                   }});
}

}  // namespace

void add_worker_calls(std::vector<Call>& calls) {
  add_workers(calls);
  add_of_teams_of_threads(calls);
  add_of_shared_updates(calls);
  add_arrange(calls);
}

}  // namespace stripline::edges
