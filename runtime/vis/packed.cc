// Transfers packed into active messages.
#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/vis/copy_rows.h"
#include "runtime/vis/transfers.h"

namespace stripline::vis {
namespace {

// Less of a region than this does not begin a message's last place.
constexpr uint64_t kSmallestPart = 16;

template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

// The next bytes of the stream: where they are if they are contiguous, otherwise packed into `out`.
std::span<const std::byte> gather(SideCursor& cursor, const std::byte* memory, uint64_t bytes,
                                  std::byte* out) {
  const std::byte* const begin = out;
  for (uint64_t left = bytes; left > 0;) {
    const Run run = cursor.next(left);
    if (run.count == 1 && run.bytes == bytes) return {memory + run.offset, bytes};
    copy_rows(out, static_cast<int64_t>(run.bytes), memory + run.offset, run.stride, run.count,
              run.bytes);
    out += run.count * run.bytes;
    left -= run.count * run.bytes;
  }
  return {begin, bytes};
}

void scatter(SideCursor& cursor, std::span<const std::byte> data, std::byte* memory) {
  while (!data.empty()) {
    const Run run = cursor.next(data.size());
    copy_rows(memory + run.offset, run.stride, data.data(), static_cast<int64_t>(run.bytes),
              run.count, run.bytes);
    data = data.subspan(run.count * run.bytes);
  }
}

// Writes the words of a list's places; what goes on where the last place ended becomes part of it.
class PlaceWriter {
 public:
  explicit PlaceWriter(std::byte* out) : out_(out) {}

  /// What a place at `offset` takes beside its data.
  size_t overhead(uint64_t offset) const {
    return place_ != nullptr && offset == next_offset_ ? 0 : wire::kWordBytes;
  }
  void add(uint64_t offset, uint64_t bytes) {
    if (overhead(offset) != 0) {
      place_ = out_;
      place_offset_ = offset;
      out_ += wire::kWordBytes;
    }
    next_offset_ = offset + bytes;
    const uint64_t word = wire::word_of(place_offset_, next_offset_ - place_offset_);
    std::memcpy(place_, &word, sizeof word);
  }
  void add(uint64_t offset, uint64_t bytes, const std::byte* data) {
    add(offset, bytes);
    copy_rows(out_, 0, data, 0, 1, bytes);
    out_ += bytes;
  }
  std::byte* end() const { return out_; }

 private:
  std::byte* out_;
  std::byte* place_ = nullptr;
  uint64_t place_offset_ = 0;
  uint64_t next_offset_ = 0;
};

}  // namespace

// --- the initiator -------------------------------------------------------------------------------

bool Transfers::fits_packed(const Transfer& transfer) const {
  const size_t room = messages_.max_payload_bytes();
  size_t least = sizeof(wire::Head) + kSmallestPart;
  if (transfer.strided) {
    if (transfer.shape.dimensions.size() > wire::kMaxDimensions) return false;
    least += sizeof(wire::StridedHead) + transfer.shape.dimensions.size() * 2 * sizeof(uint64_t);
  } else {
    least += wire::kWordBytes;
  }
  return room >= least;
}

void Transfers::prepare_packed(Transfer& transfer) {
  const uint64_t largest = std::min<uint64_t>(messages_.max_payload_bytes(), wire::kMaxPlaceBytes);
  uint64_t message = transfer.chunk_bytes == 0 ? largest : std::min(transfer.chunk_bytes, largest);
  uint64_t head = sizeof(wire::Head) + wire::kWordBytes;
  if (transfer.strided) {
    remote_side(transfer.shape, transfer.remote_side);
    local_side(transfer.shape, transfer.local_side);
    transfer.local_at.start(transfer.local_side);
    head = sizeof(wire::Head) + wire::strided_places_bytes(transfer.remote_side);
  }
  message = std::max(message, head + kSmallestPart);
  if (outgoing_.empty()) outgoing_.resize(messages_.max_payload_bytes());
  transfer.landing = transfer.list;
  transfer.in_flight = 0;
  transfer.unannounced = 0;
  transfer.begun = 0;
  transfer.landed = 0;
  transfer.chunk_bytes = message;
  if (!transfer.strided) return;
  // Messages of about the same size, that end between regions where regions are small.
  const uint64_t room =
      transfer.direction == Direction::put ? message - head : message - sizeof(wire::Data);
  const uint64_t messages = (transfer.total + room - 1) / room;
  uint64_t data = (transfer.total + messages - 1) / messages;
  const uint64_t region = transfer.shape.bytes;
  if (region <= room / 8) {
    data = (data + region - 1) / region * region;
    if (data > room) data -= region;
  }
  transfer.chunk_bytes = data;
}

bool Transfers::step_packed(Transfer& transfer) {
  while (can_advance(transfer) && transfer.begun < transfer.total) {
    count_operation(transfer);
    if (transfer.direction == Direction::put) {
      transfer.strided ? send_strided_put(transfer) : send_list_put(transfer);
    } else {
      transfer.strided ? send_strided_get(transfer) : send_list_get(transfer);
    }
  }
  return transfer.begun == transfer.total;
}

// The message is accounted for before it goes out: sending makes progress, and an answer may come.
void Transfers::send(Transfer& transfer, am::ReservedHandler handler, wire::Head head,
                     size_t head_bytes, std::span<const std::byte> body) {
  ++transfer.in_flight;
  head.token = transfer.token;
  if (transfer.direction == Direction::put) {
    ++transfer.unannounced;
    if (transfer.begun == transfer.total || transfer.unannounced >= (transfer.window + 1) / 2 ||
        transfer.unannounced == UINT16_MAX) {
      head.answers = transfer.unannounced;
      transfer.unannounced = 0;
    }
  }
  std::memcpy(outgoing_.data(), &head, sizeof head);
  messages_.send(transfer.target, handler, {outgoing_.data(), head_bytes}, body);
}

size_t Transfers::write_strided_head(Transfer& transfer, uint64_t bytes) {
  std::byte* const end = wire::write_strided_places(transfer.remote_side, transfer.begun, bytes,
                                                    outgoing_.data() + sizeof(wire::Head));
  transfer.begun += bytes;
  return static_cast<size_t>(end - outgoing_.data());
}

void Transfers::send_strided_put(Transfer& transfer) {
  const uint64_t bytes = std::min(transfer.chunk_bytes, transfer.total - transfer.begun);
  const size_t head_bytes = write_strided_head(transfer, bytes);
  const std::span<const std::byte> data =
      gather(transfer.local_at, transfer.local, bytes, outgoing_.data() + head_bytes);
  send(transfer, am::kVisPut,
       {.format = wire::kStrided,
        .dimensions = static_cast<uint8_t>(transfer.remote_side.dimensions.size())},
       head_bytes, data);
}

void Transfers::send_strided_get(Transfer& transfer) {
  const uint64_t bytes = std::min(transfer.chunk_bytes, transfer.total - transfer.begun);
  const size_t head_bytes = write_strided_head(transfer, bytes);
  send(transfer, am::kVisGet,
       {.format = wire::kStrided,
        .dimensions = static_cast<uint8_t>(transfer.remote_side.dimensions.size())},
       head_bytes, {});
}

void Transfers::send_list_put(Transfer& transfer) {
  std::byte* const first = outgoing_.data() + sizeof(wire::Head);
  const std::byte* const limit = outgoing_.data() + transfer.chunk_bytes;
  PlaceWriter places(first);
  while (!transfer.list.done()) {
    Region region = transfer.list.peek(UINT64_MAX);
    const size_t overhead = places.overhead(region.offset);
    const auto room = static_cast<uint64_t>(limit - places.end());
    if (room < overhead + std::min(region.bytes, kSmallestPart)) break;
    region.bytes = std::min<uint64_t>(region.bytes, room - overhead);
    places.add(region.offset, region.bytes, region.memory);
    transfer.list.skip(region.bytes);
    transfer.begun += region.bytes;
  }
  send(transfer, am::kVisPut, {.format = wire::kList}, sizeof(wire::Head),
       {first, static_cast<size_t>(places.end() - first)});
}

void Transfers::send_list_get(Transfer& transfer) {
  std::byte* const first = outgoing_.data() + sizeof(wire::Head);
  const std::byte* const limit = outgoing_.data() + transfer.chunk_bytes;
  PlaceWriter places(first);
  uint64_t room = transfer.chunk_bytes - sizeof(wire::Data);
  while (room > 0 && !transfer.list.done()) {
    const Region region = transfer.list.peek(room);
    if (places.end() + places.overhead(region.offset) > limit) break;
    places.add(region.offset, region.bytes);
    transfer.list.skip(region.bytes);
    transfer.begun += region.bytes;
    room -= region.bytes;
  }
  send(transfer, am::kVisGet, {.format = wire::kList}, sizeof(wire::Head),
       {first, static_cast<size_t>(places.end() - first)});
}

Transfers::Transfer& Transfers::find(Rank source, uint64_t token, Direction direction) {
  const bool known = token < transfers_.size() && transfers_[token].done != nullptr;
  if (!known || transfers_[token].method != plan::VisMethod::packed ||
      transfers_[token].target != source || transfers_[token].direction != direction) {
    fail_malformed(source, "an answer to a transfer");
  }
  return transfers_[token];
}

void Transfers::take_done(Rank source, std::span<const std::byte> message) {
  wire::Done done;
  if (message.size() != sizeof done) fail_malformed(source, "an answer to a put");
  std::memcpy(&done, message.data(), sizeof done);
  Transfer& transfer = find(source, done.token, Direction::put);
  if (done.messages > transfer.in_flight) fail_malformed(source, "an answer to a put");
  transfer.in_flight -= done.messages;
  if (transfer.in_flight == 0 && transfer.begun == transfer.total) complete(transfer);
}

void Transfers::take_data(Rank source, std::span<const std::byte> message) {
  wire::Data head;
  if (message.size() < sizeof head) fail_malformed(source, "data");
  std::memcpy(&head, message.data(), sizeof head);
  message = message.subspan(sizeof head);
  Transfer& transfer = find(source, head.token, Direction::get);
  if (message.size() > transfer.begun - transfer.landed || transfer.in_flight == 0) {
    fail_malformed(source, "data");
  }
  --transfer.in_flight;
  transfer.landed += message.size();
  if (transfer.strided) {
    scatter(transfer.local_at, message, transfer.local);
  } else {
    while (!message.empty()) {
      const Region region = transfer.landing.peek(message.size());
      copy_rows(region.memory, 0, message.data(), 0, 1, region.bytes);
      transfer.landing.skip(region.bytes);
      message = message.subspan(region.bytes);
    }
  }
  if (transfer.landed == transfer.total) complete(transfer);
}

// --- the target ----------------------------------------------------------------------------------

void Transfers::serve_put(Rank source, std::span<const std::byte> message) {
  wire::Head head;
  if (!wire::read_head(message, head)) fail_malformed(source, "a put");
  if (head.format == wire::kStrided) {
    if (!wire::read_strided_places(message, head, segment_.size(), part_) ||
        message.size() != part_.bytes) {
      fail_malformed(source, "a strided put");
    }
    served_.start(part_.side, part_.begin);
    scatter(served_, message, segment_.data());
  } else {
    while (!message.empty()) {
      wire::Place place;
      if (!wire::read_place(message, segment_.size(), place) || place.bytes > message.size()) {
        fail_malformed(source, "a put of a list");
      }
      copy_rows(segment_.data() + place.offset, 0, message.data(), 0, 1, place.bytes);
      message = message.subspan(place.bytes);
    }
  }
  if (head.answers == 0) return;
  messages_.send(source, am::kVisPutDone, bytes_of(wire::Done{head.token, head.answers}), {});
}

void Transfers::serve_get(Rank source, std::span<const std::byte> message) {
  wire::Head head;
  if (!wire::read_head(message, head)) fail_malformed(source, "a get");
  if (answer_.empty()) answer_.resize(messages_.max_payload_bytes());
  const std::span<std::byte> room(answer_.data(), answer_.size() - sizeof(wire::Data));
  std::span<const std::byte> data;
  if (head.format == wire::kStrided) {
    if (!wire::read_strided_places(message, head, segment_.size(), part_) || !message.empty() ||
        part_.bytes > room.size()) {
      fail_malformed(source, "a strided get");
    }
    served_.start(part_.side, part_.begin);
    data = gather(served_, segment_.data(), part_.bytes, room.data());
  } else {
    size_t used = 0;
    while (!message.empty()) {
      wire::Place place;
      if (!wire::read_place(message, segment_.size(), place) || place.bytes > room.size() - used) {
        fail_malformed(source, "a get of a list");
      }
      copy_rows(room.data() + used, 0, segment_.data() + place.offset, 0, 1, place.bytes);
      used += place.bytes;
    }
    data = room.first(used);
  }
  messages_.send(source, am::kVisData, bytes_of(wire::Data{head.token}), data);
}

void Transfers::fail_malformed(Rank source, const char* what) const {
  fail_(Error(ErrorCode::data_loss,
              "rank " + std::to_string(source) + " sent " + what + " that is not well formed"));
}

}  // namespace stripline::vis
