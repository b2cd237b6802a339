// Teams of workers for tests: threads, and ranks that are threads of this process.
#pragma once

#include <algorithm>
#include <functional>
#include <span>

#include <gtest/gtest.h>

#include <stripline/worker_team.h>

#include "runtime/bootstrap/testing/thread_group.h"

namespace stripline::update {

enum class TeamKind { threads, ranks };

inline void on_team(TeamKind kind, uint32_t workers,
                    const std::function<void(worker_team&)>& body) {
  if (kind == TeamKind::threads) {
    thread_workers(workers).run(body);
    return;
  }
  bootstrap::ThreadGroupOptions options;
  options.ranks = workers;
  options.context.segment_bytes = size_t{8} << 20;
  const Status status = bootstrap::run_ranks(options, [&](Context& context) {
    auto team = node_workers(context);
    ASSERT_TRUE(team.ok()) << team.error().message();
    ASSERT_EQ((*team)->count(), workers);
    body(**team);
  });
  ASSERT_TRUE(status.ok()) << status.error().message();
}

/// An array whose elements are all the same at first. Making and destroying it is collective.
template <typename T>
class TeamCells {
 public:
  TeamCells(worker_team& team, size_t count, T value)
      : array_(team_array<T>::create(team, count).value()) {
    if (team.index() == 0) std::ranges::fill(all(), value);
    team.barrier();
  }
  std::span<T> all() const { return array_.all(); }

 private:
  team_array<T> array_;
};

}  // namespace stripline::update
