// Completing operations, delivering messages, waiting, and noticing that a peer is gone.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <poll.h>
#include <sched.h>

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "base/exit_codes.h"
#include "base/quantity.h"
#include "runtime/fabric/ofi/monotonic_clock.h"
#include "runtime/fabric/ofi/ofi_rank.h"

namespace stripline::fabric::ofi {
namespace {

/// Completions read at once.
constexpr size_t kBatch = 16;

/// Messages handed to the sink by one poll(), which must not block.
constexpr size_t kDeliveries = 64;

/// Polls of the mailbox alone between two polls of the provider, which cost as much as a hundred of
/// them, and come between a rank and the message that it waits for.
constexpr uint64_t kNodePollsPerCq = 256;

/// Polls between two looks at the clock, and the time between two looks at the peers.
constexpr uint64_t kPollsPerAttention = 1024;
constexpr double kAttentionSeconds = 0.02;

/// The longest time between two looks at whether processes of peers are stopped.
constexpr double kMostBetweenStatesSeconds = 2;

/// Time that may pass between two looks and still count as waiting; more was computation.
constexpr double kMaxGapSeconds = 0.5;

/// Polls of a further injector without a result for each one that serves this rank's peers, which
/// may be what its operations wait for.
constexpr uint64_t kPollsPerMeanwhile = 4;

/// Calls whose end is noted after somebody has asked how long a message waited: ranks that are
/// never asked for work need not look at the clock.
constexpr uint32_t kNotedStops = 4096;

// How long a peer that has vanished may still be found to have left in good order.
constexpr double kLeaveGraceSeconds = 1.0;

/// Errors that mean that the peer's process or the path to it is gone.
bool means_peer_gone(int error) {
  switch (std::abs(error)) {
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_ECONNREFUSED:
    case FI_ENOTCONN:
    case FI_ECANCELED:
    case FI_EIO:
    case FI_ENOENT:
    case FI_ETIMEDOUT:
    case FI_EHOSTUNREACH:
    case FI_ENETUNREACH:
    case FI_ESHUTDOWN:
    case EPIPE:
      return true;
    default:
      return false;
  }
}

const char* verb(OperationKind kind) {
  switch (kind) {
    case OperationKind::get:
      return "get from";
    case OperationKind::put:
      return "put to";
    case OperationKind::atomic:
      return "atomic operation on";
    case OperationKind::send:
      return "message to";
    case OperationKind::receive:
      return "receive of";
    case OperationKind::group:
      return "transfer with";
  }
  return "";
}

}  // namespace

// True if a completion tells of a put of another rank. That there are data for the target does not
// say so: sockets shows them to the initiator, too, on the completion of its own operation.
bool OfiRank::is_landing(uint64_t flags, const Operation* operation) const {
  if ((flags & FI_REMOTE_CQ_DATA) == 0 || (flags & FI_RECV) != 0) return false;
  return (flags & FI_REMOTE_WRITE) != 0 || !operations_.owns(operation);
}

void OfiRank::drain() {
  if (!unposted_receives_.empty()) repost_receives();
  std::array<fi_cq_data_entry, kBatch> entries;
  while (true) {
    const ssize_t count = fi_cq_read(cq_, entries.data(), entries.size());
    if (count == -FI_EAGAIN) return;
    if (count == -FI_EAVAIL) {
      take_error_entry();
      continue;
    }
    if (count < 0) {
      fail(Error(ErrorCode::unavailable,
                 "rank " + std::to_string(rank_) + " cannot read completions of provider " +
                     endpoint_.provider() + ": " + endpoint_.library().error_text(count)));
      return;
    }
    completions_ += static_cast<uint64_t>(count);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      auto* operation = static_cast<Operation*>(entries[i].op_context);
      if (is_landing(entries[i].flags, operation)) {
        take_landing(entries[i].data);
        continue;
      }
      if (operation == nullptr) continue;
      if (operation->kind == OperationKind::receive) {
        take_message(operation, entries[i].len);
      } else {
        complete(operation);
      }
    }
    if (static_cast<size_t>(count) < entries.size()) return;
  }
}

void OfiRank::take_error_entry() {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(cq_, &entry, 0) <= 0) return;
  std::array<char, 256> details{};
  const char* text =
      fi_cq_strerror(cq_, entry.prov_errno, entry.err_data, details.data(), details.size());
  std::string reason = endpoint_.library().error_text(entry.err);
  if (text != nullptr && *text != '\0' && reason != text) reason += " (" + std::string(text) + ")";
  take_error(static_cast<Operation*>(entry.op_context), reason, means_peer_gone(entry.err));
}

void OfiRank::take_error(Operation* operation, const std::string& reason, bool peer_gone) {
  ++completions_;
  if (operation == nullptr) {  // an injected message: whose, the provider does not say
    if (!closing_ && !peer_gone) {
      fail(Error(ErrorCode::aborted,
                 "rank " + std::to_string(rank_) + ": a message could not be sent: " + reason));
    }
    return;
  }
  if (operation->kind == OperationKind::receive) {
    // A connection that ends may take the buffer offered to it along; the peers it leads to are
    // found out by other means.
    if (closing_) return;
    if (peer_gone) {
      post_receive(operation);
    } else {
      fail(Error(ErrorCode::aborted,
                 "rank " + std::to_string(rank_) + ": receiving failed: " + reason));
    }
    return;
  }
  const OperationName what{operation->kind, operation->peer, operation->bytes};
  const bool forgiven = closing_ || (what.kind == OperationKind::send && peers_[what.peer].left);
  operation->destination = nullptr;  // there is no data to copy
  complete(operation);
  if (forgiven) return;
  const std::string message =
      describe(what) + " failed: " + reason +
      (peer_gone ? "; its process has ended or the network between the hosts is broken" : "");
  if (what.kind == OperationKind::send && peer_gone && !connecting_) {
    lose_peer(what.peer, message);
  } else {
    fail(Error(connecting_ ? ErrorCode::unavailable : ErrorCode::aborted, message));
  }
}

void OfiRank::complete(Operation* operation) {
  if (operation->group != nullptr || operation->kind == OperationKind::group) {
    Operation* group = operation->kind == OperationKind::group ? operation : operation->group;
    if (--group->pieces == 0) {
      --group->counter->pending;
      groups_.release(group);
    }
    if (operation == group) return;
  } else if (operation->counter != nullptr) {
    --operation->counter->pending;
  }
  if (operation->destination != nullptr) {
    std::memcpy(operation->destination, operation->staged, operation->bytes);
  }
  if (operation->buffer != nullptr) send_buffers_.release(operation->buffer);
  if (operation->region) operation->region.reset();
  operations_.release(operation);
}

void OfiRank::take_message(Operation* operation, size_t bytes) {
  MessageHeader header;
  if (bytes >= sizeof(header)) std::memcpy(&header, operation->buffer, sizeof(header));
  // Whoever finds the port can send to it: what no rank of this job wrote is dropped.
  if (bytes < sizeof(header) || header.job != job_ || header.source >= ranks_) {
    post_receive(operation);
    return;
  }
  operation->peer = header.source;
  operation->bytes = bytes - sizeof(header);
  Peer& peer = peers_[header.source];
  if (header.sequence != peer.next_receive) {
    out_of_order_.push_back(operation);
    return;
  }
  accept(operation, header);
  for (size_t i = 0; i < out_of_order_.size();) {
    Operation* held = out_of_order_[i];
    std::memcpy(&header, held->buffer, sizeof(header));
    if (header.sequence != peers_[header.source].next_receive) {
      ++i;
      continue;
    }
    out_of_order_.erase(out_of_order_.begin() + static_cast<ptrdiff_t>(i));
    accept(held, header);
    i = 0;
  }
}

void OfiRank::accept(Operation* operation, const MessageHeader& header) {
  Peer& peer = peers_[header.source];
  ++peer.next_receive;
  if (header.kind == MessageHeader::application) {
    arrivals_.push(operation);
    return;
  }
  if (header.kind == MessageHeader::hello) peer.hello = true;
  if (header.kind == MessageHeader::leave) peer.left = true;
  post_receive(operation);
}

void OfiRank::release_message(Operation* operation) {
  if (operation->kind == OperationKind::receive) {
    post_receive(operation);
  } else {  // a rank's message to itself
    complete(operation);
  }
}

void OfiRank::deliver() {
  if (delivering_ || sink_ == nullptr) return;
  delivering_ = true;
  for (size_t i = 0; i < kDeliveries && !arrivals_.empty(); ++i) {
    Operation* operation = arrivals_.pop();
    sink_->on_message(operation->peer,
                      {operation->buffer + sizeof(MessageHeader), operation->bytes});
    release_message(operation);
  }
  // The sink may send, and sending find more.
  for (size_t i = 0; i < landings_.size(); ++i) {
    const Landing landing = landings_[i];
    sink_->on_landed(landing.source, landing.tag);
  }
  landings_.clear();
  delivering_ = false;
}

/// Hands messages of ranks of this node to the sink.
void OfiRank::deliver_from_node() {
  if (delivering_ || sink_ == nullptr) return;
  delivering_ = true;
  size_t delivered = 0;
  // Each time another sender is the first: none can keep the others out.
  if (++first_sender_ >= node_senders_.size()) first_sender_ = 0;
  for (size_t i = 0; i < node_senders_.size() && delivered < kDeliveries; ++i) {
    const size_t index = first_sender_ + i;
    NodeSender& sender =
        node_senders_[index < node_senders_.size() ? index : index - node_senders_.size()];
    for (; delivered < kDeliveries && !sender.reader.empty(); ++delivered) {
      if (!sender.heard) {
        sender.heard = true;
        if (same_node_.writer(sender.rank)) ++ring_partners_;
      }
      sink_->on_message(sender.rank, sender.reader.front());
      sender.reader.pop();
    }
  }
  delivering_ = false;
  completions_ += delivered;
}

// Messages found by the first look of a call may have come at any time since the last look of the
// call before; those found by a later one have come just now.
void OfiRank::begin_looking() {
  first_look_ = true;
  unseen_s_ = kNotNoted;
  end_absence();
}

// Before anything of this rank's own makes the descriptor readable.
void OfiRank::note_absence() {
  absent_ = false;
  const double absence_s = monotonic_s() - stopped_s_;
  if (absence_s >= least_absence_s_ && is_readable()) away_s_ = absence_s;
}

void OfiRank::stop_looking() {
  first_look_ = false;
  stopped_s_ = kNotNoted;
  const bool counts_missed = std::isfinite(least_absence_s_);
  absent_ = counts_missed && operations_.in_use() == 0;
  if (noted_stops_ == 0 && !counts_missed) return;
  if (noted_stops_ > 0) --noted_stops_;
  stopped_s_ = monotonic_s();
}

void OfiRank::note_missed(double least_s) {
  if (settings_.waitable) least_absence_s_ = least_s;
}

bool OfiRank::is_readable() const {
  pollfd descriptor{endpoint_.wait_descriptor(), POLLIN, 0};
  return descriptor.fd >= 0 && ::poll(&descriptor, 1, 0) > 0;
}

std::optional<double> OfiRank::waited_s() {
  noted_stops_ = kNotedStops;
  if (!first_look_) return 0.0;
  if (stopped_s_ == kNotNoted) return std::nullopt;
  if (unseen_s_ == kNotNoted) unseen_s_ = monotonic_s() - stopped_s_;
  return unseen_s_;
}

bool OfiRank::needs_target(Rank target, bool /*put*/) const {
  return same_node_.path(target) == SameNode::network && !endpoint_.limits().automatic_progress;
}

std::optional<Watch> OfiRank::watch() const {
  if (!settings_.waitable) return std::nullopt;
  const int descriptor = endpoint_.wait_descriptor();
  return Watch{descriptor, descriptor >= 0 && node_senders_.empty()};
}

bool OfiRank::prepare_to_wait() {
  check_on_peers();
  const bool in_mailbox = std::any_of(node_senders_.begin(), node_senders_.end(),
                                      [](NodeSender& sender) { return !sender.reader.empty(); });
  return !in_mailbox && arrivals_.empty() && landings_.empty() && endpoint_.may_wait();
}

void OfiRank::woken() {
  if (noted_stops_ > 0) stopped_s_ = monotonic_s();
}

void OfiRank::poll() {
  begin_looking();
  look();
  stop_looking();
}

void OfiRank::look() {
  // A look at the provider costs a system call. Where all ranks send through rings, in both
  // directions, and nothing is in flight there, it can wait a little.
  deliver_from_node();
  const bool idle_provider = ring_partners_ + 1 == ranks_ && operations_.in_use() == 0;
  if (idle_provider && ++polls_without_cq_ < kNodePollsPerCq) return;
  polls_without_cq_ = 0;
  drain();
  if (away_s_ > 0) [[unlikely]] {
    // No message and nothing of this rank's own: what was there was for the provider.
    if (arrivals_.empty() && landings_.empty()) missed_ += {1, away_s_ / 2};
    away_s_ = 0;
  }
  if (!arrivals_.empty() || !landings_.empty()) deliver();
  if (active_signals_ > 0) advance_signals();
  if (++polls_ % kPollsPerAttention == 0) check_on_peers();
}

double OfiRank::now_s() { return monotonic_s() - start_s_; }

bool OfiRank::wait(const std::function<bool()>& condition, double deadline_s) {
  if (condition()) return true;
  const bool bounded = deadline_s < std::numeric_limits<double>::infinity();
  uint64_t fruitless = 0;
  bool holds = false;
  begin_looking();
  while (!holds && !(bounded && now_s() >= deadline_s)) {
    const uint64_t before = completions_;
    look();
    if (arrivals_.empty()) first_look_ = false;
    fruitless = completions_ == before ? fruitless + 1 : 0;
    rest(fruitless);
    holds = condition();
  }
  stop_looking();
  return holds;
}

void OfiRank::wait_for(const Counter& counter) {
  if (counter.pending == 0) return;
  uint64_t fruitless = 0;
  begin_looking();
  do {
    const uint64_t before = completions_;
    look();
    if (arrivals_.empty()) first_look_ = false;
    fruitless = completions_ == before ? fruitless + 1 : 0;
    rest(fruitless);
  } while (counter.pending != 0);
  stop_looking();
}

void OfiRank::compute_for(double seconds) {
  const double end = monotonic_s() + seconds;
  while (monotonic_s() < end) {
  }
}

void OfiRank::rest(uint64_t fruitless_polls) {
  if (meanwhile_ && fruitless_polls % kPollsPerMeanwhile == kPollsPerMeanwhile - 1) meanwhile_();
  if (fruitless_polls <= spin_limit_) return;
  sched_yield();
  check_on_peers();
}

/// Looks after what no completion reports: peers whose process has ended, and operations that will
/// never complete.
void OfiRank::check_on_peers() {
  const double now = monotonic_s();
  const double gap = now - attended_s_;
  if (gap < kAttentionSeconds) return;
  attended_s_ = now;

  while (const auto ended = watch_.poll()) {
    lose_peer(*ended, "its process has ended without leaving the job");
  }
  std::erase_if(suspects_, [&](const Suspect& suspect) { return peers_[suspect.rank].left; });
  for (const Suspect& suspect : suspects_) {
    if (now - suspect.since_s < kLeaveGraceSeconds) continue;
    fail(Error(connecting_ ? ErrorCode::unavailable : ErrorCode::aborted,
               "rank " + std::to_string(rank_) + " has lost " + describe_peer(suspect.rank) + ": " +
                   suspect.reason));
    return;
  }

  awake_s_ += std::min(gap, kMaxGapSeconds);
  if (watches_for_stopped_ && !connecting_) check_for_stopped_peers();

  const bool due = operations_.in_use() > 0 || blocked_ != nullptr || full_rings_ > 0;
  if (!due || completions_ != attended_completions_ || connecting_) {
    attended_completions_ = completions_;
    stalled_s_ = 0;
    return;
  }
  stalled_s_ += std::min(gap, kMaxGapSeconds);
  if (stalled_s_ < settings_.peer_timeout_s) return;
  stalled_s_ = 0;
  const std::string silent = silent_peers();
  if (silent.empty()) return;
  fail(Error(ErrorCode::aborted,
             "rank " + std::to_string(rank_) + " waits for " + silent +
                 ", and nothing has completed for " + seconds_text(settings_.peer_timeout_s) +
                 "; it hangs, is cut off, or computes without calling the library (raise "
                 "STRIPLINE_PEER_TIMEOUT if that is intended)"));
}

void OfiRank::check_for_stopped_peers() {
  const double pause_s =
      std::clamp(settings_.peer_timeout_s / 20, kAttentionSeconds, kMostBetweenStatesSeconds);
  if (awake_s_ - looked_at_states_s_ < pause_s) return;
  looked_at_states_s_ = awake_s_;
  const auto stopped = watch_.stopped(awake_s_, settings_.peer_timeout_s);
  if (!stopped) return;
  const std::string pid = std::to_string(stopped->pid);
  fail(Error(ErrorCode::aborted,
             "rank " + std::to_string(rank_) + " has lost " + describe_peer(stopped->rank) +
                 ": its process has been stopped (state T) for " +
                 seconds_text(settings_.peer_timeout_s) + "; 'kill -CONT " + pid +
                 "' lets it go on, and a longer STRIPLINE_PEER_TIMEOUT waits for that"));
}

void OfiRank::lose_peer(Rank rank, std::string reason) {
  const bool known = std::any_of(suspects_.begin(), suspects_.end(),
                                 [&](const Suspect& suspect) { return suspect.rank == rank; });
  if (!known && !peers_[rank].left) suspects_.push_back({rank, monotonic_s(), std::move(reason)});
}

void OfiRank::fail(const Error& error) {
  if (connecting_) {
    if (!connect_error_) connect_error_ = error;
    return;
  }
  failed_ = true;
  if (failure_handler_) failure_handler_(error);
  // Nothing can go on after this; a rank without a handler, too, must end with the documented code.
  (void)std::fprintf(stderr, "rank %u: error: %s\n", rank_, error.message().c_str());
  std::_Exit(exit_code_for(error.code()));
}

std::string OfiRank::describe_peer(Rank rank) const {
  std::string text = "rank " + std::to_string(rank);
  if (rank < addresses_.size()) {
    const Address& address = addresses_[rank];
    text += " (host " + address.host.name + ", process " + std::to_string(address.host.pid) + ", " +
            address.endpoint_text + ")";
  }
  return text;
}

std::string OfiRank::describe(const OperationName& what) const {
  return "rank " + std::to_string(rank_) + ": " + verb(what.kind) + " " + describe_peer(what.peer) +
         " of " + std::to_string(what.bytes) + " bytes";
}

std::string OfiRank::silent_peers() const {
  std::vector<bool> waited_for(ranks_, false);
  if (blocked_ != nullptr) waited_for[blocked_->peer] = true;
  if (full_rings_ > 0) waited_for[full_ring_] = true;
  for (const Operation& operation : operations_.all()) {
    if (operation.active) waited_for[operation.peer] = true;
  }
  std::string list;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    if (!waited_for[rank] || (computes_ && computes_(rank))) continue;
    list += (list.empty() ? "" : ", ") + describe_peer(rank);
  }
  return list;
}

}  // namespace stripline::fabric::ofi
