// One rank's end of the emulated fabric: the physics that both clocks share.
//
// An operation is a chain of events at times that the profile and the state of the NICs decide:
//   put      depart (transmit queue) -> hop... -> arrive (receive queue) -> land (copy, then the
//            flag of a put with a signal) -> complete (ack)
//   get      depart -> arrive (target's transmit queue) -> read (copy) -> hop... -> back (receive
//            queue) -> complete
//   atomic   as a get of the variable's size; read carries it out
//   message  depart -> hop... -> arrive (receive queue; the slot becomes readable)
// Hops are the shared links of a network that has any (fat_tree.h). Where its messages go in
// packets, from depart (of a get: from its arrival) to the receive queue, each of these goes its
// own route (rank_packets.cc). Events of an operation are carried out by the rank that started it,
// so that no data is staged; the engines differ in how they order events among ranks and in what
// time is.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <random>
#include <vector>

#include "runtime/fabric/emulated/profile.h"
#include "runtime/fabric/emulated/shared_region.h"
#include "runtime/fabric/fabric.h"

namespace stripline::fabric {

class RankEngine : public Fabric {
 public:
  RankEngine(ProfileRequest request, const OpenOptions& options, SharedRegion region);
  ~RankEngine() override;

  const Info& info() const override { return info_; }
  std::string local_address() const override;
  Status connect(std::span<const std::string> addresses, double timeout_s) override;
  void set_message_sink(MessageSink* sink) override { sink_ = sink; }
  void set_failure_handler(FailureHandler handler) override { on_failure_ = std::move(handler); }
  std::span<std::byte> segment() override { return region_.segment(rank_); }
  SameNode path(Rank target) const override {
    return target == rank_ ? SameNode::mapped : SameNode::network;
  }
  NetworkPlace place(Rank rank) const override {
    return {node_of(rank), profile_.tree.switches(node_of(rank))};
  }
  std::span<std::byte> reachable_segment(Rank target) override {
    return target == rank_ ? segment() : std::span<std::byte>();
  }
  void get(const Memory& destination, Rank target, uint64_t offset, Counter& counter) override;
  void put(Rank target, uint64_t offset, const Memory& source, Counter& counter) override;
  void getv(Rank target, std::span<const Piece> pieces, Counter& counter) override;
  void putv(Rank target, std::span<const Piece> pieces, Counter& counter) override;
  void put_signal(Rank target, uint64_t offset, const Memory& source, const Signal& signal,
                  Counter& counter) override;
  bool has_atomic(AtomicOp op, AtomicType type, bool previous) const override;
  void atomic(const AtomicRequest& request, Rank target, uint64_t offset, void* previous,
              Counter& counter) override;
  bool try_send(Rank target, std::span<const std::byte> message) override;
  std::optional<double> waited_s() override { return waited_s_; }
  bool needs_target(Rank /*target*/, bool put) const override {
    return put ? profile_.put.needs_target : profile_.get.needs_target;
  }
  void poll() override;
  void attend() override;
  double now_s() override;
  bool wait(const std::function<bool()>& condition, double deadline_s) override;
  void wait_for(const Counter& counter) override;
  void compute_for(double seconds) override;
  Traffic traffic() const override { return traffic_; }

 protected:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  enum class Stage : uint8_t {
    depart,
    hop,
    arrive,
    read,
    back,
    land,
    drained,
    complete,
    lost,
    // Events of a packet:
    packet_hop,
    packet_arrive,
    // Events of a buffer, and of what is about to leave one:
    granted,
    vacate,
  };

  struct Event {
    double time_s;
    uint64_t sequence;
    uint32_t operation;  // or packet, or buffer, or of leaving_
    Stage stage;
    /// Earliest first; in issue order at the same time.
    bool operator>(const Event& other) const {
      return time_s != other.time_s ? time_s > other.time_s : sequence > other.sequence;
    }
  };

  // --- what an engine decides -----------------------------------------------------------------
  /// The rank enters or leaves the library (outermost call only).
  virtual void enter() = 0;
  virtual void leave() = 0;
  /// Now, in the time base shared by all ranks.
  virtual double clock() = 0;
  /// The CPU is busy for this long inside the library.
  virtual void charge(double seconds) = 0;
  /// What has been declared since this was called last has taken its time.
  virtual void charge_work() {}
  /// Carries out own events up to now, in the global order of the engine.
  virtual void run_events() = 0;
  /// Lets time pass until `wake_s`, an own completion, or something new at this rank; carries out
  /// own events meanwhile. May return early.
  virtual void idle(double wake_s) = 0;
  /// Something happens at `rank` at `time_s` that it may wait for.
  virtual void poke(Rank rank, double time_s) = 0;
  /// `rank` has something to carry out at `time_s` that it does not know of (collect_grants).
  virtual void summon(Rank rank, double time_s) = 0;
  /// Guards the NIC states where ranks run side by side.
  virtual void lock_nics() {}
  virtual void unlock_nics() {}
  /// True if payloads are copied at the start of their transfer instead of its end, to hide the
  /// time the copy takes. True only where the copy takes the emulated rank's time.
  virtual bool copies_early() const { return false; }
  /// When `target`, which does not attend to the library now, will next do; at least `time_s`.
  virtual double attended_at(Rank target, double time_s) = 0;
  /// The target spends so much of its CPU on what it attends to at that time.
  virtual void occupy(Rank target, double time_s, double seconds) = 0;
  /// Every rank is reachable; the clock starts.
  virtual void started() = 0;

  bool has_event() const { return !events_.empty(); }
  double next_event_s() const { return events_.empty() ? kNever : events_.top().time_s; }
  void carry_out_next();
  /// Makes events of the room that others have granted to packets of this rank. Before an engine
  /// looks at what comes next.
  void collect_grants();
  [[noreturn]] void fail(const Error& error);

  Rank rank() const { return rank_; }
  Rank ranks() const { return ranks_; }
  const Profile& profile() const { return profile_; }
  ComputeMode compute_mode() const { return compute_; }
  SharedRegion& region() { return region_; }
  bool connected() const { return connected_; }
  /// Carries out what is still in flight; for the engine's destructor.
  void drain();

 private:
  // Pieces of one operation, as libfabric's providers take them. They cost what one piece of their
  // size does.
  static constexpr uint32_t kIovLimit = 4;

  enum class Kind : uint8_t { put, get, atomic, message };

  struct Operation {
    Kind kind = Kind::put;
    Rank target = 0;
    uint64_t offset = 0;
    std::byte* local = nullptr;
    size_t bytes = 0;
    Counter* counter = nullptr;
    MessageSlot* slot = nullptr;
    double latency_s = 0;    // of the wire, with what switches add
    double gap_s = 0;        // g
    double occupancy_s = 0;  // S G
    double retire_s = 0;
    double serve_s = 0;
    uint32_t hops = 0;          // shared links between the nodes
    uint32_t hops_done = 0;     // of these
    double link_bytes = 0;      // S, with the jitter of the transfer
    double tail_s = 0;          // when the last byte has left the links so far
    uint32_t packets_left = 0;  // not received
    std::vector<Piece> pieces;  // instead of offset and local: of a get or put of several
    bool served = false;        // get, atomic: the target has attended to it
    AtomicRequest request;
    bool signals = false;  // put: raises `signal` when it has landed
    Signal signal;
  };

  struct Packet {
    uint32_t operation = 0;
    uint32_t links_done = 0;  // of its route; the sender's NIC is the first
    uint32_t buffer = 0;      // where it is
    uint64_t bytes = 0;
    double share = 1;   // of its message
    double wire_s = 0;  // what the link before took for it
    double tail_s = 0;  // as of an operation
    bool first = false;
    bool last = false;
  };
  /// A packet that waits for room in a buffer.
  struct Waiting {
    uint64_t ticket;
    uint32_t packet;
  };
  /// What a packet is about to give back.
  struct Room {
    uint32_t buffer;
    uint64_t bytes;
  };

  /// True if the answer comes back over the wire.
  static bool is_round_trip(const Operation& operation) {
    return operation.kind == Kind::get || operation.kind == Kind::atomic;
  }

  class Scope;
  template <typename Condition>
  bool wait_until(const Condition& condition, double deadline_s);
  /// Room in the NIC queue for one more; blocks like a full queue does.
  void await_queue_room();
  uint32_t start(Kind kind, Rank target, uint64_t offset, std::byte* local, size_t bytes,
                 Counter* counter, const OperationProfile& operation);
  uint32_t start(Kind kind, Rank target, std::span<const Piece> pieces, Counter& counter,
                 const OperationProfile& operation);
  /// Moves the data of a get or put.
  void copy(const Operation& operation);
  void push(double time_s, uint32_t operation, Stage stage);
  void release(uint32_t operation);
  void depart(const Event& event, Operation& operation);
  FatTree::Hop hop_of(const Operation& operation, uint32_t number) const;
  uint32_t sender_of(const Operation& operation) const {
    return node_of(is_round_trip(operation) ? operation.target : rank_);
  }
  uint32_t receiver_of(const Operation& operation) const {
    return node_of(is_round_trip(operation) ? rank_ : operation.target);
  }
  /// The data leave a NIC, or a link, at `time_s`: to the next link, or to the receiving NIC.
  void travel(double time_s, uint32_t operation);
  void pass_link(const Event& event, Operation& operation);
  /// From when on the receiving NIC has all data, which come from `time_s` on.
  double receive(uint32_t node, double time_s, const Operation& operation);
  void arrive(const Event& event, Operation& operation);
  /// The receiving NIC has all data of a put or message at `end_s`.
  void received(double time_s, double end_s, uint32_t operation);

  // --- packets ---------------------------------------------------------------------------------
  bool in_packets() const { return profile_.tree.packets().packet_bytes != 0; }
  bool buffers_are_finite() const { return profile_.tree.packets().buffer_bytes != 0; }
  /// The data of an operation come to the NIC of their sender.
  void send_packets(double time_s, uint32_t operation);
  /// A packet comes to the next link of its route; it takes it, or waits for room behind it.
  void come_to_link(double time_s, uint32_t packet);
  void take_link(double time_s, uint32_t packet);
  void receive_packet(const Event& event);
  uint32_t buffer_behind_next(const Packet& packet) const;
  static uint64_t room_of(const Packet& packet);
  /// True if there is room in the buffer, which is the packet's then. If not, it waits.
  bool take_room(uint32_t buffer, uint32_t packet);
  /// A packet starts at `begin_s` on a link that takes `wire_s` for it: gives back its room in the
  /// buffer before the link.
  void leave_buffer(double now_s, const Packet& packet, double begin_s, double wire_s);
  void give_back(double time_s, const Room& room);
  /// Tells whoever waits first for room in the buffer, if there is enough. NICs are locked.
  void grant_room(uint32_t buffer, double time_s);
  void go_on_granted(const Event& event);

  /// Messages that have arrived and operations that have completed, once each; whether any did.
  bool deliver();
  bool deliver_message();
  bool has_messages() const;
  double next_arrival_s() const;
  bool is_lost(const Event& event, const Operation& operation) const;
  double bandwidth_share(double time_s) const;
  double vary(double sigma);
  uint32_t node_of(Rank rank) const { return rank / profile_.ranks_per_node; }

  Profile profile_;
  ComputeMode compute_;
  Rank rank_;
  Rank ranks_;
  Info info_;
  SharedRegion region_;
  MessageSink* sink_ = nullptr;
  FailureHandler on_failure_;
  Traffic traffic_;
  bool connected_ = false;
  int depth_ = 0;
  double origin_s_ = 0;

  std::mt19937_64 random_;
  // One factor per run and quantity: jitter between runs.
  double run_o_ = 1;
  double run_L_ = 1;
  double run_G_ = 1;

  std::vector<Operation> operations_;
  std::vector<uint32_t> free_operations_;
  std::vector<uint32_t> completed_;  // waiting to be retired, in order
  std::vector<uint32_t> retiring_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<Packet> packets_;
  std::vector<uint32_t> free_packets_;
  std::vector<std::deque<Waiting>> waiting_;  // by buffer
  uint32_t waiting_count_ = 0;
  std::vector<Room> leaving_;
  std::vector<uint32_t> free_leaving_;
  uint64_t sequence_ = 0;
  uint32_t queued_ = 0;   // operations that hold a place in the NIC queue
  double entered_s_ = 0;  // when the call began
  double waited_s_ = 0;   // until then, of the message that is being delivered
};

}  // namespace stripline::fabric
