#include "runtime/bulk/engine.h"

#include <algorithm>
#include <limits>

#include <stripline/vis.h>

#include "runtime/rma/operation.h"

namespace stripline::bulk {
namespace {

using Kind = rma::CompletionSlots::Kind;

// Phases that are remembered. A program has as many as barriers in its source, or in what calls
// them with a place of its own.
constexpr size_t kMaxPhases = 256;

}  // namespace

BulkEngine::BulkEngine(detail::ContextState& state)
    : Keeper(state.memory.keepers()),
      state_(state),
      waits_(state.job.observers().debug() != nullptr),
      puts_(state.job.ranks()) {}

// Also in the middle of a job, for another model: its memory goes.
BulkEngine::~BulkEngine() {
  if (state_.operations.unfinished() == this) state_.operations.ask(nullptr);
  complete_all();
  ahead_.clear([this](const rma::SlotUse& use) { finish(use); });
}

BulkEngine& BulkEngine::of(Context& context) {
  detail::ContextState& state = context.state();
  auto& engine = state.mechanisms.of<BulkEngine>(state);
  if (engine.context_ == nullptr) [[unlikely]] {
    const auto inside = state.exclusive();
    engine.context_ = &context;
    // For the whole run.
    if (state.job.options().bulk) engine.enter_region({}, {});
  }
  return engine;
}

void BulkEngine::enter_region(const BulkOptions& options, CallSite site) {
  regions_.push_back(options);
  if (waits_ || regions_.size() > 1) return;
  begin_to_ask();
  begin_visit(site, false);
}

void BulkEngine::leave_region() {
  const auto inside = state_.exclusive();
  if (regions_.empty()) return;  // a new model has made another engine
  if (waits_ || regions_.size() > 1) return regions_.pop_back();
  in_burst_ = false;
  complete();
  end_visit();
  if (companion_ == nullptr) state_.operations.ask(nullptr);
  regions_.pop_back();
}

void BulkEngine::begin_to_ask() {
  const plan::CompiledPath* const costs = state_.job.compiled().path(model::Path::network);
  in_flight_ = plan::bulk_in_flight(costs);
  max_get_bytes_ = plan::max_bulk_get_bytes(costs);
  state_.operations.ask(this);
}

void BulkEngine::accompany(Companion* companion) {
  companion_ = companion;
  if (companion != nullptr) return begin_to_ask();
  complete();
  if (!is_active()) state_.operations.ask(nullptr);
}

void BulkEngine::begin_burst(CallSite site) {
  in_burst_ = is_active() && !waits_;
  burst_site_ = site;
}

void BulkEngine::end_burst() {
  const auto inside = state_.exclusive();
  const Own own(own_);
  flush();
  in_burst_ = false;
}

void BulkEngine::check_memory(const rma::Call& call, const std::byte* memory, size_t bytes) const {
  if (memory != nullptr || bytes == 0) [[likely]]
    return;
  state_.fail(Error(ErrorCode::invalid_argument, text(call) + " of " + rma::byte_count_text(bytes) +
                                                     " with a null pointer for this rank's side"));
}

void BulkEngine::check_range(const rma::Call& call, global_ptr<const std::byte> place, size_t bytes,
                             rma::Access access) const {
  state_.operations.check(call, place.where(), place.offset(), bytes, access);
}

// What is to be waited for is waited for when others ask again: what follows futures may run
// meanwhile, and does so as the program does. Outside of regions a call is asked about as all
// others are: puts of the companion may be in flight.

void BulkEngine::put(const rma::Call& call, const std::byte* source,
                     global_ptr<std::byte> destination, size_t bytes, bool source_goes) {
  const auto inside = state_.exclusive();
  const future put = begin_put(call, source, destination, bytes, source_goes);
  if (put.ticket().context == nullptr) return;
  Laps laps(state_.job.fabric(), measures());
  put.wait(call.site());
  laps.to(tally_.puts.wait_s);
  limit_waiting();
}

void BulkEngine::get(const rma::Call& call, std::byte* destination,
                     global_ptr<const std::byte> source, size_t bytes) {
  const auto inside = state_.exclusive();
  const future get = begin_get(call, destination, source, bytes);
  if (get.ticket().context != nullptr) {
    Laps laps(state_.job.fabric(), measures());
    get.wait(call.site());
    laps.to(tally_.gets.wait_s);
  }
  if (visit_ == nullptr) return;
  Laps laps(state_.job.fabric(), measures());
  make_ahead();
  laps.to(tally_.ahead_s);
}

void BulkEngine::copy_between(const rma::Call& call, global_ptr<std::byte> destination,
                              global_ptr<const std::byte> source, size_t bytes) {
  const auto inside = state_.exclusive();
  // Taken, as another copy may be made by what follows a future while this one waits.
  std::vector<std::byte> between = std::exchange(between_, {});
  if (between.size() < bytes) between.resize(bytes);
  get(call, between.data(), source, bytes);
  put(call, between.data(), destination, bytes, true);
  if (between.size() <= copy_bytes()) between_ = std::move(between);
}

future BulkEngine::begin_put(const rma::Call& call, const std::byte* source,
                             global_ptr<std::byte> destination, size_t bytes, bool source_goes) {
  const Own own(own_, !is_active());
  check_range(call, destination, bytes, rma::Access::put);
  check_memory(call, source, bytes);
  if (bytes == 0) return {};
  if (!is_active() || waits_) return context_->rput(source, destination, bytes, call.site());
  const rank_t target = destination.where();
  const uint64_t offset = destination.offset();
  if (std::byte* const there = state_.memory.reachable(target); there != nullptr) {
    flush_before_copy(source, there + offset, bytes);
    return context_->rput(source, destination, bytes, call.site());
  }
  if (source_goes) {
    end_burst_early();
  } else if (keep_in_burst(Aggregation::Direction::put,
                           {target, offset, const_cast<std::byte*>(source), bytes})) {
    return {};
  }
  return start_put(call, source, destination, bytes, options().stable_sources && !source_goes);
}

future BulkEngine::begin_get(const rma::Call& call, std::byte* destination,
                             global_ptr<const std::byte> source, size_t bytes) {
  const Own own(own_, !is_active());
  check_range(call, source, bytes, rma::Access::get);
  check_memory(call, destination, bytes);
  if (bytes == 0) return {};
  if (!is_active() || waits_) return context_->rget(source, destination, bytes, call.site());
  const rank_t target = source.where();
  const uint64_t offset = source.offset();
  if (const std::byte* const there = state_.memory.reachable(target); there != nullptr) {
    flush_before_copy(there + offset, destination, bytes);
    return context_->rget(source, destination, bytes, call.site());
  }
  if (keep_in_burst(Aggregation::Direction::get, {target, offset, destination, bytes})) return {};
  Laps laps(state_.job.fabric(), measures());
  if (measures()) tally_.lead_s += laps.begun_s() - visit_begun_s_ - tally_.calls_s();
  ++tally_.gets.count;
  tally_.gets.bytes += bytes;
  complete_overlapping(target, offset, offset + bytes);
  laps.to(tally_.gets.check_s);
  if (serve(destination, target, offset, bytes, laps)) return {};
  const future get = context_->rget(source, destination, bytes, call.site());
  laps.to(tally_.gets.issue_s);
  return get;
}

// If it is over; its slot may have been swept (CompletionSlots::sweep()).
bool BulkEngine::retire(const rma::SlotUse& use) {
  if (!state_.operations.is_over(use)) return false;
  if (!state_.operations.slots().released(use.slot, use.generation)) {
    state_.operations.release(use.slot);
  }
  return true;
}

// Also where what follows a future is running, which may not wait by itself: the wait is for what
// is in flight already, and runs nothing of the program.
void BulkEngine::finish(const rma::SlotUse& use) {
  if (retire(use)) return;
  rma::Operations& operations = state_.operations;
  const fabric::Counter& counter = operations.counter(use.slot);
  const auto undisturbed = operations.continuations().forbid();
  state_.job.activity() = "wait";
  if (operations.slots().kind(use.slot) == Kind::message) {
    operations.messages().ask(counter);
    operations.messages().wait([&counter] { return counter.pending == 0; });
  } else {
    operations.messages().wait_for(counter);
  }
  retire(use);
}

void BulkEngine::finish_source(const rma::SlotUse& use) {
  rma::Operations& operations = state_.operations;
  if (operations.is_over(use) || operations.source_free(use.slot)) return;
  const auto undisturbed = operations.continuations().forbid();
  state_.job.activity() = "wait";
  operations.messages().wait(
      [&] { return operations.is_over(use) || operations.source_free(use.slot); });
}

bool BulkEngine::defers(size_t bytes, bool stays) const {
  const bool wanted = method_ == plan::BulkMethod::puts || method_ == plan::BulkMethod::both;
  return wanted && (stays || bytes <= copy_bytes());
}

// A future that is to be waited for, unless the put goes on by itself.
future BulkEngine::start_put(const rma::Call& call, const std::byte* source,
                             global_ptr<std::byte> destination, size_t bytes, bool stays) {
  const rank_t target = destination.where();
  const uint64_t offset = destination.offset();
  Laps laps(state_.job.fabric(), measures());
  ++tally_.puts.count;
  tally_.puts.bytes += bytes;
  complete_overlapping(target, offset, offset + bytes);
  laps.to(tally_.puts.check_s);
  if (!defers(bytes, stays)) {
    const future put = context_->rput(source, destination, bytes, call.site());
    laps.to(tally_.puts.issue_s);
    return put;
  }
  make_room(target);
  laps.to(tally_.puts.wait_s);
  send(call, source, destination, bytes, stays);
  laps.to(tally_.puts.issue_s);
  return {};
}

void BulkEngine::defer(const rma::Call& call, const std::byte* source,
                       global_ptr<std::byte> destination, size_t bytes) {
  const Own own(own_);
  end_burst_early();
  const rank_t target = destination.where();
  complete_overlapping(target, destination.offset(), destination.offset() + bytes);
  make_room(target);
  send(call, source, destination, bytes, false);
}

// There is room for it among those in flight.
void BulkEngine::send(const rma::Call& call, const std::byte* source,
                      global_ptr<std::byte> destination, size_t bytes, bool stays) {
  const rank_t target = destination.where();
  const uint64_t offset = destination.offset();
  rma::Operation operation(*context_, call, rma::Access::put, destination, bytes,
                           stays ? source : nullptr);
  fabric::Counter& counter = operation.counter(Kind::put);
  const rma::SlotUse use = state_.operations.use_of(operation.slot());
  const std::byte* const from = stays ? source : copy(source, bytes, use);
  state_.operations.start_put(target, offset, from, bytes, counter);
  puts_.add(target, {offset, offset + bytes, use});
  ++statistics_.deferred_puts;
  statistics_.copied_puts += stays ? 0 : 1;
  operation.finish();
  take_back();
}

// The ring grows up to its share of the memory, so that programs with small puts take little. What
// it has is complete before.
const std::byte* BulkEngine::copy(const std::byte* source, size_t bytes, const rma::SlotUse& use) {
  constexpr size_t kLeastCapacity = size_t{64} << 10;
  const size_t most = copy_bytes();
  std::byte* memory = nullptr;
  while (true) {
    while (!copies_.empty() && state_.operations.is_over(copies_.oldest())) {
      copies_.release_oldest();
    }
    if (copies_.capacity() > 0) memory = copies_.acquire(bytes, use);
    if (memory != nullptr) break;
    if (copies_.empty() && copies_.capacity() < most) {
      copies_ = rma::BounceRing(
          std::min(most, std::max({4 * copies_.capacity(), kLeastCapacity, bytes})));
      continue;
    }
    // All of them, where it is to grow.
    do {
      finish(copies_.oldest());
      copies_.release_oldest();
    } while (copies_.capacity() < most && !copies_.empty());
  }
  state_.memory.copy_here(memory, source, bytes);
  return memory;
}

// The oldest ones are retired as they come to be complete; beyond what the network takes, waiting
// for one is no slower than having the next one wait inside of it.
void BulkEngine::make_room(rank_t target) {
  while (const OutstandingPut* const oldest = puts_.oldest(target)) {
    if (!retire(oldest->use) && puts_.size(target) < in_flight_) return;
    finish(puts_.take_oldest(target).use);
  }
}

void BulkEngine::complete_overlapping(rank_t target, uint64_t begin, uint64_t end) {
  while (const auto put = puts_.take_overlapping(target, begin, end)) {
    if (retire(put->use)) continue;
    ++statistics_.conflicts;
    finish(put->use);
  }
}

void BulkEngine::complete_all() {
  while (!puts_.empty()) finish(puts_.take_any().use);
}

bool BulkEngine::serve(std::byte* destination, rank_t target, uint64_t offset, size_t bytes,
                       Laps& laps) {
  if (state_.operations.acquire_epoch() != epoch_) gets_.give_up();
  const auto buffer = gets_.take(target, offset, bytes);
  take_back();
  if (!buffer) return false;
  finish(ahead_.use_of(*buffer));
  laps.to(tally_.gets.wait_s);
  state_.memory.copy_here(destination, ahead_.memory_of(*buffer), bytes);
  ahead_.give_back(*buffer);
  ++statistics_.served;
  laps.to(tally_.gets.copy_s);
  return true;
}

// A window of them, so that the network is not flooded: Chen, section 7.2.2, where chunks are made
// when those before are complete.
void BulkEngine::make_ahead() {
  if (state_.operations.acquire_epoch() != epoch_) return;
  while (!flying_.empty() && state_.operations.is_over(flying_.front())) flying_.pop_front();
  while (const auto index = gets_.next()) {
    const GetRecord& wanted = gets_.expected(*index);
    if (wanted.bytes > std::min(ahead_.capacity(), max_get_bytes_)) {
      gets_.skip(*index);
      continue;
    }
    if (flying_.size() >= in_flight_) return;
    take_back();
    rma::Operations& operations = state_.operations;
    const uint32_t slot = operations.acquire_slot(Kind::get);
    const auto buffer = ahead_.acquire(wanted.bytes, operations.use_of(slot));
    if (!buffer) return operations.release(slot);
    gets_.issued(*index, buffer->number);
    flying_.push_back(operations.use_of(slot));
    ++statistics_.made_ahead;
    operations.start_get(buffer->memory, wanted.rank, wanted.offset, wanted.bytes,
                         operations.counter(slot));
  }
}

// Buffers that no call will be served from go back when their gets are complete.
void BulkEngine::take_back() {
  for (const uint64_t buffer : gets_.given_up()) ahead_.give_back(buffer);
  gets_.given_up().clear();
  ahead_.collect([this](const rma::SlotUse& use) { return retire(use); });
}

bool BulkEngine::keep_in_burst(Aggregation::Direction direction, const Piece& piece) {
  if (!in_burst_) return false;
  if (burst_.full()) flush();
  if (burst_.depends(direction, piece)) {
    end_burst_early();
    return false;
  }
  complete_overlapping(piece.rank, piece.offset, piece.offset + piece.bytes);
  burst_.add(direction, piece);
  return true;
}

void BulkEngine::flush_before_copy(const std::byte* from, const std::byte* to, size_t bytes) {
  if (!burst_.empty() && burst_.depends_on_copy(from, to, bytes)) end_burst_early();
}

// What follows is carried out as without it.
void BulkEngine::end_burst_early() {
  if (burst_.empty()) return;
  flush();
  in_burst_ = false;
  ++statistics_.dependences;
}

// Gets are started together, and so are puts; then the memory of this rank is free.
void BulkEngine::flush() {
  if (burst_.empty()) return;
  const std::vector<Aggregation::Batch> batches = burst_.take();
  std::vector<rma::SlotUse> gets;
  std::vector<rma::SlotUse> puts;
  for (const Aggregation::Batch& batch : batches) {
    const bool is_get = batch.direction == Aggregation::Direction::get;
    const rank_t target = batch.pieces.front().rank;
    detail::VisPieces pieces;
    uint64_t begin = std::numeric_limits<uint64_t>::max();
    uint64_t end = 0;
    for (const Piece& piece : batch.pieces) {
      pieces.local.push_back({piece.memory, piece.bytes});
      pieces.remote.push_back({piece.rank, piece.offset, piece.bytes});
      begin = std::min(begin, piece.offset);
      end = std::max(end, piece.offset + piece.bytes);
    }
    const future started =
        detail::start_list(*context_, is_get ? "memget" : "memput", batch.direction, pieces,
                           {.use_model = options().use_model}, burst_site_);
    ++statistics_.bursts;
    if (started.ticket().context == nullptr) continue;
    const rma::SlotUse use{started.ticket().slot, started.ticket().generation};
    (is_get ? gets : puts).push_back(use);
    if (!is_get) puts_.add(target, {begin, end, use});
  }
  for (const rma::SlotUse& use : gets) finish(use);
  if (options().stable_sources) return;
  for (const rma::SlotUse& use : puts) finish_source(use);
}

void BulkEngine::stored(rank_t rank, uint64_t offset, uint64_t bytes) {
  gets_.spoil(rank, offset, offset + bytes);
}

void BulkEngine::before(rma::Access access, rank_t target, uint64_t offset, size_t bytes) {
  ask_companion([&](Companion& asked) { asked.before(access, target, offset, bytes); });
  if (own_ || (puts_.empty() && burst_.empty())) return;
  const Own own(own_);
  Laps laps(state_.job.fabric(), measures());
  end_burst_early();
  if (access == rma::Access::get && bytes > 0) {
    complete_overlapping(target, offset, offset + bytes);
  } else {
    complete_all();
  }
  laps.to(tally_.puts.wait_s);
}

void BulkEngine::add_to(rma::MechanismReport& report) const {
  report.savings.add(forgotten_);
  for (const auto& [place, phase] : phases_) {
    decide::Savings savings;
    phase->race().add_to(savings);
    report.savings.add(savings);
  }
}

void BulkEngine::leaves() {
  complete();
  end_visit();
}

// Nothing of it is read from now on, by no visit of any phase; what is in flight is waited for by
// the call.
void BulkEngine::frees(const rma::Call& /*call*/, uint64_t offset, uint64_t bytes) {
  gets_.give_up(offset, offset + bytes);
  take_back();
  for (const auto& [place, phase] : phases_) forget(phase->gets, offset, offset + bytes);
}

Phase& BulkEngine::phase_of(CallSite site, bool at_barrier) {
  const auto place = std::pair(site.file, site.line);
  if (const auto known = phases_.find(place); known != phases_.end()) return *known->second;
  if (phases_.size() >= kMaxPhases) {
    const auto oldest = std::ranges::min_element(
        phases_, {}, [](const auto& one) { return one.second->last_visit; });
    oldest->second->race().add_to(forgotten_);
    phases_.erase(oldest);
  }
  return *phases_.emplace(place, std::make_unique<Phase>(state_, site, at_barrier)).first->second;
}

void BulkEngine::begin_visit(CallSite site, bool at_barrier) {
  end_visit();
  const Own own(own_);
  Phase& phase = phase_of(site, at_barrier);
  phase.last_visit = ++visits_;
  visit_ = &phase;
  tally_ = {};
  method_ = phase.begin({.stable_sources = options().stable_sources,
                         .buffer_bytes = options().buffer_bytes,
                         .in_flight = in_flight_,
                         .use_model = options().use_model,
                         .self_check = options().self_check});
  waits_until_s_ = phase.waits_until_s();
  if (phase.measures()) visit_begun_s_ = state_.job.fabric().now_s();
  epoch_ = state_.operations.acquire_epoch();
  const bool ahead = method_ == plan::BulkMethod::gets || method_ == plan::BulkMethod::both;
  gets_.begin(phase.gets, ahead);
  uint64_t wanted_bytes = 0;
  gets_.for_each_expected([&](rank_t rank, uint64_t begin, uint64_t end) {
    keep(rank, begin, end);
    wanted_bytes += end - begin;
  });
  ahead_.fit(wanted_bytes, options().buffer_bytes / 2);
  Laps laps(state_.job.fabric(), phase.measures());
  make_ahead();
  laps.to(tally_.ahead_s);
}

// What waits for each call in order to compare, and is found to be far slower, need not go on so:
// puts go on as the visits before. What is fetched ahead would be too late.
void BulkEngine::limit_waiting() {
  if (!waits_until_s_ || state_.job.fabric().now_s() < *waits_until_s_) return;
  method_ = visit_->rival();
  waits_until_s_.reset();
}

void BulkEngine::end_visit() {
  if (visit_ == nullptr) return;
  waits_until_s_.reset();
  const Own own(own_);
  visit_->gets = gets_.end();
  take_back();
  keep_nothing();
  flying_.clear();
  const double seconds = visit_->measures() ? state_.job.fabric().now_s() - visit_begun_s_ : 0.0;
  std::exchange(visit_, nullptr)->end(tally_, seconds);
}

}  // namespace stripline::bulk
