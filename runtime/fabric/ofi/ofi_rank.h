// One rank's libfabric endpoint as a Fabric. The parts: ofi_rank.cc opens and closes,
// ofi_connect.cc reaches the peers, ofi_transfer.cc issues, ofi_progress.cc completes and waits.
// A further injector of a rank is one, too, without messages and a segment (ofi_injector.cc).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/fabric/fabric.h"
#include "runtime/fabric/ofi/ofi_address.h"
#include "runtime/fabric/ofi/ofi_endpoint.h"
#include "runtime/fabric/ofi/ofi_settings.h"
#include "runtime/fabric/ofi/operation.h"
#include "runtime/fabric/ofi/peer_watch.h"
#include "runtime/fabric/ofi/same_node.h"
#include "runtime/fabric/ofi/segment.h"
#include "runtime/fabric/shortcuts.h"

namespace stripline::fabric::ofi {

/// Leads every message on the wire.
struct MessageHeader {
  enum Kind : uint32_t {
    application = 1,
    hello = 2,  ///< connect(): the path from the sender is open
    leave = 3,  ///< the sender closes in good order; its end is no failure
  };
  uint32_t job = 0;       ///< of the sender; messages of another job are dropped
  uint32_t source = 0;    ///< rank
  uint32_t sequence = 0;  ///< per sender and target: completions may overtake one another
  uint32_t kind = 0;
};

class OfiRank final : public Fabric, public Shortcuts {
 public:
  static Result<std::unique_ptr<Fabric>> open(const OpenOptions& options, const Settings& settings);
  ~OfiRank() override;

  const Info& info() const override { return info_; }
  std::string local_address() const override { return address_.encode(); }
  Status connect(std::span<const std::string> addresses, double timeout_s) override;
  void set_message_sink(MessageSink* sink) override { sink_ = sink; }
  void set_failure_handler(FailureHandler handler) override {
    failure_handler_ = std::move(handler);
  }
  std::span<std::byte> segment() override { return segment_.bytes(); }
  std::span<std::byte> reachable_segment(Rank target) override {
    return target == rank_ ? segment() : same_node_.mapped(target);
  }
  SameNode path(Rank target) const override {
    return target == rank_ ? SameNode::mapped : same_node_.path(target);
  }
  NetworkPlace place(Rank rank) const override;
  void get(const Memory& destination, Rank target, uint64_t offset, Counter& counter) override;
  void put(Rank target, uint64_t offset, const Memory& source, Counter& counter) override;
  void getv(Rank target, std::span<const Piece> pieces, Counter& counter) override;
  void putv(Rank target, std::span<const Piece> pieces, Counter& counter) override;
  void put_signal(Rank target, uint64_t offset, const Memory& source, const Signal& signal,
                  Counter& counter) override;
  bool has_atomic(AtomicOp op, AtomicType type, bool previous) const override;
  void atomic(const AtomicRequest& request, Rank target, uint64_t offset, void* previous,
              Counter& counter) override;
  Result<std::unique_ptr<Injector>> open_injector(std::function<void()> meanwhile) override;
  bool try_send(Rank target, std::span<const std::byte> message) override;
  std::optional<double> waited_s() override;
  bool needs_target(Rank target, bool put) const override;
  std::optional<Watch> watch() const override;
  bool prepare_to_wait() override;
  void woken() override;
  void note_missed(double least_s) override;
  Missed missed() const override { return missed_; }
  void poll() override;
  double now_s() override;
  bool wait(const std::function<bool()>& condition, double deadline_s) override;
  void wait_for(const Counter& counter) override;
  void compute_for(double seconds) override;
  Traffic traffic() const override { return traffic_; }
  Shortcuts* shortcuts() override { return this; }

  bool shares_cores() const override { return shares_cores_; }
  bool notifies() const override { return endpoint_.limits().notified_puts; }
  void put_notify(Rank target, uint64_t offset, std::span<const std::byte> head,
                  std::span<const std::byte> body, uint32_t tag, Counter& counter) override;
  bool shares_node(Rank peer) const override;
  bool reads_memory_of(Rank peer) const override { return same_node_.reads_memory_of(peer); }
  void read_memory(Rank peer, uint64_t address, std::span<std::byte> destination) override;

 private:
  /// What an operation needs to know of its target.
  struct Peer {
    uint64_t handle = 0;  ///< libfabric's address
    uint64_t key = 0;
    uint64_t base = 0;
    uint64_t segment_bytes = 0;
    uint32_t next_send = 0;     ///< sequence of the next message to it
    uint32_t next_receive = 0;  ///< and from it
    bool hello = false;
    bool left = false;
  };

  /// How long post() tries.
  enum class Patience {
    none,            ///< one attempt
    brief,           ///< one more after making progress
    until_accepted,  ///< with progress, until the peer timeout ends the job
  };

  /// An operation as messages name it.
  struct OperationName {
    OperationKind kind = OperationKind::get;
    Rank peer = 0;
    size_t bytes = 0;
  };

  /// Where the provider reads or writes on this side.

  /// A put with a signal in flight.
  struct SignalledPut {
    Rank target = 0;
    Signal signal;
    Counter* counter = nullptr;  ///< of the caller; null: free
    Counter data;                ///< drains when the data are visible, and the flag may follow
    Counter flag;
    bool raised = false;
  };

  /// What the target learns from a put that notifies it.
  struct Landing {
    Rank source = 0;
    uint32_t tag = 0;
  };

  /// A rank that may leave messages in the mailbox.
  struct NodeSender {
    Rank rank = 0;
    RingReader reader;
    bool heard = false;  ///< has sent through it
  };

  /// A peer that seems dead, unless its leave message turns up within the grace time.
  struct Suspect {
    Rank rank = 0;
    double since_s = 0;
    std::string reason;
  };

  static constexpr double kNotNoted = -1;

  OfiRank(const OpenOptions& options, const Settings& settings, Endpoint endpoint);
  Status allocate(const OpenOptions& options);
  void describe(const std::string& fabric);

  // ofi_connect.cc
  Status insert_peers(std::span<const std::string> addresses);
  Status exchange_hellos(double timeout_s);
  std::string missing_peers(const std::vector<bool>& greeted) const;
  void say_goodbye();

  // ofi_injector.cc
  Settings injector_settings() const;
  size_t injector_bytes() const;
  Status inject_for(const OfiRank& owner);

  // ofi_atomic.cc
  void find_atomics();

  // ofi_post.h
  template <typename Attempt>
  bool post(const OperationName& what, Patience patience, const Attempt& attempt);

  // ofi_vector.cc
  struct Vectors;
  bool fits_vectors(std::span<const Piece> pieces, Rank target, OperationKind kind,
                    Vectors& vectors);

  // ofi_signal.cc
  void advance_signals();

  // ofi_shortcuts.cc
  void take_landing(uint64_t data);

  // ofi_transfer.cc
  template <typename Issue>
  void transfer(const OperationName& what, Counter& counter, const Issue& issue);
  Operation* acquire_operation(const OperationName& what, OperationPool& pool);
  void assert_bounds(const OperationName& what, uint64_t offset);
  bool copies_without_provider(const OperationName& what, uint64_t offset, std::byte* memory);
  Memory local_memory(Operation* operation, const Memory& memory);
  bool send(Rank target, MessageHeader::Kind kind, std::span<const std::byte> payload,
            bool may_inject);
  void post_receive(Operation* operation);
  void repost_receives();

  // ofi_progress.cc
  void drain();
  bool is_landing(uint64_t flags, const Operation* operation) const;
  void take_error_entry();
  void take_error(Operation* operation, const std::string& reason, bool peer_gone);
  void complete(Operation* operation);
  void take_message(Operation* operation, size_t bytes);
  void accept(Operation* operation, const MessageHeader& header);
  void release_message(Operation* operation);
  void deliver();
  void deliver_from_node();
  void look();
  void begin_looking();
  void stop_looking();
  void end_absence() {
    if (absent_) [[unlikely]]
      note_absence();
  }
  void note_absence();
  bool is_readable() const;
  void check_on_peers();
  void check_for_stopped_peers();
  void rest(uint64_t fruitless_polls);
  void lose_peer(Rank rank, std::string reason);
  void fail(const Error& error);
  std::string describe_peer(Rank rank) const;
  std::string describe(const OperationName& what) const;
  /// Peers that this rank waits for, unless they are known to compute; empty: all do.
  std::string silent_peers() const;
  /// The part of its machine that a rank counts as a node with.
  Rank node_part(Rank rank) const { return node_ranks_ == 0 ? 0 : rank / node_ranks_; }

  // Hot.
  std::vector<Peer> peers_;
  fid_ep* ep_ = nullptr;
  fid_cq* cq_ = nullptr;
  size_t inject_bytes_ = 0;
  size_t max_transfer_bytes_ = 0;
  Rank rank_ = 0;
  uint32_t job_ = 0;
  uint64_t completions_ = 0;
  uint64_t polls_ = 0;
  uint64_t spin_limit_ = 0;       ///< polls without result before yielding the core
  bool first_look_ = false;       ///< of a call: what it finds may have waited since stopped_s_
  uint32_t noted_stops_ = 0;      ///< calls whose end will still be noted in stopped_s_
  double stopped_s_ = kNotNoted;  ///< when this rank looked last, on the monotonic clock
  double unseen_s_ = kNotNoted;   ///< from then to this look, once it was asked for
  /// A shorter absence misses nothing; infinite: what is missed is not counted.
  double least_absence_s_ = std::numeric_limits<double>::infinity();
  bool absent_ = false;  ///< since stopped_s_, when no operation of this rank's was in flight
  double away_s_ = 0;    ///< absence of which something in the provider waits for a look's end
  Missed missed_;
  OperationQueue arrivals_;  ///< messages in order, for the sink
  std::vector<Landing> landings_;
  MessageSink* sink_ = nullptr;
  Traffic traffic_;
  bool delivering_ = false;
  bool connecting_ = false;  ///< failures are connect()'s to report
  bool failed_ = false;
  bool closing_ = false;
  bool own_atomics_in_calls_ = false;  ///< no need to ask the provider for them
  bool atomics_must_fetch_ = false;    ///< those without a result are not sound
  std::array<bool, kAtomicOps * kAtomicTypes * 2> atomics_{};  ///< that the provider knows

  const Settings settings_;
  const Rank ranks_ = 1;
  Info info_;
  Address address_;
  const std::function<bool(Rank)> computes_;  ///< OpenOptions::computes
  const bool watches_for_stopped_;
  FailureHandler failure_handler_;
  std::function<void()> meanwhile_;  ///< of a further injector, called while it waits
  std::optional<Error> connect_error_;
  std::vector<Address> addresses_;  ///< of all ranks, for messages
  std::vector<uint32_t> nodes_;     // by rank
  bool shares_cores_ = false;       ///< ranks of this node, with one another
  PeerWatch watch_;

  SameNode wanted_same_node_;
  Rank node_ranks_;  // OpenOptions::node_ranks
  SameNodePeers same_node_;
  std::vector<Suspect> suspects_;
  std::deque<SignalledPut> signalled_puts_;  ///< their counters must not move
  size_t active_signals_ = 0;
  std::vector<Operation*> out_of_order_;       ///< messages that wait for an earlier one
  std::vector<Operation*> unposted_receives_;  ///< that the provider did not take yet
  double start_s_ = 0;                         ///< of the monotonic clock, at connect()
  double attended_s_ = 0;                      ///< last check_on_peers(), on the same clock
  double awake_s_ = 0;  ///< time attended, without that in which this process stood still
  double looked_at_states_s_ = 0;  ///< of peers' processes, on that clock
  uint64_t attended_completions_ = 0;
  double stalled_s_ = 0;                    ///< time attended without a completion that is due
  const OperationName* blocked_ = nullptr;  ///< what post() is trying to issue

  Mailbox mailbox_;
  std::vector<NodeSender> node_senders_;
  size_t first_sender_ = 0;
  size_t ring_partners_ = 0;  ///< ranks that send and are sent to through rings
  uint64_t polls_without_cq_ = 0;
  uint64_t full_rings_ = 0;  ///< messages in a row that found no room
  Rank full_ring_ = 0;       ///< for whom the last one was

  /// Held by the rank and by each of its further injectors, which are counted by that.
  std::shared_ptr<const bool> injectors_ = std::make_shared<const bool>(true);

  // The destructor closes the endpoint, which gives up operations and buffers; then members go from
  // the last to the first: registrations before the domain, memory after its registration.
  Segment segment_;
  Endpoint endpoint_;
  std::span<std::byte> registered_;    ///< the segment; an injector's: if it has to be registered
  Registration segment_registration_;  ///< of that
  BufferPool receive_buffers_;
  BufferPool send_buffers_;
  std::vector<std::byte> inject_space_;
  OperationPool operations_;
  OperationPool receives_;
  OperationPool groups_;
};

}  // namespace stripline::fabric::ofi
