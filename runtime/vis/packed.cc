// Transfers packed into active messages.
#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/fabric/atomic_apply.h"
#include "runtime/vis/stream.h"
#include "runtime/vis/transfers.h"

namespace stripline::vis {
namespace {

template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

// What precedes the places in a message.
size_t Transfers::head_bytes(const Transfer& transfer) {
  return sizeof(wire::Head) + (transfer.signal ? sizeof(wire::Signal) : 0);
}

// `end`: how far in the stream the message goes.
std::byte* Transfers::write_head(const Transfer& transfer, wire::Head head, uint64_t end,
                                 std::byte* out) {
  head.token = transfer.token;
  if (transfer.signal) head.format |= wire::kSignal;
  std::memcpy(out, &head, sizeof head);
  out += sizeof head;
  if (!transfer.signal) return out;
  const wire::Signal signal{.offset = transfer.signal->offset,
                            .value = transfer.signal->value,
                            .messages = end == transfer.total ? transfer.pieces : 0};
  std::memcpy(out, &signal, sizeof signal);
  return out + sizeof signal;
}

bool Transfers::fits_packed(const Transfer& transfer) const {
  const size_t room = messages_.max_payload_bytes();
  size_t least = head_bytes(transfer) + kSmallestPart;
  if (transfer.strided) {
    if (transfer.shape.dimensions.size() > wire::kMaxDimensions) return false;
    least += sizeof(wire::StridedHead) + transfer.shape.dimensions.size() * 2 * sizeof(uint64_t);
  } else {
    least += wire::kWordBytes;
  }
  return room >= least;
}

uint64_t Transfers::largest_message() const {
  return std::min<uint64_t>(messages_.max_payload_bytes(), wire::kMaxPlaceBytes);
}

void Transfers::prepare_packed(Transfer& transfer) {
  if (outgoing_.empty()) outgoing_.resize(messages_.max_payload_bytes());
  transfer.landing = transfer.list;
  transfer.in_flight = 0;
  transfer.pieces = 0;
  transfer.unannounced = 0;
  transfer.begun = 0;
  transfer.landed = 0;
  uint64_t head = head_bytes(transfer) + wire::kWordBytes;
  if (transfer.strided) {
    remote_side(transfer.shape, transfer.remote_side);
    local_side(transfer.shape, transfer.local_side);
    transfer.local_at.start(transfer.local_side);
    head = head_bytes(transfer) + wire::strided_places_bytes(transfer.remote_side);
  }
  // A signal with the data in a slot takes one network latency, where one behind data at
  // their place takes another.
  transfer.one_place = !(transfer.signal && bulk_.notifies(transfer.target)) &&
                       (transfer.strided ? transfer.remote_side.dimensions.empty()
                                         : transfer.regions.in_one_place());
  transfer.place = transfer.strided ? static_cast<uint64_t>(transfer.remote_side.base)
                                    : transfer.regions[0].offset;
  transfer.lands = lands(transfer);
  const uint64_t most = transfer.lands ? slot_room(transfer) : largest_message();
  uint64_t room = transfer.chunk_bytes == 0 ? most : std::min(transfer.chunk_bytes, most);
  room = std::max(room, head + kSmallestPart);
  transfer.chunk_bytes = room;
  if (!transfer.strided) return;
  // Chunks of about the same size, that end between regions where regions are small.
  if (!transfer.lands) {
    room -= transfer.direction == Direction::put ? head : sizeof(wire::Data);
  }
  const uint64_t chunks = (transfer.total + room - 1) / room;
  uint64_t data = (transfer.total + chunks - 1) / chunks;
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
  if (transfer.begun < transfer.total) return false;
  if (transfer.direction == Direction::put) tell_source_free(transfer);
  // The rest is known from when the message is served.
  if (is_one_message(transfer)) complete(transfer);
  return true;
}

// A put with a signal that one message carries is not answered: its initiator learns of the flag
// by what the target does then, and asks if it has to know more. (Several messages need the answer,
// before which their token must not be used again.)
bool Transfers::is_one_message(const Transfer& transfer) {
  return transfer.signal && transfer.pieces == 1 && transfer.begun == transfer.total;
}

// Asks for an answer where one is due.
void Transfers::announce(Transfer& transfer, wire::Head& head) {
  if (is_one_message(transfer)) return;
  ++transfer.unannounced;
  if (transfer.begun < transfer.total && transfer.unannounced < (transfer.window + 1) / 2 &&
      transfer.unannounced < UINT16_MAX) {
    return;
  }
  head.answers = transfer.unannounced;
  transfer.unannounced = 0;
}

// The message is accounted for before it goes out: sending makes progress, and an answer may come.
void Transfers::send(Transfer& transfer, uint16_t handler, wire::Head head, size_t head_bytes,
                     std::span<const std::byte> body) {
  write_head(transfer, head, transfer.begun, outgoing_.data());
  const std::span<const std::byte> first(outgoing_.data(), head_bytes);
  if (is_one_message(transfer)) {
    messages_.send_noted(transfer.target, handler, first, body, *transfer.done);
  } else {
    messages_.send(transfer.target, handler, first, body);
  }
}

wire::Head Transfers::strided_head(const Transfer& transfer, uint8_t flags) {
  return {.format = static_cast<uint8_t>(wire::kStrided | flags),
          .dimensions = static_cast<uint8_t>(transfer.remote_side.dimensions.size())};
}

void Transfers::send_strided_put(Transfer& transfer) {
  const uint64_t bytes = std::min(transfer.chunk_bytes, transfer.total - transfer.begun);
  std::byte* const end = wire::write_strided_places(transfer.remote_side, transfer.begun, bytes,
                                                    outgoing_.data() + head_bytes(transfer));
  const std::span<const std::byte> data =
      gather(transfer.local_at, transfer.local, bytes, end, fabric_.work());
  transfer.begun += bytes;
  ++transfer.pieces;
  ++transfer.in_flight;
  wire::Head head = strided_head(transfer, 0);
  announce(transfer, head);
  send(transfer, put_, head, static_cast<size_t>(end - outgoing_.data()), data);
}

void Transfers::send_strided_get(Transfer& transfer) {
  const uint64_t bytes = std::min(transfer.chunk_bytes, transfer.total - transfer.begun);
  const std::byte* const end = wire::write_strided_places(
      transfer.remote_side, transfer.begun, bytes, outgoing_.data() + sizeof(wire::Head));
  transfer.begun += bytes;
  ++transfer.in_flight;
  send(transfer, get_, strided_head(transfer, 0), static_cast<size_t>(end - outgoing_.data()), {});
}

void Transfers::send_list_put(Transfer& transfer) {
  const uint64_t before = transfer.list.position();
  const std::byte* const end = write_list(transfer.list, outgoing_.data() + head_bytes(transfer),
                                          outgoing_.data() + transfer.chunk_bytes, fabric_.work());
  transfer.begun += transfer.list.position() - before;
  ++transfer.pieces;
  ++transfer.in_flight;
  wire::Head head{.format = wire::kList};
  announce(transfer, head);
  send(transfer, put_, head, static_cast<size_t>(end - outgoing_.data()), {});
}

void Transfers::send_list_get(Transfer& transfer) {
  const uint64_t room = transfer.chunk_bytes - sizeof(wire::Data);
  uint64_t left = room;
  const std::byte* const end =
      write_list_places(transfer.list, left, outgoing_.data() + sizeof(wire::Head),
                        outgoing_.data() + transfer.chunk_bytes);
  transfer.begun += room - left;
  ++transfer.in_flight;
  send(transfer, get_, {.format = wire::kList}, static_cast<size_t>(end - outgoing_.data()), {});
}

void Transfers::unpack(Transfer& transfer, std::span<const std::byte> data) {
  if (transfer.strided) {
    scatter(transfer.local_at, data, transfer.local, fabric_.work());
  } else {
    scatter(transfer.landing, data, fabric_.work());
  }
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
  if (transfer.lands || done.messages > transfer.in_flight) {
    fail_malformed(source, "an answer to a put");
  }
  transfer.in_flight -= done.messages;
  if (transfer.in_flight == 0 && transfer.begun == transfer.total) complete(transfer);
}

void Transfers::take_data(Rank source, std::span<const std::byte> message) {
  wire::Data head;
  if (message.size() < sizeof head) fail_malformed(source, "data");
  std::memcpy(&head, message.data(), sizeof head);
  message = message.subspan(sizeof head);
  Transfer& transfer = find(source, head.token, Direction::get);
  if (transfer.lands || message.size() > transfer.begun - transfer.landed ||
      transfer.in_flight == 0) {
    fail_malformed(source, "data");
  }
  --transfer.in_flight;
  transfer.landed += message.size();
  unpack(transfer, message);
  if (transfer.landed == transfer.total) complete(transfer);
}

void Transfers::serve_put(Rank source, std::span<const std::byte> message) {
  const wire::Head head = unpack_put(source, message, {});
  if (head.answers == 0) return;
  messages_.send(source, put_done_, bytes_of(wire::Done{head.token, head.answers}), {});
}

// `data`: those of a parcel, whose head is the message; of others, they follow in it.
wire::Head Transfers::unpack_put(Rank source, std::span<const std::byte> message,
                                 std::optional<std::span<const std::byte>> data) {
  wire::Head head;
  wire::Signal signal;
  if (!wire::read_head(message, head)) fail_malformed(source, "a put");
  const bool signals = (head.format & wire::kSignal) != 0;
  if (signals && !wire::read_signal(message, segment_.size(), signal)) {
    fail_malformed(source, "a put with a signal");
  }
  if ((head.format & wire::kList) == 0) {
    if (!wire::read_strided_places(message, head, segment_.size(), part_) ||
        (data && !message.empty()) || data.value_or(message).size() != part_.bytes) {
      fail_malformed(source, "a strided put");
    }
    served_.start(part_.side, part_.begin);
    scatter(served_, data.value_or(message), segment_.data(), fabric_.work());
  } else {
    if (data && !message.empty()) fail_malformed(source, "a put of a list");
    for (std::span<const std::byte> left = data.value_or(message); !left.empty();) {
      wire::Place place;
      if (!wire::read_place(left, segment_.size(), place) || place.bytes > left.size()) {
        fail_malformed(source, "a put of a list");
      }
      copy_rows(segment_.data() + place.offset, 0, left.data(), 0, 1, place.bytes);
      count_copy(fabric_.work(), 1, place.bytes);
      left = left.subspan(place.bytes);
    }
  }
  if (signals) count_for_signal(source, head.token, signal);
  return head;
}

// One more of the messages of a put with a signal is unpacked. What the target counts under a token
// is complete before its initiator uses the token again.
void Transfers::count_for_signal(Rank source, uint32_t token, const wire::Signal& signal) {
  std::byte* const flag = segment_.data() + signal.offset;
  if (signal.messages == 1) {
    fabric::raise_flag(flag, signal.value);
    return;
  }
  auto put = std::find_if(arriving_.begin(), arriving_.end(), [&](const Arriving& one) {
    return one.source == source && one.token == token;
  });
  if (put == arriving_.end()) put = arriving_.insert(put, {.source = source, .token = token});
  ++put->unpacked;
  if (signal.messages != 0) put->messages = signal.messages;
  if (put->messages == 0 || put->unpacked < put->messages) return;
  if (put->unpacked > put->messages) fail_malformed(source, "a put with a signal");
  fabric::raise_flag(flag, signal.value);
  *put = arriving_.back();
  arriving_.pop_back();
}

void Transfers::serve_get(Rank source, std::span<const std::byte> message) {
  wire::Head head;
  wire::Landing landing;
  if (!wire::read_head(message, head)) fail_malformed(source, "a get");
  const bool lands = (head.format & wire::kLanding) != 0;
  if (lands && (!wire::read_landing(message, landing) || landing.slot >= bulk_.slots() ||
                landing.bytes > bulk_.slot_bytes())) {
    fail_malformed(source, "a get by a slot that there is not");
  }
  if (answer_.empty()) answer_.resize(messages_.max_payload_bytes());
  const std::span<std::byte> room =
      lands ? bulk_.memory_of(source, landing.slot).first(landing.bytes)
            : std::span<std::byte>(answer_.data(), answer_.size() - sizeof(wire::Data));
  std::span<const std::byte> data;
  if ((head.format & wire::kList) == 0) {
    if (!wire::read_strided_places(message, head, segment_.size(), part_) || !message.empty() ||
        part_.bytes > room.size()) {
      fail_malformed(source, "a strided get");
    }
    served_.start(part_.side, part_.begin);
    data = gather(served_, segment_.data(), part_.bytes, room.data(), fabric_.work());
  } else {
    size_t used = 0;
    while (!message.empty()) {
      wire::Place place;
      if (!wire::read_place(message, segment_.size(), place) || place.bytes > room.size() - used) {
        fail_malformed(source, "a get of a list");
      }
      copy_rows(room.data() + used, 0, segment_.data() + place.offset, 0, 1, place.bytes);
      count_copy(fabric_.work(), 1, place.bytes);
      used += place.bytes;
    }
    data = room.first(used);
  }
  if (lands) {
    bulk_.answer(source, landing.slot, data);
    return;
  }
  messages_.send(source, data_, bytes_of(wire::Data{.token = head.token}), data);
}

void Transfers::fail_malformed(Rank source, const char* what) const {
  fail_(Error(ErrorCode::data_loss,
              "rank " + std::to_string(source) + " sent " + what + " that is not well formed"));
}

}  // namespace stripline::vis
