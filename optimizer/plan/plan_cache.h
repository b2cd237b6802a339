// Finds what was decided for a request again: a fixed-size table from (site, request) to a value.
// The analysis cache of Iancu et al. (start_nest and end_nest, section 5), without allocation.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "optimizer/plan/strip.h"

namespace stripline::plan {

/// A hash over a site and a request; equal for equal ones.
inline uint64_t hash_of(uint64_t site, const StripRequest& request) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  uint64_t hash = site * kMultiplier;
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
      std::rotl(uint64_t{request.peers}, 48) ^
      std::rotl(uint64_t{request.surroundings.nic_ranks}, 56) ^ request.element_bytes ^
      static_cast<uint64_t>(request.direction) ^ (request.placed ? uint64_t{1} << 40 : 0) ^
      (request.uneven ? uint64_t{1} << 41 : 0) ^
      (request.surroundings.target_polls_only ? uint64_t{1} << 42 : 0));
  return hash ^ (hash >> 32);
}

/// `Capacity` entries, a power of two. When the places of a key are all taken, the oldest of them
/// gives way: a cache forgets, it does not fail. References stay valid until the next insert().
/// Not thread-safe.
template <typename Value, size_t Capacity = 512>
class PlanCache {
  static_assert(std::has_single_bit(Capacity) && Capacity >= 4);

 public:
  PlanCache() : entries_(std::make_unique<std::array<Entry, Capacity>>()) {}

  /// The value of a key, or null. `site` tells call sites apart and is the caller's choice.
  Value* find(uint64_t site, const StripRequest& request) {
    const size_t base = base_of(site, request);
    for (size_t way = 0; way < kWays; ++way) {
      Entry& entry = (*entries_)[base + way];
      if (entry.stamp != 0 && entry.site == site && entry.request == request) return &entry.value;
    }
    return nullptr;
  }

  /// What insert() with this key would forget, or null.
  const Value* displaced_by(uint64_t site, const StripRequest& request) const {
    const Entry& entry = (*entries_)[oldest_for(site, request)];
    return entry.stamp != 0 ? &entry.value : nullptr;
  }

  /// All values.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Entry& entry : *entries_) {
      if (entry.stamp != 0) visit(entry.value);
    }
  }

  /// Stores a value under a key that find() did not find.
  Value& insert(uint64_t site, const StripRequest& request, const Value& value) {
    Entry& entry = (*entries_)[oldest_for(site, request)];
    entry = {++stamp_, site, request, value};
    return entry.value;
  }

 private:
  static constexpr size_t kWays = 4;
  struct Entry {
    uint64_t stamp = 0;  // 0: empty; else the order of insertion
    uint64_t site = 0;
    StripRequest request;
    Value value{};
  };

  size_t oldest_for(uint64_t site, const StripRequest& request) const {
    const size_t base = base_of(site, request);
    size_t oldest = base;
    for (size_t way = 1; way < kWays; ++way) {
      if ((*entries_)[base + way].stamp < (*entries_)[oldest].stamp) oldest = base + way;
    }
    return oldest;
  }
  size_t base_of(uint64_t site, const StripRequest& request) const {
    return (hash_of(site, request) & (Capacity / kWays - 1)) * kWays;
  }

  std::unique_ptr<std::array<Entry, Capacity>> entries_;
  uint64_t stamp_ = 0;
};

}  // namespace stripline::plan
