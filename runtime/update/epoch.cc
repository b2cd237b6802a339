#include "runtime/update/epoch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace stripline::update {
namespace {

// Buffers beside those that are filled: some travel while others are packed.
constexpr uint32_t kSpareBuffers = 4;

// A buffer in which fewer than one update in so many was merged says that merging does not pay, and
// it is left for so many buffers.
constexpr uint32_t kMergesWorthwhile = 16;
constexpr uint32_t kBuffersWithoutMerging = 15;

// FNV-1a.
uint32_t hash_of(std::string_view text) {
  uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace

Epoch::Epoch(Context& context, const detail::UpdateType& type, const UpdateOptions& options,
             CallSite site)
    : context_(context),
      state_(context.state()),
      engine_(state_.mechanisms.of<EpochEngine>(state_)),
      bulk_(state_.operations.bulk()),
      type_(type),
      merges_(options.mode == UpdateMode::accumulate && type.merges),
      me_(context.rank_me()),
      ranks_(context.rank_n()),
      type_hash_(hash_of(type.name)),
      debug_(state_.job.observers().debug()),
      encoder_(type, options.settings.encoding, merges_, options.fills_gaps),
      lanes_(ranks_),
      filling_(ranks_),
      order_(ranks_) {
  enter("UpdateEpoch", site);
  // A job of one rank has no slots, and no need for any.
  constexpr size_t kAlone = size_t{64} << 10;
  size_t bytes = ranks_ == 1 ? kAlone : bulk_.room(sizeof(Head));
  const uint64_t cells = state_.memory.segment().size() / type_.unit + 1;
  std::optional<Grid> grid;
  if (choose_hops(options, bytes) == 2) grid.emplace(me_, ranks_);
  // One for each lane, also of what is forwarded, and what is under way.
  rank_t lanes = ranks_;
  if (grid) lanes = 2 * (grid->width() + grid->rows());
  const uint32_t buffers = ranks_ == 1 ? 1 : lanes + kSpareBuffers;
  // Beside each place in a buffer there are up to four positions.
  const size_t affordable = options.budget_bytes / buffers;
  bytes = std::min(bytes, merges_ ? affordable / 2 : affordable);
  if (options.settings.buffer_bytes != 0) bytes = std::min(bytes, options.settings.buffer_bytes);
  const size_t item_bytes = sizeof(Cell) + type_.value_bytes;
  constexpr size_t kPadding = 8;  // between cells and values
  if (bytes < kPadding + item_bytes || state_.memory.segment().size() < type_.value_bytes) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      text(rma::Call("UpdateEpoch", site)) + " of values of " +
                          std::to_string(type_.value_bytes) + " bytes, but buffers have " +
                          std::to_string(bytes) +
                          " bytes; update parts of the values, or raise buffer_bytes or "
                          "budget_bytes"));
  }
  last_offset_ = state_.memory.segment().size() - type_.value_bytes;
  // Positions in a buffer have 16 bits.
  capacity_ = static_cast<uint32_t>(
      std::min<size_t>((bytes - kPadding) / item_bytes, std::numeric_limits<uint16_t>::max()));
  const size_t stride =
      (body_bytes(capacity_, capacity_, type_.value_bytes) + 63) / 64 * 64;  // cache lines
  memory_.resize(stride * buffers + 64);
  std::byte* const first = memory_.data() + (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64);
  buffers_.resize(buffers);
  for (uint32_t i = 0; i < buffers; ++i) buffers_[i].memory = first + i * stride;
  for (uint32_t i = buffers; i > 0; --i) free_.push_back(i - 1);
  if (merges_) {
    position_count_ = std::bit_ceil(2 * size_t{capacity_});
    shift_ = static_cast<uint32_t>(32 - std::bit_width(position_count_ - 1));
  }
  if (grid) {
    forwarder_ = std::make_unique<Forwarder>(*this, type_, me_, ranks_, cells, capacity_);
    lead_over(*grid, cells);
  }
  open_lanes();
  number_ = engine_.open(*this);
  // Whoever sends may rely on it that this epoch is there.
  context_.barrier(site);
}

// Two where the budget leaves less than a quarter of what a parcel could take for each rank, and
// the numbers of rows and columns leave room for cells.
uint32_t Epoch::choose_hops(const UpdateOptions& options, size_t parcel_bytes) const {
  constexpr rank_t kLeastRanks = 5;  // fewer are all in one row or column
  const Grid grid(me_, ranks_);
  const uint64_t cells = state_.memory.segment().size() / type_.unit + 1;
  const bool possible =
      ranks_ >= kLeastRanks && cells <= (uint64_t{1} << 32U) / std::max(grid.width(), grid.rows());
  if (options.settings.hops != 0) return possible ? std::min(options.settings.hops, 2U) : 1;
  const size_t affordable = options.budget_bytes / (ranks_ + kSpareBuffers) / (merges_ ? 2 : 1);
  return possible && affordable < parcel_bytes / 4 ? 2 : 1;
}

void Epoch::lead_over(const Grid& grid, uint64_t cells) {
  for (rank_t owner = 0; owner < ranks_; ++owner) {
    if (owner == me_) continue;
    const Grid::Step step = grid.step_to(owner);
    if (step.next == owner) filling_[owner].onward = grid.meaning(owner);
    if (step.next == owner && step.number == 0) continue;
    lanes_[owner].via = &lanes_[step.next];
    lanes_[owner].number = step.number * cells;
  }
}

// Those that are filled.
void Epoch::open_lanes() {
  uint32_t filled = 0;
  const auto is_filled = [this](rank_t rank) {
    return forwarder_ == nullptr || rank == me_ || forwarder_->grid().is_next(rank);
  };
  for (rank_t rank = 0; rank < ranks_; ++rank) filled += is_filled(rank) ? 1 : 0;
  positions_.resize(position_count_ * filled);
  filled = 0;
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    if (!is_filled(rank)) continue;
    filling_[rank].positions = merges_ ? &positions_[position_count_ * filled++] : nullptr;
    open_lane(rank, spare_buffer());
    begin_lane(rank, capacity_);
  }
}

uint32_t Epoch::spare_buffer() {
  const uint32_t buffer = free_.back();
  free_.pop_back();
  return buffer;
}

Epoch::~Epoch() { engine_.close(number_); }

void Epoch::enter(const char* name, CallSite site) {
  state_.operations.begin(name);
  state_.job.activity().at(name, site);
}

void Epoch::fail(global_ptr<const std::byte> cell, CallSite site) {
  const rma::Call call("UpdateEpoch::update", site);
  state_.operations.check(call, cell.where(), cell.offset(), type_.value_bytes);
  state_.fail(Error(ErrorCode::invalid_argument,
                    text(call) + " of " +
                        rma::range_text(cell.offset(), type_.value_bytes, cell.where()) +
                        ", which is not aligned to " + std::to_string(type_.unit) + " bytes"));
}

// --- filling -------------------------------------------------------------------------------------

void Epoch::open_lane(rank_t target, uint32_t buffer) {
  filling_[target].buffer = buffer;
  detail::UpdateLane& lane = lanes_[target];
  lane.cells = reinterpret_cast<Cell*>(buffers_[buffer].memory);
  lane.values = buffers_[buffer].memory + values_offset();
}

// Begins to fill a lane, after one in which so many updates were merged.
void Epoch::begin_lane(rank_t target, uint32_t merged) {
  detail::UpdateLane& lane = lanes_[target];
  lane.count = 0;
  lane.merged = 0;
  lane.limit = debug_ == nullptr ? capacity_ : 1;
  lane.shift = shift_;
  lane.positions = nullptr;
  if (!merges_) return;
  Filling& filling = filling_[target];
  if (filling.without_merging > 0) {
    --filling.without_merging;
  } else if (merged < capacity_ / kMergesWorthwhile) {
    filling.without_merging = kBuffersWithoutMerging;
  } else {
    filling.without_merging = 0;
  }
  if (filling.without_merging == 0) lane.positions = filling.positions;
}

void Epoch::filled(rank_t target, CallSite site) {
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::update", site);
  detail::UpdateLane& lane = lanes_[target];
  if (debug_ != nullptr) [[unlikely]] {
    check_closely(target, (uint64_t{lane.window} << 32U) + lane.cells[lane.count - 1], site);
    lane.limit = lane.count + 1;
    if (lane.count < capacity_) return;
  }
  send(target);
}

// Of updates of one cell the first.
void Epoch::check_closely(rank_t target, uint64_t cell, CallSite site) {
  const uint64_t offset = cell * type_.unit;
  if (!checked_.insert(global_ptr<std::byte>(target, offset).word()).second) return;
  debug_->update({"UpdateEpoch::update", site}, number_, target, offset, type_.value_bytes);
}

void Epoch::move_window(rank_t target, uint32_t window, CallSite site) {
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::update", site);
  send(target);
  lanes_[target].window = window;
}

// --- sending -------------------------------------------------------------------------------------

void Epoch::send(rank_t target) {
  detail::UpdateLane& lane = lanes_[target];
  if (lane.count == 0) return;
  statistics_.updates += lane.count;
  statistics_.merged += lane.merged;
  const uint32_t merged = lane.merged;
  if (target == me_) {
    // In the segment, as all that a lane takes.
    type_.apply({state_.memory.segment().data() + (uint64_t{lane.window} << 32U) * type_.unit,
                 reinterpret_cast<const std::byte*>(lane.cells), lane.values, lane.count, false});
    begin_lane(target, merged);
    return;
  }
  Filling& filling = filling_[target];
  std::byte* const memory = buffers_[filling.buffer].memory;
  const bool onward = filling.onward != Onward::nothing;
  const Encoded encoded = onward ? encoder_.encode_singly(memory, values_offset(), lane.count)
                                 : encoder_.encode(memory, values_offset(), lane.count);
  Head head{number_, type_hash_, lane.window, encoded.form, filling.onward, encoded.count, 0};
  filling.sent_on = filling.sent_on || onward;
  // The lane is in order again before anything waits.
  const uint32_t sent = filling_[target].buffer;
  lane.count = 0;
  const EpochEngine::Sending sending(engine_);
  const uint32_t buffer = take_buffer();
  wait_for_slot(target);
  const uint32_t slot = bulk_.acquire(target);
  open_lane(target, buffer);
  begin_lane(target, merged);
  buffers_[sent].target = target;
  buffers_[sent].slot = slot;
  sending_.push_back(sent);
  ++unreturned_;
  put(target, slot, head, encoded.body, sent);
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
  bulk_.put(state_.operations.update_channel(), target, slot, std::as_bytes(std::span(&head, 1)),
            body, (uint64_t{number_} << 32U) | buffer);
  state_.operations.messages().flush();  // which tells an owner of this node that it is there
}

uint32_t Epoch::take_buffer() {
  collect_sent();
  if (free_.empty()) {
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
  // It may be on its way again, since the network lets go of it earlier.
  Buffer& buffer = buffers_[index];
  if (buffer.target == target && buffer.slot == slot) buffer.slot = kNone;
}

// --- fetching ------------------------------------------------------------------------------------

future Epoch::fetch(rank_t target, uint64_t cell, const std::byte* value, std::byte* previous,
                    CallSite site) {
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::fetch", site);
  if (debug_ != nullptr) [[unlikely]]
    check_closely(target, cell, site);
  const auto window = static_cast<uint32_t>(cell >> 32U);
  const auto low = static_cast<Cell>(cell);
  ++statistics_.fetches;
  if (target == me_) {
    type_.fetch({state_.memory.segment().data() + (uint64_t{window} << 32U) * type_.unit,
                 reinterpret_cast<const std::byte*>(&low), value, 1, true},
                previous);
    return {};
  }
  if (fetches_ == nullptr) {
    // The answer is a message.
    const size_t room = state_.operations.messages().max_payload_bytes() - sizeof(Fetched);
    const size_t most = std::min<size_t>(capacity_, room / type_.value_bytes);
    if (most == 0) {
      state_.fail(Error(ErrorCode::invalid_argument,
                        text(rma::Call("UpdateEpoch::fetch", site)) + " of a value of " +
                            std::to_string(type_.value_bytes) + " bytes, but messages have " +
                            std::to_string(room) + "; fetch parts of the values"));
    }
    fetches_ = std::make_unique<Fetches>(state_.operations, ranks_, type_.value_bytes,
                                         static_cast<uint32_t>(most));
  }
  if (fetches_->must_send(target, window)) send_fetches(target);
  const EpochEngine::Sending sending(engine_);  // a completion slot may have to be waited for
  const rma::SlotUse use = fetches_->add(target, window, low, value, previous);
  return future({&context_, use.slot, use.generation});
}

bool Epoch::can_send_fetches() const {
  if (fetches_ == nullptr || fetches_->empty()) return false;
  for (rank_t rank = 0; rank < ranks_; ++rank) {
    if (fetches_->has(rank) && bulk_.has_free(rank)) return true;
  }
  return false;
}

void Epoch::send_fetches() {
  if (fetches_ == nullptr) return;
  for (rank_t i = 1; i < ranks_; ++i) {
    const rank_t rank = (me_ + i) % ranks_;
    if (fetches_->has(rank) && bulk_.has_free(rank)) send_fetches(rank);
  }
}

void Epoch::send_fetches(rank_t target) {
  const EpochEngine::Sending sending(engine_);
  wait_for_slot(target);
  Fetches::Batch& batch = fetches_->take(target);
  batch.slot = bulk_.acquire(target);
  batch.sequence = order_[target].sent;
  Head head{number_, type_hash_, batch.window, Form::fetching, Onward::nothing, batch.count, 0};
  ++unreturned_;
  put(target, batch.slot, head, fetches_->body_of(batch), kFetches);
}

void Epoch::fetched(rank_t source, uint32_t sequence, std::span<const std::byte> values) {
  if (fetches_ == nullptr || !fetches_->answered(source, sequence, values)) {
    fail_malformed(source);
  }
}

// --- completion ----------------------------------------------------------------------------------

void Epoch::complete() {
  for (rank_t i = 1; i <= ranks_; ++i) {
    const rank_t rank = (me_ + i) % ranks_;
    send(rank);
    if (fetches_ != nullptr && fetches_->has(rank)) send_fetches(rank);
  }
  state_.operations.messages().wait(
      [this] { return unreturned_ == 0 && (fetches_ == nullptr || fetches_->idle()); });
  if (forwarder_ != nullptr) ask_to_flush();
  if (debug_ != nullptr) [[unlikely]] {
    debug_->updated(number_);
    checked_.clear();
  }
}

// --- two hops ------------------------------------------------------------------------------------

void Epoch::send_message(rank_t target, const char* handler) {
  am::ActiveMessages& messages = state_.operations.messages();
  messages.send(target, messages.id(handler), std::as_bytes(std::span(&number_, 1)), {});
}

// Has those through whom this rank has sent updates on say that they are carried out.
void Epoch::ask_to_flush() {
  for (rank_t i = 1; i < ranks_; ++i) {
    const rank_t rank = (me_ + i) % ranks_;
    if (!std::exchange(filling_[rank].sent_on, false)) continue;
    ++unflushed_;
    send_message(rank, rma::Operations::kFlushUpdates);
  }
  state_.operations.messages().wait([this] { return unflushed_ == 0; });
}

void Epoch::flush_for(rank_t source) {
  if (forwarder_ == nullptr) fail_malformed(source);
  forwarder_->flush_for(source);
}

void Epoch::flushed(rank_t source) {
  if (unflushed_ == 0) fail_malformed(source);
  --unflushed_;
}

void Epoch::tell_flushed(rank_t source) { send_message(source, rma::Operations::kFlushedUpdates); }

void Epoch::forward(rank_t owner, uint32_t buffer, uint32_t window, uint32_t count) {
  const EpochEngine::Sending sending(engine_);
  const Encoded encoded = encoder_.encode(buffers_[buffer].memory, values_offset(), count);
  Head head{number_, type_hash_, window, encoded.form, Onward::nothing, encoded.count, 0};
  const uint32_t slot = bulk_.acquire(owner);
  buffers_[buffer].target = owner;
  buffers_[buffer].slot = slot;
  sending_.push_back(buffer);
  statistics_.forwarded += count;
  put(owner, slot, head, encoded.body, buffer | kForwarded);
}

void Epoch::carry_out_one(rank_t source, uint64_t cell, const std::byte* value) {
  if (cell > last_offset_ / type_.unit) fail_malformed(source);
  constexpr Cell kThere = 0;
  type_.apply({state_.memory.segment().data() + cell * type_.unit,
               reinterpret_cast<const std::byte*>(&kThere), value, 1, true});
}

void Epoch::flush(CallSite site) {
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::flush", site);
  complete();
  // What this rank has kept of the cells is stale.
  state_.operations.acquire();
}

void Epoch::end(CallSite site) {
  const auto inside = state_.exclusive();
  enter("UpdateEpoch::end", site);
  complete();
  context_.barrier(site);
}

// --- the owner -----------------------------------------------------------------------------------

void Epoch::arrived(const am::Bulk::Parcel& parcel, const Head& head) {
  Order& order = order_[parcel.source];
  if (head.sequence != order.applied) {
    early_.push_back({parcel.source, parcel.slot, head, parcel.body});
    return;
  }
  apply(parcel.source, parcel.slot, head, parcel.body);
  const auto is_next = [&](const Early& one) {
    return one.source == parcel.source && one.head.sequence == order.applied;
  };
  for (auto next = std::ranges::find_if(early_, is_next); next != early_.end();
       next = std::ranges::find_if(early_, is_next)) {
    const Early one = *next;
    early_.erase(next);
    apply(one.source, one.slot, one.head, one.body);
  }
}

void Epoch::apply(rank_t source, uint32_t slot, const Head& head, std::span<const std::byte> body) {
  if (head.type != type_hash_) {
    state_.fail(Error(ErrorCode::invalid_argument,
                      "rank " + std::to_string(source) +
                          " sent updates by another operator, or of another type, than those of "
                          "the UpdateEpoch of this rank (" +
                          std::string(type_.name) +
                          "); all ranks make the same epochs in the same order"));
  }
  ++order_[source].applied;
  if (head.onward != Onward::nothing) {
    const size_t values = head.form == Form::same ? 1 : head.count;
    if (forwarder_ == nullptr || head.form > Form::same || head.count == 0 ||
        body.size() != body_bytes(head.count, values, type_.value_bytes)) {
      fail_malformed(source);
    }
    forwarder_->hold({source, slot, head, body, 0});
    return;
  }
  const bool fetches = head.form == Form::fetching;
  if (fetches) previous_.resize(size_t{head.count} * type_.value_bytes);
  if (!carry_out(head, body, fetches ? previous_.data() : nullptr)) fail_malformed(source);
  if (fetches) {
    const Fetched answer{head.epoch, head.sequence};
    am::ActiveMessages& messages = state_.operations.messages();
    messages.send(source, messages.id(rma::Operations::kFetchedUpdates),
                  std::as_bytes(std::span(&answer, 1)), previous_);
  }
  bulk_.give_back(source, slot);
}

// False, and nothing done, if they are not well formed.
bool Epoch::carry_out(const Head& head, std::span<const std::byte> body, std::byte* previous) {
  // The cells of a window of which the segment has but a part.
  const uint64_t first = uint64_t{head.window} << 32U;
  const uint64_t last = last_offset_ / type_.unit;
  if (first > last || head.count == 0 || head.form > Form::fetching) return false;
  std::byte* const base = state_.memory.segment().data() + first * type_.unit;
  if (head.form == Form::boxes) return carry_out_boxes(base, last - first, head.count, body);
  const size_t count = head.count;
  const size_t values = head.form == Form::same ? 1 : count;
  if (body.size() != body_bytes(count, values, type_.value_bytes)) return false;
  Cell highest = 0;
  for (size_t i = 0; i < count; ++i) {
    Cell cell = 0;
    std::memcpy(&cell, body.data() + i * sizeof cell, sizeof cell);
    highest = std::max(highest, cell);
  }
  if (highest > last - first) return false;
  const detail::UpdateBatch batch{base, body.data(), body.data() + values_at(count), count,
                                  head.form == Form::same};
  if (previous != nullptr) {
    type_.fetch(batch, previous);
  } else {
    type_.apply(batch);
  }
  return true;
}

bool Epoch::carry_out_boxes(std::byte* base, uint64_t last_cell, uint32_t count,
                            std::span<const std::byte> body) const {
  const size_t bytes = type_.value_bytes;
  if (body.size() / sizeof(Box) < count) return false;
  const auto box_at = [&body](size_t i) {
    Box box;
    std::memcpy(&box, body.data() + i * sizeof box, sizeof box);
    return box;
  };
  const uint64_t step = Encoder::step_of(type_);
  uint64_t cells = 0;
  for (size_t i = 0; i < count; ++i) {
    const Box box = box_at(i);
    if (box.cells == 0 || box.first + (box.cells - 1) * step > last_cell) return false;
    cells += box.cells;
  }
  if (body.size() != count * sizeof(Box) + cells * bytes) return false;
  const std::byte* values = body.data() + count * sizeof(Box);
  for (size_t i = 0; i < count; ++i) {
    const Box box = box_at(i);
    type_.apply_run(base + box.first * uint64_t{type_.unit}, values, box.cells);
    values += box.cells * bytes;
  }
  return true;
}

void Epoch::fail_malformed(rank_t source) const {
  state_.fail(Error(ErrorCode::data_loss,
                    "rank " + std::to_string(source) +
                        " sent updates, or an answer to them, that are not well formed; all ranks "
                        "must run the same version"));
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
