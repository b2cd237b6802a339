// Calls of worker_team.h and shared_updates.h.
#include <algorithm>
#include <array>
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
  add_arrange(calls);
}

}  // namespace stripline::edges
