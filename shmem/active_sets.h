// Teams of the deprecated collective operations on active sets: PEs start, start + stride, ...
// whose members call without a call that makes a team of them. The first call on a set makes one,
// which is kept: its members tell the first of them that they know it, and go on when that has
// heard of all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "shmem/world.h"

namespace stripline::shmem {

class ActiveSets {
 public:
  /// Collective over the job.
  explicit ActiveSets(World& world);

  /// The team of `size` PEs from `start` on, 2^log_stride apart. Ends the program where these are
  /// not PEs, or this one is not among them. Collective over them when it is first called.
  Team& find(const char* call, int start, int log_stride, int size);

 private:
  enum class Step : uint32_t { ready, go };
  struct Message {
    Step step;
    uint32_t id;
  };

  uint32_t id_of(const char* call, int start, int log_stride, int size) const;
  void meet(const char* call, const sync::Group& group);
  void take(std::span<const std::byte> payload);

  World& world_;
  uint32_t handler_;
  std::map<uint32_t, std::unique_ptr<Team>> teams_;
  std::map<uint32_t, uint32_t> ready_;  // members that have come, of sets that this PE begins
  std::set<uint32_t> complete_;         // sets of which all members have come
};

/// The same as a handle, for calls on teams. `work`, the array that the standard wants, is not
/// used.
shmem_team_t active_set(const char* call, int start, int log_stride, int size, const long* work);

}  // namespace stripline::shmem
