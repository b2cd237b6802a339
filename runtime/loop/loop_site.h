// What was found out about loops that were carried out before, by place and request.
#pragma once

#include <bit>
#include <cstdint>

#include "base/random.h"
#include "optimizer/plan/strip.h"
#include "runtime/decide/site.h"
#include "runtime/decide/site_table.h"

namespace stripline::detail {

struct LoopKey {
  uint64_t place = 0;  ///< site_of(), and the path to the data
  plan::StripRequest request;
  bool operator==(const LoopKey&) const = default;
};

inline uint64_t hash_of(const LoopKey& key) {
  const plan::StripRequest& request = key.request;
  Hash hash(key.place);
  hash.add(request.total_bytes);
  hash.add(std::bit_cast<uint64_t>(request.compute_s) ^ request.local_bytes ^
           std::rotl(request.own_bytes, 24));
  hash.add(request.halo_bytes ^ std::rotl(request.granule_elements, 20) ^
           std::rotl(request.max_buffer_bytes, 40));
  if (request.surroundings.load.nodes > 1) {
    uint64_t distances = request.surroundings.load.nodes;
    for (const uint16_t count : request.surroundings.load.at_distance)
      distances = distances * 31 + count;
    hash.add(distances);
  }
  hash.add((uint64_t{request.loop.n_local_ref} << 32 | request.loop.n_fp_alu) ^
           std::rotl(uint64_t{request.loop.n_int_alu} << 32 | request.loop.n_div, 16) ^
           std::rotl(uint64_t{request.sweeps}, 8) ^ std::rotl(uint64_t{request.blocks}, 32) ^
           std::rotl(uint64_t{request.peers}, 48) ^ std::rotl(request.largest_block_bytes, 24) ^
           std::rotl(uint64_t{request.surroundings.nic_ranks}, 56) ^ request.element_bytes ^
           static_cast<uint64_t>(request.direction) ^ (request.placed ? uint64_t{1} << 40 : 0) ^
           (request.uneven ? uint64_t{1} << 41 : 0) ^
           (request.surroundings.target_polls_only ? uint64_t{1} << 42 : 0));
  return hash.value();
}

struct LoopSite : decide::Site<plan::StripPlan> {
  LoopKey key;
};
using LoopSites = decide::SiteTable<LoopSite>;

}  // namespace stripline::detail
