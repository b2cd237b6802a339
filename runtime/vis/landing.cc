// Packed transfers by chunks that are larger than active messages. A put packs a chunk, puts it
// into a slot of the target's landing zone, and tells the target, whose handler unpacks it. A get
// asks the target, whose handler packs a chunk into the slot, gets it, and unpacks it. Where puts
// tell their target that they have landed (fabric::Shortcuts), the message to the target lies in
// the slot before the data, and what is asked for is put to the initiator: two ways over the
// network instead of four. Where the stream is contiguous at the target, the chunk goes there at
// once, and the target has nothing to do.
#include "runtime/vis/stream.h"
#include "runtime/vis/transfers.h"

namespace stripline::vis {

bool Transfers::lands(const Transfer& transfer) const {
  const uint64_t message = largest_message();
  if (landing_.slot_bytes() <= message || transfer.chunk_bytes <= message) return false;
  if (transfer.one_place) return true;
  if (transfer.signal && notifies(transfer.target)) return transfer.total > message;
  if (transfer.total <= plan::kLandingFromMessages * message) return false;
  return transfer.strided || transfer.direction == Direction::put ||
         transfer.total / transfer.regions.size() >= plan::kLandingListRegion;
}

bool Transfers::may_begin_chunk(const Transfer& transfer) const {
  const bool sends = transfer.direction == Direction::get && !transfer.one_place;
  return transfer.begun < transfer.total && transfer.in_flight < transfer.window &&
         landing_.has_free(transfer.target) && (!sends || messages_.has_credit(transfer.target));
}

bool Transfers::can_advance_landing(const Transfer& transfer) const {
  if (may_begin_chunk(transfer)) return true;
  const bool sends = transfer.direction == Direction::put && !transfer.one_place;
  const bool has_credit = !sends || messages_.has_credit(transfer.target);
  for (const Chunk& chunk : transfer.chunks) {
    if (chunk.state == Chunk::State::packed) return true;
    if (chunk.state == Chunk::State::moving && chunk.moving.pending == 0 && has_credit) return true;
    if (chunk.state == Chunk::State::answered && chunk.moving.pending == 0) return true;
  }
  return false;
}

bool Transfers::step_landing(Transfer& transfer) {
  const bool is_put = transfer.direction == Direction::put;
  for (uint32_t slot = 0; slot < transfer.chunks.size(); ++slot) {
    Chunk& chunk = transfer.chunks[slot];
    if (chunk.state == Chunk::State::packed) {
      fetch_chunk(transfer, slot, landing_.offset_of(transfer.target, slot));
    } else if (chunk.state == Chunk::State::answered && chunk.moving.pending == 0) {
      free_chunk(transfer, slot);
    } else if (chunk.state == Chunk::State::moving && chunk.moving.pending == 0) {
      if (is_put && !transfer.one_place) {
        if (messages_.has_credit(transfer.target)) tell_of_chunk(transfer, slot);
        continue;
      }
      if (!is_put) {
        unpack_chunk(transfer, chunk, {chunk.scratch.memory.get(), chunk.scratch.capacity});
      }
      free_chunk(transfer, slot);
    }
  }
  while (may_begin_chunk(transfer)) {
    count_operation(transfer);
    is_put ? begin_chunk_put(transfer) : begin_chunk_get(transfer);
  }
  if (transfer.done != nullptr && transfer.begun == transfer.total && transfer.in_flight == 0) {
    if (transfer.one_place) send_flag(transfer);
    complete(transfer);
  }
  return transfer.done == nullptr;
}

Transfers::Box Transfers::take_scratch() {
  if (scratch_.empty()) {
    const size_t bytes = landing_.slot_bytes();
    return {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};  // NOLINT(*-c-arrays)
  }
  Box box = std::move(scratch_.back());
  scratch_.pop_back();
  return box;
}

// Bytes of what lies in a slot before the data.
size_t Transfers::lead_bytes(const Transfer& transfer) const {
  if (transfer.one_place || !notifies(transfer.target)) return 0;
  if (transfer.direction == Direction::get) return sizeof(wire::Data);
  return head_bytes(transfer) + sizeof(wire::Landing) +
         (transfer.strided ? wire::strided_places_bytes(transfer.remote_side) : 0);
}

void Transfers::begin_chunk_put(Transfer& transfer) {
  const uint32_t slot = landing_.acquire(transfer.target);
  Chunk& chunk = transfer.chunks[slot];
  chunk.scratch = take_scratch();
  chunk.begin = transfer.begun;
  chunk.state = Chunk::State::moving;
  const size_t lead = lead_bytes(transfer);
  std::byte* const scratch = chunk.scratch.memory.get() + lead;
  std::span<const std::byte> data;
  if (transfer.strided || transfer.one_place) {
    chunk.bytes = std::min(transfer.chunk_bytes, transfer.total - transfer.begun);
    data = transfer.strided
               ? gather(transfer.local_at, transfer.local, chunk.bytes, scratch, fabric_.work())
               : gather(transfer.list, chunk.bytes, scratch, fabric_.work());
  } else {
    const std::byte* const end =
        write_list(transfer.list, scratch, scratch + transfer.chunk_bytes, fabric_.work());
    chunk.bytes = transfer.list.position() - chunk.begin;
    data = {scratch, static_cast<size_t>(end - scratch)};
  }
  if (lead > 0 && transfer.signal && data.data() != scratch) {
    // Whoever waits until the source is free does not wait for the target.
    std::memcpy(scratch, data.data(), data.size());
    count_copy(fabric_.work(), 1, data.size());
    data = {scratch, data.size()};
  }
  chunk.length = static_cast<uint32_t>(data.size());
  if (data.data() != scratch) transfer.source_free = nullptr;  // sent from where it is
  transfer.begun += chunk.bytes;
  if (transfer.begun == transfer.total) tell_source_free(transfer);
  ++transfer.pieces;
  ++transfer.in_flight;
  const uint64_t offset =
      transfer.one_place ? transfer.place + chunk.begin : landing_.offset_of(transfer.target, slot);
  const bool alone = transfer.begun == transfer.total && transfer.in_flight == 1;
  if (transfer.one_place && transfer.signal && alone) {
    fabric_.put_signal(transfer.target, offset, data.data(), data.size(), *transfer.signal,
                       chunk.moving);
    transfer.signal.reset();
    return;
  }
  if (lead == 0) {
    fabric_.put(transfer.target, offset, data.data(), data.size(), chunk.moving);
    return;
  }
  chunk.state = Chunk::State::told;
  std::byte* const head = chunk.scratch.memory.get();
  write_lead(transfer, slot, head);
  shortcuts_->put_notify(transfer.target, offset, {head, lead}, data, landed_puts_.tag(slot),
                         chunk.moving);
}

// What the target has to know of a chunk that is put.
std::byte* Transfers::write_lead(const Transfer& transfer, uint32_t slot, std::byte* out) const {
  const Chunk& chunk = transfer.chunks[slot];
  wire::Head head{.format = wire::kList | wire::kLanding};
  if (transfer.strided) head = strided_head(transfer, wire::kLanding);
  head.answers = 1;
  out = write_head(transfer, head, chunk.begin + chunk.bytes, out);
  const wire::Landing landing{slot, chunk.length};
  std::memcpy(out, &landing, sizeof landing);
  out += sizeof landing;
  if (!transfer.strided) return out;
  return wire::write_strided_places(transfer.remote_side, chunk.begin, chunk.bytes, out);
}

void Transfers::tell_of_chunk(Transfer& transfer, uint32_t slot) {
  transfer.chunks[slot].state = Chunk::State::told;
  const std::byte* const end = write_lead(transfer, slot, outgoing_.data());
  messages_.send(transfer.target, put_,
                 {outgoing_.data(), static_cast<size_t>(end - outgoing_.data())}, {});
}

void Transfers::begin_chunk_get(Transfer& transfer) {
  const uint32_t slot = landing_.acquire(transfer.target);
  Chunk& chunk = transfer.chunks[slot];
  if (transfer.one_place || !notifies(transfer.target)) chunk.scratch = take_scratch();
  chunk.begin = transfer.begun;
  chunk.list = transfer.list;
  ++transfer.in_flight;
  if (!transfer.one_place) {
    ask_for_chunk(transfer, slot);
    return;
  }
  chunk.bytes = std::min(transfer.chunk_bytes, transfer.total - transfer.begun);
  transfer.begun += chunk.bytes;
  if (!transfer.strided) transfer.list.skip(chunk.bytes);
  fetch_chunk(transfer, slot, transfer.place + chunk.begin);
}

void Transfers::ask_for_chunk(Transfer& transfer, uint32_t slot) {
  Chunk& chunk = transfer.chunks[slot];
  chunk.state = Chunk::State::asked;
  std::byte* const first = outgoing_.data() + sizeof(wire::Head);
  const std::byte* end = nullptr;
  const uint8_t how = notifies(transfer.target) ? wire::kLanding | wire::kNotified : wire::kLanding;
  wire::Head head{.format = static_cast<uint8_t>(wire::kList | how)};
  if (transfer.strided) {
    head = strided_head(transfer, how);
    chunk.bytes = std::min(transfer.chunk_bytes, transfer.total - transfer.begun);
    end = wire::write_strided_places(transfer.remote_side, chunk.begin, chunk.bytes,
                                     first + sizeof(wire::Landing));
  } else {
    uint64_t left = transfer.chunk_bytes;
    end = write_list_places(transfer.list, left, first + sizeof(wire::Landing),
                            outgoing_.data() + largest_message());
    chunk.bytes = transfer.chunk_bytes - left;
  }
  const wire::Landing landing{slot, static_cast<uint32_t>(chunk.bytes)};
  std::memcpy(first, &landing, sizeof landing);
  transfer.begun += chunk.bytes;
  send(transfer, get_, head, static_cast<size_t>(end - outgoing_.data()), {});
}

void Transfers::fetch_chunk(Transfer& transfer, uint32_t slot, uint64_t offset) {
  Chunk& chunk = transfer.chunks[slot];
  chunk.state = Chunk::State::moving;
  fabric_.get(chunk.scratch.memory.get(), transfer.target, offset, chunk.bytes, chunk.moving);
}

void Transfers::unpack_chunk(Transfer& transfer, const Chunk& chunk,
                             std::span<const std::byte> data) {
  data = data.first(chunk.bytes);
  if (transfer.strided) {
    transfer.local_at.start(transfer.local_side, chunk.begin);
    scatter(transfer.local_at, data, transfer.local, fabric_.work());
  } else {
    RegionCursor list = chunk.list;
    scatter(list, data, fabric_.work());
  }
}

void Transfers::free_chunk(Transfer& transfer, uint32_t slot) {
  Chunk& chunk = transfer.chunks[slot];
  chunk.state = Chunk::State::free;
  if (chunk.scratch.memory != nullptr) scratch_.push_back(std::move(chunk.scratch));
  landing_.release(transfer.target, slot);
  --transfer.in_flight;
}

void Transfers::take_chunk_done(Transfer& transfer, uint32_t slot) {
  if (slot >= transfer.chunks.size() || transfer.chunks[slot].state != Chunk::State::told) {
    fail_malformed(transfer.target, "an answer to a put");
  }
  if (transfer.chunks[slot].moving.pending != 0) {
    transfer.chunks[slot].state = Chunk::State::answered;
    return;
  }
  free_chunk(transfer, slot);
  if (transfer.in_flight == 0 && transfer.begun == transfer.total) complete(transfer);
}

void Transfers::take_landed_put(Rank source, uint32_t slot) {
  // The source may have learnt earlier than this rank that all networks tell of puts.
  if (slot >= landing_.slots()) fail_malformed(source, "a put that landed");
  unpack_put(source, landing_.memory_of(source, slot), true);
}

void Transfers::take_landed_data(Rank source, uint32_t slot) {
  if (slot >= landing_.slots()) fail_malformed(source, "data that landed");
  const std::span<const std::byte> answer = landing_.answer_of(source, slot);
  wire::Data head;
  std::memcpy(&head, answer.data(), sizeof head);
  Transfer& transfer = find(source, head.token, Direction::get);
  if (!transfer.lands || transfer.chunks[slot].state != Chunk::State::asked ||
      transfer.chunks[slot].bytes > answer.size() - sizeof head) {
    fail_malformed(source, "data that landed");
  }
  unpack_chunk(transfer, transfer.chunks[slot], answer.subspan(sizeof head));
  free_chunk(transfer, slot);
  if (transfer.in_flight == 0 && transfer.begun == transfer.total) complete(transfer);
}

// What handlers were asked for.
void Transfers::put_answers() {
  while (answers_put_ < answers_.size()) {
    Answer& answer = answers_[answers_put_++];
    const uint32_t slot = answer.head.slot;
    shortcuts_->put_notify(answer.source, landing_.answer_offset_of(answer.source, slot),
                           std::as_bytes(std::span(&answer.head, 1)), answer.data,
                           landed_data_.tag(slot), answer.sent);
  }
  while (answers_put_ > 0 && answers_.front().sent.pending == 0) {
    answers_.pop_front();
    --answers_put_;
  }
}

void Transfers::take_chunk_packed(Transfer& transfer, uint32_t slot) {
  if (slot >= transfer.chunks.size() || transfer.chunks[slot].state != Chunk::State::asked) {
    fail_malformed(transfer.target, "data");
  }
  transfer.chunks[slot].state = Chunk::State::packed;
}

}  // namespace stripline::vis
