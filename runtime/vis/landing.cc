// Packed transfers by chunks that are larger than active messages, through slots of the bulk
// transport. A put packs a chunk and sends it as a parcel, which the target's handler unpacks. A
// get asks the target, whose handler packs a chunk and answers through the slot. Where the stream
// is contiguous at the target, the chunk goes there at once, and the target has nothing to do; it
// holds a slot as well, so that as much is in flight.
#include "runtime/vis/stream.h"
#include "runtime/vis/transfers.h"

namespace stripline::vis {

bool Transfers::lands(const Transfer& transfer) const {
  const uint64_t message = largest_message();
  if (bulk_.slot_bytes() <= message || transfer.chunk_bytes <= message) return false;
  if (transfer.one_place) return true;
  if (transfer.signal && bulk_.notifies(transfer.target)) return transfer.total > message;
  if (transfer.total <= plan::kLandingFromMessages * message) return false;
  return transfer.strided || transfer.direction == Direction::put ||
         transfer.total / transfer.regions.regions() >= plan::kLandingListRegion;
}

// What of a chunk has room in a slot.
size_t Transfers::slot_room(const Transfer& transfer) const {
  if (transfer.one_place || !bulk_.notifies(transfer.target)) return bulk_.slot_bytes();
  if (transfer.direction == Direction::get) return bulk_.room(0);
  return bulk_.room(head_bytes(transfer) +
                    (transfer.strided ? wire::strided_places_bytes(transfer.remote_side) : 0));
}

bool Transfers::may_begin_chunk(const Transfer& transfer) const {
  const bool sends = transfer.direction == Direction::get && !transfer.one_place;
  return transfer.begun < transfer.total && transfer.in_flight < transfer.window &&
         bulk_.has_free(transfer.target) && (!sends || messages_.has_credit(transfer.target));
}

bool Transfers::can_advance_landing(const Transfer& transfer) const {
  return may_begin_chunk(transfer) || std::ranges::any_of(transfer.chunks, [](const Chunk& chunk) {
           return chunk.state == Chunk::State::moving && chunk.moving.pending == 0;
         });
}

bool Transfers::step_landing(Transfer& transfer) {
  const bool is_put = transfer.direction == Direction::put;
  for (uint32_t slot = 0; slot < transfer.chunks.size(); ++slot) {
    Chunk& chunk = transfer.chunks[slot];
    if (chunk.state != Chunk::State::moving || chunk.moving.pending != 0) continue;
    if (!is_put) unpack_chunk(transfer, chunk, bulk_.twin_of(transfer.target, slot));
    bulk_.release(transfer.target, slot);
    free_chunk(transfer, chunk);
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
    const size_t bytes = bulk_.slot_bytes();
    return {std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};  // NOLINT(*-c-arrays)
  }
  Box box = std::move(scratch_.back());
  scratch_.pop_back();
  return box;
}

void Transfers::begin_chunk_put(Transfer& transfer) {
  const uint32_t slot = bulk_.acquire(transfer.target);
  Chunk& chunk = transfer.chunks[slot];
  chunk.scratch = take_scratch();
  chunk.begin = transfer.begun;
  std::byte* const scratch = chunk.scratch.memory.get();
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
  const bool flag_travels_along =
      transfer.signal && !transfer.one_place && bulk_.notifies(transfer.target);
  if (flag_travels_along && data.data() != scratch) {
    // Whoever waits until the source is free does not wait for the target.
    std::memcpy(scratch, data.data(), data.size());
    count_copy(fabric_.work(), 1, data.size());
    data = {scratch, data.size()};
  }
  if (data.data() != scratch) transfer.source_free = nullptr;  // sent from where it is
  transfer.begun += chunk.bytes;
  if (transfer.begun == transfer.total) tell_source_free(transfer);
  ++transfer.pieces;
  ++transfer.in_flight;
  transfer.one_place ? put_in_one_place(transfer, chunk, data) : put_parcel(transfer, slot, data);
}

void Transfers::put_in_one_place(Transfer& transfer, Chunk& chunk,
                                 std::span<const std::byte> data) {
  chunk.state = Chunk::State::moving;
  const uint64_t offset = transfer.place + chunk.begin;
  const bool alone = transfer.begun == transfer.total && transfer.in_flight == 1;
  if (!transfer.signal || !alone) {
    fabric_.put(transfer.target, offset, {data.data(), data.size()}, chunk.moving);
    return;
  }
  fabric_.put_signal(transfer.target, offset, {data.data(), data.size()}, *transfer.signal,
                     chunk.moving);
  transfer.signal.reset();
}

void Transfers::put_parcel(Transfer& transfer, uint32_t slot, std::span<const std::byte> data) {
  Chunk& chunk = transfer.chunks[slot];
  chunk.state = Chunk::State::bulk;
  const wire::Head head =
      transfer.strided ? strided_head(transfer, 0) : wire::Head{.format = wire::kList};
  std::byte* end = write_head(transfer, head, transfer.begun, outgoing_.data());
  if (transfer.strided) {
    end = wire::write_strided_places(transfer.remote_side, chunk.begin, chunk.bytes, end);
  }
  bulk_.put(chunks_, transfer.target, slot,
            {outgoing_.data(), static_cast<size_t>(end - outgoing_.data())}, data, transfer.token);
}

void Transfers::begin_chunk_get(Transfer& transfer) {
  const uint32_t slot = bulk_.acquire(transfer.target);
  Chunk& chunk = transfer.chunks[slot];
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
  chunk.state = Chunk::State::moving;
  fabric_.get({bulk_.twin_of(transfer.target, slot).data(), chunk.bytes}, transfer.target,
              transfer.place + chunk.begin, chunk.moving);
}

void Transfers::ask_for_chunk(Transfer& transfer, uint32_t slot) {
  Chunk& chunk = transfer.chunks[slot];
  chunk.state = Chunk::State::bulk;
  bulk_.expect(transfer.target, slot, transfer.token);
  std::byte* const first = outgoing_.data() + sizeof(wire::Head);
  const std::byte* end = nullptr;
  wire::Head head{.format = wire::kList | wire::kLanding};
  if (transfer.strided) {
    head = strided_head(transfer, wire::kLanding);
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

void Transfers::free_chunk(Transfer& transfer, Chunk& chunk) {
  chunk.state = Chunk::State::free;
  if (chunk.scratch.memory != nullptr) scratch_.push_back(std::move(chunk.scratch));
  --transfer.in_flight;
}

void Transfers::take_chunk_done(uint32_t token, uint32_t slot) {
  Transfer& transfer = transfers_[token];
  free_chunk(transfer, transfer.chunks[slot]);
  if (transfer.in_flight == 0 && transfer.begun == transfer.total) complete(transfer);
}

void Transfers::take_chunk(uint32_t token, uint32_t slot, std::span<const std::byte> data) {
  Transfer& transfer = transfers_[token];
  if (data.size() != transfer.chunks[slot].bytes) fail_malformed(transfer.target, "data");
  unpack_chunk(transfer, transfer.chunks[slot], data);
  take_chunk_done(token, slot);
}

}  // namespace stripline::vis
