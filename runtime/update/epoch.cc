#include "runtime/update/epoch.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/quantity.h"
#include "base/random.h"
#include "runtime/decide/choice.h"
#include "runtime/rma/explain_command.h"

namespace stripline::update {
namespace {

// After a buffer in which merging did not pay, this many do without.
constexpr uint32_t kBuffersWithoutMerging = 15;

bool merges_worthwhile(const detail::UpdateLane& lane) {
  const uint64_t updates = uint64_t{lane.count} + lane.merged;
  return uint64_t{lane.merged} * plan::kMergesWorthwhile >= updates;
}

}  // namespace

uint32_t Epoch::spare_buffer() {
  const uint32_t buffer = free_.back();
  free_.pop_back();
  return buffer;
}

// A thread of the runtime goes through the epochs that are open.
Epoch::~Epoch() {
  if (life_->is_over()) {
    // What it would tell is gone, or is a parent process's.
    [[maybe_unused]] const Chooser* const left = chooser_.release();
    return;
  }
  const auto inside = state_.exclusive();
  engine_.close(number_);
}

// Lanes that hold updates end the job; the next update of the others has to ask for a lane.
void Epoch::outlives_context() {
  const auto is_filled = [](const detail::UpdateLane& lane) { return lane.count > 0; };
  if (has_in_flight() || accumulators_.hold_any() || std::ranges::any_of(lanes_, is_filled)) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      description() +
                          " outlives its Context with updates that are not complete; end() it, or "
                          "let it go, before the Context goes"));
  }
  for (detail::UpdateLane& lane : lanes_) {
    lane.memory = nullptr;
    lane.extent = 0;
    lane.via = nullptr;
    lane.positions = nullptr;
    lane.count = 0;
    lane.limit = 1;
  }
}

bool Epoch::has_in_flight() const {
  return unreturned_ > 0 || !backlog_.empty() ||
         (fetches_ != nullptr && !(fetches_->idle() && fetches_->empty())) ||
         std::ranges::any_of(filling_, &Filling::sent_on);
}

// What is in buffers would update whatever is allocated there next. What has left them is carried
// out first, which no one can see.
void Epoch::frees(const rma::Call& call, uint64_t offset, uint64_t bytes) {
  uint64_t held = 0;
  uint64_t first = 0;
  const auto look = [&](uint64_t cell) {
    const uint64_t begin = cell * type_.unit;
    if (begin >= offset + bytes || begin + type_.value_bytes <= offset) return;
    if (held++ == 0) first = begin;
  };
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    const detail::UpdateLane& lane = lanes_[rank];
    for (uint32_t i = 0; i < lane.count; ++i) {
      // Where updates go over others, with a number that names the owner.
      look(((uint64_t{lane.window} << 32U) + lane.cells[i]) % cells_);
    }
    accumulators_.each(rank, [&look](uint64_t cell, const std::byte*) { look(cell); });
  }
  if (held > 0) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      text(call) + " of the array of " + rma::byte_count_text(bytes) +
                          " at offset " + std::to_string(offset) + ", of which " + description() +
                          " holds " + std::to_string(held) +
                          (held == 1 ? " update, at offset " : " updates, the first at offset ") +
                          std::to_string(first) + "; end() the epoch, or flush() it, before"));
  }
  if (has_in_flight() || current_.method != plan::UpdateMethod::buffers) complete();
}

void Epoch::enter(const char* name, CallSite site) {
  state_.operations.begin(name);
  state_.job.activity().at(name, site);
}

void Epoch::fail(global_ptr<const std::byte> cell, CallSite site) {
  const rma::Call call("UpdateEpoch::update", site);
  life_->check(call);
  state_.operations.check(call, cell.where(), cell.offset(), type_.value_bytes);
  state_.fail(Error(ErrorCode::invalid_argument,
                    text(call) + " of " +
                        rma::range_text(cell.offset(), type_.value_bytes, cell.where()) +
                        ", which is not aligned to " + std::to_string(type_.unit) + " bytes"));
}

void Epoch::fail_patch(const grid_cell& corner, const grid_extent& patch, const grid_extent& grid,
                       CallSite site) {
  const rma::Call call("UpdateEpoch::spread", site);
  life_->check(call);
  state_.fail(Error(ErrorCode::invalid_argument,
                    text(call) + (detail::is_within(corner, patch, grid)
                                      ? " with a null pointer for the values of the patch"
                                      : ", but " + detail::not_within_text(corner, patch, grid))));
}

void Epoch::open_lane(rank_t target, uint32_t buffer) {
  filling_[target].buffer = buffer;
  detail::UpdateLane& lane = lanes_[target];
  lane.cells = reinterpret_cast<Cell*>(buffers_[buffer].memory);
  lane.values = buffers_[buffer].memory + values_offset();
}

// Begins to fill a lane, after one in which merging has paid or not.
void Epoch::begin_lane(rank_t target, bool merging_paid) {
  detail::UpdateLane& lane = lanes_[target];
  lane.count = 0;
  lane.merged = 0;
  lane.limit = debug_ == nullptr && !one_by_one_ ? capacity_ : 1;
  lane.shift = shift_;
  lane.positions = nullptr;
  if (target == me_ && begin_own_lane()) return;
  if (!merging_) return;
  Filling& filling = filling_[target];
  if (filling.without_merging > 0) {
    --filling.without_merging;
  } else if (!merging_paid) {
    filling.without_merging = kBuffersWithoutMerging;
  } else {
    filling.without_merging = 0;
  }
  if (filling.without_merging == 0) lane.positions = filling.positions;
}

// True where updates of this rank's own cells need no buffer: no one else updates these cells but
// handlers, which run on this thread, and nothing has to see the updates one by one.
bool Epoch::begin_own_lane() {
  detail::UpdateLane& lane = lanes_[me_];
  const bool at_once = current_.method == plan::UpdateMethod::buffers && debug_ == nullptr &&
                       !closely_ && state_.job.exclusion().is_free_here();
  lane.via = at_once ? &lane : nullptr;
  lane.memory = at_once ? state_.memory.segment().data() : nullptr;
  lane.extent = at_once ? cells_ : 0;
  return at_once;
}

void Epoch::filled(rank_t target, CallSite site) {
  life_->check({"UpdateEpoch::update", site});
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::update", site);
  detail::UpdateLane& lane = lanes_[target];
  if (lane.at_once >= lane.limit) {
    count_at_once(target);
    // Others may wait for this rank, which sends nothing meanwhile.
    if (target != me_) state_.operations.messages().progress();
    return;
  }
  if (debug_ != nullptr) [[unlikely]] {
    check_closely(target, (uint64_t{lane.window} << 32U) + lane.cells[lane.count - 1], site);
    lane.limit = lane.count + 1;
    if (lane.count < capacity_) return;
  }
  send(target);
}

// Tells debug mode of the first update of each cell; later ones are skipped.
void Epoch::check_closely(rank_t target, uint64_t cell, CallSite site) {
  const uint64_t offset = cell * type_.unit;
  if (!checked_.insert(global_ptr<std::byte>(target, offset).word()).second) return;
  debug_->update({"UpdateEpoch::update", site}, number_, target, offset, type_.value_bytes);
}

void Epoch::move_window(rank_t target, uint32_t window, CallSite site) {
  life_->check({"UpdateEpoch::update", site});
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::update", site);
  send(target);
  lanes_[target].window = window;
}

void Epoch::send(rank_t target) {
  detail::UpdateLane& lane = lanes_[target];
  if (lane.count == 0) return;
  statistics_.updates += lane.count;
  statistics_.merged += lane.merged;
  const bool merging_pays = draining_ || merges_worthwhile(lane);
  if (!draining_) see(target);
  count(target);
  if (current_.method != plan::UpdateMethod::buffers) return send_singly(target);
  if (target == me_) {
    // In the segment, as all that a lane takes.
    carry_out_by([&] {
      type_.apply({state_.memory.segment().data() + (uint64_t{lane.window} << 32U) * type_.unit,
                   reinterpret_cast<const std::byte*>(lane.cells), lane.values, lane.count, false});
    });
    declare(lane.count * applied_bytes());
    begin_lane(target, merging_pays);
    return;
  }
  Filling& filling = filling_[target];
  std::byte* const memory = buffers_[filling.buffer].memory;
  const bool onward = filling.onward != Onward::nothing;
  const Encoded encoded = onward ? encoder_.encode_singly(memory, values_offset(), lane.count)
                                 : encoder_.encode(memory, values_offset(), lane.count);
  declare(encoded.moved_bytes);
  if (!onward) show_encoding();
  Head head{number_, type_hash_, lane.window, encoded.form, filling.onward, encoded.count, 0};
  filling.sent_on = filling.sent_on || onward;
  backlog_.add(target, {filling.buffer, head, encoded.body});
  // The lane is in order again before anything else is sent.
  lane.count = 0;
  const EpochEngine::Sending sending(engine_);
  const uint32_t buffer = take_buffer();
  open_lane(target, buffer);
  begin_lane(target, merging_pays);
  send_backlog();
  if (!backlog_.empty()) keep_to_budget();
}

// How the updates of a parcel were written, to a trace.
void Epoch::show_encoding() const {
  decide::Trace* const trace = state_.mechanisms.instruments().trace;
  if (trace == nullptr) return;
  const plan::AskedEncoding& asked = encoder_.asked();
  const plan::EncodingPlan& plan = encoder_.plan();
  trace->note(site_, stripline::hash_of(type_hash_, static_cast<uint64_t>(plan.encoding)),
              decide::choice_of<plan::EncodingMechanism>(asked, plan), std::nullopt,
              "parcels of updates of " + exact_bytes_text(type_.value_bytes), [&] {
                return detail::explain_command<plan::EncodingMechanism>(
                    state_, asked, plan.reason, path_of_updates(state_.job));
              });
}

// Not more than a rank without a backlog has moving: networks that are flooded slow down.
bool Epoch::has_room() const {
  const auto moving = std::ranges::count_if(sending_, [this](uint32_t index) {
    const Buffer& buffer = buffers_[index];
    return buffer.slot != kNone && !bulk_.is_sent(buffer.target, buffer.slot);
  });
  return moving < plan::kSpareUpdateBuffers + (backlog_.size() == 1 ? 1 : 0);
}

void Epoch::send_backlog() {
  backlog_.send([this](rank_t target) { return bulk_.has_free(target) && has_room(); },
                [this](rank_t target, const Backlog::Filled& filled) {
                  Buffer& buffer = buffers_[filled.buffer];
                  buffer.target = target;
                  buffer.slot = bulk_.acquire(target);
                  sending_.push_back(filled.buffer);
                  ++unreturned_;
                  Head head = filled.head;
                  put(target, buffer.slot, head, filled.body, filled.buffer);
                });
}

// An owner is busy, or many ranks send to it: others are served before this rank goes on to fill
// buffers, of which there may be more as long as the budget allows it.
void Epoch::keep_to_budget() {
  am::ActiveMessages& messages = state_.operations.messages();
  messages.progress();
  if (backlog_.size() <= more_buffers_ || add_buffers()) return;
  messages.wait([this] { return backlog_.size() <= more_buffers_; });
}

// False where the budget has no room for more.
bool Epoch::add_buffers() {
  const size_t stride = buffer_stride();
  const uint64_t taken = buffer_bytes();
  const uint64_t room = budget_bytes_ > taken ? (budget_bytes_ - taken) / stride : 0;
  const uint64_t more = std::min<uint64_t>(room, std::max<size_t>(buffers_.size() / 2, 1));
  if (more == 0) return false;
  constexpr size_t kLine = 64;
  const size_t bytes = more * stride + kLine;
  std::byte* const memory =
      more_memory_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes)).get();
  std::byte* const first = memory + (kLine - reinterpret_cast<uintptr_t>(memory) % kLine);
  for (uint64_t i = 0; i < more; ++i) {
    free_.push_back(static_cast<uint32_t>(buffers_.size()));
    buffers_.push_back({first + i * stride});
  }
  more_buffers_ += more;
  more_memory_bytes_ += bytes;
  return true;
}

// For decisions about the updates that follow, and for clocks on which work is declared.
void Epoch::count(rank_t target) {
  const detail::UpdateLane& lane = lanes_[target];
  uint64_t filled_bytes = lane.count * item_bytes() + lane.merged * applied_bytes();
  if (lane.positions != nullptr) {  // looked up for each, and written for those that are new
    filled_bytes += sizeof(uint16_t) * (2 * uint64_t{lane.count} + lane.merged);
  }
  declare(filled_bytes);
  const uint64_t updates = uint64_t{lane.count} + lane.merged;
  tally_.updates += updates;
  if (target == me_) tally_.own += updates;
  if (!closely_) return;
  if (filling_[target].onward == Onward::nothing) {
    tally_.look(target, uint64_t{lane.window} << 32U, {lane.cells, lane.count}, lane.merged);
  }
  if (lane.positions == nullptr && lane.count > 1) {
    tally_.look_at_values(lane.count, all_same(lane.values, lane.count, type_.value_bytes));
  }
}

void Epoch::send_singly(rank_t target) {
  const detail::UpdateLane& lane = lanes_[target];
  const uint64_t first = uint64_t{lane.window} << 32U;
  const std::span<const Cell> cells(lane.cells, lane.count);
  const std::byte* const values = lane.values;
  // The lane is in order again before anything waits.
  const uint32_t sent = filling_[target].buffer;
  const bool merging_pays = merges_worthwhile(lane);
  open_lane(target, spare_buffer());
  begin_lane(target, merging_pays);
  if (current_.method == plan::UpdateMethod::owner_locks) {
    singly_->under_owner_lock(target, first, cells, values);
  } else {
    send_one_by_one(target, first, cells, values);
  }
  free_.push_back(sent);
}

void Epoch::send_one_by_one(rank_t target, uint64_t first, std::span<const Cell> cells,
                            const std::byte* values) {
  for (size_t i = 0; i < cells.size(); ++i) {
    const uint64_t cell = first + cells[i];
    const std::byte* const value = values + i * type_.value_bytes;
    if (current_.method == plan::UpdateMethod::messages) {
      singly_->by_message(target, cell, value);
    } else if (current_.method == plan::UpdateMethod::provider) {
      singly_->by_provider(target, cell, value, nullptr, {});
    } else {
      singly_->under_cell_lock(target, cell, value, nullptr);
    }
  }
}

void Epoch::wait_for_slot(rank_t target) {
  if (bulk_.has_free(target)) return;
  state_.operations.messages().wait([this, target] { return bulk_.has_free(target); });
}

void Epoch::put(rank_t target, uint32_t slot, Head& head, std::span<const std::byte> body,
                uint32_t buffer) {
  head.sequence = order_[target].sent++;
  ++statistics_.parcels;
  statistics_.bytes += sizeof(Head) + body.size();
  bulk_.put(state_.operations.user(MessageUser::updates).channel, target, slot,
            std::as_bytes(std::span(&head, 1)), body, (uint64_t{number_} << 32U) | buffer);
  state_.operations.messages().flush();  // which tells an owner of this node that it is there
}

// For what follows one that is in the backlog.
uint32_t Epoch::take_buffer() {
  collect_sent();
  if (free_.empty() && (backlog_.size() == 1 || !add_buffers())) {
    state_.operations.messages().wait([this] {
      collect_sent();
      return !free_.empty();
    });
  }
  return spare_buffer();
}

void Epoch::collect_sent() {
  std::erase_if(sending_, [this](uint32_t index) {
    Buffer& buffer = buffers_[index];
    if (buffer.slot != kNone && !bulk_.is_sent(buffer.target, buffer.slot)) return false;
    buffer.slot = kNone;
    free_.push_back(index);
    return true;
  });
}

void Epoch::returned(rank_t target, uint32_t slot, uint32_t index) {
  if (index == kFetches) {
    --unreturned_;
    fetches_->returned(target, slot);
    return;
  }
  if ((index & kForwarded) != 0) {
    forwarder_->returned();
    index &= ~kForwarded;
  } else {
    --unreturned_;
  }
  // It may be in flight again, since the network lets go of it earlier.
  Buffer& buffer = buffers_[index];
  if (buffer.target == target && buffer.slot == slot) buffer.slot = kNone;
}

void Epoch::complete() {
  for (rank_t i = 1; i <= ranks_; ++i) {
    const rank_t rank = (me_ + i) % ranks_;
    drain(rank);
    send(rank);
    if (fetches_ != nullptr && fetches_->has(rank)) send_fetches(rank);
  }
  state_.operations.messages().wait([this] {
    return unreturned_ == 0 && backlog_.empty() && (fetches_ == nullptr || fetches_->idle());
  });
  if (forwarder_ != nullptr) ask_to_flush();
  singly_->complete();
  if (debug_ != nullptr) [[unlikely]] {
    debug_->updated(number_);
    checked_.clear();
  }
}

// Flag in the numbers of flushes, beside the Onward.
constexpr uint32_t kForOthers = uint32_t{1} << 16U;

void Epoch::ask_to_flush(rank_t next, Onward onward, bool for_others) {
  send_flush(next, message_names::kAskUpdates,
             static_cast<uint32_t>(onward) | (for_others ? kForOthers : 0));
}

void Epoch::tell_flushed(rank_t source, uint32_t number) {
  send_flush(source, message_names::kAnswerUpdates, number);
}

void Epoch::send_flush(rank_t target, const char* handler, uint32_t number) {
  am::ActiveMessages& messages = state_.operations.messages();
  const Asked asked{number_, Ask::flush, number};
  messages.send(target, messages.id(handler), std::as_bytes(std::span(&asked, 1)), {});
}

// Has those through whom this rank has sent updates on say that they are carried out.
void Epoch::ask_to_flush() {
  for (rank_t i = 1; i < ranks_; ++i) {
    const rank_t rank = (me_ + i) % ranks_;
    if (!std::exchange(filling_[rank].sent_on, false)) continue;
    ++unflushed_;
    ask_to_flush(rank, filling_[rank].onward, false);
  }
  state_.operations.messages().wait([this] { return unflushed_ == 0; });
}

void Epoch::flush_for(rank_t source, uint32_t number) {
  if (changing_) {
    flushed_too_early_.emplace_back(source, number);
    return;
  }
  const uint32_t onward = number & ~kForOthers;
  if (forwarder_ == nullptr || onward == 0 || onward >= kOnwards) fail_malformed(source);
  forwarder_->flush_for(source, static_cast<Onward>(onward), number);
}

void Epoch::flushed(rank_t source, uint32_t number) {
  if ((number & kForOthers) == 0) {
    if (unflushed_ == 0) fail_malformed(source);
    --unflushed_;
    return;
  }
  const uint32_t onward = number & ~kForOthers;
  if (forwarder_ == nullptr || onward >= kOnwards ||
      !forwarder_->flushed(static_cast<Onward>(onward))) {
    fail_malformed(source);
  }
}

void Epoch::forward(rank_t next, Onward onward, uint32_t buffer, uint32_t window, uint32_t count) {
  const EpochEngine::Sending sending(engine_);
  std::byte* const memory = buffers_[buffer].memory;
  const Encoded encoded = onward == Onward::nothing
                              ? encoder_.encode(memory, values_offset(), count)
                              : encoder_.encode_singly(memory, values_offset(), count);
  // Each was taken from the parcel in which it came, and written into the buffer.
  declare(2 * size_t{count} * item_bytes() + encoded.moved_bytes);
  Head head{number_, type_hash_, window, encoded.form, onward, encoded.count, 0};
  const uint32_t slot = bulk_.acquire(next);
  buffers_[buffer].target = next;
  buffers_[buffer].slot = slot;
  sending_.push_back(buffer);
  statistics_.forwarded += count;
  put(next, slot, head, encoded.body, buffer | kForwarded);
}

void Epoch::carry_out_one(rank_t source, uint64_t cell, const std::byte* value) {
  if (cell > last_offset_ / type_.unit) fail_malformed(source);
  constexpr Cell kThere = 0;
  carry_out_by([&] {
    type_.apply({state_.memory.segment().data() + cell * type_.unit,
                 reinterpret_cast<const std::byte*>(&kThere), value, 1, true});
  });
  declare(applied_bytes());
}

void Epoch::flush(CallSite site) {
  life_->check({"UpdateEpoch::flush", site});
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::flush", site);
  complete();
  choose_accumulators();
  // What this rank has kept of the cells is stale.
  state_.operations.acquire();
}

void Epoch::end(CallSite site) {
  life_->check({"UpdateEpoch::end", site});
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::end", site);
  complete();
  meet("UpdateEpoch::end", site);
  if (chooser_ != nullptr) choose_again();
  choose_accumulators();
}

void Epoch::close() {
  if (life_->is_over()) return;
  const auto inside = state_.exclusive();
  enter("end of an UpdateEpoch", site_);
  complete();
  meet("end of an UpdateEpoch", site_);
  if (chooser_ == nullptr) return;
  chooser_->ended(tally_);
  chooser_->finish(tally_);
}

}  // namespace stripline::update

namespace stripline::detail {

std::unique_ptr<UpdateEpochState> UpdateEpochState::begin(Context& context, const UpdateType& type,
                                                          const UpdateOptions& options,
                                                          CallSite site) {
  const auto inside = context.state().exclusive();
  return std::make_unique<update::Epoch>(context, type, options, site);
}

}  // namespace stripline::detail
