#include "runtime/sync/transfers.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

namespace stripline::sync {
namespace {

// Buffers of early messages that are kept for the next ones.
constexpr size_t kSpareBuffers = 16;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// Largest message that is sent without asking; the fabric's messages may be smaller.
constexpr size_t kEagerBytes = size_t{16} << 10;
// Smallest message that is put rather than sent where both are possible.
constexpr size_t kPutBytes = size_t{16} << 10;
// What a receiver copies at once from the memory of a rank of its node, so that it serves others
// between.
constexpr size_t kReadBytes = size_t{512} << 10;

}  // namespace

Transfers::Transfers(am::ActiveMessages& messages, am::Bulk& bulk, Groups& groups,
                     fabric::Fabric& fabric, std::span<std::byte> slots, Rank me, Rank ranks,
                     fabric::FailureHandler fail)
    : messages_(messages),
      bulk_(bulk),
      groups_(groups),
      fabric_(fabric),
      shortcuts_(fabric.shortcuts()),
      segment_(fabric.segment()),
      me_(me),
      fail_(std::move(fail)),
      peers_(ranks),
      slots_(slots.size() / kSlotBytes) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].memory = slots.subspan(i * kSlotBytes, kSlotBytes);
  }
  handler_ = messages_.serve(
      "collective transfer", am::Purpose::answer,
      [this](Rank source, std::span<const std::byte> payload) { on_message(source, payload); });
  parcels_ = bulk_.open(
      "collective transfer", am::Purpose::answer,
      [this](const am::Bulk::Parcel& parcel) { take_parcel(parcel); }, nullptr);
}

void Transfers::start() {
  eager_bytes_ = std::min({kEagerBytes, messages_.max_payload_bytes() - sizeof(Header),
                           kWindowBytes / 2 - sizeof(Header)});
}

Transfers::Header Transfers::header(Type type, const Call& call, const Key& key, Rank peer) {
  peers_[peer].returned = peers_[peer].received;
  Header header{};
  header.bytes_and_root =
      (call.bytes & ((uint64_t{1} << kRootShift) - 1)) | (uint64_t{call.root} << kRootShift);
  header.sequence = static_cast<uint32_t>(key.sequence);
  header.team = key.team;
  header.step = key.step;
  header.received = peers_[peer].received;
  header.kind = call.kind;
  header.algorithm = call.algorithm;
  header.type = type;
  header.emptied = bulk_.take_owed(peer);
  return header;
}

Transfers::Receive* Transfers::find(Rank source, const Key& key) {
  Receive* one = posted_;
  while (one != nullptr && (one->source != source || one->key != key)) one = one->next;
  return one;
}

void Transfers::finish(Receive& receive) {
  Receive** link = &posted_;
  while (*link != &receive) link = &(*link)->next;
  *link = receive.next;
  receive.done = true;
}

uint64_t Transfers::place_of(std::span<std::byte> data) const {
  const auto at = reinterpret_cast<uintptr_t>(data.data());
  const auto begin = reinterpret_cast<uintptr_t>(segment_.data());
  if (at < begin || at - begin > segment_.size() || data.size() > segment_.size() - (at - begin)) {
    return kNoPlace;
  }
  return at - begin;
}

void Transfers::post(const Call& call, const Key& key, Rank source, std::span<std::byte> data,
                     Receive& receive) {
  receive = Receive{
      .key = key, .source = source, .data = data, .call = call, .done = false, .next = posted_};
  posted_ = &receive;
  Peer& peer = peers_[source];
  std::vector<Early>& early = peer.early;
  const auto found =
      std::find_if(early.begin(), early.end(), [&key](const Early& one) { return one.key == key; });
  if (!is_eager(data.size()) && found != early.end()) {
    fail_lengths(call, source, found->data.size(), me_, data.size());
    return;
  }
  const bool announced = peer.offer.total != 0 && peer.announced == key;
  if (announced && peer.offer.total != data.size()) {
    fail_lengths(call, source, peer.offer.total, me_, data.size());
    return;
  }
  for (uint32_t slot = 0; slot < peer.waiting.size(); ++slot) {
    Waiting& waiting = peer.waiting[slot];
    if (!waiting.full || waiting.key != key) continue;
    put_in_place(source, receive, waiting.data);
    waiting.full = false;
    bulk_.give_back(source, slot);
    return;
  }
  if (goes_as_parcel(source, data.size())) return;
  if (!is_eager(data.size()) && reads(source)) {
    if (announced) read(receive, std::exchange(peer.offer, {}));
    return;
  }
  if (!is_eager(data.size())) {
    const bool by_put = data.size() >= kPutBytes;
    const uint64_t place = by_put ? place_of(data) : kNoPlace;
    if (by_put && place == kNoPlace) {
      size_t taken = 0;
      for (Slot& slot : slots_) {
        if (taken == kPieces || receive.asked == data.size()) break;
        if (slot.receive != nullptr) continue;
        ++taken;
        ask_into(receive, slot);
      }
      if (taken > 0) return;
    }
    ask(receive, data.size(), place);
    return;
  }
  if (found == early.end()) return;
  std::vector<std::byte> kept = std::move(found->data);
  early.erase(found);
  early_bytes_ -= kept.size();
  put_in_place(source, receive, kept);
  const size_t bytes = kept.size();
  if (spare_.size() < kSpareBuffers) spare_.push_back(std::move(kept));
  give_back(source, bytes);
}

// Tells the sender where the next `bytes` are to go.
void Transfers::ask(Receive& receive, size_t bytes, uint64_t place) {
  const Header ready = header(Type::ready, receive.call, receive.key, receive.source);
  const Request request{
      .total = receive.data.size(), .offset = receive.asked, .bytes = bytes, .place = place};
  receive.asked += bytes;
  messages_.send(receive.source, handler_, bytes_of(ready), bytes_of(request));
}

void Transfers::ask_into(Receive& receive, Slot& slot) {
  slot.receive = &receive;
  slot.offset = receive.asked;
  slot.bytes = std::min(slot.memory.size(), receive.data.size() - receive.asked);
  ask(receive, slot.bytes, place_of(slot.memory));
}

void Transfers::wait(Receive& receive) {
  if (receive.done) return;
  messages_.wait([&receive] { return receive.done; });
}

void Transfers::put_in_place(Rank source, Receive& receive, std::span<const std::byte> data) {
  if (data.size() != receive.data.size()) {
    fail_lengths(receive.call, source, data.size(), me_, receive.data.size());
    return;
  }
  if (!data.empty()) std::memcpy(receive.data.data(), data.data(), data.size());
  finish(receive);
}

void Transfers::take_eager(Rank source, const Key& key, std::span<const std::byte> data) {
  if (Receive* receive = find(source, key); receive != nullptr) {
    put_in_place(source, *receive, data);
    give_back(source, data.size());
    return;
  }
  Early early{.key = key, .data = {}};
  if (!spare_.empty()) {
    early.data = std::move(spare_.back());
    spare_.pop_back();
  }
  early.data.assign(data.begin(), data.end());
  early_bytes_ += data.size();
  peers_[source].early.push_back(std::move(early));
}

void Transfers::take_part(Rank source, const Key& key, uint64_t offset,
                          std::span<const std::byte> data) {
  Receive* receive = find(source, key);
  if (receive == nullptr || offset > receive->data.size() ||
      data.size() > receive->data.size() - offset) {
    malformed(source);
    return;
  }
  std::memcpy(receive->data.data() + offset, data.data(), data.size());
  receive->received += data.size();
  if (receive->received == receive->data.size()) finish(*receive);
}

// Keeps it for the receive, which may expect another length, and fails if one that is posted does.
void Transfers::take_announce(Rank source, const Key& key, const Offer& offer) {
  Receive* const receive = find(source, key);
  if (receive != nullptr && receive->data.size() != offer.total) {
    fail_lengths(receive->call, source, offer.total, me_, receive->data.size());
    return;
  }
  if (receive != nullptr && reads(source)) {
    read(*receive, offer);
    return;
  }
  peers_[source].announced = key;
  peers_[source].offer = offer;
}

void Transfers::read(Receive& receive, const Offer& offer) {
  const Rank source = receive.source;
  if (offer.offset > receive.data.size() || offer.bytes == 0 ||
      offer.bytes > receive.data.size() - offer.offset) {
    malformed(source);
    return;
  }
  shortcuts_->read_memory(source, offer.address, receive.data.subspan(offer.offset, offer.bytes));
  const Header taken = header(Type::taken, receive.call, receive.key, source);
  receive.received += offer.bytes;
  if (receive.received == receive.data.size()) finish(receive);
  messages_.send(source, handler_, bytes_of(taken), {});
}

void Transfers::take_parcel(const am::Bulk::Parcel& parcel) {
  const auto header = header_of<Header>(parcel.head, fail_, parcel.source, me_);
  const std::optional<Key> key = saw(header, parcel.source);
  if (!key) return;
  Waiting& waiting = peers_[parcel.source].waiting[parcel.slot];
  if (header.type != Type::parcel || parcel.head.size() != sizeof header || waiting.full) {
    malformed(parcel.source);
    return;
  }
  if (Receive* receive = find(parcel.source, *key); receive != nullptr) {
    put_in_place(parcel.source, *receive, parcel.body);
    bulk_.give_back(parcel.source, parcel.slot);
    return;
  }
  waiting = {.full = true, .key = *key, .data = parcel.body};
}

void Transfers::take_ready(Rank source, const Ready& ready) {
  Peer& peer = peers_[source];
  if (peer.ready_count == kPieces) {
    malformed(source);
    return;
  }
  peer.ready[peer.ready_count++] = ready;
}

void Transfers::take_done(Rank source, const Key& key, uint64_t offset) {
  Receive* receive = find(source, key);
  if (receive == nullptr) {
    malformed(source);
    return;
  }
  const auto slot = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& one) {
    return one.receive == receive && one.offset == offset;
  });
  if (slot == slots_.end()) {  // it is in its place
    finish(*receive);
    return;
  }
  std::memcpy(receive->data.data() + offset, slot->memory.data(), slot->bytes);
  receive->received += slot->bytes;
  slot->receive = nullptr;
  if (receive->received == receive->data.size()) {
    finish(*receive);
  } else if (receive->asked < receive->data.size()) {
    ask_into(*receive, *slot);
  }
}

// Half a window at a time, so that a sender that is stopped by it is owed enough to be notified.
void Transfers::give_back(Rank peer, size_t bytes) {
  Peer& state = peers_[peer];
  state.received += charge(bytes);
  if (state.received - state.returned < kWindowBytes / 2) return;
  const Header returned = header(Type::returned, {}, {}, peer);
  messages_.send(peer, handler_, bytes_of(returned), {});
}

// What every message says. Nothing if it was only that, or of no team.
std::optional<Transfers::Key> Transfers::saw(const Header& header, Rank source) {
  Peer& peer = peers_[source];
  // Messages of handlers and of the program may pass each other.
  if (static_cast<int32_t>(header.received - peer.released) > 0) peer.released = header.received;
  bulk_.take_returned(source, header.emptied);
  if (header.type == Type::returned) return std::nullopt;
  Group* group = groups_.find(header.team);
  if (group == nullptr || static_cast<uint8_t>(header.type) >= kTypes) {
    malformed(source);
    return std::nullopt;
  }
  const Call call{.kind = header.kind,
                  .algorithm = header.algorithm,
                  .root = static_cast<Rank>(header.bytes_and_root >> kRootShift),
                  .bytes = header.bytes_and_root & ((uint64_t{1} << kRootShift) - 1)};
  // The nearest number with these low bits.
  const uint64_t now = group->order.sequence();
  const auto ahead = static_cast<int32_t>(header.sequence - static_cast<uint32_t>(now));
  const uint64_t sequence = now + static_cast<uint64_t>(int64_t{ahead});
  if (!group->order.saw(call, sequence, source)) return std::nullopt;
  return Key{.sequence = sequence, .team = header.team, .step = header.step};
}

void Transfers::on_message(Rank source, std::span<const std::byte> payload) {
  const auto header = header_of<Header>(payload, fail_, source, me_);
  const std::optional<Key> known = saw(header, source);
  if (!known) return;
  const Key& key = *known;
  const std::span<const std::byte> rest = payload.subspan(sizeof header);
  switch (header.type) {
    case Type::eager:
      take_eager(source, key, rest);
      break;
    case Type::ready:
      take_ready(source,
                 Ready{.key = key, .request = header_of<Request>(rest, fail_, source, me_)});
      break;
    case Type::part: {
      const auto offset = header_of<uint64_t>(rest, fail_, source, me_);
      take_part(source, key, offset, rest.subspan(sizeof offset));
      break;
    }
    case Type::done:
      take_done(source, key, header_of<uint64_t>(rest, fail_, source, me_));
      break;
    case Type::announce:
      take_announce(source, key, header_of<Offer>(rest, fail_, source, me_));
      break;
    case Type::taken:
      peers_[source].taken = key;
      break;
    case Type::parcel:  // does not come as a message
      malformed(source);
      break;
    case Type::returned:
      break;
  }
}

void Transfers::fail_lengths(const Call& call, Rank source, size_t sent, Rank target,
                             size_t expected) const {
  fail_(Error(ErrorCode::invalid_argument,
              std::string(to_string(call.kind)) + " with blocks of different lengths: rank " +
                  std::to_string(source) + " sent " + std::to_string(sent) + " bytes to rank " +
                  std::to_string(target) + ", which expected " + std::to_string(expected)));
}

void Transfers::send(const Call& call, const Key& key, Rank target,
                     std::span<const std::byte> data) {
  if (goes_as_parcel(target, data.size())) {
    send_parcel(call, key, target, data);
    return;
  }
  if (!is_eager(data.size())) {
    if (reads(target)) {
      send_read(call, key, target, data);
    } else {
      send_large(call, key, target, data);
    }
    return;
  }
  Peer& peer = peers_[target];
  const uint32_t bytes = charge(data.size());
  const auto fits = [&peer, bytes] { return peer.sent - peer.released + bytes <= kWindowBytes; };
  if (!fits()) messages_.wait(fits);
  peer.sent += bytes;
  const Header eager = header(Type::eager, call, key, target);
  messages_.send(target, handler_, bytes_of(eager), data);
}

void Transfers::send_parcel(const Call& call, const Key& key, Rank target,
                            std::span<const std::byte> data) {
  if (!bulk_.has_free(target)) messages_.wait([this, target] { return bulk_.has_free(target); });
  const uint32_t slot = bulk_.acquire(target);
  bulk_.put(parcels_, target, slot, bytes_of(header(Type::parcel, call, key, target)), data, 0);
  const auto sent = [this, target, slot] { return bulk_.is_sent(target, slot); };
  if (!sent()) messages_.wait(sent);
}

void Transfers::announce(const Call& call, const Key& key, Rank target,
                         std::span<const std::byte> data) {
  if (!is_eager(data.size()) && reads(target)) offer(call, key, target, data, 0);
}

void Transfers::offer(const Call& call, const Key& key, Rank target,
                      std::span<const std::byte> data, size_t offset) {
  const Offer piece{.total = data.size(),
                    .offset = offset,
                    .bytes = std::min(kReadBytes, data.size() - offset),
                    .address = reinterpret_cast<uintptr_t>(data.data()) + offset};
  peers_[target].told = key;
  const Header announce = header(Type::announce, call, key, target);
  messages_.send(target, handler_, bytes_of(announce), bytes_of(piece));
}

void Transfers::send_read(const Call& call, const Key& key, Rank target,
                          std::span<const std::byte> data) {
  Peer& peer = peers_[target];
  for (size_t sent = 0; sent < data.size(); sent += kReadBytes) {
    if (sent > 0 || peer.told != key) offer(call, key, target, data, sent);
    messages_.wait([&peer, &key] { return peer.taken == key; });
    peer.taken = {};
  }
}

void Transfers::send_large(const Call& call, const Key& key, Rank target,
                           std::span<const std::byte> data) {
  Peer& peer = peers_[target];
  std::array<Flight, kPieces> flights;
  size_t sent = 0;
  const auto asked_for = [&] { return peer.ready_count > 0 && peer.ready[0].key == key; };
  const auto is_active = [](const Flight& one) { return one.active; };
  if (!asked_for()) {
    // No one would notice otherwise that the receiver expects a small message, or none.
    const Header announce = header(Type::announce, call, key, target);
    messages_.send(target, handler_, bytes_of(announce), bytes_of(Offer{.total = data.size()}));
  }
  const auto landed = [&flights] {
    return std::find_if(flights.begin(), flights.end(),
                        [](const Flight& one) { return one.complete(); });
  };
  const auto can_go_on = [&] {
    return (sent < data.size() && asked_for()) || landed() != flights.end();
  };
  while (sent < data.size() || std::any_of(flights.begin(), flights.end(), is_active)) {
    messages_.wait(std::ref(can_go_on));
    if (const auto flight = landed(); flight != flights.end()) {
      flight->active = false;
      const Header done = header(Type::done, call, key, target);
      messages_.send(target, handler_, bytes_of(done), bytes_of(flight->offset));
      continue;
    }
    const Ready ready = peer.ready[0];
    peer.ready[0] = peer.ready[--peer.ready_count];
    const Request& request = ready.request;
    if (request.total != data.size()) {
      fail_lengths(call, me_, data.size(), target, request.total);
      return;
    }
    const auto flight = std::find_if_not(flights.begin(), flights.end(), is_active);
    // Requests of the program and of handlers may pass each other: any piece is good.
    if (request.bytes == 0 || request.bytes > data.size() - sent || request.offset > data.size() ||
        request.bytes > data.size() - request.offset || flight == flights.end()) {
      malformed(target);
      return;
    }
    sent += request.bytes;
    if (request.place == kNoPlace) {
      send_parts(call, key, target, data, request.offset, request.bytes);
      continue;
    }
    if (request.place > segment_.size() || request.bytes > segment_.size() - request.place) {
      malformed(target);
      return;
    }
    flight->active = true;
    flight->offset = request.offset;
    fabric_.put(target, request.place, {data.data() + request.offset, request.bytes},
                flight->counter);
  }
}

void Transfers::send_parts(const Call& call, const Key& key, Rank target,
                           std::span<const std::byte> data, uint64_t offset, uint64_t bytes) {
  struct Part {
    Header header;
    uint64_t offset;
  };
  const uint64_t most = messages_.max_payload_bytes() - sizeof(Part);
  for (const uint64_t end = offset + bytes; offset < end; offset += most) {
    const Part part{header(Type::part, call, key, target), offset};
    messages_.send(target, handler_, bytes_of(part),
                   data.subspan(offset, std::min(most, end - offset)));
  }
}

}  // namespace stripline::sync
