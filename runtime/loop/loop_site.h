// What was found out about loops that were carried out before, by place and request.
#pragma once

#include <bit>
#include <cstdint>

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
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  const plan::StripRequest& request = key.request;
  uint64_t hash = key.place * kMultiplier;
  const auto mix = [&](uint64_t value) { hash = (std::rotl(hash, 23) ^ value) * kMultiplier; };
  mix(request.total_bytes);
  mix(std::bit_cast<uint64_t>(request.compute_s) ^ request.local_bytes ^
      std::rotl(request.own_bytes, 24));
  mix(request.halo_bytes ^ std::rotl(request.granule_elements, 20) ^
      std::rotl(request.max_buffer_bytes, 40));
  if (request.surroundings.load.nodes > 1) {
    uint64_t distances = request.surroundings.load.nodes;
    for (const uint16_t count : request.surroundings.load.at_distance)
      distances = distances * 31 + count;
    mix(distances);
  }
  mix((uint64_t{request.loop.n_local_ref} << 32 | request.loop.n_fp_alu) ^
      std::rotl(uint64_t{request.loop.n_int_alu} << 32 | request.loop.n_div, 16) ^
      std::rotl(uint64_t{request.sweeps}, 8) ^ std::rotl(uint64_t{request.blocks}, 32) ^
      std::rotl(uint64_t{request.peers}, 48) ^ std::rotl(request.largest_block_bytes, 24) ^
      std::rotl(uint64_t{request.surroundings.nic_ranks}, 56) ^ request.element_bytes ^
      static_cast<uint64_t>(request.direction) ^ (request.placed ? uint64_t{1} << 40 : 0) ^
      (request.uneven ? uint64_t{1} << 41 : 0) ^
      (request.surroundings.target_polls_only ? uint64_t{1} << 42 : 0));
  return hash ^ (hash >> 32);
}

struct LoopSite : decide::Site<plan::StripPlan> {
  LoopKey key;
};
using LoopSites = decide::SiteTable<LoopSite>;

}  // namespace stripline::detail
