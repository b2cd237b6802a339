#include "suites/session.h"

#include <cstring>

#include "suites/inner_session.h"
#include "suites/pattern.h"

namespace stripline::suites {

Session::Session(Context& context, uint32_t run) : context_(context), run_(run) {
  echo_answer_ = context_.register_am([this](rank_t, std::span<const std::byte> payload) {
    if (comparing_) echo_agrees_ = !first_mismatch(payload, echo_seed_);
    ++answers_;
  });
  echo_ = context_.register_am([this](rank_t source, std::span<const std::byte> payload) {
    context_.am_send(source, echo_answer_, payload);
  });
  count_ = context_.register_am([this](rank_t, std::span<const std::byte> payload) {
    ++received_.messages;
    received_.bytes += payload.size();
  });
  check_ = context_.register_am([this](rank_t, std::span<const std::byte> payload) {
    ++received_.messages;
    received_.bytes += payload.size();
    if (!first_mismatch(payload, kSeed)) ++received_.good;
  });
  received_answer_ = context_.register_am([this](rank_t, std::span<const std::byte> payload) {
    if (payload.size() == sizeof(answer_)) std::memcpy(&answer_, payload.data(), sizeof(answer_));
    ++answers_;
  });
  ask_received_ = context_.register_am([this](rank_t source, std::span<const std::byte>) {
    context_.am_send(source, received_answer_, std::as_bytes(std::span(&received_, 1)));
    received_ = {};
  });
}

Session::~Session() = default;

Result<Session*> Session::on_node(const std::string& path) {
  auto known = nodes_.find(path);
  if (known == nodes_.end())
    known = nodes_.emplace(path, InnerSession::open_on_node(*this, path)).first;
  if (!known->second.ok()) return known->second.error();
  return (*known->second)->session();
}

Result<Session*> Session::served(const std::string& progress) {
  auto known = served_.find(progress);
  if (known == served_.end()) {
    known = served_.emplace(progress, InnerSession::open_served(*this, progress)).first;
  }
  if (!known->second.ok()) return known->second.error();
  return (*known->second)->session();
}

void Session::ping(rank_t target, std::span<const std::byte> payload) {
  const uint64_t before = answers_;
  context_.am_send(target, echo_, payload);
  context_.wait_until([&] { return answers_ != before; });
}

bool Session::checked_ping(rank_t target, std::span<const std::byte> payload, uint64_t seed) {
  comparing_ = true;
  echo_agrees_ = false;
  echo_seed_ = seed;
  ping(target, payload);
  comparing_ = false;
  return echo_agrees_;
}

void Session::send_counted(rank_t target, std::span<const std::byte> payload) {
  context_.am_send(target, count_, payload);
}

void Session::send_checked(rank_t target, std::span<const std::byte> payload) {
  context_.am_send(target, check_, payload);
}

Session::Received Session::take_received(rank_t target) {
  const uint64_t before = answers_;
  context_.am_send(target, ask_received_, {});
  context_.wait_until([&] { return answers_ != before; });
  return answer_;
}

}  // namespace stripline::suites
