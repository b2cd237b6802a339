// What was found out about nests that were carried out before, by place and shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <stripline/nest.h>

#include "runtime/decide/site.h"
#include "runtime/decide/site_table.h"
#include "runtime/loop/attention.h"
#include "runtime/loop/network_loads.h"
#include "runtime/rma/context_state.h"
#include "runtime/vis/strided.h"

namespace stripline::detail {

/// Bytes that are moved as a whole, and how they lie in a buffer.
struct NestShape {
  uint64_t bytes = 0;
  uint64_t offset = 0;  ///< in a slot, or in the memory for what is held
  bool many_regions = false;
  bool in_whole = false;  ///< has its place among all that the nest fetches (NestLayout::kept)
  vis::Strided strided;   ///< of many regions; remote offsets from the tile's base
};

/// A plan, the tiles it makes, and their places in memory: what a site of a nest decides on.
struct NestLayout {
  const plan::NestPlan plan{};
  access::Tiling whole{};  ///< of a full step
  access::Tiling rest{};   ///< of the last one of a loop, if it is shorter
  std::array<NestShape, access::kMaxReferences> whole_shapes{};  ///< by group
  std::array<NestShape, access::kMaxReferences> rest_shapes{};
  std::array<bool, access::kMaxReferences> in_reach{};  ///< by group: all of it, always
  bool transfers = false;                               ///< some group is not
  bool gets = false;                                    ///< with every step
  uint64_t slots = 1;
  uint64_t slot_bytes = 0;
  uint64_t ahead = 0;  ///< steps that are fetched before they are computed on
  uint64_t buffer_bytes = 0;
  /// By group: all bytes of the nest, based as tiles are, if they are in one place when it is over,
  /// `kept_offset` into its memory; else none.
  std::array<std::optional<access::Lmad>, access::kMaxReferences> kept{};
  std::array<uint64_t, access::kMaxReferences> kept_offset{};
  std::optional<double> attention_step_s{};  ///< of Attention; none: every step is looked after

  /// True if a group moves with every step, or is held for several. Neither, if it is in reach.
  bool moves(uint32_t g) const { return !in_reach[g] && whole.group[g].hold > plan.cut.loop; }
  bool is_held(uint32_t g) const { return !in_reach[g] && whole.group[g].hold <= plan.cut.loop; }
};

/// A nest by place and shape: nests of the same key are carried out alike. Owners are named by the
/// first reference that has the same one, and bases count from that one's, so that a nest that
/// moves along is found again; not where a nest with distributed arrays writes, as it matters which
/// of their pieces are whose, and what else is there.
struct NestKey {
  uint64_t place = 0;
  access::Nest nest;
  /// The fields of a reference, as NestRequest has them.
  struct Route {
    uint8_t link = 0;
    double in_reach_part = 0;
    friend bool operator==(const Route&, const Route&) = default;
  };
  access::Few<Route, access::kMaxReferences> route;
  bool compares_pieces = false;
  cost::NetworkLoad load;
  uint64_t max_buffer_bytes = 0;
  double compute_s = -1;
  cost::LoopClass loop;
  uint64_t local_bytes = 0;
  bool use_model = true;
  bool alone = false;
  bool keeps = false;  ///< for the data cache
};

/// What counts as base 0 in the key.
int64_t origin_of(const NestKey& key, const access::Nest& nest, uint32_t reference);

/// Marks the owner of a reference that the data cache serves: in reach, and not the rank's segment.
inline constexpr uint32_t kKeptOwner = uint32_t{1} << (64 - kOffsetBits);

/// The key of a nest that is about to be carried out. Its pieces are those of the program. `keeps`:
/// what it fetches is wanted afterwards.
NestKey key_of(ContextState& state, const access::Nest& nest, const NestOptions& options,
               CallSite call, bool keeps);

bool operator==(const NestKey& a, const NestKey& b);
uint64_t hash_of(const NestKey& key);

/// How long messages wait for owners between nodes, in seconds: they are asked for tiles of many
/// regions, as far as they have answered late. The first owner of each reference that is not in
/// reach counts.
double service_delay_of(ContextState& state, const NestKey& key, const access::Nest& nest);

/// What the planner is asked; `compute_s` where the key does not say what the computation takes. It
/// points to the pieces of the key.
plan::NestRequest request_of(ContextState& state, const NestKey& key, double compute_s,
                             double service_delay_s);

/// Cuts a plan for the key into tiles, and lays them out. Where it has an obstacle, steps are
/// single iterations, whose elements have a slot each.
NestLayout lay_out(const NestKey& key, const plan::NestPlan& plan);

struct NestSite : decide::Site<NestLayout> {
  NestKey key;
  /// The distributed arrays of the key, which the program may forget.
  std::vector<std::vector<access::Piece>> pieces;
  double service_delay_s = 0;  ///< that it was decided on with
  uint32_t redecided = 0;      ///< because that was another one
  uint32_t sooner = 0;         ///< the latest executions with owners that answer sooner than that
  /// Makes the key refer to them.
  void keep_pieces();
};
using NestSites = decide::SiteTable<NestSite>;

}  // namespace stripline::detail
