// A block of memory of each worker of a team, which all reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <stripline/worker_team.h>

#include "base/result.h"

namespace stripline::update {

/// Moves, does not copy. Destroying it is this worker's own doing: who still uses its block is the
/// owner's concern. The team must outlive it.
class TeamBlocks {
 public:
  /// Collective; `bytes` is this worker's own choice. Errors: those of worker_team::allocate(), on
  /// all workers where one has none.
  static Result<TeamBlocks> create(worker_team& team, size_t bytes) {
    Result<uint64_t> block = team.allocate(bytes);
    const std::vector<uint64_t> failed = team.allgather(block.ok() ? 0 : 1);
    const std::vector<uint64_t> all = team.allgather(block.ok() ? *block : 0);
    TeamBlocks blocks(team, block.ok() ? *block : 0, block.ok());
    for (uint32_t worker = 0; worker < team.count(); ++worker) {
      if (failed[worker] == 0) {
        blocks.places_.push_back(team.at(all[worker]));
      } else {
        return block.ok() ? Error(ErrorCode::resource_exhausted,
                                  "worker " + std::to_string(worker) +
                                      " of this node has no memory for shared updates")
                          : block.error();
      }
    }
    return blocks;
  }
  ~TeamBlocks() {
    if (owns_) team_->deallocate(mine_);
  }
  TeamBlocks(TeamBlocks&& other) noexcept
      : team_(other.team_),
        mine_(other.mine_),
        owns_(std::exchange(other.owns_, false)),
        places_(std::move(other.places_)) {}
  TeamBlocks& operator=(TeamBlocks&& other) noexcept {
    std::swap(team_, other.team_);
    std::swap(mine_, other.mine_);
    std::swap(owns_, other.owns_);
    std::swap(places_, other.places_);
    return *this;
  }

  std::byte* of(uint32_t worker) const { return places_[worker]; }

 private:
  TeamBlocks(worker_team& team, uint64_t mine, bool owns)
      : team_(&team), mine_(mine), owns_(owns) {}

  worker_team* team_;
  uint64_t mine_;
  bool owns_;
  std::vector<std::byte*> places_;
};

}  // namespace stripline::update
