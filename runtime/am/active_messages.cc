#include "runtime/am/active_messages.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "base/exception_text.h"

namespace stripline::am {
namespace {

// Weight of the newest of the waits that make the service delay: that of round trips in TCP
// (Jacobson, Congestion avoidance and control, 1988).
constexpr double kNewestWait = 1.0 / 8;

// Answers in a row that no one waits for, after which they are not asked for in advance any more.
// Asking late costs the rank that waits a message and its latency; an answer for no one costs both
// ranks a message, which over sockets takes about as long. Once such answers have cost as much as
// asking late does, a message and its latency, that rule takes at most twice the best possible in
// hindsight (rent or buy: Karlin, Manasse, Rudolph and Sleator, Competitive snoopy caching, 1988).
constexpr uint32_t kAnswersOfALateQuestion = 2;

}  // namespace

ActiveMessages::ActiveMessages(fabric::Fabric& fabric, Rank ranks, const Config& config,
                               fabric::FailureHandler fail)
    : fabric_(fabric), config_(config), fail_(std::move(fail)), peers_(ranks) {
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
  handlers_.close();
  started_ = true;
}

uint16_t ActiveMessages::id(std::string_view name) {
  const auto id = handlers_.id(name);
  if (!id.ok()) fail_(id.error());
  return *id;
}

uint16_t ActiveMessages::serve(std::string_view name, Purpose purpose, Handler handler) {
  const uint16_t handler_id = id(name);
  handlers_.serve(handler_id, purpose, std::move(handler));
  return handler_id;
}

Landing ActiveMessages::land(std::string_view name, uint32_t values, Purpose purpose,
                             LandingHandler handler) {
  const auto landing = handlers_.land(name, values, purpose, std::move(handler));
  if (!landing.ok()) fail_(landing.error());
  return *landing;
}

void ActiveMessages::add_background(Background& work) { backgrounds_.push_back(&work); }

uint32_t ActiveMessages::register_handler(Handler handler) {
  const auto id = handlers_.add(std::move(handler));
  if (!id.ok()) fail_(id.error());
  return *id;
}

size_t ActiveMessages::buffer_bytes_per_peer() const {
  return (size_t{config_.request_credits} + config_.reply_credits) * staging_.size();
}

bool ActiveMessages::transmit(Rank target, uint16_t handler, Class kind,
                              std::span<const std::byte> head, std::span<const std::byte> body,
                              bool ask) {
  Peer& peer = peers_[target];
  const Header header{
      .handler = handler,
      .flags = static_cast<uint16_t>((kind == Class::reply ? kReplyFlag : 0) |
                                     (ask ? kAskFlag : 0) | peer.untold_delay << kDelayShift),
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
  if (peer.first_hold == kNone) peer.asks = false;
  if (handler != HandlerTable::kNoHandler) {
    --peer.credits[static_cast<size_t>(kind)];
    if (kind == Class::request) ++peer.requests;
    ++statistics_.sent;
  }
  return true;
}

void ActiveMessages::check_send(Rank target, uint32_t handler, size_t bytes) const {
  if (target < peers_.size() && handlers_.serves(handler) && bytes <= max_payload_bytes_)
      [[likely]] {
    return;
  }
  std::string why;
  if (target >= peers_.size()) {
    why = "the job has ranks 0 to " + std::to_string(peers_.size() - 1);
  } else if (!handlers_.serves(handler)) {
    why = "no handler " + std::to_string(handler) + " is registered";
  } else {
    why = "a payload of " + std::to_string(bytes) +
          " bytes exceeds am_max_bytes() = " + std::to_string(max_payload_bytes_) +
          "; split it, or use rput";
  }
  fail_(
      Error(ErrorCode::invalid_argument, "am_send to rank " + std::to_string(target) + ": " + why));
}

void ActiveMessages::send(Rank target, uint32_t handler, std::span<const std::byte> head,
                          std::span<const std::byte> body, fabric::Counter* out) {
  check_send(target, handler, head.size() + body.size());
  const auto id = static_cast<uint16_t>(handler);
  program_messages_ += handlers_.purpose(handler) == Purpose::program ? 1 : 0;
  if (in_handler_) {
    send_from_handler(target, id, head, body, out);
  } else {
    send_request(target, id, head, body, false);
  }
}

void ActiveMessages::send_request(Rank target, uint16_t handler, std::span<const std::byte> head,
                                  std::span<const std::byte> body, bool ask) {
  Peer& peer = peers_[target];
  std::optional<fabric::Waiting> waiting;
  while (true) {
    if (peer.credits[0] == 0) {
      ++statistics_.credit_stalls;
      wait([&peer] { return peer.credits[0] > 0; });
    }
    if (transmit(target, handler, Class::request, head, body, ask)) return;
    if (!waiting) waiting.emplace(fabric_.wait_count());
    progress();
  }
}

void ActiveMessages::send_noted(Rank target, uint32_t handler, std::span<const std::byte> head,
                                std::span<const std::byte> body, fabric::Counter& served) {
  check_send(target, handler, head.size() + body.size());
  Peer& peer = peers_[target];
  const bool ask = peer.answers_at_once;
  send_request(target, static_cast<uint16_t>(handler), head, body, ask);
  // Credits come in only while progress is made, so that none of its own has come yet.
  if (ask) peer.asked = peer.requests;
  if (free_noted_ == kNone) {
    free_noted_ = static_cast<uint32_t>(noted_.size());
    noted_.emplace_back();
  }
  const uint32_t place = free_noted_;
  free_noted_ = noted_[place].next;
  noted_[place] = {.number = peer.requests, .served = &served};
  (peer.first_noted == kNone ? peer.first_noted : noted_[peer.last_noted].next) = place;
  peer.last_noted = place;
  ++served.pending;
  ++unasked_;
  if (!peer.lists_noted) {
    peer.lists_noted = true;
    noting_.push_back(target);
  }
}

void ActiveMessages::take_served(Peer& peer, uint32_t requests) {
  peer.served += requests;
  while (peer.first_noted != kNone && noted_[peer.first_noted].number <= peer.served) {
    Noted& one = noted_[peer.first_noted];
    --one.served->pending;
    if (one.waited_for) {
      peer.not_waited_for = 0;
    } else {
      --unasked_;
      if (++peer.not_waited_for >= kAnswersOfALateQuestion) peer.answers_at_once = false;
    }
    const uint32_t next = one.next;
    one.next = free_noted_;
    free_noted_ = std::exchange(peer.first_noted, next);
  }
}

// Null: for all.
void ActiveMessages::ask_for(const fabric::Counter* served) {
  for (size_t i = 0; i < noting_.size();) {
    const Rank target = noting_[i];
    Peer& peer = peers_[target];
    if (peer.first_noted == kNone) {
      peer.lists_noted = false;
      noting_[i] = noting_.back();
      noting_.pop_back();
      continue;
    }
    ++i;
    bool concerned = served == nullptr;
    for (uint32_t one = peer.first_noted; one != kNone && !concerned; one = noted_[one].next) {
      concerned = noted_[one].served == served;
    }
    if (concerned) ask_target(target);
  }
}

void ActiveMessages::ask_target(Rank target) {
  Peer& peer = peers_[target];
  for (uint32_t one = peer.first_noted; one != kNone; one = noted_[one].next) {
    if (noted_[one].waited_for) continue;
    noted_[one].waited_for = true;
    --unasked_;
  }
  peer.answers_at_once = true;
  if (peer.asked >= noted_[peer.last_noted].number) return;
  peer.asked = peer.requests;
  if (transmit(target, HandlerTable::kNoHandler, Class::request, {}, {}, true)) return;
  peer.ask_unsent = true;
  add_work(target);
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
    if (handler_hold_ == kNone) handler_hold_ = new_hold(handler_source_);
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
  if (header.request_credits > 0) take_served(peer, header.request_credits);
  if (const auto delay = static_cast<uint8_t>(header.flags >> kDelayShift); delay != kNoDelayCode) {
    peer.told_delay = delay;
    peer.delay_news = true;
  }
  if (header.reply_credits > 0 && !peer.deferred.empty()) add_work(source);
  const bool asks = (header.flags & kAskFlag) != 0;
  if (header.handler == HandlerTable::kNoHandler) {
    if (asks) {
      peer.asks = true;
      give_back(source);
    }
    return;
  }
  if (!handlers_.serves(header.handler)) {
    fail_(Error(ErrorCode::invalid_argument,
                "rank " + std::to_string(source) + " sent an active message for handler " +
                    std::to_string(header.handler) +
                    ", which this rank has not registered; call register_am on every rank, in the "
                    "same order"));
  }
  in_handler_ = true;
  handler_class_ = (header.flags & kReplyFlag) != 0 ? Class::reply : Class::request;
  handler_source_ = source;
  const Purpose purpose = handlers_.purpose(header.handler);
  if (handler_class_ == Class::request && purpose != Purpose::answer) note_wait(peer);
  handler_hold_ = kNone;
  program_handlers_ += purpose == Purpose::program ? 1 : 0;
  const Handler& handler = handlers_.handler(header.handler);
  const auto payload = message.subspan(sizeof header);
  purpose == Purpose::program ? run_for_program(handler, source, payload)
                              : handler(source, payload);
  in_handler_ = false;
  ++statistics_.served;
  peer.asks = peer.asks || asks;
  if (handler_class_ == Class::request) {
    if (handler_hold_ == kNone) owe_request(source);
  } else {
    owe(source, Class::reply);
  }
}

// Whatever call the rank is in, no exception of a handler may end it.
void ActiveMessages::run_for_program(const Handler& handler, Rank source,
                                     std::span<const std::byte> payload) const {
  try {
    handler(source, payload);
  } catch (...) {
    fail_(Error(ErrorCode::invalid_argument,
                "a handler of active messages has thrown, for a message of rank " +
                    std::to_string(source) + ": " + exception_text() +
                    "; a handler must not throw: no one could catch it"));
  }
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
  const HandlerTable::Landed* const landed = handlers_.landed(tag);
  if (landed == nullptr) {
    fail_(Error(ErrorCode::data_loss,
                "rank " + std::to_string(source) + " says that a put has landed with tag " +
                    std::to_string(tag) +
                    ", which nothing here expects; all ranks must run the same version"));
    return;
  }
  in_handler_ = true;
  handler_class_ = Class::reply;
  handler_source_ = source;
  handler_hold_ = kNone;
  if (landed->purpose != Purpose::answer) note_wait(peers_[source]);
  landed->handler(source, tag - landed->tags.first);
  in_handler_ = false;
  ++statistics_.served;
}

void ActiveMessages::owe(Rank source, Class kind) {
  ++peers_[source].owed[static_cast<size_t>(kind)];
  give_back(source);
}

// In the order of the requests.
void ActiveMessages::owe_request(Rank source) {
  Peer& peer = peers_[source];
  if (peer.last_hold != kNone) {
    ++holds_[peer.last_hold].behind;
  } else {
    owe(source, Class::request);
  }
}

// Everything that its handler sent is out.
void ActiveMessages::release_hold(uint32_t hold) {
  const Rank source = holds_[hold].source;
  Peer& peer = peers_[source];
  while (peer.first_hold != kNone && holds_[peer.first_hold].remaining == 0) {
    const Hold& first = holds_[peer.first_hold];
    peer.owed[0] += 1 + first.behind;
    free_holds_.push_back(peer.first_hold);
    peer.first_hold = first.next;
  }
  if (peer.first_hold == kNone) peer.last_hold = kNone;
  give_back(source);
}

// Credits that are due: at once where possible, since the sender may be waiting for them.
void ActiveMessages::give_back(Rank rank) {
  Peer& peer = peers_[rank];
  if (!credits_due(peer)) {
    if (peer.first_hold == kNone) peer.asks = false;  // they are in flight
    return;
  }
  if (started_ && transmit(rank, HandlerTable::kNoHandler, Class::request, {}, {})) {
    ++statistics_.credit_messages;
  } else {
    add_work(rank);
  }
}

bool ActiveMessages::credits_due(const Peer& peer) const {
  // At half, one message serves many credits and the sender still holds the other half. A sender
  // that has none left is owed all of them, so this cannot strand it.
  return peer.owed[0] >= (peer.asks ? 1 : std::max<uint32_t>(1, config_.request_credits / 2U)) ||
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
  holds_[hold] = Hold{.source = source};
  Peer& peer = peers_[source];
  (peer.first_hold == kNone ? peer.first_hold : holds_[peer.last_hold].next) = hold;
  peer.last_hold = hold;
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
    if (hold != kNone && --holds_[hold].remaining == 0) release_hold(hold);
  }
  if (peer.ask_unsent) {
    if (!transmit(rank, HandlerTable::kNoHandler, Class::request, {}, {}, true)) return false;
    peer.ask_unsent = false;
  }
  if (credits_due(peer)) {
    if (!transmit(rank, HandlerTable::kNoHandler, Class::request, {}, {})) return false;
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
