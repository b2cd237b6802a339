#include "runtime/loop/nest_engine.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>
#include <variant>

#include "runtime/loop/loop_state.h"
#include "runtime/vis/wire.h"

namespace stripline::detail {
namespace {

using access::Group;
using access::Nest;
using access::Reference;
using access::Tiling;
using plan::Direction;

// Ways to the owners: links[0] is in reach, the others are model::Path.
constexpr uint8_t kInReach = 0;
uint8_t link_by(model::Path path) { return static_cast<uint8_t>(1 + static_cast<int>(path)); }

bool same_nest(const Nest& a, const Nest& b) {
  if (a.depth != b.depth || a.references != b.references || a.counts != b.counts) return false;
  for (uint32_t r = 0; r < a.references; ++r) {
    const Reference& x = a.reference[r];
    const Reference& y = b.reference[r];
    if (x.mode != y.mode || x.owner != y.owner || x.element_bytes != y.element_bytes ||
        x.base != y.base || x.stride_bytes != y.stride_bytes) {
      return false;
    }
  }
  return true;
}

bool same_key(const NestKey& a, const NestKey& b) {
  return a.place == b.place && a.max_buffer_bytes == b.max_buffer_bytes &&
         a.compute_s == b.compute_s && a.use_model == b.use_model && a.link == b.link &&
         same_nest(a.nest, b.nest);
}

uint64_t hash_of(const NestKey& key) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  uint64_t hash = key.place * kMultiplier;
  const auto mix = [&](uint64_t value) { hash = (std::rotl(hash, 23) ^ value) * kMultiplier; };
  for (uint32_t loop = 0; loop < key.nest.depth; ++loop) mix(key.nest.counts[loop]);
  for (uint32_t r = 0; r < key.nest.references; ++r) {
    mix(static_cast<uint64_t>(key.nest.reference[r].base) + key.link[r]);
    mix(static_cast<uint64_t>(key.nest.reference[r].stride_bytes[0]));
  }
  return hash ^ (hash >> 32);
}

// Whether the groups of two tilings are the same but for what is in a tile.
bool same_structure(const Tiling& a, const Tiling& b) {
  if (a.groups() != b.groups()) return false;
  for (uint32_t g = 0; g < a.groups(); ++g) {
    const Group& x = a.group[g];
    const Group& y = b.group[g];
    if (x.hold != y.hold || x.members != y.members || x.mode != y.mode || x.member != y.member) {
      return false;
    }
  }
  return true;
}

vis::Strided strided_of(const access::Lmad& tile) {
  vis::Strided shape;
  shape.bytes = tile.run_bytes;
  auto local = static_cast<int64_t>(tile.run_bytes);
  for (uint32_t d = 0; d < tile.dimensions; ++d) {
    shape.dimensions.push_back({tile.dims[d].count, tile.dims[d].stride_bytes, local});
    local *= static_cast<int64_t>(tile.dims[d].count);
  }
  return shape;
}

}  // namespace

NestSite* NestSites::find(const NestKey& key) {
  NestSite* const site = sites_[hash_of(key) & (kPlaces - 1)].get();
  return site != nullptr && same_key(site->key, key) ? site : nullptr;
}

NestSite& NestSites::insert(const NestKey& key) {
  std::unique_ptr<NestSite>& site = sites_[hash_of(key) & (kPlaces - 1)];
  if (site == nullptr) site = std::make_unique<NestSite>();
  *site = {};
  site->key = key;
  return *site;
}

void NestEngine::Free::operator()(std::byte* memory) const {
  ::operator delete[](memory, std::align_val_t{kAlignment});
}

// --- planning ------------------------------------------------------------------------------------

bool NestEngine::is_reached(uint32_t reference) const {
  return state_.reachable[nest_.reference[reference].owner] != nullptr;
}

rank_t NestEngine::owner_of(const Group& group) const {
  return nest_.reference[group.member[0]].owner;
}

void NestEngine::check_bounds() const {
  for (uint32_t r = 0; r < nest_.references; ++r) {
    const Reference& reference = nest_.reference[r];
    int64_t low = reference.base;
    int64_t high = reference.base;
    for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
      const int64_t span =
          reference.stride_bytes[loop] * static_cast<int64_t>(nest_.counts[loop] - 1);
      (span < 0 ? low : high) += span;
    }
    // What begins before the segment is out of bounds as an unsigned number.
    state_.check("nest", reference.owner, static_cast<uint64_t>(low),
                 static_cast<uint64_t>(high - low) + reference.element_bytes);
  }
}

// Plans, and cuts. The last step may be shorter; where its tiles have to be grouped otherwise than
// the others', steps of equal length are made.
void NestEngine::decide(NestSite& site, const NestOptions& options, double compute_s) const {
  const fabric::Info& info = state_.fabric->info();
  LoopState& loops = LoopState::of(state_);
  plan::NestRequest request;
  request.nest = site.key.nest;
  request.link = site.key.link;
  request.nic_ranks = info.nic_ranks;
  request.max_buffer_bytes = site.key.max_buffer_bytes;
  request.compute_s = compute_s;
  request.loop = options.loop;
  request.local_bytes = options.local_bytes;
  request.links[kInReach].in_reach = true;
  for (size_t i = 0; i < model::kPaths; ++i) {
    const auto path = static_cast<model::Path>(i);
    plan::NestLink& link = request.links.at(link_by(path));
    if (site.key.use_model) {
      link.strip = loops.costs(path);
      link.vis = state_.vis_plans->costs(path);
    }
    link.many.iov_limit = info.iov_limit;
    link.many.max_buffer_bytes = vis::Transfers::kMaxBoxBytes;
    link.many.medium_bytes = state_.vis.max_chunk_bytes();
    link.many.message_bytes = state_.messages.max_payload_bytes();
    link.many.message_header_bytes = sizeof(vis::wire::Head) + sizeof(vis::wire::StridedHead);
  }
  site.plan = options.force ? force_nest(request, *options.force) : plan_nest(request);
  const auto cut = [&](plan::NestPlan plan) {
    const Nest& nest = site.key.nest;
    const auto whole = access::tile(nest, plan.cut);
    const uint64_t left = nest.counts[plan.cut.loop] % plan.cut.granule;
    const auto rest = left == 0 ? whole : access::tile(nest, access::Cut{plan.cut.loop, left});
    const auto* of_whole = std::get_if<Tiling>(&whole);
    const auto* of_rest = std::get_if<Tiling>(&rest);
    if (of_whole == nullptr || of_rest == nullptr || !same_structure(*of_whole, *of_rest)) {
      return false;
    }
    site.plan = plan;
    site.whole = *of_whole;
    site.rest = *of_rest;
    return true;
  };
  if (site.plan.obstacle || cut(site.plan)) return;
  plan::NestCandidate even{site.plan.schedule, site.plan.cut, site.plan.window};
  for (const plan::Reason reason = site.plan.reason; even.cut.granule > 0; --even.cut.granule) {
    if (site.key.nest.counts[even.cut.loop] % even.cut.granule != 0) continue;
    plan::NestPlan plan = force_nest(request, even);
    plan.reason = reason;
    if (plan.cut.granule == even.cut.granule && cut(plan)) return;
  }
  site.plan.obstacle = access::Failure{};
}

NestKey NestEngine::key_of(const NestOptions& options, CallSite call) const {
  NestKey key;
  key.place = site_of(options.site, call);
  key.nest = nest_;
  key.max_buffer_bytes = options.max_buffer_bytes;
  key.compute_s = options.compute_s;
  key.use_model = options.use_model;
  for (uint32_t r = 0; r < nest_.references; ++r) {
    uint32_t first = 0;
    while (nest_.reference[first].owner != nest_.reference[r].owner) ++first;
    key.nest.reference[r].owner = first;
    key.nest.reference[r].base -= nest_.reference[first].base;
    key.link[r] = is_reached(r) ? kInReach : link_by(state_.path_to(nest_.reference[r].owner));
  }
  return key;
}

void NestEngine::find_plan(const NestOptions& options, CallSite call) {
  const NestKey key = key_of(options, call);
  measuring_ = false;
  if (options.force) {
    NestSite forced;
    forced.key = key;
    decide(forced, options, options.compute_s);
    use(forced);
    return;
  }
  LoopState& loops = LoopState::of(state_);
  NestSite* site = loops.nest_sites.find(key);
  if (site == nullptr) {
    site = &loops.nest_sites.insert(key);
    decide(*site, options, options.compute_s);
  }
  use(*site);
  const bool no_model = plan_.reason == plan::Reason::no_model && !plan_.obstacle;
  if (no_model && options.use_model) loops.say_no_model(state_);
  measuring_ = options.compute_s < 0 && !plan_.obstacle && !no_model &&
               plan_.reason != plan::Reason::own_memory && site->executions < kTimedExecutions;
  if (measuring_) key_ = key;
}

void NestEngine::use(const NestSite& site) {
  plan_ = site.plan;
  whole_ = site.whole;
  rest_ = site.rest;
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    const int64_t origin =
        nest_.reference[site.key.nest.reference[whole_.group[g].member[0]].owner].base;
    whole_.group[g].tile.base += origin;
    rest_.group[g].tile.base += origin;
  }
}

// --- memory --------------------------------------------------------------------------------------

void NestEngine::reserve(size_t bytes) {
  if (capacity_ >= bytes) return;
  memory_.reset();
  capacity_ = 0;
  void* const memory = ::operator new[](bytes, std::align_val_t{kAlignment}, std::nothrow);
  if (memory == nullptr) {
    state_.fail(Error(ErrorCode::resource_exhausted, "cannot allocate " + std::to_string(bytes) +
                                                         " bytes for the buffers of a nest; lower "
                                                         "NestOptions::max_buffer_bytes"));
  }
  memory_.reset(static_cast<std::byte*>(memory));
  capacity_ = bytes;
}

void NestEngine::lay_out(const Tiling& tiling, Shapes& shapes) {
  uint64_t offset = 0;
  for (uint32_t g = 0; g < tiling.groups(); ++g) {
    const Group& group = tiling.group[g];
    Shape& shape = shapes[g];
    shape.bytes = group.bytes();
    shape.many_regions = !group.tile.contiguous();
    if (moves(g)) {
      shape.offset = offset;
      offset += align_up(shape.bytes);
    }
    if (!shape.many_regions || reached_[g]) continue;
    shape.strided = strided_of(group.tile);
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
                              shape.strided.dimensions.size() * 2 * sizeof(uint64_t));
    const rank_t owner = owner_of(group);
    request.service_delay_s = state_.service_delays.expected_s(owner);
    const auto best = [&](Direction direction) {
      request.direction = direction;
      request.bounding_box_allowed = direction == Direction::get;
      request.needs_target = state_.fabric->needs_target(owner, direction == Direction::put);
      return state_.vis_plans->best(request, state_.path_to(owner));
    };
    if (reads(group.mode)) shape.get = best(Direction::get);
    if (writes(group.mode)) shape.put = best(Direction::put);
  }
  slot_bytes_ = std::max(slot_bytes_, offset);
}

std::byte* NestEngine::held_buffer(uint32_t g, uint64_t tile) const {
  return memory_.get() + shapes_[g].offset + (tile % 2) * align_up(shapes_[g].bytes);
}

// --- where a step is -----------------------------------------------------------------------------

void NestEngine::advance(Place& place) const {
  ++place.step;
  uint32_t loop = plan_.cut.loop;
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
  if (place.index[plan_.cut.loop] + granule() < nest_.counts[plan_.cut.loop]) return false;
  for (uint32_t loop = group.hold; loop < plan_.cut.loop; ++loop) {
    if (place.index[loop] + 1 < nest_.counts[loop]) return false;
  }
  return true;
}

int64_t NestEngine::base_of(const Group& group, const Place& place) const {
  int64_t base = group.tile.base;
  for (uint32_t loop = 0; loop < group.hold; ++loop) {
    base += group.stride_bytes[loop] * static_cast<int64_t>(place.index[loop]);
  }
  return base;
}

// --- moving --------------------------------------------------------------------------------------

void NestEngine::transfer(Direction direction, const Group& group, const Shape& shape, int64_t base,
                          std::byte* memory, fabric::Counter& counter) {
  const bool get = direction == Direction::get;
  const rank_t owner = owner_of(group);
  const auto offset = static_cast<uint64_t>(base);
  if (shape.many_regions) {
    vis::Strided strided = shape.strided;
    strided.remote = base;
    state_.operation = "nest";
    state_.vis.start(direction, owner, strided, memory, get ? shape.get : shape.put, counter);
  } else if (get) {
    state_.get(memory, owner, offset, shape.bytes, counter);
  } else {
    state_.put(owner, offset, memory, shape.bytes, counter);
  }
}

void NestEngine::wait(const Shape& shape, const fabric::Counter& counter) {
  shape.many_regions ? state_.wait_for_messages(counter) : state_.wait_for(counter);
}

// Asks for what the next step needs. What left from the same slot must be gone.
void NestEngine::fetch_step() {
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    const Group& of_step = group(g, fetch_);
    if (!moves(g) || !reads(of_step.mode)) continue;
    Flight& of_slot = flight(g, fetch_.step);
    wait(shapes_[g], of_slot.out);
    transfer(Direction::get, of_step, shape(g, fetch_), base_of(of_step, fetch_), slot(g, fetch_),
             of_slot.in);
  }
  advance(fetch_);
}

void NestEngine::fetch_held(uint32_t g) {
  const Group& held = whole_.group[g];
  const uint64_t tile = held_[g].fetched++;
  Flight& of_buffer = held_[g].flight[tile % 2];
  wait(shapes_[g], of_buffer.out);
  if (!reads(held.mode)) return;
  transfer(Direction::get, held, shapes_[g], base_of(held, place_of(held, tile)),
           held_buffer(g, tile), of_buffer.in);
}

// Waits for what the step is computed on.
void NestEngine::await_step() {
  while (fetch_.step <= compute_.step) fetch_step();
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    if (!is_held(g)) continue;
    const uint64_t tile = tile_of(whole_.group[g], compute_);
    while (held_[g].fetched <= tile) fetch_held(g);
  }
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    if (moves(g)) {
      const Flight& of_slot = flight(g, compute_.step);
      wait(shapes_[g], reads(whole_.group[g].mode) ? of_slot.in : of_slot.out);
    } else if (is_held(g)) {
      const uint64_t tile = tile_of(whole_.group[g], compute_);
      wait(shapes_[g], held_[g].flight[tile % 2].in);
      // The next one comes while this one is in use, once its buffer is free.
      const bool more = place_of(whole_.group[g], tile + 1).index != Place{}.index;
      if (ahead_ > 0 && more && held_[g].fetched == tile + 1 &&
          held_[g].flight[(tile + 1) % 2].out.pending == 0) {
        fetch_held(g);
      }
    }
  }
  if (ahead_ > 0 && fetch_.step < plan_.steps && fetch_.step <= compute_.step + ahead_) {
    fetch_step();
  }
}

// Sends what the step has written, and what was written to a tile that ends with it.
void NestEngine::take_back() {
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    const Group& of_step = group(g, compute_);
    if (reached_[g] || !writes(of_step.mode)) continue;
    if (moves(g)) {
      transfer(Direction::put, of_step, shape(g, compute_), base_of(of_step, compute_),
               slot(g, compute_), flight(g, compute_.step).out);
    } else if (ends_tile(of_step, compute_)) {
      const uint64_t tile = tile_of(of_step, compute_);
      transfer(Direction::put, whole_.group[g], shapes_[g], base_of(whole_.group[g], compute_),
               held_buffer(g, tile), held_[g].flight[tile % 2].out);
    }
  }
  if (plan_.schedule == plan::Schedule::vectorised) wait_for_all();
}

void NestEngine::wait_for_all() {
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    const auto settle = [&](const Flight& flight) {
      wait(shapes_[g], flight.in);
      wait(shapes_[g], flight.out);
    };
    if (moves(g)) {
      for (uint64_t slot = 0; slot < slots_; ++slot) settle(flight(g, slot));
    } else if (is_held(g)) {
      for (const Flight& flight : held_[g].flight) settle(flight);
    }
  }
}

void NestEngine::point_at_elements() {
  tile_.cut_loop = plan_.cut.loop;
  tile_.first = compute_.index;
  tile_.count = std::min(granule(), nest_.counts[plan_.cut.loop] - compute_.index[plan_.cut.loop]);
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    const Group& of_step = group(g, compute_);
    std::byte* buffer = nullptr;
    if (moves(g)) {
      buffer = slot(g, compute_);
    } else if (is_held(g)) {
      buffer = held_buffer(g, tile_of(of_step, compute_));
      for (uint32_t loop = of_step.hold; loop <= plan_.cut.loop; ++loop) {
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
      const Reference& reference = nest_.reference[r];
      int64_t offset = reference.base;
      for (uint32_t loop = 0; loop <= plan_.cut.loop; ++loop) {
        offset += reference.stride_bytes[loop] * static_cast<int64_t>(compute_.index[loop]);
      }
      tile_.element[r] = state_.reachable[reference.owner] + offset;
      tile_.stride_bytes[r] = reference.stride_bytes;
    }
  }
}

// --- the nest ------------------------------------------------------------------------------------

void NestEngine::begin(const Nest& nest, const NestOptions& options, CallSite site) {
  nest_ = nest;
  options_ = options;
  out_ = false;
  computed_s_ = 0;
  compute_ = fetch_ = {};
  held_ = {};
  check_bounds();
  find_plan(options, site);
  plan_.obstacle ? begin_accesses() : begin_tiles();
}

void NestEngine::begin_tiles() {
  bool any_get = false;
  bool any_put = false;
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    reached_[g] = state_.reachable[owner_of(whole_.group[g])] != nullptr;
    any_get = any_get || (moves(g) && reads(whole_.group[g].mode));
    any_put = any_put || (moves(g) && writes(whole_.group[g].mode));
  }
  slot_bytes_ = 0;
  lay_out(whole_, shapes_);
  lay_out(rest_, rest_shapes_);
  slots_ = plan::nest_slots(plan_.schedule, plan_.window, plan_.steps, any_get, any_put);
  ahead_ = plan_.schedule == plan::Schedule::all_issued  ? plan_.steps
           : plan_.schedule == plan::Schedule::pipelined ? plan_.window
                                                         : 0;
  uint64_t bytes = slots_ * slot_bytes_;
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    if (!is_held(g)) continue;
    shapes_[g].offset = rest_shapes_[g].offset = bytes;
    bytes += 2 * align_up(shapes_[g].bytes);
  }
  reserve(bytes);
  if (flights_.size() < slots_ * whole_.groups()) flights_.resize(slots_ * whole_.groups());
  if (!any_get) fetch_.step = plan_.steps;
  for (uint32_t g = 0; g < whole_.groups(); ++g) {
    if (is_held(g) && ahead_ > 0) fetch_held(g);
  }
  while (fetch_.step < std::min(ahead_, plan_.steps)) fetch_step();
}

const NestTile* NestEngine::next() {
  if (plan_.obstacle) return next_access();
  if (out_) {
    stop_clock();
    out_ = false;
    take_back();
    advance(compute_);
  }
  if (compute_.step == plan_.steps) {
    wait_for_all();
    refine();
    return nullptr;
  }
  context_.progress();  // peers may be waiting for this rank's attention
  await_step();
  point_at_elements();
  out_ = true;
  start_clock();
  return &tile_;
}

void NestEngine::end() {
  if (!plan_.obstacle) wait_for_all();
}

// --- access by access ----------------------------------------------------------------------------

void NestEngine::begin_accesses() {
  plan_.cut = {nest_.depth - 1, 1};
  plan_.steps = 1;
  for (uint32_t loop = 0; loop < nest_.depth; ++loop) plan_.steps *= nest_.counts[loop];
  slot_bytes_ = kAlignment;
  for (uint32_t r = 0; r < nest_.references; ++r) {
    slot_bytes_ = std::max(slot_bytes_, align_up(nest_.reference[r].element_bytes));
  }
  reserve(nest_.references * slot_bytes_);
  whole_.group.clear();
}

const NestTile* NestEngine::next_access() {
  if (out_) {
    out_ = false;
    move_elements(Direction::put);
    advance(compute_);
  }
  if (compute_.step == plan_.steps) return nullptr;
  context_.progress();
  tile_.cut_loop = plan_.cut.loop;
  tile_.first = compute_.index;
  tile_.count = 1;
  tile_.stride_bytes = {};
  move_elements(Direction::get);
  out_ = true;
  return &tile_;
}

// Of one iteration: what it reads, or what it has written.
void NestEngine::move_elements(Direction direction) {
  fabric::Counter counter;
  for (uint32_t r = 0; r < nest_.references; ++r) {
    const Reference& reference = nest_.reference[r];
    int64_t offset = reference.base;
    for (uint32_t loop = 0; loop < nest_.depth; ++loop) {
      offset += reference.stride_bytes[loop] * static_cast<int64_t>(compute_.index[loop]);
    }
    std::byte* const element = memory_.get() + r * slot_bytes_;
    tile_.element[r] = element;
    const auto place = static_cast<uint64_t>(offset);
    if (direction == Direction::get && reads(reference.mode)) {
      state_.get(element, reference.owner, place, reference.element_bytes, counter);
    } else if (direction == Direction::put && writes(reference.mode)) {
      state_.put(reference.owner, place, element, reference.element_bytes, counter);
    }
  }
  state_.wait_for(counter);
}

// --- timing --------------------------------------------------------------------------------------

void NestEngine::start_clock() {
  if (measuring_) out_since_s_ = context_.now_s();
}

void NestEngine::stop_clock() {
  if (measuring_) computed_s_ += context_.now_s() - out_since_s_;
}

// Replaces the estimate of the computation by what was measured, and plans again.
void NestEngine::refine() {
  if (!measuring_) return;
  measuring_ = false;
  // Nests inside of the body may have displaced the site.
  NestSite* const site = LoopState::of(state_).nest_sites.find(key_);
  if (site == nullptr) return;
  const uint32_t executions = ++site->executions;
  site->least_compute_s =
      executions == 1 ? computed_s_ : std::min(site->least_compute_s, computed_s_);
  if (executions >= kRefineAfter) decide(*site, options_, site->least_compute_s);
}

// --- the interface -------------------------------------------------------------------------------

NestRun::NestRun(Context& context, const access::Nest& nest, const NestOptions& options,
                 CallSite site)
    : context_(context), engine_(LoopState::of(context.state()).enter_nest(context)) {
  const auto inside = context.state().exclusive();
  engine_.begin(nest, options, site);
}

NestRun::~NestRun() {
  const auto inside = context_.state().exclusive();
  engine_.end();
  LoopState::of(context_.state()).leave_nest();
}

const NestTile* NestRun::next() {
  const auto inside = context_.state().exclusive();
  return engine_.next();
}

const NestPlan& NestRun::plan() const { return engine_.plan(); }

}  // namespace stripline::detail
