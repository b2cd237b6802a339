// Data of an emulated rank in transit through a network that passes on packets.
//
// A message is cut at the NIC of its sender, and comes together at that of its receiver. Its
// packets take the links of its route one after the other, each in the order in which they come to
// it, so that those of messages from different sides take turns. They are switched virtually cut
// through (Kermani and Kleinrock 1979): the head of a packet goes on while the rest of it still
// comes, but it starts on a link only when the switch at the other end has room for all of it, as
// under InfiniBand's credits. Behind the last link, to the receiving NIC, lies memory, which has
// room for everything.
//
// A packet that has started on the next link leaves room as others come over the link before: it
// needs none of its own from when on the rest of it, at the pace of its link, leaves in the time in
// which as much comes in. With links of equal speed that is at once.
//
// Nothing that waits can wait for itself: what holds room in a buffer waits for links that are
// further on in the order up, down, NIC.
#include <algorithm>

#include "runtime/fabric/emulated/rank_engine.h"

namespace stripline::fabric {

void RankEngine::send_packets(double time_s, uint32_t index) {
  const auto bytes = uint64_t{operations_[index].bytes};
  const uint64_t most = profile_.tree.packets().packet_bytes;
  operations_[index].packets_left =
      static_cast<uint32_t>(std::max<uint64_t>(1, (bytes + most - 1) / most));
  uint64_t sent = 0;
  do {
    uint32_t number = 0;
    if (free_packets_.empty()) {
      number = static_cast<uint32_t>(packets_.size());
      packets_.emplace_back();
    } else {
      number = free_packets_.back();
      free_packets_.pop_back();
    }
    Packet& packet = packets_[number];
    packet = Packet{.operation = index, .bytes = std::min(most, bytes - sent), .first = sent == 0};
    if (bytes > 0) packet.share = static_cast<double>(packet.bytes) / static_cast<double>(bytes);
    sent += packet.bytes;
    packet.last = sent == bytes;
    come_to_link(time_s, number);
  } while (sent < bytes);
}

void RankEngine::come_to_link(double time_s, uint32_t number) {
  if (!buffers_are_finite() || take_room(buffer_behind_next(packets_[number]), number)) {
    take_link(time_s, number);
  }
}

void RankEngine::take_link(double time_s, uint32_t number) {
  Packet& packet = packets_[number];
  Operation& operation = operations_[packet.operation];
  const double hop_s = profile_.tree.hop_s();
  double begin = 0;
  double wire_s = 0;
  double head_s = 0;  // when it comes to the next link
  double drained_s = 0;
  lock_nics();
  if (packet.links_done == 0) {
    NicState& nic = region_.nic(sender_of(operation));
    begin = std::max(time_s, nic.transmit_free_s);
    if (packet.first) operation.occupancy_s /= bandwidth_share(begin);
    wire_s = operation.occupancy_s * packet.share;
    nic.transmit_free_s = begin + (packet.last ? operation.gap_s : 0) + wire_s;
    drained_s = nic.transmit_free_s;
    head_s = begin + (operation.latency_s - operation.hops * hop_s);
  } else {
    const FatTree::Hop hop = hop_of(operation, packet.links_done - 1);
    double& free_s = region_.link(hop.link).free_s;
    wire_s = operation.link_bytes * packet.share * hop.G_s_per_byte;
    begin = std::max(time_s, free_s);
    free_s = begin + wire_s;
    packet.tail_s = std::max(packet.tail_s, free_s) + hop_s;
    head_s = begin + hop_s;
  }
  unlock_nics();
  if (buffers_are_finite()) {
    const uint32_t behind = buffer_behind_next(packet);
    if (packet.links_done > 0) leave_buffer(time_s, packet, begin, wire_s);
    packet.buffer = behind;
  }
  packet.wire_s = wire_s;
  const bool of_nic = packet.links_done++ == 0;
  push(head_s, number,
       packet.links_done <= operation.hops ? Stage::packet_hop : Stage::packet_arrive);
  if (!of_nic) return;
  if (is_round_trip(operation)) {
    if (packet.first) push(begin, packet.operation, Stage::read);
  } else if (packet.last) {
    push(drained_s, packet.operation, Stage::drained);
  }
}

void RankEngine::receive_packet(const Event& event) {
  const Packet packet = packets_[event.operation];
  Operation& operation = operations_[packet.operation];
  if (is_lost(event, operation)) {
    push(event.time_s + profile_.loss_detected_after_s, packet.operation, Stage::lost);
    return;
  }
  free_packets_.push_back(event.operation);
  double time_s = event.time_s;
  if (operation.kind == Kind::put && profile_.put.needs_target) {
    time_s = attended_at(operation.target, time_s);
  }
  const double wire_s = operation.occupancy_s * packet.share;
  lock_nics();
  NicState& nic = region_.nic(receiver_of(operation));
  const double begin = std::max(time_s, nic.receive_free_s);
  nic.receive_free_s = std::max(begin + wire_s, packet.tail_s);
  const double end = nic.receive_free_s;
  unlock_nics();
  if (buffers_are_finite()) leave_buffer(event.time_s, packet, begin, wire_s);
  if (--operation.packets_left > 0) return;
  if (is_round_trip(operation)) {
    push(end, packet.operation, Stage::complete);
  } else {
    received(time_s, end, packet.operation);
  }
}

// Buffers behind NICs come first, then those behind shared links.
uint32_t RankEngine::buffer_behind_next(const Packet& packet) const {
  const Operation& operation = operations_[packet.operation];
  if (packet.links_done == 0) return sender_of(operation);
  return node_of(ranks_ - 1) + 1 + hop_of(operation, packet.links_done - 1).link;
}

uint64_t RankEngine::room_of(const Packet& packet) { return std::max(packet.bytes, kCreditBytes); }

bool RankEngine::take_room(uint32_t buffer, uint32_t number) {
  const uint64_t bytes = room_of(packets_[number]);
  lock_nics();
  BufferState& state = region_.buffer(buffer);
  const bool room =
      state.waiting == 0 && state.used_bytes + bytes <= profile_.tree.packets().buffer_bytes;
  if (room) {
    state.used_bytes += bytes;
  } else {
    const uint64_t ticket = ++state.last_ticket;
    ++state.waiting;
    if (waiting_[buffer].empty()) region_.room_request(buffer, rank_) = {ticket, bytes};
    waiting_[buffer].push_back({ticket, number});
    ++waiting_count_;
  }
  unlock_nics();
  return room;
}

void RankEngine::leave_buffer(double now_s, const Packet& packet, double begin_s, double wire_s) {
  const Room room{packet.buffer, room_of(packet)};
  const double time_s = std::max(begin_s, begin_s + wire_s - packet.wire_s);
  if (time_s <= now_s) return give_back(now_s, room);
  uint32_t leaving = 0;
  if (free_leaving_.empty()) {
    leaving = static_cast<uint32_t>(leaving_.size());
    leaving_.emplace_back();
  } else {
    leaving = free_leaving_.back();
    free_leaving_.pop_back();
  }
  leaving_[leaving] = room;
  push(time_s, leaving, Stage::vacate);
}

void RankEngine::give_back(double time_s, const Room& room) {
  lock_nics();
  region_.buffer(room.buffer).used_bytes -= room.bytes;
  grant_room(room.buffer, time_s);
  unlock_nics();
}

// One at a time: whoever has been granted room takes it and then calls this for the next.
void RankEngine::grant_room(uint32_t buffer, double time_s) {
  BufferState& state = region_.buffer(buffer);
  if (state.waiting == 0 || state.granted != 0) return;
  Rank first = ranks_;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const uint64_t ticket = region_.room_request(buffer, rank).ticket;
    if (ticket != 0 && (first == ranks_ || ticket < region_.room_request(buffer, first).ticket)) {
      first = rank;
    }
  }
  const uint64_t bytes = region_.room_request(buffer, first).bytes;
  if (state.used_bytes + bytes > profile_.tree.packets().buffer_bytes) return;
  state.granted = 1;
  state.granted_s = time_s;
  std::atomic<uint32_t>& list = region_.first_granted(first);
  state.next_granted = list.load(std::memory_order_relaxed);
  list.store(buffer + 1, std::memory_order_release);
  summon(first, time_s);
}

void RankEngine::collect_grants() {
  if (!buffers_are_finite()) return;
  std::atomic<uint32_t>& list = region_.first_granted(rank_);
  if (list.load(std::memory_order_acquire) == 0) return;
  lock_nics();
  uint32_t next = list.exchange(0, std::memory_order_relaxed);
  while (next != 0) {
    const BufferState& state = region_.buffer(next - 1);
    push(state.granted_s, next - 1, Stage::granted);
    next = state.next_granted;
  }
  unlock_nics();
}

void RankEngine::go_on_granted(const Event& event) {
  const uint32_t buffer = event.operation;
  std::deque<Waiting>& mine = waiting_[buffer];
  const uint32_t number = mine.front().packet;
  mine.pop_front();
  --waiting_count_;
  lock_nics();
  region_.room_request(buffer, rank_) =
      mine.empty() ? RoomRequest{}
                   : RoomRequest{mine.front().ticket, room_of(packets_[mine.front().packet])};
  BufferState& state = region_.buffer(buffer);
  state.granted = 0;
  --state.waiting;
  state.used_bytes += room_of(packets_[number]);
  unlock_nics();
  take_link(event.time_s, number);
  lock_nics();
  grant_room(buffer, event.time_s);
  unlock_nics();
  if (waiting_count_ == 0) poke(rank_, event.time_s);  // drain() waits for that
}

}  // namespace stripline::fabric
