#include "runtime/am/active_messages.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace stripline::am {
namespace {

// Weight of the newest of the waits that make the service delay: that of round trips in TCP
// (Jacobson, Congestion avoidance and control, 1988).
constexpr double kNewestWait = 1.0 / 8;

// Whether a message asks its target for something that its sender may have asked for another way.
bool asks_for_work(uint16_t handler) {
  switch (handler) {
    case kCombinedPuts:
    case kAtomic:
    case kSignalledPut:
    case kVisPut:
    case kVisGet:
      return true;
    default:
      return is_program(handler);
  }
}

bool asks_for_work(ActiveMessages::Landed what) {
  return what == ActiveMessages::Landed::vis_put || what == ActiveMessages::Landed::combined_puts;
}

}  // namespace

ActiveMessages::ActiveMessages(fabric::Fabric& fabric, Rank ranks, const Config& config,
                               fabric::FailureHandler fail)
    : fabric_(fabric),
      config_(config),
      fail_(std::move(fail)),
      handlers_(kFirstProgramHandler),
      peers_(ranks) {
  config_.request_credits = std::max<uint16_t>(config_.request_credits, 1);
  config_.reply_credits = std::max<uint16_t>(config_.reply_credits, 1);
  for (Peer& peer : peers_) {
    peer.credits[0] = config_.request_credits;
    peer.credits[1] = config_.reply_credits;
  }
}

void ActiveMessages::start() {
  const size_t message_bytes =
      std::min(config_.max_message_bytes, fabric_.info().max_message_bytes);
  if (message_bytes <= sizeof(Header)) {
    fail_(Error(ErrorCode::unimplemented,
                "fabric '" + fabric_.info().name + "' sends messages of at most " +
                    std::to_string(fabric_.info().max_message_bytes) +
                    " bytes, too small for active messages; choose another fabric"));
  }
  max_payload_bytes_ = message_bytes - sizeof(Header);
  staging_.resize(message_bytes);
  started_ = true;
}

void ActiveMessages::set_reserved(ReservedHandler id, Handler handler) {
  handlers_[id] = std::move(handler);
}

void ActiveMessages::add_background(Background& work) {
  auto* const free = std::find(backgrounds_.begin(), backgrounds_.end(), nullptr);
  if (free == backgrounds_.end()) {
    fail_(Error(ErrorCode::internal, "no room for more work in the background of messages"));
  }
  *free = &work;
}

uint32_t ActiveMessages::register_handler(Handler handler) {
  if (handlers_.size() > std::numeric_limits<uint16_t>::max()) {
    fail_(Error(ErrorCode::invalid_argument,
                "register_am: more than 65520 handlers; register each handler once, not per use"));
  }
  handlers_.push_back(std::move(handler));
  return static_cast<uint32_t>(handlers_.size() - 1);
}

size_t ActiveMessages::buffer_bytes_per_peer() const {
  return (size_t{config_.request_credits} + config_.reply_credits) * staging_.size();
}

bool ActiveMessages::transmit(Rank target, uint16_t handler, Class kind,
                              std::span<const std::byte> head, std::span<const std::byte> body) {
  Peer& peer = peers_[target];
  const Header header{.handler = handler,
                      .flags = static_cast<uint16_t>((kind == Class::reply ? kReplyFlag : 0) |
                                                     peer.untold_delay << kDelayShift),
                      .request_credits = static_cast<uint16_t>(peer.owed[0]),
                      .reply_credits = static_cast<uint16_t>(peer.owed[1])};
  std::byte* out = staging_.data();
  std::memcpy(out, &header, sizeof header);
  out += sizeof header;
  if (!head.empty()) std::memcpy(out, head.data(), head.size());
  out += head.size();
  if (!body.empty()) std::memcpy(out, body.data(), body.size());
  const size_t bytes = sizeof header + head.size() + body.size();
  if (!fabric_.try_send(target, std::span<const std::byte>(staging_.data(), bytes))) return false;
  peer.owed[0] -= header.request_credits;
  peer.owed[1] -= header.reply_credits;
  peer.untold_delay = kNoDelayCode;
  if (handler != kCreditsOnly) {
    --peer.credits[static_cast<size_t>(kind)];
    ++statistics_.sent;
  }
  return true;
}

void ActiveMessages::send(Rank target, uint32_t handler, std::span<const std::byte> head,
                          std::span<const std::byte> body, fabric::Counter* out) {
  if (target >= peers_.size() || handler >= handlers_.size() || !handlers_[handler] ||
      head.size() + body.size() > max_payload_bytes_) {
    std::string why;
    if (target >= peers_.size()) {
      why = "the job has ranks 0 to " + std::to_string(peers_.size() - 1);
    } else if (handler >= handlers_.size() || !handlers_[handler]) {
      why = "no handler " + std::to_string(handler) + " is registered";
    } else {
      why = "a payload of " + std::to_string(head.size() + body.size()) +
            " bytes exceeds am_max_bytes() = " + std::to_string(max_payload_bytes_) +
            "; split it, or use rput";
    }
    fail_(Error(ErrorCode::invalid_argument,
                "am_send to rank " + std::to_string(target) + ": " + why));
  }
  const auto id = static_cast<uint16_t>(handler);
  program_messages_ += is_program(handler) ? 1 : 0;
  if (in_handler_) {
    send_from_handler(target, id, head, body, out);
    return;
  }
  Peer& peer = peers_[target];
  std::optional<fabric::Waiting> waiting;
  while (true) {
    if (peer.credits[0] == 0) {
      ++statistics_.credit_stalls;
      wait([&peer] { return peer.credits[0] > 0; });
    }
    if (transmit(target, id, Class::request, head, body)) return;
    if (!waiting) waiting.emplace(fabric_.wait_count());
    progress();
  }
}

void ActiveMessages::send_from_handler(Rank target, uint16_t handler,
                                       std::span<const std::byte> head,
                                       std::span<const std::byte> body, fabric::Counter* out) {
  Peer& peer = peers_[target];
  if (started_ && peer.deferred.empty() && peer.credits[1] > 0 &&
      transmit(target, handler, Class::reply, head, body)) {
    return;
  }
  ++statistics_.deferred;
  ++held_messages_;
  if (out != nullptr) ++out->pending;
  if (handler_class_ == Class::request) {
    if (handler_hold_ == kNoHold) handler_hold_ = new_hold(handler_source_);
    ++holds_[handler_hold_].remaining;
  }
  Deferred& message = peer.deferred.emplace_back(Deferred{handler, handler_hold_, out, {}});
  message.payload.reserve(head.size() + body.size());
  message.payload.insert(message.payload.end(), head.begin(), head.end());
  message.payload.insert(message.payload.end(), body.begin(), body.end());
  add_work(target);
}

void ActiveMessages::on_message(Rank source, std::span<const std::byte> message) {
  Header header{};
  if (source >= peers_.size() || message.size() < sizeof header) {
    fail_(Error(ErrorCode::data_loss, "received a message of " + std::to_string(message.size()) +
                                          " bytes from rank " + std::to_string(source) +
                                          " that is not of this job"));
  }
  std::memcpy(&header, message.data(), sizeof header);
  Peer& peer = peers_[source];
  peer.credits[0] += header.request_credits;
  peer.credits[1] += header.reply_credits;
  if (const auto delay = static_cast<uint8_t>(header.flags >> kDelayShift); delay != kNoDelayCode) {
    peer.told_delay = delay;
    peer.delay_news = true;
  }
  if (header.reply_credits > 0 && !peer.deferred.empty()) add_work(source);
  if (header.handler == kCreditsOnly) return;
  if (header.handler >= handlers_.size() || !handlers_[header.handler]) {
    fail_(Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(source) + " sent an active message for handler " +
                    std::to_string(header.handler) +
                    ", which this rank has not registered; call register_am on every rank, in the "
                    "same order"));
  }
  in_handler_ = true;
  handler_class_ = (header.flags & kReplyFlag) != 0 ? Class::reply : Class::request;
  handler_source_ = source;
  if (handler_class_ == Class::request && asks_for_work(header.handler)) note_wait(peer);
  handler_hold_ = kNoHold;
  program_handlers_ += is_program(header.handler) ? 1 : 0;
  handlers_[header.handler](source, message.subspan(sizeof header));
  in_handler_ = false;
  ++statistics_.served;
  if (handler_hold_ == kNoHold) owe(source, handler_class_);
}

void ActiveMessages::note_wait(Peer& peer) {
  const std::optional<double> waited_s = fabric_.waited_s();
  if (!waited_s) return;
  if (*waited_s >= least_absence_s_) missed_ += {1, *waited_s / 2};
  if (peer.wait_s < 0) {
    peer.wait_s = static_cast<float>(*waited_s);
  } else {
    peer.wait_s += static_cast<float>(kNewestWait * (*waited_s - double{peer.wait_s}));
  }
  peer.untold_delay = encode_delay(double{peer.wait_s});
}

// As a reply: it holds no credit.
void ActiveMessages::on_landed(Rank source, uint32_t tag) {
  const uint32_t kind = tag / kLandingValues;
  if (kind >= kLandings || !landing_handlers_.at(kind)) return;
  in_handler_ = true;
  handler_class_ = Class::reply;
  handler_source_ = source;
  handler_hold_ = kNoHold;
  if (asks_for_work(static_cast<Landed>(kind))) note_wait(peers_[source]);
  landing_handlers_.at(kind)(source, tag % kLandingValues);
  in_handler_ = false;
  ++statistics_.served;
}

void ActiveMessages::owe(Rank source, Class kind) {
  Peer& peer = peers_[source];
  ++peer.owed[static_cast<size_t>(kind)];
  if (!credits_due(peer)) return;
  // Given back at once where possible: the sender may be waiting for it.
  if (started_ && transmit(source, kCreditsOnly, Class::request, {}, {})) {
    ++statistics_.credit_messages;
  } else {
    add_work(source);
  }
}

bool ActiveMessages::credits_due(const Peer& peer) const {
  // At half, one message serves many credits and the sender still holds the other half. A sender
  // that has none left is owed all of them, so this cannot strand it.
  return peer.owed[0] >= std::max<uint32_t>(1, config_.request_credits / 2U) ||
         peer.owed[1] >= std::max<uint32_t>(1, config_.reply_credits / 2U);
}

void ActiveMessages::add_work(Rank rank) {
  if (peers_[rank].has_work) return;
  peers_[rank].has_work = true;
  work_.push_back(rank);
}

uint32_t ActiveMessages::new_hold(Rank source) {
  if (free_holds_.empty()) {
    holds_.emplace_back();
    free_holds_.push_back(static_cast<uint32_t>(holds_.size() - 1));
  }
  const uint32_t hold = free_holds_.back();
  free_holds_.pop_back();
  holds_[hold] = Hold{.source = source, .remaining = 0};
  return hold;
}

// Sends what is kept for one peer. False if the fabric has no room; true if nothing is left, or if
// the rest waits for credits, whose arrival lists the peer again.
bool ActiveMessages::serve_peer(Rank rank) {
  Peer& peer = peers_[rank];
  while (!peer.deferred.empty() && peer.credits[1] > 0) {
    const Deferred& message = peer.deferred.front();
    if (!transmit(rank, message.handler, Class::reply, message.payload, {})) return false;
    const uint32_t hold = message.hold;
    if (message.out != nullptr) --message.out->pending;
    peer.deferred.pop_front();
    --held_messages_;
    if (hold != kNoHold && --holds_[hold].remaining == 0) {
      free_holds_.push_back(hold);
      owe(holds_[hold].source, Class::request);
    }
  }
  if (credits_due(peer)) {
    if (!transmit(rank, kCreditsOnly, Class::request, {}, {})) return false;
    ++statistics_.credit_messages;
  }
  return true;
}

// False if something is left that only lacks room.
bool ActiveMessages::flush_work() {
  if (!started_) return false;
  for (size_t i = 0; i < work_.size();) {
    const Rank rank = work_[i];
    if (!serve_peer(rank)) {
      ++i;
      continue;
    }
    peers_[rank].has_work = false;
    work_[i] = work_.back();
    work_.pop_back();
  }
  return work_.empty();
}

void ActiveMessages::progress() {
  fabric_.poll();
  flush();
}

void ActiveMessages::attend() {
  fabric_.attend();
  flush();
}

bool ActiveMessages::wait(const std::function<bool()>& condition, double deadline_s) {
  if (in_handler_) {
    fail_(Error(ErrorCode::invalid_argument,
                "an active message handler waits; handlers may only record and reply"));
  }
  struct Watch {
    const std::function<bool()>& condition;
    const ActiveMessages& messages;
    bool holds = false;
    bool has_more() const { return !messages.work_.empty() || messages.ready(); }
  } watch{condition, *this};
  const fabric::Waiting waiting(fabric_.wait_count());
  while (true) {
    // With nothing but a lack of room, only progress helps.
    while (!work_.empty() && !flush_work()) {
      if (condition()) return true;
      if (fabric_.now_s() > deadline_s) return false;
      fabric_.poll();
      advance_background();  // to other peers
    }
    advance_background();
    const bool woken = fabric_.wait(
        [&watch] {
          watch.holds = watch.condition();
          return watch.holds || watch.has_more();
        },
        deadline_s);
    if (watch.holds) return true;
    if (!woken) return false;
  }
}

}  // namespace stripline::am
