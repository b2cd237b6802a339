#include "runtime/am/bulk.h"

#include <cstring>

namespace stripline::am {
namespace {

template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

Bulk::Bulk(ActiveMessages& messages, fabric::Fabric& fabric, std::span<std::byte> memory, Rank rank,
           Rank ranks, const Config& config, fabric::FailureHandler fail)
    : messages_(messages),
      fabric_(fabric),
      shortcuts_(fabric.shortcuts()),
      memory_(memory),
      base_(static_cast<uint64_t>(memory.data() - fabric.segment().data())),
      layout_(memory.size(), ranks, config.slots),
      rank_(rank),
      name_(config.name),
      returns_at_once_(config.returns_at_once),
      fail_(std::move(fail)),
      free_(ranks, (1U << slots()) - 1),
      owed_(ranks, 0),
      lanes_(size_t{ranks} * slots()) {
  returns_ = messages_.serve(name_ + " given back", Purpose::answer,
                             [this](Rank source, std::span<const std::byte> message) {
                               Returns returns{};
                               if (message.size() != sizeof returns) {
                                 fail_malformed(source, "a slot that is given back");
                               }
                               std::memcpy(&returns, message.data(), sizeof returns);
                               take_returned(source, returns.slots);
                             });
  messages_.add_background(*this);
  if (!config.slots.twins) return;
  answer_notice_ = messages_.serve(name_ + " answer", Purpose::answer,
                                   [this](Rank source, std::span<const std::byte> message) {
                                     take_answer_notice(source, message);
                                   });
  landed_answer_ =
      messages_.land(name_ + " answer", config.slots.most_slots, Purpose::answer,
                     [this](Rank source, uint32_t slot) { take_landed_answer(source, slot); });
}

uint32_t Bulk::open(std::string_view name, Purpose purpose, Arrived arrived, Returned returned) {
  const auto channel = static_cast<uint32_t>(channels_.size());
  Channel& opened = channels_.emplace_back();
  opened.arrived = std::move(arrived);
  opened.returned = std::move(returned);
  opened.notice = messages_.serve(std::string(name) + " in a slot", purpose,
                                  [this, channel](Rank source, std::span<const std::byte> message) {
                                    take_notice(source, channel, message);
                                  });
  constexpr uint32_t kMostSlots = 8;
  opened.landing = messages_.land(
      name, kMostSlots, purpose,
      [this, channel](Rank source, uint32_t slot) { take_landed(source, channel, slot); });
  return channel;
}

void Bulk::look_after(Rank target, uint32_t slot) {
  watched_.push_back({target, slot});
  has_work_ = true;
}

void Bulk::put(uint32_t channel, Rank target, uint32_t slot, std::span<const std::byte> head,
               std::span<const std::byte> body, uint64_t note) {
  Lane& lane = this->lane(target, slot);
  lane.channel = channel;
  lane.note = note;
  lane.body_bytes = static_cast<uint32_t>(body.size());
  const Lead lead{static_cast<uint32_t>(head.size()), lane.body_bytes};
  lane.head.resize(sizeof lead + head.size());
  std::memcpy(lane.head.data(), &lead, sizeof lead);
  if (!head.empty()) std::memcpy(lane.head.data() + sizeof lead, head.data(), head.size());
  // Both calls may make progress, and what they lead to may come back meanwhile.
  if (notifies(target)) {
    lane.state = State::delivered;
    shortcuts_->put_notify(target, offset_of(target, slot), lane.head, body,
                           channels_[channel].landing.tag(slot), lane.moving);
    return;
  }
  lane.state = State::moving;
  fabric_.put(target, offset_of(target, slot), {body.data(), body.size()}, lane.moving);
  look_after(target, slot);
}

void Bulk::expect(Rank target, uint32_t slot, uint64_t note) {
  lane(target, slot).state = State::asked;
  lane(target, slot).note = note;
}

void Bulk::take_returned(Rank target, uint32_t which) {
  for (; which != 0; which &= which - 1) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(which));
    if (slot >= slots() || lane(target, slot).state != State::delivered) {
      fail_malformed(target, "a slot that is given back");
    }
    if (lane(target, slot).moving.pending == 0) {
      finish_return(target, slot);
    } else {
      lane(target, slot).state = State::returned;
      look_after(target, slot);
    }
  }
}

void Bulk::finish_return(Rank target, uint32_t slot) {
  Lane& lane = this->lane(target, slot);
  lane.state = State::unused;
  release(target, slot);
  const Returned& returned = channels_[lane.channel].returned;
  if (returned) returned(target, slot, lane.note);
}

void Bulk::finish_answer(Rank target, uint32_t slot, std::span<const std::byte> body) {
  lane(target, slot).state = State::unused;
  release(target, slot);
  answered_(target, slot, lane(target, slot).note, body);
}

void Bulk::take_landed_answer(Rank source, uint32_t slot) {
  if (slot >= slots() || lane(source, slot).state != State::asked) {
    fail_malformed(source, "an answer");
  }
  const std::span<const std::byte> twin = twin_of(source, slot);
  Lead lead{};
  std::memcpy(&lead, twin.data(), sizeof lead);
  if (lead.body_bytes > twin.size() - sizeof lead) fail_malformed(source, "an answer");
  finish_answer(source, slot, twin.subspan(sizeof lead, lead.body_bytes));
}

void Bulk::take_answer_notice(Rank source, std::span<const std::byte> message) {
  Notice notice{};
  if (message.size() == sizeof notice) std::memcpy(&notice, message.data(), sizeof notice);
  if (message.size() != sizeof notice || notice.slot >= slots() ||
      notice.body_bytes > slot_bytes() || lane(source, notice.slot).state != State::asked) {
    fail_malformed(source, "an answer");
  }
  lane(source, notice.slot).state = State::packed;
  lane(source, notice.slot).body_bytes = notice.body_bytes;
  look_after(source, notice.slot);  // handlers do not wait for room
}

void Bulk::take_landed(Rank source, uint32_t channel, uint32_t slot) {
  // The source may have learnt earlier than this rank that all networks tell of puts.
  if (slot >= slots() || source == rank_) fail_malformed(source, "a parcel");
  const std::span<const std::byte> memory = memory_of(source, slot);
  Lead lead{};
  std::memcpy(&lead, memory.data(), sizeof lead);
  const size_t room = memory.size() - sizeof lead;
  if (lead.head_bytes > room || lead.body_bytes > room - lead.head_bytes) {
    fail_malformed(source, "a parcel");
  }
  channels_[channel].arrived({source, slot, memory.subspan(sizeof lead, lead.head_bytes),
                              memory.subspan(sizeof lead + lead.head_bytes, lead.body_bytes)});
}

void Bulk::take_notice(Rank source, uint32_t channel, std::span<const std::byte> message) {
  Notice notice{};
  if (message.size() >= sizeof notice) std::memcpy(&notice, message.data(), sizeof notice);
  if (message.size() < sizeof notice || notice.slot >= slots() ||
      notice.body_bytes > slot_bytes()) {
    fail_malformed(source, "a parcel");
  }
  channels_[channel].arrived({source, notice.slot, message.subspan(sizeof notice),
                              memory_of(source, notice.slot).first(notice.body_bytes)});
}

void Bulk::answer(Rank source, uint32_t slot, std::span<const std::byte> body) {
  const auto bytes = static_cast<uint32_t>(body.size());
  if (notifies(source) && bytes <= room(0)) {
    answers_.push_back({source, slot, {0, bytes}, body, {}});
    has_work_ = true;  // which is to be put there, and handlers do not wait for room
    return;
  }
  std::byte* const here = memory_of(source, slot).data();
  if (body.data() != here) std::memcpy(here, body.data(), body.size());
  messages_.send(source, answer_notice_, bytes_of(Notice{slot, bytes}), {});
}

void Bulk::give_back(Rank source, uint32_t slot) {
  owed_[source] |= static_cast<uint8_t>(1U << slot);
  if (!returns_at_once_ && owed_[source] != (1U << slots()) - 1) return;
  messages_.send(source, returns_, bytes_of(Returns{take_owed(source), 0}), {});
}

bool Bulk::can_advance(const Slot& one) const {
  const Lane& lane = this->lane(one.target, one.slot);
  if (lane.state == State::packed) return true;
  return lane.moving.pending == 0 &&
         (lane.state != State::moving || messages_.has_credit(one.target));
}

// True if there is nothing more to look after.
bool Bulk::step(const Slot& one) {
  Lane& lane = this->lane(one.target, one.slot);
  switch (lane.state) {
    case State::moving: {
      const Notice notice{one.slot, lane.body_bytes};
      std::memcpy(lane.head.data(), &notice, sizeof notice);
      lane.state = State::delivered;
      messages_.send(one.target, channels_[lane.channel].notice, lane.head, {});
      return true;
    }
    case State::packed:
      lane.state = State::fetching;
      fabric_.get({twin_of(one.target, one.slot).data(), lane.body_bytes}, one.target,
                  offset_of(one.target, one.slot), lane.moving);
      return false;
    case State::fetching:
      finish_answer(one.target, one.slot, twin_of(one.target, one.slot).first(lane.body_bytes));
      return true;
    case State::returned:
      finish_return(one.target, one.slot);
      return true;
    case State::unused:
    case State::delivered:
    case State::asked:
      return true;
  }
  return true;
}

bool Bulk::ready() const {
  if (advancing_) return false;
  if (answers_put_ < answers_.size()) return true;
  if (!answers_.empty() && answers_.front().sent.pending == 0) return true;
  return std::ranges::any_of(watched_, [this](const Slot& one) { return can_advance(one); });
}

void Bulk::advance() {
  if (advancing_) return;  // what step() calls makes progress
  advancing_ = true;
  put_answers();
  for (size_t i = 0; i < watched_.size();) {
    const Slot one = watched_[i];
    if (!can_advance(one) || !step(one)) {
      ++i;
      continue;
    }
    watched_.erase(watched_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  advancing_ = false;
  has_work_ = !watched_.empty() || !answers_.empty();
}

void Bulk::put_answers() {
  while (answers_put_ < answers_.size()) {
    Answer& answer = answers_[answers_put_++];
    shortcuts_->put_notify(answer.source, twin_offset_of(answer.source, answer.slot),
                           bytes_of(answer.lead), answer.body, landed_answer_.tag(answer.slot),
                           answer.sent);
  }
  while (answers_put_ > 0 && answers_.front().sent.pending == 0) {
    answers_.pop_front();
    --answers_put_;
  }
}

void Bulk::fail_malformed(Rank source, const char* what) const {
  fail_(Error(ErrorCode::data_loss, "rank " + std::to_string(source) + " sent " + what + " (" +
                                        name_ +
                                        ") that is not well formed; all ranks must run the same "
                                        "version"));
}

}  // namespace stripline::am
