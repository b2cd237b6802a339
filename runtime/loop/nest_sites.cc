#include "runtime/loop/nest_sites.h"

#include <algorithm>
#include <span>
#include <variant>

#include "base/random.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/loop_state.h"
#include "runtime/vis/wire.h"

namespace stripline::detail {
namespace {

using access::Group;
using access::Nest;
using access::Piece;
using access::Reference;
using access::Tiling;

using plan::kLocalLink;
using plan::link_by;

std::span<const Piece> used_pieces(const Nest& nest, const Reference& reference) {
  return reference.pieces.first(nest.counts[reference.piece_loop]);
}

// For a nest of `depth` loops. One condition, as it is the same in nearly all comparisons.
bool same_reference(const Reference& a, const Reference& b, uint32_t depth) {
  uint64_t different = (static_cast<uint32_t>(a.mode) ^ static_cast<uint32_t>(b.mode)) |
                       (a.owner ^ b.owner) | (a.element_bytes ^ b.element_bytes) |
                       (a.piece_loop ^ b.piece_loop);
  different |= static_cast<uint64_t>(a.base ^ b.base);
  for (uint32_t loop = 0; loop < depth; ++loop) {
    different |= static_cast<uint64_t>(a.stride_bytes[loop] ^ b.stride_bytes[loop]);
  }
  return different == 0 && a.in_pieces() == b.in_pieces();
}

bool same_pieces(const Nest& a, const Nest& b) {
  for (uint32_t r = 0; r < a.references(); ++r) {
    if (!a.reference[r].in_pieces()) continue;
    if (!std::ranges::equal(used_pieces(a, a.reference[r]), used_pieces(b, b.reference[r]))) {
      return false;
    }
  }
  return true;
}

bool same_loops(const Nest& a, const Nest& b) {
  if (a.depth != b.depth) return false;
  uint64_t different = 0;
  for (uint32_t loop = 0; loop < a.depth; ++loop) different |= a.counts[loop] ^ b.counts[loop];
  return different == 0;
}

bool same_references(const NestKey& a, const NestKey& b) {
  if (a.nest.references() != b.nest.references()) return false;
  for (uint32_t r = 0; r < a.nest.references(); ++r) {
    if (a.route[r] != b.route[r] ||
        !same_reference(a.nest.reference[r], b.nest.reference[r], a.nest.depth)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool operator==(const NestKey& a, const NestKey& b) {
  return a.place == b.place && same_loops(a.nest, b.nest) && same_references(a, b) &&
         a.max_buffer_bytes == b.max_buffer_bytes && a.compute_s == b.compute_s &&
         a.loop == b.loop && a.local_bytes == b.local_bytes && a.use_model == b.use_model &&
         a.alone == b.alone && a.keeps == b.keeps && a.load == b.load &&
         a.compares_pieces == b.compares_pieces &&
         (!a.compares_pieces || same_pieces(a.nest, b.nest));
}

uint64_t hash_of(const NestKey& key) {
  Hash hash(key.place);
  for (uint32_t loop = 0; loop < key.nest.depth; ++loop) hash.add(key.nest.counts[loop]);
  for (uint32_t r = 0; r < key.nest.references(); ++r) {
    hash.add(static_cast<uint64_t>(key.nest.reference[r].base) + key.route[r].link);
    hash.add(static_cast<uint64_t>(key.nest.reference[r].stride_bytes[0]));
  }
  return hash.value();
}

namespace {

// The first reference to the same distributed array, or with the same owner.
uint32_t first_like(const Nest& nest, uint32_t reference) {
  const Reference& one = nest.reference[reference];
  for (uint32_t r = 0; r < reference; ++r) {
    const Reference& other = nest.reference[r];
    if (one.in_pieces() != other.in_pieces()) continue;
    if (one.in_pieces() ? one.pieces.data() == other.pieces.data() : one.owner == other.owner) {
      return r;
    }
  }
  return reference;
}

vis::Strided strided_of(const access::Lmad& tile) {
  vis::Strided shape;
  shape.bytes = tile.run_bytes;
  auto local = static_cast<int64_t>(tile.run_bytes);
  for (uint32_t d = 0; d < tile.dims.size(); ++d) {
    shape.dimensions.push_back({tile.dims[d].count, tile.dims[d].stride_bytes, local});
    local *= static_cast<int64_t>(tile.dims[d].count);
  }
  return shape;
}

// The tiles of a plan, whose last step may be shorter.
NestLayout cut(const Nest& nest, const plan::NestPlan& plan) {
  const auto tiled = [&](uint64_t granule) {
    return std::get<Tiling>(access::tile(nest, access::Cut{plan.cut.loop, granule}));
  };
  NestLayout layout{.plan = plan, .whole = tiled(plan.cut.granule)};
  const uint64_t left = nest.counts[plan.cut.loop] % plan.cut.granule;
  layout.rest = left == 0 ? layout.whole : tiled(left);
  return layout;
}

// The shapes of the tiles, those that move one behind the other. Returns the bytes of a slot.
uint64_t shape_tiles(const NestLayout& layout, const Tiling& tiling,
                     std::array<NestShape, access::kMaxReferences>& shapes) {
  uint64_t offset = 0;
  for (uint32_t g = 0; g < tiling.groups(); ++g) {
    const Group& group = tiling.group[g];
    NestShape& shape = shapes[g];
    shape.bytes = group.bytes();
    shape.many_regions = !group.tile.contiguous();
    if (shape.many_regions) shape.strided = strided_of(group.tile);
    if (!layout.moves(g)) continue;
    shape.in_whole = layout.kept[g].has_value() && layout.plan.steps > 1;
    if (shape.in_whole) continue;
    shape.offset = offset;
    offset += align_up(shape.bytes);
  }
  return offset;
}

// All that a group reads, where it is in one place at the end: held throughout, of a nest of one
// step, or of steps that follow one another without gaps and without sharing anything.
std::optional<access::Lmad> kept_of(const Nest& nest, const NestLayout& layout, uint32_t g) {
  const Group& group = layout.whole.group[g];
  if (group.mode != access::Mode::read || nest.reference[group.member[0]].in_pieces()) return {};
  if (group.hold == 0 || (layout.moves(g) && layout.plan.steps == 1)) return group.tile;
  const Group& rest = layout.rest.group[g];
  if (!layout.moves(g) || !group.tile.contiguous() || !rest.tile.contiguous()) return {};
  const auto [loop, granule] = layout.plan.cut;
  const uint64_t full_steps = nest.counts[loop] / granule;
  const bool has_rest = nest.counts[loop] % granule != 0;
  // A shorter last step is the last of all, and not the lowest.
  if (has_rest && (loop > 0 || group.stride_bytes[loop] < 0)) return {};
  access::Lmad full = group.tile;
  full.add({group.stride_bytes[loop] * static_cast<int64_t>(granule), full_steps});
  uint64_t bytes = full_steps * group.bytes();
  for (uint32_t outer = 0; outer < loop; ++outer) {
    full.add({group.stride_bytes[outer], nest.counts[outer]});
    bytes *= nest.counts[outer];
  }
  access::Extent extent = full.extent();
  if (has_rest) {
    extent.end += static_cast<int64_t>(rest.bytes());
    bytes += rest.bytes();
    const int64_t begin =
        group.tile.base + group.stride_bytes[loop] * static_cast<int64_t>(full_steps * granule);
    if (begin + static_cast<int64_t>(rest.bytes()) != extent.end) return {};
  }
  // As many bytes as lie between the ends may still leave gaps, where steps share others.
  if (extent.bytes() != bytes || !access::canonical(full).contiguous()) return {};
  return access::Lmad{.base = extent.begin, .run_bytes = bytes};
}

// `keeps`: room is made for what the data cache is to have.
void place_tiles(const NestKey& key, bool keeps, NestLayout& layout) {
  const plan::NestPlan& plan = layout.plan;
  bool puts = false;
  for (uint32_t g = 0; g < layout.whole.groups(); ++g) {
    const Group& group = layout.whole.group[g];
    layout.in_reach[g] = key.route[group.member[0]].link == kLocalLink;
    layout.transfers = layout.transfers || !layout.in_reach[g];
    layout.kept[g].reset();
    if (keeps && !layout.in_reach[g]) layout.kept[g] = kept_of(key.nest, layout, g);
    layout.gets = layout.gets || (layout.moves(g) && reads(group.mode));
    puts = puts || (layout.moves(g) && writes(group.mode));
  }
  layout.slot_bytes = std::max(shape_tiles(layout, layout.whole, layout.whole_shapes),
                               shape_tiles(layout, layout.rest, layout.rest_shapes));
  layout.slots = plan::nest_slots(plan.schedule, plan.window, plan.steps, layout.gets, puts);
  layout.ahead = plan.schedule == plan::Schedule::all_issued  ? plan.steps
                 : plan.schedule == plan::Schedule::pipelined ? plan.window
                                                              : 0;
  layout.buffer_bytes = layout.slots * layout.slot_bytes;
  for (uint32_t g = 0; g < layout.whole.groups(); ++g) {
    if (!layout.is_held(g)) continue;
    layout.whole_shapes[g].offset = layout.rest_shapes[g].offset = layout.buffer_bytes;
    // Where the data change, the next tile comes while one is in use.
    const uint64_t buffers = layout.whole.group[g].hold == 0 ? 1 : 2;
    layout.buffer_bytes += buffers * align_up(layout.whole_shapes[g].bytes);
  }
  for (uint32_t g = 0; g < layout.whole.groups(); ++g) {
    if (!layout.kept[g]) continue;
    if (layout.whole_shapes[g].in_whole) {
      layout.kept_offset[g] = layout.buffer_bytes;
      layout.buffer_bytes += align_up(layout.kept[g]->run_bytes);
    } else {
      layout.kept_offset[g] = layout.whole_shapes[g].offset;
    }
  }
}

}  // namespace

int64_t origin_of(const NestKey& key, const Nest& nest, uint32_t reference) {
  if (key.compares_pieces) return 0;
  return nest.reference[first_like(nest, reference)].base;
}

NestKey key_of(ContextState& state, const Nest& nest, const NestOptions& options, CallSite call,
               bool keeps) {
  NestKey key;
  const LoopState& loops = LoopState::of(state);
  const NetworkLoads& loads = loops.loads;
  const bool loaded = !loads.empty() && !options.alone;
  if (loaded) key.load = loads.begin();
  key.place = site_of(options.site, call);
  key.nest = nest;
  key.max_buffer_bytes = std::min<uint64_t>(options.max_buffer_bytes, loops.pool.most_room());
  key.keeps = keeps;
  key.compute_s = said_compute_s(options.compute_s);
  key.loop = options.loop;
  key.local_bytes = options.local_bytes;
  key.use_model = options.use_model;
  key.alone = options.alone;
  bool any_pieces = false;
  bool any_write = false;
  for (const Reference& reference : nest.reference) {
    any_pieces = any_pieces || reference.in_pieces();
    any_write = any_write || writes(reference.mode);
  }
  key.compares_pieces = any_pieces && any_write;
  for (uint32_t r = 0; r < nest.references(); ++r) {
    const Reference& reference = nest.reference[r];
    Reference& of_key = key.nest.reference[r];
    NestKey::Route& route = key.route.emplace_back();
    const auto add_load = [&](rank_t owner) {
      if (loaded) loads.add(key.load, owner);
    };
    const auto link_to = [&](rank_t owner) {
      if (owner >= kKeptOwner || state.memory.reachable(owner) != nullptr) return kLocalLink;
      return link_by(state.job.path_to(owner));
    };
    if (reference.in_pieces() || !key.compares_pieces) {
      of_key.owner = first_like(nest, r);
      of_key.base -= origin_of(key, nest, r);
    }
    if (reference.in_pieces()) {
      size_t near = 0;
      // Where some pieces come over the network, it decides.
      for (const Piece& piece : used_pieces(nest, reference)) {
        const uint8_t link = link_to(piece.owner);
        near += link == kLocalLink ? 1 : 0;
        if (link == link_by(model::Path::network)) add_load(piece.owner);
        if (link != kLocalLink && route.link != link_by(model::Path::network)) route.link = link;
      }
      route.in_reach_part =
          static_cast<double>(near) / static_cast<double>(nest.counts[reference.piece_loop]);
    } else {
      route.link = link_to(reference.owner);
      if (route.link == link_by(model::Path::network)) add_load(reference.owner);
    }
  }
  return key;
}

plan::NestRequest request_of(ContextState& state, const NestKey& key, double compute_s,
                             double service_delay_s) {
  const fabric::Info& info = state.job.fabric().info();
  plan::NestRequest request;
  request.nest = key.nest;
  decide::Operations by_network{.alone = key.alone};
  for (uint32_t r = 0; r < key.nest.references(); ++r) {
    request.link[r] = key.route[r].link;
    request.in_reach_part[r] = key.route[r].in_reach_part;
    if (key.route[r].link != plan::link_by(model::Path::network)) continue;
    const access::Mode mode = key.nest.reference[r].mode;
    by_network.gets = by_network.gets || reads(mode);
    by_network.puts = by_network.puts || writes(mode);
  }
  request.surroundings = decide::surroundings_of(info, plan::NestRequest::kFacts, by_network);
  request.surroundings.load = key.load;
  request.max_buffer_bytes = key.max_buffer_bytes;
  request.slot_alignment = kAlignment;
  request.uniform_steps = true;  // NestEngine::group()
  request.compute_s = key.compute_s >= 0 ? key.compute_s : compute_s;
  request.loop = key.loop;
  request.local_bytes = key.local_bytes;
  request.links[kLocalLink].in_reach = true;
  for (size_t i = 0; i < model::kPaths; ++i) {
    const auto path = static_cast<model::Path>(i);
    plan::NestLink& link = request.links.at(link_by(path));
    if (key.use_model) {
      link.strip = LoopState::of(state).costs(path);
      link.vis = state.mechanisms.vis_plans().costs(path);
    }
    link.many.iov_limit = info.iov_limit;
    link.many.max_buffer_bytes = vis::Transfers::kMaxBoxBytes;
    link.many.medium_bytes = state.operations.vis().max_chunk_bytes();
    link.many.message_bytes = state.operations.messages().max_payload_bytes();
    link.many.message_header_bytes = sizeof(vis::wire::Head) + sizeof(vis::wire::StridedHead);
    if (path == model::Path::network) link.many.surroundings.service_delay_s = service_delay_s;
  }
  return request;
}

namespace {

// Tiles of many regions may travel in messages, for which peers wait, and those that are held are
// fetched when others are seen to have left: every step looks for that.
std::optional<double> attention_step_s(const NestLayout& layout) {
  for (uint32_t g = 0; g < layout.whole.groups(); ++g) {
    if (layout.in_reach[g]) continue;
    const bool in_pieces =
        layout.whole_shapes[g].many_regions || layout.rest_shapes[g].many_regions;
    if (in_pieces || layout.is_held(g)) return {};
  }
  return layout.plan.predicted_s / static_cast<double>(layout.plan.steps);
}

}  // namespace

double service_delay_of(ContextState& state, const NestKey& key, const Nest& nest) {
  double delay_s = 0;
  for (uint32_t r = 0; r < nest.references(); ++r) {
    if (key.route[r].link != plan::link_by(model::Path::network)) continue;
    const Reference& reference = nest.reference[r];
    uint32_t owner = reference.owner;
    if (reference.in_pieces()) {
      const std::span<const Piece> pieces = used_pieces(nest, reference);
      const auto far = std::ranges::find_if(pieces, [&](const Piece& piece) {
        return state.memory.reachable(piece.owner) == nullptr;
      });
      if (far == pieces.end()) continue;
      owner = far->owner;
    }
    delay_s = std::max(delay_s, state.operations.service_delays().expected_s(owner));
  }
  return delay_s;
}

NestLayout lay_out(const NestKey& key, const plan::NestPlan& plan) {
  if (!plan.obstacle) {
    NestLayout layout = cut(key.nest, plan);
    place_tiles(key, key.keeps, layout);
    if (key.keeps && layout.buffer_bytes > key.max_buffer_bytes) place_tiles(key, false, layout);
    layout.attention_step_s = attention_step_s(layout);
    return layout;
  }
  NestLayout layout{.plan = plan};
  for (const Reference& reference : key.nest.reference) {
    layout.slot_bytes = std::max(layout.slot_bytes, align_up(reference.element_bytes));
  }
  layout.buffer_bytes = key.nest.references() * layout.slot_bytes;
  return layout;
}

void NestSite::keep_pieces() {
  const Nest of_program = key.nest;
  pieces.reserve(of_program.references());
  for (uint32_t r = 0; r < of_program.references(); ++r) {
    Reference& reference = key.nest.reference[r];
    if (!reference.in_pieces()) continue;
    const uint32_t first = first_like(of_program, r);
    if (first < r && reference.pieces.size() == of_program.reference[first].pieces.size()) {
      reference.pieces = key.nest.reference[first].pieces;
      continue;
    }
    pieces.emplace_back(reference.pieces.begin(), reference.pieces.end());
    reference.pieces = pieces.back();
  }
}

}  // namespace stripline::detail
