// Reaching the peers, and leaving them.
#include <algorithm>
#include <sched.h>

#include "base/quantity.h"
#include "runtime/fabric/ofi/monotonic_clock.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_provider.h"
#include "runtime/fabric/ofi/ofi_rank.h"
#include "runtime/fabric/ofi/ofi_variables.h"

namespace stripline::fabric::ofi {
namespace {

/// Time a closing rank gives the network to take its last messages.
constexpr double kGoodbyeSeconds = 0.5;
/// The same to ranks that are threads of this process, until they close, too.
constexpr double kGoodbyeOfThreadsSeconds = 10;

/// Polls without a result before a waiting rank gives its core away: at once if ranks share cores,
/// after milliseconds if not.
constexpr uint64_t kSpinsShared = 0;
constexpr uint64_t kSpinsAlone = 20000;

/// Why a peer cannot be reached whatever we try; empty if nothing is known against it.
std::string obstacle(const Address& mine, const Address& peer) {
  if (peer.provider != mine.provider) {
    return "it uses provider " + peer.provider + " and this rank " + mine.provider +
           "; start all ranks with the same --fabric";
  }
  if (mine.provider == "shm" && !mine.host.same_machine(peer.host)) {
    return "it runs on another machine, which the fabric 'shm' does not reach; use --fabric tcp";
  }
  if (uses_sockets(mine.provider) && !mine.host.same_network(peer.host) &&
      (mine.loopback || peer.loopback)) {
    if (mine.host.boot_id.empty()) {
      return "/proc cannot be read here, which tells ranks of this host from others; mount it, or "
             "set STRIPLINE_ADDRESS or STRIPLINE_IFACE for every rank";
    }
    return std::string(peer.loopback ? "it" : "this rank") + " listens on the loopback address " +
           (peer.loopback ? peer.endpoint_text : mine.endpoint_text) +
           ", which does not reach another host or network namespace; set STRIPLINE_ADDRESS or "
           "STRIPLINE_IFACE for every rank";
  }
  return {};
}

/// What may be the reason where nothing else is.
std::string in_force() {
  const std::string variables = to_text(that_change_speed(libfabric_variables()));
  return variables.empty() ? std::string() : "; variables of libfabric in force: " + variables;
}

}  // namespace

Status OfiRank::connect(std::span<const std::string> addresses, double timeout_s) {
  connecting_ = true;
  connect_error_.reset();
  STRIPLINE_RETURN_IF_ERROR(insert_peers(addresses));
  STRIPLINE_RETURN_IF_ERROR(exchange_hellos(timeout_s));
  connecting_ = false;
  start_s_ = monotonic_s();
  return {};
}

Status OfiRank::insert_peers(std::span<const std::string> addresses) {
  if (addresses.size() != ranks_) {
    return Error(ErrorCode::invalid_argument, "connect() got " + std::to_string(addresses.size()) +
                                                  " addresses for " + std::to_string(ranks_) +
                                                  " ranks");
  }
  addresses_.resize(ranks_);
  for (Rank rank = 0; rank < ranks_; ++rank) {
    auto decoded = Address::decode(addresses[rank]);
    if (!decoded.ok()) {
      return decoded.error().with_context("address of rank " + std::to_string(rank));
    }
    addresses_[rank] = std::move(decoded).value();
    const Address& address = addresses_[rank];
    Peer& peer = peers_[rank];
    peer.key = address.segment_key;
    peer.base = address.segment_base;
    peer.segment_bytes = address.segment_bytes;
    if (rank == rank_ && own_atomics_in_calls_) continue;
    if (const std::string reason = obstacle(address_, address); !reason.empty()) {
      return Error(ErrorCode::unavailable, "rank " + std::to_string(rank_) + " cannot reach " +
                                               describe_peer(rank) + ": " + reason);
    }
    auto handle = endpoint_.insert_address(address.endpoint);
    if (!handle.ok()) return handle.error().with_context(describe_peer(rank));
    peer.handle = *handle;
    if (rank != rank_ && node_part(rank) == node_part(rank_)) {
      same_node_.add(rank, wanted_same_node_, address_, address);
      if (mailbox_.file() >= 0 && address.host.same_machine(address_.host)) {
        node_senders_.push_back({rank, RingReader(mailbox_.rings() + rank)});
      }
    }
    if (address.host.same_process_numbers(address_.host) &&
        !address.host.same_process(address_.host)) {
      watch_.add(rank, static_cast<pid_t>(address.host.pid));
    }
  }
  shares_cores_ = share_cores(addresses_, address_.host);
  spin_limit_ = shares_cores_ ? kSpinsShared : kSpinsAlone;
  info_.same_node = same_node_.describe(wanted_same_node_);
  nodes_ = nodes_of(addresses_);
  const Rank parts = node_part(ranks_ - 1) + 1;
  for (Rank rank = 0; rank < ranks_; ++rank) nodes_[rank] = nodes_[rank] * parts + node_part(rank);
  info_.nic_ranks = ranks_behind_nic(addresses_, address_.host);
  if (node_ranks_ > 0) info_.nic_ranks = std::min(node_ranks_, ranks_);
  return {};
}

Status OfiRank::exchange_hellos(double timeout_s) {
  const double deadline = monotonic_s() + timeout_s;
  std::vector<bool> greeted(ranks_, false);
  greeted[rank_] = true;
  peers_[rank_].hello = true;
  uint64_t rounds = 0;
  while (true) {
    bool complete = true;
    for (Rank rank = 0; rank < ranks_; ++rank) {
      if (!greeted[rank]) greeted[rank] = send(rank, MessageHeader::hello, {}, false);
      complete = complete && greeted[rank] && peers_[rank].hello;
    }
    drain();
    check_on_peers();
    if (connect_error_) return *connect_error_;
    // Own hellos must be out, too: this rank may not make progress for long after it returns.
    if (complete && operations_.in_use() == 0) return {};
    if (monotonic_s() >= deadline) {
      return Error(ErrorCode::deadline_exceeded,
                   "rank " + std::to_string(rank_) + " has no connection with " +
                       missing_peers(greeted) + " after " + seconds_text(timeout_s) +
                       "; they have ended, have not reached the same point, or the network "
                       "between the hosts drops their traffic ('stripline doctor' on both hosts "
                       "shows more)" +
                       in_force());
    }
    rest(++rounds);
  }
}

NetworkPlace OfiRank::place(Rank rank) const { return {nodes_[rank], addresses_[rank].switches}; }

std::string OfiRank::missing_peers(const std::vector<bool>& greeted) const {
  constexpr size_t kShown = 8;
  std::string list;
  size_t missing = 0;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if (greeted[rank] && peers_[rank].hello) continue;
    if (++missing <= kShown) list += (list.empty() ? "" : ", ") + describe_peer(rank);
  }
  if (missing > kShown) list += " and " + std::to_string(missing - kShown) + " more";
  return list.empty() ? "peers that took no message" : list;
}

void OfiRank::say_goodbye() {
  if (addresses_.empty()) return;  // never connected
  const double deadline = monotonic_s() + kGoodbyeSeconds;
  drain();  // some may have said theirs
  // A rank that is a thread of this process writes into this rank's mailbox itself, until it says
  // that it leaves: each waits for the other.
  const auto shares_mailboxes = [&](Rank rank) {
    return mailbox_.file() >= 0 && addresses_[rank].host.same_process(address_.host);
  };
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_ || !peers_[rank].hello) continue;
    // Between ranks of one process, shm writes into the peer's endpoint itself, which may be gone.
    // With mailboxes it waits for us.
    if (address_.provider == "shm" && addresses_[rank].host.same_process(address_.host) &&
        !shares_mailboxes(rank)) {
      continue;
    }
    while ((!peers_[rank].left || shares_mailboxes(rank)) &&
           !send(rank, MessageHeader::leave, {}, false) && monotonic_s() < deadline) {
      drain();
    }
  }
  while (operations_.in_use() > 0 && monotonic_s() < deadline) drain();
  const double patience = monotonic_s() + kGoodbyeOfThreadsSeconds;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_ || !shares_mailboxes(rank)) continue;
    while (!peers_[rank].left && monotonic_s() < patience) {
      drain();
      sched_yield();
    }
  }
}

}  // namespace stripline::fabric::ofi
