#include "runtime/fabric/emulated/rank_engine.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/whole_file.h"
#include "runtime/fabric/atomic_apply.h"
#include "runtime/fabric/emulated/uncached_copy.h"

namespace stripline::fabric {
namespace {

// Differs between hosts and between boots, the same in all containers of a host.
std::string host_identity() { return first_line("/proc/sys/kernel/random/boot_id"); }

}  // namespace

// Every public call is bracketed by one; handlers call back in, so that only the outermost counts.
class RankEngine::Scope {
 public:
  explicit Scope(RankEngine& engine) : engine_(engine) {
    if (engine_.depth_++ > 0) {
      engine_.charge_work();  // of the handler that calls
      return;
    }
    engine_.enter();
    engine_.entered_s_ = engine_.clock();
  }
  ~Scope() {
    if (--engine_.depth_ == 0) engine_.leave();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  RankEngine& engine_;
};

RankEngine::RankEngine(ProfileRequest request, const OpenOptions& options, SharedRegion region)
    : profile_(std::move(request.profile)),
      compute_(request.compute),
      rank_(options.rank),
      ranks_(options.ranks),
      region_(std::move(region)) {
  info_.name = options.fabric;
  info_.provider = "emulated";
  info_.clock = options.clock;
  info_.max_message_bytes = profile_.max_message_bytes;
  info_.queue_depth = profile_.queue_depth;
  info_.peer_bytes = sizeof(RingControl) +
                     profile_.injection_limit * (sizeof(MessageSlot) + profile_.max_message_bytes);
  info_.iov_limit = kIovLimit;
  info_.flag_with_data = true;
  info_.goes_on_without_calls = !profile_.put.needs_target && !profile_.get.needs_target;
  info_.gets_need_target = profile_.get.needs_target;
  info_.puts_need_target = profile_.put.needs_target;
  if (buffers_are_finite()) {
    const uint32_t nodes = node_of(ranks_ - 1) + 1;
    waiting_.resize(nodes + profile_.tree.links(nodes));
  }
  for (Rank other = 0; other < ranks_; ++other) {
    info_.nic_ranks += other != rank_ && node_of(other) == node_of(rank_) ? 1 : 0;
  }
  info_.attributes = {{"fabric.provider", "emulated"}, {"fabric.profile", profile_.name}};

  std::mt19937_64 run_random(options.seed);
  std::normal_distribution<double> normal;
  for (double* factor : {&run_o_, &run_L_, &run_G_}) {
    *factor = std::exp(profile_.jitter_between_runs * normal(run_random));
  }
  std::seed_seq seeds{static_cast<uint32_t>(options.seed),
                      static_cast<uint32_t>(options.seed >> 32), options.rank, uint32_t{1}};
  random_.seed(seeds);
}

RankEngine::~RankEngine() = default;

std::string RankEngine::local_address() const { return "emulated " + host_identity(); }

Status RankEngine::connect(std::span<const std::string> addresses, double /*timeout_s*/) {
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i] != local_address()) {
      return Error(ErrorCode::failed_precondition,
                   "rank " + std::to_string(i) +
                       " is on another host or uses another fabric; the emulated fabric joins "
                       "ranks of one host only");
    }
  }
  if (rank_ == 0) region_.unlink();  // every rank has it mapped, or it could not have joined
  started();
  connected_ = true;
  origin_s_ = clock();
  return {};
}

void RankEngine::fail(const Error& error) {
  if (on_failure_) on_failure_(error);
  std::abort();  // a failure handler does not return
}

double RankEngine::vary(double sigma) {
  if (sigma == 0) return 1;
  std::normal_distribution<double> normal;
  return std::exp(sigma * normal(random_));
}

void RankEngine::push(double time_s, uint32_t operation, Stage stage) {
  events_.push({time_s, sequence_++, operation, stage});
}

void RankEngine::release(uint32_t operation) { free_operations_.push_back(operation); }

void RankEngine::await_queue_room() {
  while (queued_ >= profile_.queue_depth) {
    run_events();
    if (queued_ < profile_.queue_depth) return;
    idle(kNever);
  }
}

uint32_t RankEngine::start(Kind kind, Rank target, uint64_t offset, std::byte* local, size_t bytes,
                           Counter* counter, const OperationProfile& operation_profile) {
  await_queue_room();
  const ProfileSegment& segment = operation_profile.at(bytes);
  const auto size = static_cast<double>(bytes);
  const double sigma = profile_.jitter_within_run;
  charge((segment.o_base_s + segment.o_per_byte_s * size) * run_o_ * vary(sigma));

  uint32_t index = 0;
  if (free_operations_.empty()) {
    index = static_cast<uint32_t>(operations_.size());
    operations_.emplace_back();
  } else {
    index = free_operations_.back();
    free_operations_.pop_back();
  }
  const double transfer_factor = run_G_ * vary(sigma);
  const uint32_t hops = profile_.tree.hops(node_of(rank_), node_of(target));
  Operation& operation = operations_[index];
  operation =
      Operation{.kind = kind,
                .target = target,
                .offset = offset,
                .local = local,
                .bytes = bytes,
                .counter = counter,
                .latency_s = segment.L_s * run_L_ * vary(sigma) + hops * profile_.tree.hop_s(),
                .gap_s = segment.g_s * transfer_factor,
                .occupancy_s = segment.G_s_per_byte * size * transfer_factor,
                .retire_s = (segment.r_base_s + segment.r_per_byte_s * size) * run_o_,
                .serve_s = (segment.s_base_s + segment.s_per_byte_s * size) * run_o_,
                .hops = hops,
                .link_bytes = size * transfer_factor};
  if (counter != nullptr) ++counter->pending;
  ++queued_;
  push(clock(), index, Stage::depart);
  return index;
}

void RankEngine::get(const Memory& destination, Rank target, uint64_t offset, Counter& counter) {
  const Scope scope(*this);
  start(Kind::get, target, offset, destination.pointer, destination.bytes, &counter, profile_.get);
  ++traffic_.gets;
  traffic_.get_bytes += destination.bytes;
}

void RankEngine::put(Rank target, uint64_t offset, const Memory& source, Counter& counter) {
  const Scope scope(*this);
  start(Kind::put, target, offset, source.pointer, source.bytes, &counter, profile_.put);
  ++traffic_.puts;
  traffic_.put_bytes += source.bytes;
}

uint32_t RankEngine::start(Kind kind, Rank target, std::span<const Piece> pieces, Counter& counter,
                           const OperationProfile& operation) {
  size_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  const uint32_t index = start(kind, target, 0, nullptr, bytes, &counter, operation);
  operations_[index].pieces.assign(pieces.begin(), pieces.end());
  return index;
}

void RankEngine::getv(Rank target, std::span<const Piece> pieces, Counter& counter) {
  if (pieces.size() > kIovLimit) return Fabric::getv(target, pieces, counter);
  const Scope scope(*this);
  const uint32_t index = start(Kind::get, target, pieces, counter, profile_.get);
  ++traffic_.gets;
  traffic_.get_bytes += operations_[index].bytes;
}

void RankEngine::putv(Rank target, std::span<const Piece> pieces, Counter& counter) {
  if (pieces.size() > kIovLimit) return Fabric::putv(target, pieces, counter);
  const Scope scope(*this);
  const uint32_t index = start(Kind::put, target, pieces, counter, profile_.put);
  ++traffic_.puts;
  traffic_.put_bytes += operations_[index].bytes;
}

void RankEngine::copy(const Operation& operation) {
  std::byte* const segment = region_.segment(operation.target).data();
  const auto move = [&](uint64_t offset, std::byte* local, size_t bytes) {
    if (operation.kind == Kind::get) {
      copy_uncached(local, segment + offset, bytes);
    } else {
      copy_uncached(segment + offset, local, bytes);
    }
  };
  if (operation.pieces.empty()) move(operation.offset, operation.local, operation.bytes);
  for (const Piece& piece : operation.pieces) move(piece.offset, piece.memory, piece.bytes);
}

void RankEngine::put_signal(Rank target, uint64_t offset, const Memory& source,
                            const Signal& signal, Counter& counter) {
  const Scope scope(*this);
  const uint32_t index =
      start(Kind::put, target, offset, source.pointer, source.bytes, &counter, profile_.put);
  operations_[index].signals = true;
  operations_[index].signal = signal;
  ++traffic_.puts;
  traffic_.put_bytes += source.bytes;
}

bool RankEngine::has_atomic(AtomicOp op, AtomicType type, bool previous) const {
  const bool bitwise = op == AtomicOp::bit_and || op == AtomicOp::bit_or || op == AtomicOp::bit_xor;
  if (op == AtomicOp::load || op == AtomicOp::compare_swap) return previous;
  return !bitwise || type != AtomicType::float64;
}

void RankEngine::atomic(const AtomicRequest& request, Rank target, uint64_t offset, void* previous,
                        Counter& counter) {
  const Scope scope(*this);
  const uint32_t index = start(Kind::atomic, target, offset, static_cast<std::byte*>(previous),
                               bytes_of(request.type), &counter, profile_.get);
  operations_[index].request = request;
  ++traffic_.atomics;
}

bool RankEngine::try_send(Rank target, std::span<const std::byte> message) {
  const Scope scope(*this);
  RingControl& ring = region_.ring(rank_, target);
  const uint32_t tail = ring.tail.load(std::memory_order_relaxed);
  if (tail - ring.head.load(std::memory_order_acquire) >= profile_.injection_limit) return false;
  MessageSlot& slot = region_.slot(rank_, target, tail);
  slot.size = static_cast<uint32_t>(message.size());
  std::memcpy(SharedRegion::bytes_of(slot), message.data(), message.size());
  ring.tail.store(tail + 1, std::memory_order_release);
  const uint32_t index =
      start(Kind::message, target, 0, nullptr, message.size(), nullptr, profile_.am);
  operations_[index].slot = &slot;
  ++traffic_.messages;
  traffic_.message_bytes += message.size();
  return true;
}

bool RankEngine::is_lost(const Event& event, const Operation& operation) const {
  return profile_.lost_rank && event.time_s >= profile_.lost_at_s &&
         (*profile_.lost_rank == rank_ || *profile_.lost_rank == operation.target);
}

// The share of the bandwidth each of the nodes that transmit now is left with.
double RankEngine::bandwidth_share(double time_s) const {
  if (profile_.concurrency.empty()) return 1;
  uint32_t senders = 1;  // the one that asks
  for (uint32_t node = 0; node <= node_of(ranks_ - 1); ++node) {
    if (region_.nic(node).transmit_free_s > time_s) ++senders;
  }
  double factor = 1;
  for (const ConcurrencyLevel& level : profile_.concurrency) {
    if (senders >= level.senders) factor = level.bandwidth_factor;
  }
  return factor;
}

void RankEngine::depart(const Event& event, Operation& operation) {
  if (is_round_trip(operation)) {  // the request takes no room on the wire
    push(event.time_s + operation.latency_s, event.operation, Stage::arrive);
    return;
  }
  if (in_packets()) return send_packets(event.time_s, event.operation);
  lock_nics();
  NicState& nic = region_.nic(node_of(rank_));
  const double begin = std::max(event.time_s, nic.transmit_free_s);
  operation.occupancy_s /= bandwidth_share(begin);
  nic.transmit_free_s = begin + operation.gap_s + operation.occupancy_s;
  const double drained = nic.transmit_free_s;
  unlock_nics();
  travel(begin, event.operation);
  push(drained, event.operation, Stage::drained);
}

void RankEngine::travel(double time_s, uint32_t index) {
  Operation& operation = operations_[index];
  const double hop_s = profile_.tree.hop_s();
  if (operation.hops_done == 0) {
    time_s += operation.latency_s - operation.hops * hop_s;
  } else {
    time_s += hop_s;
    operation.tail_s += hop_s;
  }
  const Stage last = is_round_trip(operation) ? Stage::back : Stage::arrive;
  push(time_s, index, operation.hops_done < operation.hops ? Stage::hop : last);
}

// The head of the message waits for the link, which the whole message then takes. It goes on while
// the rest follows.
void RankEngine::pass_link(const Event& event, Operation& operation) {
  const FatTree::Hop hop = hop_of(operation, operation.hops_done);
  lock_nics();
  double& free_s = region_.link(hop.link).free_s;
  const double begin = std::max(event.time_s, free_s);
  free_s = begin + operation.link_bytes * hop.G_s_per_byte;
  operation.tail_s = std::max(operation.tail_s, free_s);
  unlock_nics();
  ++operation.hops_done;
  travel(begin, event.operation);
}

// The shared link of this number on the route of the data.
FatTree::Hop RankEngine::hop_of(const Operation& operation, uint32_t number) const {
  return profile_.tree.hop(sender_of(operation), receiver_of(operation), number,
                           node_of(ranks_ - 1) + 1);
}

double RankEngine::receive(uint32_t node, double time_s, const Operation& operation) {
  lock_nics();
  NicState& nic = region_.nic(node);
  const double begin = std::max(time_s, nic.receive_free_s);
  nic.receive_free_s = std::max(begin + operation.occupancy_s, operation.tail_s);
  const double end = nic.receive_free_s;
  unlock_nics();
  return end;
}

void RankEngine::arrive(const Event& event, Operation& operation) {
  if (is_round_trip(operation)) {
    if (profile_.get.needs_target && !operation.served) {
      operation.served = true;
      const double served = attended_at(operation.target, event.time_s);
      if (served > event.time_s) {
        push(served, event.operation, Stage::arrive);
        return;
      }
    }
    if (operation.serve_s > 0) occupy(operation.target, event.time_s, operation.serve_s);
    if (in_packets()) return send_packets(event.time_s, event.operation);
    lock_nics();
    NicState& nic = region_.nic(node_of(operation.target));
    const double begin = std::max(event.time_s, nic.transmit_free_s);
    operation.occupancy_s /= bandwidth_share(begin);
    nic.transmit_free_s = begin + operation.gap_s + operation.occupancy_s;
    unlock_nics();
    push(begin, event.operation, Stage::read);
    return;
  }
  double time_s = event.time_s;
  if (operation.kind == Kind::put && profile_.put.needs_target) {
    time_s = attended_at(operation.target, time_s);
  }
  received(time_s, receive(node_of(operation.target), time_s, operation), event.operation);
}

void RankEngine::received(double time_s, double end_s, uint32_t index) {
  const Operation& operation = operations_[index];
  if (operation.kind == Kind::put) {
    if (operation.serve_s > 0) occupy(operation.target, time_s, operation.serve_s);
    push(copies_early() ? std::max(time_s, end_s - operation.occupancy_s) : end_s, index,
         Stage::land);
    push(end_s + operation.latency_s, index, Stage::complete);
    return;
  }
  operation.slot->arrival_s = end_s;
  operation.slot->ready.store(1, std::memory_order_release);
  region_.control(operation.target).messages.fetch_add(1, std::memory_order_release);
  poke(operation.target, end_s);
  release(index);
}

void RankEngine::carry_out_next() {
  const Event event = events_.top();
  events_.pop();
  switch (event.stage) {
    case Stage::packet_hop:
      return come_to_link(event.time_s, event.operation);
    case Stage::packet_arrive:
      return receive_packet(event);
    case Stage::granted:
      return go_on_granted(event);
    case Stage::vacate:
      free_leaving_.push_back(event.operation);
      return give_back(event.time_s, leaving_[event.operation]);
    default:
      break;
  }
  Operation& operation = operations_[event.operation];
  if (is_lost(event, operation) && event.stage == Stage::arrive) {
    push(event.time_s + profile_.loss_detected_after_s, event.operation, Stage::lost);
    return;
  }
  switch (event.stage) {
    case Stage::depart:
      depart(event, operation);
      break;
    case Stage::hop:
      pass_link(event, operation);
      break;
    case Stage::arrive:
      arrive(event, operation);
      break;
    case Stage::read: {
      if (operation.kind == Kind::atomic) {
        apply_atomic(operation.request, region_.segment(operation.target).data() + operation.offset,
                     operation.local);
        poke(operation.target, event.time_s);
      } else {
        copy(operation);
      }
      if (!in_packets()) travel(event.time_s, event.operation);
      break;
    }
    case Stage::back:
      push(receive(node_of(rank_), event.time_s, operation), event.operation, Stage::complete);
      break;
    case Stage::land:
      copy(operation);
      if (operation.signals) {
        raise_flag(region_.segment(operation.target).data() + operation.signal.offset,
                   operation.signal.value);
      }
      poke(operation.target, event.time_s);
      break;
    case Stage::drained:
      --queued_;
      poke(rank_, event.time_s);
      break;
    case Stage::complete:
      if (is_round_trip(operation)) --queued_;
      completed_.push_back(event.operation);
      poke(rank_, event.time_s);
      break;
    case Stage::lost:
      fail(Error(ErrorCode::aborted,
                 "lost contact with rank " +
                     std::to_string(*profile_.lost_rank == rank_ ? rank_ : operation.target) +
                     " (the profile loses rank " + std::to_string(*profile_.lost_rank) + ")"));
    default:
      break;  // above
  }
}

double RankEngine::next_arrival_s() const {
  double earliest = kNever;
  if (!has_messages()) return earliest;
  for (Rank source = 0; source < ranks_; ++source) {
    const RingControl& ring = region_.ring(source, rank_);
    const uint32_t head = ring.head.load(std::memory_order_relaxed);
    if (ring.tail.load(std::memory_order_acquire) == head) continue;
    const MessageSlot& slot = region_.slot(source, rank_, head);
    if (slot.ready.load(std::memory_order_acquire) != 0) {
      earliest = std::min(earliest, slot.arrival_s);
    }
  }
  return earliest;
}

// Looking through the rings of all peers takes much longer.
bool RankEngine::has_messages() const {
  return region_.control(rank_).messages.load(std::memory_order_acquire) != 0;
}

bool RankEngine::deliver_message() {
  if (!has_messages()) return false;
  const double now = clock();
  Rank first = ranks_;
  double first_s = kNever;
  for (Rank source = 0; source < ranks_; ++source) {
    const RingControl& ring = region_.ring(source, rank_);
    const uint32_t head = ring.head.load(std::memory_order_relaxed);
    if (ring.tail.load(std::memory_order_acquire) == head) continue;
    const MessageSlot& slot = region_.slot(source, rank_, head);
    if (slot.ready.load(std::memory_order_acquire) == 0) continue;
    if (slot.arrival_s <= now && slot.arrival_s < first_s) {
      first = source;
      first_s = slot.arrival_s;
    }
  }
  if (first == ranks_) return false;
  RingControl& ring = region_.ring(first, rank_);
  const uint32_t head = ring.head.load(std::memory_order_relaxed);
  MessageSlot& slot = region_.slot(first, rank_, head);
  const ProfileSegment& segment = profile_.am.at(slot.size);
  charge((segment.r_base_s + segment.r_per_byte_s * slot.size) * run_o_);
  waited_s_ = std::max(0.0, entered_s_ - first_s);
  if (sink_ != nullptr) {
    sink_->on_message(first, {SharedRegion::bytes_of(slot), slot.size});
    charge_work();
  }
  slot.ready.store(0, std::memory_order_relaxed);
  region_.control(rank_).messages.fetch_sub(1, std::memory_order_relaxed);
  ring.head.store(head + 1, std::memory_order_release);
  return true;
}

bool RankEngine::deliver() {
  bool any = deliver_message();
  if (!completed_.empty()) {
    any = true;
    retiring_.swap(completed_);
    for (const uint32_t index : retiring_) {
      charge(operations_[index].retire_s);
      --operations_[index].counter->pending;
      release(index);
    }
    retiring_.clear();
  }
  return any;
}

template <typename Condition>
bool RankEngine::wait_until(const Condition& condition, double deadline_s) {
  const double deadline = deadline_s + origin_s_;
  while (true) {
    run_events();
    while (deliver()) run_events();
    if (condition()) return true;
    if (clock() >= deadline) return false;
    idle(std::min(deadline, next_arrival_s()));
  }
}

bool RankEngine::wait(const std::function<bool()>& condition, double deadline_s) {
  const Scope scope(*this);
  return wait_until(condition, deadline_s);
}

void RankEngine::wait_for(const Counter& counter) {
  const Scope scope(*this);
  wait_until([&] { return counter.pending == 0; }, kNever);
}

void RankEngine::poll() {
  const Scope scope(*this);
  run_events();
  deliver();
  charge(profile_.poll_s);
}

void RankEngine::attend() {
  const Scope scope(*this);
  run_events();
  while (deliver_message()) run_events();
  charge(profile_.poll_s);
}

double RankEngine::now_s() {
  const Scope scope(*this);
  return clock() - origin_s_;
}

void RankEngine::compute_for(double seconds) {
  const Scope scope(*this);
  charge(seconds);
}

void RankEngine::drain() {
  while (has_event() || waiting_count_ > 0) {
    run_events();
    if (has_event() || waiting_count_ > 0) idle(next_event_s());
  }
}

}  // namespace stripline::fabric
