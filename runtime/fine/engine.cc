#include "runtime/fine/engine.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include <stripline/vis.h>

#include "base/quantity.h"
#include "runtime/decide/choice.h"
#include "runtime/decide/surroundings.h"
#include "runtime/rma/explain_command.h"

namespace stripline::fine {
namespace {

using detail::FineRead;
using Kind = rma::CompletionSlots::Kind;
using State = Box::State;

constexpr model::Path kPath = model::Path::network;
constexpr const char* kRead = "fine_region::read";

// The first bytes of a value, as far as they fit.
uint64_t first_word(const std::byte* value, size_t bytes) {
  uint64_t word = 0;
  if (bytes == sizeof word) {
    std::memcpy(&word, value, sizeof word);
  } else {
    std::memcpy(&word, value, std::min(bytes, sizeof word));
  }
  return word;
}

}  // namespace

FineEngine::FineEngine(detail::ContextState& state)
    : Keeper(state.memory.keepers()),
      state_(state),
      waits_(state.job.observers().debug() != nullptr),
      all_mapped_(state.memory.all_shared()) {
  hints_.fill(ReadCache::kNone);
}

FineEngine& FineEngine::of(Context& context) {
  detail::ContextState& state = context.state();
  auto& engine = state.mechanisms.of<FineEngine>(state);
  if (engine.context_ == nullptr) [[unlikely]] {
    engine.context_ = &context;
    engine.bulk_ = &bulk::BulkEngine::of(context);
  }
  return engine;
}

detail::FineEntry FineEngine::enter(const FineOptions& options, CallSite site) {
  const auto inside = state_.exclusive();
  open_.push_back(++last_region_);
  if (open_.size() == 1 && !waits_ && !all_mapped_) {
    options_ = options;
    cache_.limit(options.buffer_bytes);
    bulk_->accompany(this);
    begin_visit(site);
  }
  return {last_region_, waits_, !waits_ && !all_mapped_};
}

void FineEngine::leave(uint32_t region) {
  const auto inside = state_.exclusive();
  std::erase(open_, region);
  if (!open_.empty() || !is_active()) return;
  complete();
  bulk_->accompany(nullptr);
  end_visit();
  keep_nothing();
  give_up();
}

void FineEngine::begin_visit(CallSite site) {
  const plan::CompiledPath* const costs = state_.job.compiled().path(kPath);
  scope_ = &scopes_.find_or_make(Place{site.file, site.line}, [this](Scope& made) {
    made.visits.share_budget(state_.job.ranks());
  });
  ++scope_->users;
  site_ = site;
  tally_ = {};
  ++burst_;
  in_burst_ = false;
  go_by(scope_->visits.begin(
      state_.mechanisms.instruments(), costs,
      state_.job.tuning().forced.forced(plan::FineMechanism::kWords.command, scope_->last_bytes)));
  const double patience_s = scope_->visits.patience_s();
  waits_until_s_ = patience_s < kForever ? state_.job.fabric().now_s() + patience_s : kForever;
  if (measures()) visit_begun_s_ = state_.job.fabric().now_s();
}

void FineEngine::go_by(plan::FineMethod method) {
  method_ = method;
  const plan::CompiledPath* const costs = state_.job.compiled().path(kPath);
  gap_bytes_ = method == plan::FineMethod::boxes ? plan::fine_gap_bytes(costs) : 0;
  block_shift_ = static_cast<unsigned>(std::countr_zero(plan::fine_block_bytes(costs)));
}

// What waits for each access, or sends lists, in order to compare, and is found to be far slower,
// need not go on so.
void FineEngine::limit_waiting() {
  if (waits_until_s_ == kForever || state_.job.fabric().now_s() < waits_until_s_) return;
  waits_until_s_ = kForever;
  go_by(scope_->visits.rival());
}

void FineEngine::end_visit() {
  Scope& scope = *std::exchange(scope_, nullptr);
  --scope.users;
  waits_until_s_ = kForever;
  scope.last_bytes = tally_.reads.bytes + tally_.writes.bytes;
  auto& visits = scope.visits;
  const double seconds = visits.measures() ? state_.job.fabric().now_s() - visit_begun_s_ : 0.0;
  visits.end(tally_.calls(), [&](decide::Trace& trace, double took_s) {
    const plan::FineRequest& request = *visits.request();
    trace.note(
        site_, stripline::hash_of(request.reads, request.writes),
        decide::choice_of<plan::FineMechanism>(
            request, visits.plan(),
            {.predicted_s = visits.plan().predicted_s * visits.share(), .detail = tally_.text()}),
        took_s, "region of " + bytes_text(scope.last_bytes), [&] {
          return detail::explain_command<plan::FineMechanism>(state_, request, visits.plan().reason,
                                                              kPath);
        });
  });
  if (!visits.is_due()) return;
  plan::FineRequest request = tally_.request(seconds, bulk_->in_flight());
  request.surroundings =
      decide::surroundings_of(state_.job.fabric().info(), plan::FineRequest::kFacts,
                              {.gets = true, .puts = true, .signals = false});
  visits.decide(request);
}

uint64_t FineEngine::epoch() {
  const uint64_t acquires = state_.operations.acquire_epoch();
  if (std::exchange(acquires_, acquires) != acquires) give_up();
  return epoch_;
}

void FineEngine::give_up() {
  ++epoch_;
  cache_.forget_idle();
}

// A read is checked and counted, and what this rank has written there is sent before it.
bulk::Laps FineEngine::begin_read(const rma::Call& call, rank_t rank, uint64_t begin,
                                  size_t bytes) {
  state_.memory.check(call, rank, begin, bytes, rma::Access::get);
  const bulk::Laps laps(state_.job.fabric(), measures());
  ++tally_.reads.count;
  tally_.reads.bytes += bytes;
  bulk_->before_access();
  if (run_.overlaps(rank, begin, begin + bytes)) send_writes();
  return laps;
}

FineRead FineEngine::read(const rma::Call& call, global_ptr<const std::byte> source, size_t bytes) {
  const auto inside = state_.exclusive();
  const rank_t rank = source.where();
  const uint64_t begin = source.offset();
  const uint64_t end = begin + bytes;
  bulk::Laps laps = begin_read(call, rank, begin, bytes);
  uint32_t number =
      options_.keeps && is_active() ? cache_.find(rank, begin, end, epoch()) : ReadCache::kNone;
  if (number != ReadCache::kNone) {
    ++statistics_.served;
    laps.to(tally_.reads.check_s);
  } else {
    laps.to(tally_.reads.check_s);
    ++statistics_.fetched;
    ++tally_.fetched;
    number = box_for(rank, begin, end);
    laps.to(tally_.reads.issue_s);
  }
  Box& box = cache_[number];
  ++box.waiting;
  if (waits_for_each() && box.state != State::here) {
    arrive(box);
    laps.to(tally_.reads.wait_s);
    limit_waiting();
  }
  return {context_, number, open_.empty() ? 0 : open_.back(), begin};
}

uint32_t FineEngine::add_box(rank_t rank, uint64_t begin, uint64_t end) {
  const uint32_t number = cache_.add(rank, begin, end, [this](const rma::SlotUse& use) {
    if (!state_.operations.is_over(use)) return false;
    bulk_->finish(use);  // whose slot has not been given back
    return true;
  });
  keep(rank, begin, end);
  ++tally_.boxes;
  tally_.box_bytes += end - begin;
  return number;
}

// A box that holds these bytes, or will. What is not to grow is sent at once.
uint32_t FineEngine::box_for(rank_t rank, uint64_t begin, uint64_t end) {
  if (const uint32_t number = growing(rank, begin, end); number != ReadCache::kNone) return number;
  const uint32_t number = add_box(rank, begin, end);
  const bool lists = method_ == plan::FineMethod::lists;
  const bool grows = method_ == plan::FineMethod::boxes && end - begin < plan::kFineBoxBytes;
  if (!lists && !grows) {
    send_single(number);
    return number;
  }
  if (lists && held_.size() >= kListedBoxes) send_reads();
  if (grows && held_.size() >= kHeldBoxes) {
    send_single(held_.front());
    held_.erase(held_.begin());
  }
  held_.push_back(number);
  return number;
}

// A box that is held back and near enough to hold these bytes, too, which it does then.
uint32_t FineEngine::growing(rank_t rank, uint64_t begin, uint64_t end) {
  for (auto place = held_.rbegin(); place != held_.rend(); ++place) {
    const Box& box = cache_[*place];
    if (box.rank != rank || begin > box.end + gap_bytes_ || box.begin > end + gap_bytes_) continue;
    const uint64_t all_begin = std::min(begin, box.begin);
    const uint64_t all_end = std::max(end, box.end);
    if (all_end - all_begin > plan::kFineBoxBytes) continue;
    tally_.box_bytes += (all_end - all_begin) - (box.end - box.begin);
    cache_.widen(*place, begin, end);
    keep(rank, begin, end);
    return *place;
  }
  return ReadCache::kNone;
}

void FineEngine::send_reads() {
  if (method_ != plan::FineMethod::lists) {
    for (const uint32_t number : held_) send_single(number);
    return held_.clear();
  }
  std::ranges::stable_sort(held_, {}, [this](uint32_t number) { return cache_[number].rank; });
  for (std::span<const uint32_t> left(held_); !left.empty();) {
    const rank_t rank = cache_[left.front()].rank;
    const auto others =
        std::ranges::find_if(left, [&](uint32_t number) { return cache_[number].rank != rank; });
    const auto count = static_cast<size_t>(others - left.begin());
    if (count == 1) {
      send_single(left.front());
    } else {
      send_list(left.first(count));
    }
    left = left.subspan(count);
  }
  held_.clear();
}

// Puts of this rank that overlap the box come first, those into what lies between the reads, too:
// what a box holds is not older than what this rank had written when it was sent.
void FineEngine::send_single(uint32_t number) {
  Box& box = cache_[number];
  const bulk::Own own(own_);
  const size_t bytes = box.end - box.begin;
  state_.operations.check({kRead, site_}, box.rank, box.begin, bytes, rma::Access::get);
  cache_.make_room(number);
  limit_flights();
  const uint32_t slot = state_.operations.acquire_slot(Kind::get);
  begin_flight(box, state_.operations.use_of(slot), epoch());
  state_.operations.start_get(box.bytes.data(), box.rank, box.begin, bytes,
                              state_.operations.counter(slot));
  flying_.push_back(box.use);
  ++statistics_.gets;
}

void FineEngine::send_list(std::span<const uint32_t> numbers) {
  const bulk::Own own(own_);
  limit_flights();
  detail::VisPieces pieces;
  for (const uint32_t number : numbers) {
    cache_.make_room(number);
    Box& box = cache_[number];
    pieces.local.push_back({box.bytes.data(), box.bytes.size()});
    pieces.remote.push_back({box.rank, box.begin, box.bytes.size()});
  }
  const uint64_t begun_in = epoch();
  const future started =
      detail::start_list(*context_, kRead, detail::VisDirection::get, pieces, {}, site_);
  ++statistics_.lists;
  const detail::Ticket& ticket = started.ticket();
  for (const uint32_t number : numbers) {
    Box& box = cache_[number];
    begin_flight(box, {ticket.slot, ticket.generation}, begun_in);
    if (ticket.context == nullptr) box.state = State::here;
  }
  if (ticket.context != nullptr) flying_.push_back({ticket.slot, ticket.generation});
}

// No more are in flight than the network takes: waiting for the oldest one is no slower than having
// the next one wait inside of it.
void FineEngine::limit_flights() {
  while (!flying_.empty() &&
         (flying_.size() >= bulk_->in_flight() || state_.operations.is_over(flying_.front()))) {
    bulk_->finish(flying_.front());
    flying_.pop_front();
  }
}

void FineEngine::begin_flight(Box& box, const rma::SlotUse& use, uint64_t in_epoch) {
  box.state = State::flying;
  box.use = use;
  box.epoch = in_epoch;
  in_burst_ = true;
  if (last_burst_.empty()) [[unlikely]]
    last_burst_.resize(state_.job.ranks());
  if (std::exchange(last_burst_[box.rank], burst_) != burst_) ++tally_.targets;
}

// A program that begins to use what it has read is likely to use the rest, too: all that is held
// back is sent.
void FineEngine::arrive(Box& box) {
  send_writes();
  send_reads();
  if (box.state == State::here) return;
  bulk_->finish(box.use);
  box.state = State::here;
  ++statistics_.waits;
  end_burst();
  if (method_ == plan::FineMethod::lists) limit_waiting();
}

void FineEngine::end_burst() {
  if (!std::exchange(in_burst_, false)) return;
  ++burst_;
  ++tally_.bursts;
}

void FineEngine::take(FineRead& read, std::byte* value, size_t bytes, CallSite site) {
  if (read.box == FineRead::kMoved) detail::fail_moved_from("lazy::get", site);
  const auto inside = state_.exclusive();
  if (read.box == FineRead::kNoBox) {
    if (std::ranges::find(open_, read.region) != open_.end()) return;
    state_.fail(Error(ErrorCode::invalid_argument,
                      text(rma::Call("lazy::get", site)) +
                          " of a value whose fine_region has ended; use it before that"));
  }
  bulk::Laps laps(state_.job.fabric(), measures());
  Box& box = cache_[read.box];
  if (box.state != State::here) arrive(box);
  laps.to(tally_.reads.wait_s);
  std::memcpy(value, box.bytes.data() + (read.offset - box.begin), bytes);
  --box.waiting;
  read = {};
  laps.to(tally_.reads.copy_s);
}

void FineEngine::drop(const FineRead& read) {
  if (read.box != FineRead::kNoBox) --cache_[read.box].waiting;
}

// --- reads whose values are used at once ---------------------------------------------------------

void FineEngine::read_now(const rma::Call& call, global_ptr<const std::byte> source,
                          std::byte* value, size_t bytes) {
  const auto inside = state_.exclusive();
  const rank_t rank = source.where();
  const uint64_t begin = source.offset();
  const uint64_t end = begin + bytes;
  bulk::Laps laps = begin_read(call, rank, begin, bytes);
  ++tally_.fetched;
  ++tally_.at_once;
  // In lists no such read has a place.
  const bool in_blocks = method_ == plan::FineMethod::boxes || method_ == plan::FineMethod::lists;
  const bool keeps = is_active() && options_.keeps && in_blocks && bytes > 0;
  // A program that reads the same value once more waits for it to change.
  const bool polls = std::exchange(last_source_, source) == source;
  Box* box = keeps ? kept(rank, begin, end) : nullptr;
  laps.to(tally_.reads.check_s);
  if (box != nullptr && !polls) {
    ++statistics_.served;
    ++box->served;
    ahead_.served();
    state_.memory.copy_here(value, box->bytes.data() + (begin - box->begin), bytes);
    last_value_ = first_word(value, bytes);
    return laps.to(tally_.reads.copy_s);
  }
  state_.operations.combiner().flush();  // puts before it leave first
  box = keeps && box == nullptr && ahead_.pays() ? fetch_block(rank, begin, end) : nullptr;
  if (box != nullptr) {
    state_.memory.copy_here(value, box->bytes.data() + (begin - box->begin), bytes);
  } else {
    fetch_one(call, source, value, bytes);
  }
  laps.to(tally_.reads.wait_s);
  // What is kept, by other mechanisms too, may be older than the change.
  const uint64_t before = std::exchange(last_value_, first_word(value, bytes));
  if (polls && (before != last_value_ || bytes > sizeof before)) state_.operations.acquire();
  limit_waiting();
}

Box* FineEngine::kept(rank_t rank, uint64_t begin, uint64_t end) {
  if (++looks_ % kLooks == 0) now_s_ = state_.job.fabric().now_s();
  const uint64_t in_epoch = epoch();
  const auto holds = [&](uint32_t number) {
    if (number == ReadCache::kNone) return false;
    const Box& box = cache_[number];
    return box.state == State::here && !box.stale && box.epoch == in_epoch &&
           box.covers(rank, begin, end);
  };
  uint32_t& hint = hints_[((begin >> block_shift_) + uint64_t{rank} * 37) % kHints];
  if (!holds(hint)) {
    const uint32_t found = cache_.find(rank, begin, end, in_epoch);
    if (!holds(found)) return nullptr;
    hint = found;
  }
  Box& box = cache_[hint];
  const bool is_block = box.begun_s > 0;
  if (is_block && (box.served >= kMostServed || ahead_.refreshes(box.begun_s, now_s_))) {
    box.stale = true;
    return nullptr;
  }
  return &box;
}

// Null for a range that is not within one block.
Box* FineEngine::fetch_block(rank_t rank, uint64_t begin, uint64_t end) {
  const uint64_t from = begin >> block_shift_ << block_shift_;
  const uint64_t to =
      std::min<uint64_t>(from + (uint64_t{1} << block_shift_), state_.memory.segment().size());
  if (end > to) return nullptr;
  const double begun_s = state_.job.fabric().now_s();
  const uint32_t number = add_box(rank, from, to);
  send_single(number);
  Box& box = cache_[number];
  box.begun_s = now_s_ = begun_s;
  bulk_->finish(box.use);
  box.state = State::here;
  ++statistics_.waits;
  end_burst();
  ahead_.fetched_block(state_.job.fabric().now_s() - begun_s);
  return &box;
}

void FineEngine::fetch_one(const rma::Call& call, global_ptr<const std::byte> source,
                           std::byte* value, size_t bytes) {
  const double begun_s = state_.job.fabric().now_s();
  context_->rget(source, value, bytes, call.site()).wait(call.site());
  now_s_ = state_.job.fabric().now_s();
  ahead_.fetched_one(now_s_ - begun_s);
  ++tally_.boxes;
  tally_.box_bytes += bytes;
  ++tally_.bursts;
}

void FineEngine::issue() {
  const auto inside = state_.exclusive();
  if (!is_active()) return;
  send_writes();
  send_reads();
}

void FineEngine::write(const rma::Call& call, const std::byte* source,
                       global_ptr<std::byte> destination, size_t bytes) {
  const auto inside = state_.exclusive();
  const rank_t rank = destination.where();
  const uint64_t begin = destination.offset();
  state_.memory.check(call, rank, begin, bytes, rma::Access::put);
  bulk::Laps laps(state_.job.fabric(), measures());
  ++tally_.writes.count;
  tally_.writes.bytes += bytes;
  bulk_->before_access();
  complete_reads_of(rank, begin, begin + bytes);
  laps.to(tally_.writes.check_s);
  if (!waits_for_each() && bytes <= bulk_->copy_bytes()) {
    if (!run_.add(rank, begin, source, bytes)) {
      send_writes();
      run_.add(rank, begin, source, bytes);
    }
    writer_ = call;
    return laps.to(tally_.writes.issue_s);
  }
  send_writes();
  put_and_wait(call, source, destination, bytes);
  laps.to(tally_.writes.wait_s);
  limit_waiting();
}

// A get of values that were asked for before must not find what is to be written.
void FineEngine::complete_reads_of(rank_t rank, uint64_t begin, uint64_t end) {
  bool held = false;
  cache_.for_each_overlapping(rank, begin, end, [&](const Box& box) {
    held = held || (box.state == State::held && box.waiting > 0);
  });
  if (held) send_reads();
  cache_.for_each_overlapping(rank, begin, end, [&](Box& box) {
    if (box.state != State::flying || box.waiting == 0) return;
    bulk_->finish(box.use);
    box.state = State::here;
    ++statistics_.conflicts;
  });
}

void FineEngine::send_writes() {
  if (run_.empty()) return;
  const WriteRun run = std::exchange(run_, {});
  const global_ptr<std::byte> place(run.rank(), run.begin());
  if (run.size() > bulk_->copy_bytes()) return put_and_wait(writer_, run.data(), place, run.size());
  const bulk::Own own(own_);
  bulk_->defer(writer_, run.data(), place, run.size());
  ++statistics_.puts;
  ++tally_.puts;
}

void FineEngine::put_and_wait(const rma::Call& call, const std::byte* source,
                              global_ptr<std::byte> destination, size_t bytes) {
  const bulk::Own own(own_);
  const detail::Ticket ticket = context_->rput(source, destination, bytes, call.site()).ticket();
  if (ticket.context != nullptr) bulk_->finish({ticket.slot, ticket.generation});
  ++statistics_.puts;
  ++tally_.puts;
}

// What is held back will be read after the store. What was to be read before it is here, but where
// the store is not this rank's to order.
void FineEngine::stored(rank_t rank, uint64_t offset, uint64_t bytes) {
  if (state_.operations.acquire_epoch() != acquires_) return;  // all is stale
  cache_.for_each_overlapping(rank, offset, offset + bytes, [](Box& box) {
    if (box.state != State::held) box.stale = true;
  });
}

void FineEngine::before(rma::Access access, rank_t target, uint64_t offset, size_t bytes) {
  if (own_) return;
  if (access != rma::Access::get || bytes == 0) return complete();
  if (run_.overlaps(target, offset, offset + bytes)) send_writes();
}

// Where regions are across barriers, what lies between two of them is a visit. The second one
// begins an acquire epoch, so that nothing is kept that was there before.
void FineEngine::arrived() {
  if (!is_active() || !options_.across_barriers) return;
  complete();
  end_visit();
  keep_nothing();
  give_up();
}

void FineEngine::synchronised(CallSite site) {
  if (!is_active() && !open_.empty() && options_.across_barriers) begin_visit(site);
}

void FineEngine::complete() {
  if (own_) return;
  send_writes();
  send_reads();
  while (!flying_.empty()) {
    bulk_->finish(flying_.front());
    flying_.pop_front();
  }
}

void FineEngine::add_to(rma::MechanismReport& report) const {
  report.savings.add(scopes_.savings());
}

// Nothing of it is served from now on.
void FineEngine::frees(const rma::Call& /*call*/, uint64_t offset, uint64_t bytes) {
  for (rank_t rank = 0; rank < state_.job.ranks(); ++rank) stored(rank, offset, bytes);
}

}  // namespace stripline::fine
