#include "runtime/loop/nest_engine.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "optimizer/access/saturate.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/loop_state.h"
#include "runtime/vis/wire.h"

namespace stripline::detail {

using access::Group;
using access::Nest;
using access::Reference;
using access::Tiling;
using plan::Direction;

// --- before the first step -----------------------------------------------------------------------

void NestEngine::begin(const Nest& nest, const NestOptions& options, CallSite call) {
  Analysis::Span deciding(loops_.analysis);
  loops_.analysis.count_execution();
  nest_ = nest;
  out_ = false;
  computed_s_ = 0;
  compute_ = fetch_ = {};
  check_bounds(call);
  caches_ = loops_.caches(options.data_cache);
  served_ = 0;
  if (caches_ && !loops_.cache.empty()) look_for_kept();
  find_layout(options, call);
  deciding.end();
  if (layout_->buffer_bytes > 0) memory_ = loops_.buffer_of(state_, layout_->buffer_bytes);
  if (!plan().obstacle) begin_tiles();
}

// Of a reference, in one piece of it.
access::Extent NestEngine::extent_of(const Reference& reference) const {
  access::Extent extent{reference.base,
                        access::saturating_add(reference.base, reference.element_bytes)};
  for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
    if (reference.in_pieces() && loop == reference.piece_loop) continue;
    const int64_t span = access::saturating_span(reference.stride_bytes[loop], nest_.counts[loop]);
    int64_t& end = span < 0 ? extent.begin : extent.end;
    end = access::saturating_add(end, span);
  }
  return extent;
}

void NestEngine::check_bounds(CallSite call) const {
  for (const Reference& reference : nest_.reference) {
    const access::Extent extent = extent_of(reference);
    const auto check = [&](rank_t owner, int64_t begin) {
      // What begins before the segment is out of bounds as an unsigned number.
      state_.check({"nest", call}, owner,
                   static_cast<uint64_t>(access::saturating_add(extent.begin, begin)),
                   extent.bytes());
    };
    if (!reference.in_pieces()) {
      check(reference.owner, 0);
      continue;
    }
    for (uint64_t k = 0; k < nest_.counts[reference.piece_loop]; ++k) {
      check(reference.pieces[k].owner,
            access::saturating_add(
                reference.pieces[k].base,
                access::saturating_span(reference.stride_bytes[reference.piece_loop], k + 1)));
    }
  }
}

// Finds references that only read what the data cache has, and the nest does not write.
void NestEngine::look_for_kept() {
  const auto is_written = [&](const Reference& read) {
    const access::Extent extent = extent_of(read);
    for (const Reference& other : nest_.reference) {
      if (!writes(other.mode)) continue;
      if (other.in_pieces()) return true;
      const access::Extent written = extent_of(other);
      if (other.owner == read.owner && written.begin < extent.end && extent.begin < written.end) {
        return true;
      }
    }
    return false;
  };
  for (uint32_t r = 0; r < nest_.references(); ++r) {
    const Reference& reference = nest_.reference[r];
    if (writes(reference.mode) || reference.in_pieces() ||
        state_.reachable[reference.owner] != nullptr || is_written(reference)) {
      continue;
    }
    std::array<access::Dimension, access::kMaxDepth> dims;
    for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
      dims[loop] = {reference.stride_bytes[loop], nest_.counts[loop]};
    }
    const auto kept = loops_.cache.find({.rank = reference.owner,
                                         .base = reference.base,
                                         .bytes = reference.element_bytes,
                                         .element_bytes = reference.element_bytes,
                                         .loops = std::span(dims).first(nest_.depth)});
    if (!kept) continue;
    if (served_ == 0) described_ = nest_;
    served_ |= uint32_t{1} << r;
    served_at_[r] = *kept;
    served_in_.emplace_back(loops_.pool, *kept->buffer);
    described_.reference[r].owner |= kKeptOwner;
  }
}

NestSite& NestEngine::site_for(const NestKey& key, const NestOptions& options) {
  if (NestSite* const known = loops_.nest_sites.find(key)) return *known;
  if (const NestSite* old = loops_.nest_sites.displaced_by(key)) loops_.forgotten.add(old->guard);
  NestSite& site = loops_.nest_sites.insert(key);
  site.layout = lay_out(state_, site.key, options, options.compute_s);
  loops_.analysis.count_plan();
  return site;
}

void NestEngine::find_layout(const NestOptions& options, CallSite call) {
  const Nest& nest = served_ == 0 ? nest_ : described_;
  NestKey key = key_of(state_, nest, options, call, caches_);
  measuring_ = timed_ = false;
  simply_ = !options.use_model;
  call_ = call;
  // A nest that has room is the same wherever it is carried out.
  const auto fits = [&](const NestLayout& layout) {
    if (layout.buffer_bytes == 0) return true;
    const uint64_t room = loops_.pool.room();
    return layout.buffer_bytes <= room || key.max_buffer_bytes <= room;
  };
  if (options.force) {
    forced_ = lay_out(state_, key, options, options.compute_s);
    if (!fits(forced_)) {
      key.max_buffer_bytes = loops_.pool.room();
      forced_ = lay_out(state_, key, options, options.compute_s);
    }
    layout_ = &forced_;
  } else {
    site_ = &site_for(key, options);
    if (!fits(site_->layout)) {
      key.max_buffer_bytes = loops_.pool.room();
      site_ = &site_for(key, options);
    }
    ++site_->users;
    layout_ = &site_->layout;
    const plan::Reason reason = plan().reason;
    const bool no_model = reason == plan::Reason::no_model && !plan().obstacle;
    if (no_model && options.use_model) loops_.say_no_model(state_);
    const auto is_remote = [](const NestKey::Way& way) { return way.link != plan::kLocalLink; };
    if (plan().obstacle && options.use_model && std::ranges::any_of(key.way, is_remote)) {
      loops_.say_in_order(state_, call, *plan().obstacle);
    }
    measuring_ = options.compute_s < 0 && !plan().obstacle && !no_model &&
                 reason != plan::Reason::own_memory && site_->executions < kTimedExecutions;
    if (measuring_ || state_.trace != nullptr) options_ = options;
    if (options.self_check && state_.run_guard != nullptr && options.use_model &&
        reason != plan::Reason::own_memory && !plan().obstacle) {
      obey_guards(options);
    }
  }
  traces_ = state_.trace != nullptr;
  if (timed_ || traces_) begun_s_ = context_.now_s();
  if (plan().obstacle) return;
  for (uint32_t g = 0; g < groups(); ++g) {
    origin_[g] = origin_of(key, nest, layout_->whole.group[g].member[0]);
  }
}

void NestEngine::begin_tiles() {
  attention_ =
      layout_->attention_step_s
          ? Attention(state_.fabric->info(), loops_.look_time.seconds(), *layout_->attention_step_s)
          : Attention();
  if (!layout_->transfers) {
    fetch_.step = plan().steps;
    return;
  }
  Analysis::Span choosing(loops_.analysis);
  choose_methods(layout_->whole, layout_->whole_shapes, whole_methods_);
  choose_methods(layout_->rest, layout_->rest_shapes, rest_methods_);
  choosing.end();
  if (caches_) keep();
  if (flights_.size() < layout_->slots * groups()) flights_.resize(layout_->slots * groups());
  if (!layout_->gets) fetch_.step = plan().steps;
  for (uint32_t g = 0; g < groups(); ++g) {
    held_[g].fetched = 0;
    if (layout_->is_held(g) && layout_->ahead > 0) fetch_held(g);
  }
  while (fetch_.step < std::min(layout_->ahead, plan().steps)) fetch_step();
}

// Anew for each execution, as owners answer sooner or later. Of a distributed array, the first
// owner that is not in reach stands for all.
void NestEngine::choose_methods(const Tiling& tiling,
                                const std::array<NestShape, access::kMaxReferences>& shapes,
                                std::array<Methods, access::kMaxReferences>& methods) const {
  for (uint32_t g = 0; g < tiling.groups(); ++g) {
    if (!shapes[g].many_regions || layout_->in_reach[g]) continue;
    const Group& group = tiling.group[g];
    const Reference& reference = reference_of(g);
    Place place;
    while (is_reached(g, place)) ++place.index[reference.piece_loop];
    const rank_t owner = owner_at(reference, place);
    plan::VisRequest request;
    request.regions = group.tile.runs();
    request.region_bytes = group.tile.run_bytes;
    request.extent_bytes = group.tile.extent().bytes();
    request.iov_limit = state_.fabric->info().iov_limit;
    request.max_buffer_bytes = vis::Transfers::kMaxBoxBytes;
    request.medium_bytes = state_.vis.max_chunk_bytes();
    request.message_bytes = state_.messages.max_payload_bytes();
    request.message_header_bytes =
        static_cast<uint32_t>(sizeof(vis::wire::Head) + sizeof(vis::wire::StridedHead) +
                              shapes[g].strided.dimensions.size() * 2 * sizeof(uint64_t));
    const model::Path path = state_.path_to(owner);
    const auto best = [&](Direction direction) {
      request.direction = direction;
      request.bounding_box_allowed = direction == Direction::get;
      request.surroundings =
          decide::surroundings_of(state_.fabric->info(), plan::VisRequest::kFacts,
                                  {.path = path,
                                   .gets = direction == Direction::get,
                                   .puts = direction == Direction::put,
                                   .signals = false});
      request.surroundings.service_delay_s = state_.service_delays.expected_s(owner);
      const rma::VisPlans::Plans& plans = state_.vis_plans->plans(request, path);
      if (!plans.same && site_ != nullptr && state_.run_guard != nullptr) {
        state_.run_guard->differs(number_of(site_->guard));
      }
      return simply_ ? plans.simple : plans.tuned;
    };
    if (reads(group.mode)) methods[g].get = best(Direction::get);
    if (writes(group.mode)) methods[g].put = best(Direction::put);
  }
}

// Tells the data cache what is about to be fetched.
void NestEngine::keep() {
  for (uint32_t g = 0; g < groups(); ++g) {
    if (!layout_->kept[g]) continue;
    access::Lmad bytes = *layout_->kept[g];
    bytes.base += origin_[g];
    loops_.cache.keep(*memory_.buffer(), reference_of(g).owner, bytes,
                      memory_.memory() + layout_->kept_offset[g]);
    keeps_ = true;
  }
}

std::byte* NestEngine::place_in_whole(uint32_t g, const Place& place) const {
  return memory_.memory() + layout_->kept_offset[g] +
         (base_of(g, place) - origin_[g] - layout_->kept[g]->base);
}

std::byte* NestEngine::held_buffer(uint32_t g, uint64_t tile) const {
  const NestShape& shape = layout_->whole_shapes[g];
  return memory_.memory() + shape.offset + (tile % 2) * align_up(shape.bytes);
}

// --- where a step is -----------------------------------------------------------------------------

void NestEngine::advance(Place& place) const {
  ++place.step;
  uint32_t loop = plan().cut.loop;
  place.index[loop] += granule();
  while (place.index[loop] >= nest_.counts[loop] && loop > 0) {
    place.index[loop] = 0;
    ++place.index[--loop];
  }
}

// Counted from 0, of a group that is held.
uint64_t NestEngine::tile_of(const Group& group, const Place& place) const {
  uint64_t tile = 0;
  for (uint32_t loop = 0; loop < group.hold; ++loop) {
    tile = tile * nest_.counts[loop] + place.index[loop];
  }
  return tile;
}

NestEngine::Place NestEngine::place_of(const Group& group, uint64_t tile) const {
  Place place;
  for (uint32_t loop = group.hold; loop-- > 0;) {
    place.index[loop] = tile % nest_.counts[loop];
    tile /= nest_.counts[loop];
  }
  return place;
}

bool NestEngine::ends_tile(const Group& group, const Place& place) const {
  if (place.index[plan().cut.loop] + granule() < nest_.counts[plan().cut.loop]) return false;
  for (uint32_t loop = group.hold; loop < plan().cut.loop; ++loop) {
    if (place.index[loop] + 1 < nest_.counts[loop]) return false;
  }
  return true;
}

// Of a tile that belongs to this place.
int64_t NestEngine::base_of(uint32_t g, const Place& place) const {
  const Group& of_place = group(g, place);
  const Reference& reference = reference_of(g);
  int64_t base = origin_[g] + of_place.tile.base;
  if (reference.in_pieces()) base += reference.pieces[place.index[reference.piece_loop]].base;
  for (uint32_t loop = 0; loop < of_place.hold; ++loop) {
    base += of_place.stride_bytes[loop] * static_cast<int64_t>(place.index[loop]);
  }
  return base;
}

rank_t NestEngine::owner_at(const Reference& reference, const Place& place) const {
  return reference.in_pieces() ? reference.pieces[place.index[reference.piece_loop]].owner
                               : reference.owner;
}

// Of the element of an iteration, by the numbers of the outer `loops`.
uint64_t NestEngine::offset_at(const Reference& reference, const Place& place,
                               uint32_t loops) const {
  int64_t offset = reference.base;
  if (reference.in_pieces()) offset += reference.pieces[place.index[reference.piece_loop]].base;
  for (uint32_t loop = 0; loop < loops; ++loop) {
    offset += reference.stride_bytes[loop] * static_cast<int64_t>(place.index[loop]);
  }
  return static_cast<uint64_t>(offset);
}

// --- moving --------------------------------------------------------------------------------------

void NestEngine::transfer(Direction direction, uint32_t g, const Place& place, std::byte* memory,
                          fabric::Counter& counter) {
  const bool get = direction == Direction::get;
  const rank_t owner = owner_at(reference_of(g), place);
  const NestShape& of_tile = shape(g, place);
  const int64_t base = base_of(g, place);
  if (of_tile.many_regions) {
    const Methods& methods = (is_rest(place) ? rest_methods_ : whole_methods_)[g];
    vis::Strided strided = of_tile.strided;
    strided.remote = base;
    if (!get) {
      const access::Extent extent = group(g, place).tile.extent();
      state_.stored(owner, static_cast<uint64_t>(base), extent.bytes());
    }
    state_.operation = "nest";
    state_.vis.start(direction, owner, strided, memory, get ? methods.get : methods.put, counter);
  } else if (get) {
    state_.get(memory, owner, static_cast<uint64_t>(base), of_tile.bytes, counter, {"nest", call_});
  } else {
    state_.put(owner, static_cast<uint64_t>(base), memory, of_tile.bytes, counter, {"nest", call_});
  }
}

void NestEngine::wait(uint32_t g, const fabric::Counter& counter) {
  layout_->whole_shapes[g].many_regions ? state_.wait_for_messages(counter)
                                        : state_.wait_for(counter);
}

// Asks for what the next step needs. What left from the same slot must be gone.
void NestEngine::fetch_step() {
  for (uint32_t g = 0; g < groups(); ++g) {
    if (!layout_->moves(g) || !reads(group(g, fetch_).mode)) continue;
    Flight& of_slot = flight(g, fetch_.step);
    wait(g, of_slot.out);
    if (is_reached(g, fetch_)) continue;
    transfer(Direction::get, g, fetch_, slot(g, fetch_), of_slot.in);
  }
  advance(fetch_);
}

void NestEngine::fetch_held(uint32_t g) {
  const Group& held = layout_->whole.group[g];
  const uint64_t tile = held_[g].fetched++;
  Flight& of_buffer = held_[g].flight[tile % 2];
  wait(g, of_buffer.out);
  const Place place = place_of(held, tile);
  if (!reads(held.mode) || is_reached(g, place)) return;
  transfer(Direction::get, g, place, held_buffer(g, tile), of_buffer.in);
}

// Waits for what the step is computed on.
void NestEngine::await_step() {
  if (!layout_->transfers) return;
  while (fetch_.step <= compute_.step) fetch_step();
  for (uint32_t g = 0; g < groups(); ++g) {
    if (!layout_->is_held(g)) continue;
    const uint64_t tile = tile_of(layout_->whole.group[g], compute_);
    while (held_[g].fetched <= tile) fetch_held(g);
  }
  for (uint32_t g = 0; g < groups(); ++g) {
    const Group& whole = layout_->whole.group[g];
    if (layout_->moves(g)) {
      const Flight& of_slot = flight(g, compute_.step);
      wait(g, reads(whole.mode) ? of_slot.in : of_slot.out);
    } else if (layout_->is_held(g)) {
      const uint64_t tile = tile_of(whole, compute_);
      wait(g, held_[g].flight[tile % 2].in);
      // The next one comes while this one is in use, once its buffer is free.
      const bool more = place_of(whole, tile + 1).index != Place{}.index;
      if (layout_->ahead > 0 && more && held_[g].fetched == tile + 1 &&
          held_[g].flight[(tile + 1) % 2].out.pending == 0) {
        fetch_held(g);
      }
    }
  }
  if (layout_->ahead > 0 && fetch_.step < plan().steps &&
      fetch_.step <= compute_.step + layout_->ahead) {
    fetch_step();
  }
}

// Sends what the step has written, and what was written to a tile that ends with it.
void NestEngine::take_back() {
  if (!layout_->transfers) return;
  for (uint32_t g = 0; g < groups(); ++g) {
    const Group& of_step = group(g, compute_);
    if (!writes(of_step.mode) || is_reached(g, compute_)) continue;
    if (layout_->moves(g)) {
      transfer(Direction::put, g, compute_, slot(g, compute_), flight(g, compute_.step).out);
    } else if (layout_->is_held(g) && ends_tile(of_step, compute_)) {
      const uint64_t tile = tile_of(of_step, compute_);
      transfer(Direction::put, g, place_of(of_step, tile), held_buffer(g, tile),
               held_[g].flight[tile % 2].out);
    }
  }
  if (plan().schedule == plan::Schedule::vectorised) wait_for_all();
}

void NestEngine::wait_for_all() {
  if (!layout_->transfers) return;
  for (uint32_t g = 0; g < groups(); ++g) {
    const auto settle = [&](const Flight& flight) {
      wait(g, flight.in);
      wait(g, flight.out);
    };
    if (layout_->moves(g)) {
      for (uint64_t slot = 0; slot < layout_->slots; ++slot) settle(flight(g, slot));
    } else if (layout_->is_held(g)) {
      for (const Flight& flight : held_[g].flight) settle(flight);
    }
  }
}

void NestEngine::point_at_elements() {
  const uint32_t cut_loop = plan().cut.loop;
  tile_.cut_loop = cut_loop;
  tile_.first = compute_.index;
  tile_.count = std::min(granule(), nest_.counts[cut_loop] - compute_.index[cut_loop]);
  for (uint32_t g = 0; g < groups(); ++g) {
    const Group& of_step = group(g, compute_);
    std::byte* buffer = nullptr;
    if (is_reached(g, compute_)) {
      // In place.
    } else if (layout_->moves(g)) {
      buffer = slot(g, compute_);
    } else {
      buffer = held_buffer(g, tile_of(of_step, compute_));
      for (uint32_t loop = of_step.hold; loop <= cut_loop; ++loop) {
        buffer += of_step.buffer_stride_bytes[loop] * static_cast<int64_t>(compute_.index[loop]);
      }
    }
    for (uint32_t m = 0; m < of_step.members; ++m) {
      const uint32_t r = of_step.member[m];
      if (buffer != nullptr) {
        tile_.element[r] = buffer + of_step.buffer_offset[m];
        tile_.stride_bytes[r] = of_step.buffer_stride_bytes;
        continue;
      }
      if (is_served(r)) {
        const KeptRegion& kept = served_at_[r];
        tile_.element[r] = kept.data;
        for (uint32_t loop = 0; loop <= cut_loop; ++loop) {
          tile_.element[r] += kept.stride_bytes[loop] * static_cast<int64_t>(compute_.index[loop]);
        }
        tile_.stride_bytes[r] = kept.stride_bytes;
        continue;
      }
      const Reference& reference = nest_.reference[r];
      tile_.element[r] = state_.reachable[owner_at(reference, compute_)] +
                         offset_at(reference, compute_, cut_loop + 1);
      tile_.stride_bytes[r] = reference.stride_bytes;
    }
  }
}

// --- step by step --------------------------------------------------------------------------------

const NestTile* NestEngine::next() {
  if (plan().obstacle) return next_access();
  if (out_) {
    stop_clock();
    out_ = false;
    take_back();
    advance(compute_);
  }
  if (compute_.step == plan().steps) {
    wait_for_all();
    if (state_.kept_end != 0) note_stores();
    if (std::exchange(keeps_, false)) loops_.cache.complete(*memory_.buffer());
    settle();
    return nullptr;
  }
  if (attention_.due()) {
    if (layout_->attention_step_s) {
      loops_.look(context_, attention_);
    } else {
      state_.make_progress();
    }
  }
  await_step();
  point_at_elements();
  out_ = true;
  start_clock();
  return &tile_;
}

uint64_t NestEngine::iterations(const NestTile& tile) const {
  uint64_t iterations = tile.count;
  for (uint32_t loop = tile.cut_loop + 1; loop < nest_.depth; ++loop) {
    iterations *= nest_.counts[loop];
  }
  return iterations;
}

// What the body has read of these bytes, before what it wrote came there, is old.
void NestEngine::note_stores() const {
  const auto note = [&](rank_t owner, int64_t base, const access::Extent& extent) {
    if (state_.reachable[owner] != nullptr) return;
    state_.stored(owner, static_cast<uint64_t>(base + extent.begin), extent.bytes());
  };
  for (const Reference& reference : nest_.reference) {
    if (!writes(reference.mode)) continue;
    const access::Extent extent = extent_of(reference);
    if (!reference.in_pieces()) {
      note(reference.owner, 0, extent);
      continue;
    }
    const int64_t stride = reference.stride_bytes[reference.piece_loop];
    for (uint64_t k = 0; k < nest_.counts[reference.piece_loop]; ++k) {
      note(reference.pieces[k].owner, reference.pieces[k].base + stride * static_cast<int64_t>(k),
           extent);
    }
  }
}

void NestEngine::end() {
  if (!plan().obstacle) wait_for_all();
  // A body has thrown: not all was asked for, or what it wrote has come there since it read.
  if (std::exchange(keeps_, false)) DataCache::forget(*memory_.buffer());
  if (compute_.step < plan().steps && state_.kept_end != 0) note_stores();
  if (memory_.buffer() != nullptr) memory_ = {};
  if (served_ != 0) served_in_.clear();
  if (site_ == nullptr) return;
  if (measuring_ && compute_.step == plan().steps) refine();
  --site_->users;
  site_ = nullptr;
}

// --- the interface -------------------------------------------------------------------------------

void fail_for_pieces(Context& context, size_t pieces, size_t iterations) {
  context.state().fail(Error(ErrorCode::invalid_argument,
                             "a distributed array of " + std::to_string(pieces) +
                                 " pieces is used by a loop of " + std::to_string(iterations) +
                                 " iterations; give for_nest() as many pieces, or fewer "
                                 "iterations"));
}

void fail_for_range(Context& context, const char* what) {
  context.state().fail(Error(ErrorCode::invalid_argument, "for_nest(): " + std::string(what)));
}

NestRun::NestRun(Context& context, const access::Nest& nest, const NestOptions& options,
                 CallSite site)
    : context_(context), engine_(LoopState::of(context.state()).enter_nest(context)) {
  const auto inside = context.state().exclusive();
  engine_.begin(nest, options, site);
  if (context.state().fabric->work() != nullptr) declare_iteration(nest, options.loop);
}

NestRun::~NestRun() {
  const auto inside = context_.state().exclusive();
  engine_.end();
  LoopState::of(context_.state()).leave_nest();
}

const NestTile* NestRun::next() {
  const auto inside = context_.state().exclusive();
  const NestTile* const tile = engine_.next();
  if (Work* const work = context_.state().fabric->work(); work != nullptr && tile != nullptr) {
    const auto iterations = static_cast<double>(engine_.iterations(*tile));
    work->compute(iterations * iteration_.flops, iterations * iteration_.bytes);
  }
  return tile;
}

// What the body takes from elsewhere than its accesses is taken for being in a cache.
void NestRun::declare_iteration(const access::Nest& nest, const cost::LoopClass& loop) {
  iteration_.flops = loop.n_fp_alu + loop.n_int_alu + loop.n_div;
  for (const Reference& reference : nest.reference) {
    const double accesses = reference.mode == access::Mode::update ? 2 : 1;
    iteration_.bytes += accesses * static_cast<double>(reference.element_bytes);
  }
}

const NestPlan& NestRun::plan() const { return engine_.plan(); }

}  // namespace stripline::detail
