#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <stripline/loop.h>

#include "base/quantity.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/loop_state.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/explain_command.h"

namespace stripline::detail {

void begin_local_loop(Context& context, rank_t rank, uint64_t offset, uint64_t bytes,
                      CallSite site) {
  ContextState& state = context.state();
  if (rank == state.rank) {
    state.check_bounds({"loop", site}, rank, offset, bytes);
    return;
  }
  const auto inside = state.exclusive();
  state.check({"loop", site}, rank, offset, bytes);
  state.make_progress();
}

LoopRun::LoopRun(Context& context, plan::Direction direction, const void* blocks,
                 size_t block_count, BlockAt block_at, size_t element_bytes,
                 const LoopOptions& options, CallSite site)
    : context_(context),
      state_(LoopState::of(context.state())),
      frame_(state_.enter_frame()),
      direction_(direction),
      blocks_(blocks),
      block_count_(block_count),
      block_at_(block_at),
      element_bytes_(element_bytes),
      call_(site) {
  const auto inside = context.state().exclusive();
  Analysis::Span deciding(state_.analysis);
  state_.analysis.count_execution();
  const bool reading = direction == plan::Direction::get;
  if (reading) halo_bytes_ = options.halo * element_bytes;
  const rank_t me = context.state().rank;
  const bool caches = reading && state_.caches(options.data_cache);
  uint32_t remote_blocks = 0;
  uint32_t placed_blocks = 0;
  RawBlock first;            // of those
  uint64_t whole_bytes = 0;  // of buffers for all of it
  uint32_t peers = 0;        // as blocks follow one another
  rank_t peer = me;
  bool uneven = false;
  std::optional<model::Path> path;
  uint64_t own_count = reading ? options.own_count : 0;
  uint64_t count = 0;
  const bool loaded = !state_.loads.empty() && !options.alone;
  cost::NetworkLoad load;
  if (loaded) load = state_.loads.begin();
  for (size_t i = 0; i < block_count; ++i) {
    const RawBlock block = block_at(blocks, i);
    if (block.count != 0) {
      context.state().check({"loop", site}, block.rank, block.offset,
                            loop_bytes(block.count, reading ? options.halo : 0, element_bytes));
    }
    if (caches) look_for_kept(i, block);
    if (in_place(i, block) != nullptr || block.count == 0) {
      if (reading) own_count += block.count;
    } else {
      if (remote_blocks++ == 0) first = block;
      uneven = uneven || block.count != first.count;
      whole_bytes += align_up(block.count * element_bytes + halo_bytes_);
      largest_bytes_ = std::max(largest_bytes_, block.count * element_bytes);
      placed_blocks += block.place != nullptr ? 1 : 0;
      count += block.count;
      if (block.rank != peer) {
        ++peers;
        if (loaded) state_.loads.add(load, block.rank);
      }
      peer = block.rank;
      // Where some blocks come over the network, it decides.
      if (path != model::Path::network) path = context.state().path_to(peer);
    }
  }
  request_.direction = direction;
  request_.total_bytes = count * element_bytes;
  request_.blocks = std::max<uint32_t>(remote_blocks, 1);
  if (!options.alone) {  // others go through loops like this one
    request_.peers = std::max<uint32_t>(peers, 1);
    request_.uneven = uneven;
  }
  request_.surroundings =
      decide::surroundings_of(context.state().fabric->info(), plan::StripRequest::kFacts,
                              {.path = path.value_or(model::Path::mapped),
                               .gets = reading,
                               .puts = !reading,
                               .alone = options.alone});
  request_.surroundings.load = load;
  request_.element_bytes = element_bytes;
  request_.granule_elements = std::max<size_t>(options.granule, 1);
  request_.halo_bytes = halo_bytes_;
  const uint64_t room = state_.pool.room();
  placed_ = placed_blocks > 0 && placed_blocks == remote_blocks;
  keeps_ = caches && remote_blocks > 0 && placed_blocks == 0 &&
           remote_blocks <= DataCache::kMostRegions &&
           whole_bytes <= std::min<uint64_t>(options.max_buffer_bytes, room);
  // What is to be kept has a place, as far as the planner is concerned.
  request_.placed = placed_ || keeps_;
  if (!request_.placed) {
    // A loop that has room is the same loop wherever it is carried out.
    request_.max_buffer_bytes = std::min<uint64_t>(
        options.max_buffer_bytes, whole_bytes <= room ? state_.pool.most_room() : room);
  }
  request_.own_bytes = own_count * element_bytes;
  request_.compute_s = options.compute_s;
  request_.loop = options.loop;
  request_.sweeps = options.sweeps;
  request_.local_bytes = options.local_bytes;

  if (remote_blocks == 0) {
    plan_ = kOwnMemoryPlan;
    return;
  }
  path_ = *path;
  costs_ = state_.costs(path_);
  const plan::StripCosts* costs = options.use_model ? costs_ : nullptr;
  if (options.force) {
    plan_ = plan::force_strip(request_, costs, *options.force);
  } else if (costs == nullptr) {
    plan_ = plan::plan_strip(request_, nullptr);
    if (options.use_model) state_.say_no_model(context.state());
  } else {
    guarded_ = options.self_check && context.state().run_guard != nullptr;
    // A place that is reached otherwise is another one to the cache.
    site_ = site_of(options.site, site) + static_cast<uint64_t>(path_);
    LoopSite* known = state_.sites.find(site_, request_);
    if (known == nullptr) {
      if (const LoopSite* old = state_.sites.displaced_by(site_, request_)) {
        old->add_to(state_.forgotten);
      }
      known = &state_.sites.insert(site_, request_, plan_site());
      if (known->plan.reason == plan::Reason::no_model) state_.say_no_model(context.state());
    } else if (options.compute_s >= 0 && guarded_ && known->executions == 0 &&
               !state_.is_within()) {
      known->executions = 1;
      look_for_tie(*known, request_);
    }
    plan_ = known->plan;
    measuring_ = options.compute_s < 0 && known->executions < kTimedExecutions &&
                 plan_.reason != plan::Reason::no_model;
    if (guarded_) obey_guards(*known, first);
  }
  deciding.end();
  if (timed_ || context_.state().trace != nullptr) begun_s_ = context_.now_s();
  prepare_buffer(room);
  frame_.attention =
      Attention(context.state().fabric->info(), state_.look_time.seconds(),
                plan_.predicted_s / static_cast<double>(std::max<uint64_t>(strips_, 1)));
  enter_block(issue_);
  compute_ = issue_;
  if (reading) {
    const uint64_t ahead = plan_.schedule == plan::Schedule::pipelined    ? plan_.burst
                           : plan_.schedule == plan::Schedule::vectorised ? 1
                                                                          : strips_;
    for (uint64_t i = 0; i < std::min(ahead, strips_); ++i) issue_get();
  }
}

// A loop of the same place that was a little larger or smaller tells what this one computes.
LoopSite LoopRun::plan_site() const {
  LoopSite site;
  plan::StripRequest request = request_;
  if (request.compute_s < 0) {
    if (const auto seconds = state_.rates.seconds(site_, request.total_bytes)) {
      request.compute_s = site.planned_compute_s = site.least_compute_s = *seconds;
      site.executions = 1;
    }
  }
  site.plan = plan::plan_strip(request, costs_);
  state_.analysis.count_plan();
  return site;
}

// For a loop that is carried out again, once what it is planned with will not change. Not within
// another one, which may be the same: its guard would take the time of a part for that of the
// whole.
void LoopRun::look_for_tie(LoopSite& site, const plan::StripRequest& request) const {
  const bool simple = site.plan.reason == plan::Reason::no_faster_plan ||
                      site.plan.reason == plan::Reason::below_margin;
  if (!simple) return;
  site.tie = plan::tie_of_strip(request, costs_);
  state_.analysis.count_plan();
  if (!site.tie) return;
  // What is expected to gain, but not surely, needs less proof.
  const bool expected = site.tie->predicted_s < (1 - costs_->minimum_gain()) * site.tie->baseline_s;
  site.guard = plan::Guard(expected ? plan::Guard::Of::site : plan::Guard::Of::tie,
                           plan::Guard::Way::baseline);
}

// Looks in the data cache for a block that is out of reach.
void LoopRun::look_for_kept(size_t index, const RawBlock& block) {
  if (state_.cache.empty() || block.count == 0 || context_.is_local(block.rank)) return;
  const auto kept = state_.cache.find({.rank = block.rank,
                                       .base = static_cast<int64_t>(block.offset),
                                       .bytes = block.count * element_bytes_ + halo_bytes_,
                                       .element_bytes = element_bytes_});
  if (!kept) return;
  frame_.kept.resize(block_count_, nullptr);
  frame_.kept[index] = kept->data;
  frame_.kept_in.emplace_back(state_.pool, *kept->buffer);
}

// As the guards say.
void LoopRun::obey_guards(LoopSite& site, const RawBlock& first) {
  rma::RunGuard& run_guard = *context_.state().run_guard;
  const rma::RunGuard::Turn of_run =
      run_guard.report({.what = site_, .rank = first.rank, .loose_offset = first.offset});
  if (measuring_ || (plan_.reason != plan::Reason::tuned && !site.tie)) return;
  const uint64_t key = plan::hash_of(site_, request_);
  const plan::Guard::Turn turn = ask_guards(run_guard, of_run, site.guard, state_.is_guarded(key));
  if (of_run.sites_decide) frame_.guarded = key;
  timed_ = turn.timed;
  const bool simply = turn.way == plan::Guard::Way::baseline;
  if (site.tie) {
    if (!simply) plan_ = *site.tie;
    if (simply) plan_.reason = plan::Reason::guarded;
    return;
  }
  if (!simply) return;
  plan::StripRequest measured = request_;
  if (measured.compute_s < 0) measured.compute_s = site.least_compute_s;
  plan_ =
      plan::force_strip(measured, costs_, {plan::Schedule::vectorised, request_.total_bytes, 1});
  plan_.reason = plan::Reason::guarded;
}

// At the end of the loop.
void LoopRun::settle() {
  refine();
  const bool decided = strips_ > 0;
  Trace* const trace = context_.state().trace.get();
  if (!decided || (!timed_ && trace == nullptr)) return;
  const double seconds = context_.now_s() - begun_s_;
  if (trace != nullptr) {
    const std::string what =
        std::string(to_string(direction_)) + " " + exact_bytes_text(request_.total_bytes);
    trace->note(call_, request_.total_bytes * 2 + static_cast<uint64_t>(direction_),
                {plan_.schedule, plan_.reason, {}, strips_, plan_.burst, plan_.predicted_s},
                seconds, what, [this] { return explain(); });
  }
  if (!std::exchange(timed_, false)) return;
  const Analysis::Span deciding(state_.analysis);
  if (LoopSite* const known = state_.sites.find(site_, request_)) {
    using Way = plan::Guard::Way;
    known->guard.record(plan_.reason == plan::Reason::guarded ? Way::baseline : Way::tuned,
                        seconds);
  }
}

// The command that says why; nothing where the planner was not asked.
std::string LoopRun::explain() const {
  const LoopSite* const known = site_ == 0 ? nullptr : state_.sites.find(site_, request_);
  if (known == nullptr) return {};
  plan::StripRequest request = request_;
  if (request.compute_s < 0) request.compute_s = known->planned_compute_s;
  return explain_command(context_.state(), request, path_);
}

LoopRun::~LoopRun() {
  const auto inside = context_.state().exclusive();
  wait_for_all();
  // A body has thrown: not all was asked for, or what it wrote has come there since it read.
  if (keeps_) DataCache::forget(*frame_.buffer.buffer());
  if (direction_ == plan::Direction::put) note_stores();
  state_.leave_frame();
}

// Lays out the buffers of the plan, and takes them from the pool. The planner does not know that
// each slot is aligned; where there is no room for that, there are fewer or smaller ones.
void LoopRun::prepare_buffer(uint64_t room) {
  uint64_t bytes = lay_out_pieces();
  plan::StripRequest less = request_;
  less.max_buffer_bytes = std::min(less.max_buffer_bytes, room);
  while (!request_.placed && bytes > room && less.max_buffer_bytes > 0) {
    less.max_buffer_bytes /= 2;
    const plan::Reason reason = plan_.reason;
    plan_ = plan::force_strip(less, costs_, {plan_.schedule, plan_.strip_bytes, plan_.burst});
    plan_.reason = reason;
    bytes = lay_out_slots();
  }
  if (frame_.counters.size() < slots_) frame_.counters.resize(slots_);
  if (placed_) return;
  frame_.buffer = state_.buffer_of(context_.state(), bytes);
  if (!keeps_) return;
  std::byte* place = frame_.buffer.memory();
  for (size_t i = 0; i < block_count_; ++i) {
    const RawBlock block = block_at_(blocks_, i);
    if (in_place(i, block) != nullptr || block.count == 0) continue;
    const uint64_t of_block = block.count * element_bytes_ + halo_bytes_;
    state_.cache.keep(*frame_.buffer.buffer(), block.rank,
                      {.base = static_cast<int64_t>(block.offset), .run_bytes = of_block}, place);
    place += align_up(of_block);
  }
}

// The planner knows the mean of the blocks. Where it does not divide that, blocks above it stay
// whole, too, as far as the loop may take so much memory.
uint64_t LoopRun::lay_out_pieces() {
  const uint64_t planned = plan_.strip_bytes;
  const uint64_t mean = request_.total_bytes / request_.blocks;
  if (planned < mean || planned >= largest_bytes_) return lay_out_slots();
  plan_.strip_bytes = largest_bytes_;
  const uint64_t bytes = lay_out_slots();
  if (request_.placed || bytes <= request_.max_buffer_bytes) return bytes;
  plan_.strip_bytes = planned;
  return lay_out_slots();
}

// Blocks may differ in size, so that their number of strips, and the room for all of them, are
// counted here. Returns the bytes of all slots.
uint64_t LoopRun::lay_out_slots() {
  uint64_t whole = 0;
  strips_ = 0;
  for (size_t i = 0; i < block_count_; ++i) {
    const RawBlock block = block_at_(blocks_, i);
    if (in_place(i, block) != nullptr || block.count == 0) continue;
    const uint64_t bytes = block.count * element_bytes_;
    strips_ += (bytes + plan_.strip_bytes - 1) / plan_.strip_bytes;
    whole += align_up(bytes + halo_bytes_);
  }
  slot_bytes_ = align_up(plan_.strip_bytes + halo_bytes_);
  whole_in_buffer_ = keeps_ || plan_.schedule == plan::Schedule::all_issued;
  switch (plan_.schedule) {
    case plan::Schedule::vectorised:
      slots_ = 1;
      break;
    case plan::Schedule::all_issued:
      slots_ = strips_;
      break;
    case plan::Schedule::pipelined:
      slots_ = uint64_t{plan_.burst} + (direction_ == plan::Direction::get ? 1 : 0);
      break;
  }
  return whole_in_buffer_ ? whole : slots_ * slot_bytes_;
}

// Moves a cursor that stands before a block onto the next remote one.
void LoopRun::enter_block(Cursor& cursor) const {
  for (; cursor.block < block_count_; ++cursor.block) {
    cursor.raw = block_at_(blocks_, cursor.block);
    if (in_place(cursor.block, cursor.raw) == nullptr && cursor.raw.count != 0) return;
  }
}

uint64_t LoopRun::strip_end(const Cursor& cursor) const {
  return std::min(cursor.begin + plan_.strip_bytes, cursor.raw.count * element_bytes_);
}

void LoopRun::advance(Cursor& cursor) const {
  ++cursor.index;
  const uint64_t block_bytes = cursor.raw.count * element_bytes_;
  cursor.begin = strip_end(cursor);
  if (cursor.begin < block_bytes) return;
  cursor.base += align_up(block_bytes + halo_bytes_);
  cursor.begin = 0;
  ++cursor.block;
  enter_block(cursor);
}

size_t LoopRun::slot_of(const Cursor& cursor) const {
  return plan_.schedule == plan::Schedule::all_issued ? cursor.index : cursor.index % slots_;
}

std::byte* LoopRun::place_of(const Cursor& cursor) const {
  if (cursor.raw.place != nullptr) return cursor.raw.place + cursor.begin;
  if (whole_in_buffer_) return frame_.buffer.memory() + cursor.base + cursor.begin;
  return frame_.buffer.memory() + slot_of(cursor) * slot_bytes_;
}

void LoopRun::issue_get() {
  const Cursor& at = issue_;
  // Where the strips of a block share one buffer, or its place, what the halo of the strip before
  // brings is not fetched again.
  const bool one_buffer = whole_in_buffer_ || at.raw.place != nullptr;
  const bool halo_is_there = one_buffer && at.begin > 0;
  const uint64_t skip = halo_is_there ? halo_bytes_ : 0;
  const uint64_t bytes = strip_end(at) - at.begin + halo_bytes_ - skip;
  context_.state().get(place_of(at) + skip, at.raw.rank, at.raw.offset + at.begin + skip, bytes,
                       frame_.counters[slot_of(at)], {"loop", call_});
  advance(issue_);
}

void LoopRun::issue_put() {
  const Cursor& at = issue_;
  context_.state().put(at.raw.rank, at.raw.offset + at.begin, place_of(at),
                       strip_end(at) - at.begin, frame_.counters[slot_of(at)], {"loop", call_});
  advance(issue_);
}

const Strip* LoopRun::next() {
  const auto inside = context_.state().exclusive();
  return direction_ == plan::Direction::get ? next_get() : next_put();
}

// Where a block is that needs no transfer: in reach of loads and stores, or kept. Else null.
std::byte* LoopRun::in_place(size_t index, const RawBlock& block) const {
  if (context_.is_local(block.rank)) {
    return context_.state().reachable[block.rank] + block.offset;
  }
  return frame_.kept.empty() ? nullptr : frame_.kept[index];
}

// Blocks before `end` that need no transfer: the body works in place.
const Strip* LoopRun::hand_out_local(size_t end) {
  for (; local_ < end; ++local_) {
    const RawBlock block = block_at_(blocks_, local_);
    std::byte* const data = in_place(local_, block);
    if (data == nullptr || block.count == 0) continue;
    // Peers of other nodes may be waiting for this rank's attention.
    if (block.rank != context_.rank_me()) context_.state().make_progress();
    strip_ = {local_, 0, block.count, data};
    ++local_;
    if (block.place != nullptr && block.place != data) {
      strip_.data = block.place;
      if (direction_ == plan::Direction::get) {
        context_.state().copy_here(block.place, data, block.count * element_bytes_ + halo_bytes_);
      } else {
        local_out_ = block;
      }
    }
    return &strip_;
  }
  return nullptr;
}

// Copies what the body has written to where it belongs.
void LoopRun::settle_local() {
  if (local_out_.place == nullptr) return;
  context_.state().copy_here(context_.state().reachable[local_out_.rank] + local_out_.offset,
                             local_out_.place, local_out_.count * element_bytes_);
  local_out_.place = nullptr;
}

const Strip* LoopRun::next_get() {
  if (out_) {
    stop_clock();
    out_ = false;
    if (plan_.schedule == plan::Schedule::vectorised && issue_.index < strips_) issue_get();
  }
  if (const Strip* local = hand_out_local(block_count_)) return local;
  if (compute_.index == strips_) {
    if (std::exchange(keeps_, false)) state_.cache.complete(*frame_.buffer.buffer());
    settle();
    return nullptr;
  }
  ContextState& context = context_.state();
  fabric::Counter& counter = frame_.counters[slot_of(compute_)];
  if (counter.pending != 0) {
    context.wait_for(counter);
    frame_.attention.has_looked();
  } else if (frame_.attention.due()) {
    state_.look(context_, frame_.attention);
  }
  const uint64_t begin = compute_.begin / element_bytes_;
  strip_ = {compute_.block, begin, strip_end(compute_) / element_bytes_, place_of(compute_)};
  advance(compute_);
  if (plan_.schedule == plan::Schedule::pipelined && issue_.index < strips_) issue_get();
  out_ = true;
  start_clock();
  return &strip_;
}

const Strip* LoopRun::next_put() {
  settle_local();
  if (out_) {
    stop_clock();
    out_ = false;
    issue_put();
    if (plan_.schedule == plan::Schedule::vectorised) {
      wait_for_all();
    } else if (frame_.attention.due()) {
      state_.look(context_, frame_.attention);
    }
  }
  // In the program's order, which follows what is in the cache.
  const bool all_sent = compute_.index == strips_;
  if (const Strip* local = hand_out_local(all_sent ? block_count_ : compute_.block)) return local;
  if (all_sent) {
    wait_for_all();
    note_stores();
    settle();
    return nullptr;
  }
  // The buffer's last put, if any, must have left it.
  context_.state().wait_for(frame_.counters[slot_of(compute_)]);
  const uint64_t begin = compute_.begin / element_bytes_;
  strip_ = {compute_.block, begin, strip_end(compute_) / element_bytes_, place_of(compute_)};
  advance(compute_);
  out_ = true;
  start_clock();
  return &strip_;
}

// What the body has read of the blocks, before what it wrote came there, is old.
void LoopRun::note_stores() const {
  if (state_.cache.empty()) return;
  for (size_t i = 0; i < block_count_; ++i) {
    const RawBlock block = block_at_(blocks_, i);
    if (in_place(i, block) != nullptr) continue;
    context_.state().stored(block.rank, block.offset, block.count * element_bytes_);
  }
}

void LoopRun::wait_for_all() {
  if (strips_ == 0) return;
  const uint64_t used = std::min<uint64_t>(slots_, strips_);
  for (uint64_t slot = 0; slot < used; ++slot) {
    context_.state().wait_for(frame_.counters[slot]);
  }
}

void LoopRun::start_clock() {
  if (measuring_) out_since_s_ = context_.now_s();
}

void LoopRun::stop_clock() {
  if (measuring_) computed_s_ += context_.now_s() - out_since_s_;
}

// Replaces the estimate of the computation by what was measured and plans again.
void LoopRun::refine() {
  if (!measuring_) return;
  measuring_ = false;
  const Analysis::Span deciding(state_.analysis);
  // Loops inside of the body may have displaced the entry.
  LoopSite* const known = state_.sites.find(site_, request_);
  if (known == nullptr) return;
  const uint32_t executions = ++known->executions;
  const double uncut_s = plan::uncut_compute_s(request_, *costs_, plan_, computed_s_);
  known->least_compute_s = executions == 1 ? uncut_s : std::min(known->least_compute_s, uncut_s);
  state_.rates.note(site_, request_.total_bytes, uncut_s);
  if (executions < kRefineAfter) return;
  plan::StripRequest measured = request_;
  measured.compute_s = known->least_compute_s;
  if (replans(known->planned_compute_s, known->least_compute_s)) {
    known->planned_compute_s = known->least_compute_s;
    known->plan = plan::plan_strip(measured, costs_);
    state_.analysis.count_plan();
    known->guard = plan::Guard();
    known->tie.reset();
  }
  if (guarded_ && executions == kTimedExecutions && !state_.is_within()) {
    look_for_tie(*known, measured);
  }
}

}  // namespace stripline::detail
