// Active messages over Fabric::try_send, with credits.
//
// Wire form: an 8-byte header {handler, flags, returned credits} and the payload. The upper half of
// the flags says how long messages of the receiver's wait at the sender (delay_code.h).
//
// Flow control. A sender holds, per peer, a fixed number of credits of two kinds: one for messages
// sent by the program (requests), one for messages sent by handlers (replies). Each unserved
// message at the peer holds one. The peer gives them back when it has served messages: on the next
// message to that sender, or by a message of its own once half of them are owed. This bounds the
// messages a rank can have waiting, whatever its peers do.
//
// Why it cannot deadlock. Handlers never wait: what they send without a credit, or while the fabric
// has no room, is kept here and goes out as soon as possible. The credit of a request is held back
// until everything its handler sent is out, which bounds what is kept by
// request credits x ranks x messages per handler. The credit of a reply is given back as soon as
// its handler has run, so that replies always drain, therefore requests do. (Handlers of replies
// may send as well; that cannot deadlock either, but what they send is bounded by the program
// only.) Request/reply classes as in GASNet's active messages; credits as in its conduits.
//
// Order: messages of the program to one target are served in the order sent; so are messages of
// handlers to one target.
//
// Credits of requests come back in the order of the requests, also where one is held back: as
// many of the first ones are served as credits have come back. A message whose sender has to learn
// nothing else therefore needs no answer (send_noted). Credits travel with what the target sends
// anyway; whoever waits for them asks for them, with a message of its own or, after answers that
// were waited for, with the message in question.
//
// Service delay. A rank learns from its fabric how long a message that asks for work (of the
// program, of transfers of many regions, atomic operations, small puts) waited until it looked for
// it. It smooths that by sender, and says so in whatever it sends there next.
//
// One thread at a time, as the fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/am/delay_code.h"
#include "runtime/am/handler_table.h"
#include "runtime/fabric/fabric.h"
#include "runtime/fabric/shortcuts.h"

namespace stripline::am {

struct Config {
  /// Unserved messages of each kind that one rank may have at one peer. Enough to cover the round
  /// trip of a credit on the networks at hand; at least 1.
  uint16_t request_credits = 64;
  uint16_t reply_credits = 64;
  /// Upper limit of a message with its header; the fabric's own may be smaller. One for all
  /// fabrics, which models of packed transfers rest on (plan::kUsualMessageBytes); more goes by
  /// am::Bulk.
  size_t max_message_bytes = size_t{8} << 10;
};

/// What happened so far, for tests and reports.
struct Statistics {
  uint64_t sent = 0;             ///< messages with a handler
  uint64_t served = 0;           ///< handlers run, those of what landed among them
  uint64_t credit_messages = 0;  ///< messages sent only to give credits back
  uint64_t credit_stalls = 0;    ///< sends of the program that had to wait for a credit
  uint64_t deferred = 0;         ///< sends of handlers that were kept for later
};

/// Work that goes on whenever a rank makes progress outside of handlers.
class Background {
 public:
  virtual ~Background() = default;
  /// True if advance() would do anything now. Reads only the rank's own memory.
  virtual bool ready() const = 0;
  /// May send messages and start operations of the fabric.
  virtual void advance() = 0;

 protected:
  friend class ActiveMessages;
  bool has_work_ = false;  ///< ready() may hold, now or later
};

class ActiveMessages final : public fabric::MessageSink {
 public:
  /// Receives from the moment it is the fabric's sink; sends after start(). `fail` ends the job.
  ActiveMessages(fabric::Fabric& fabric, Rank ranks, const Config& config,
                 fabric::FailureHandler fail);

  /// After Fabric::connect(): the fabric's limits are known and peers can be reached. The runtime's
  /// own handlers are named by now.
  void start();

  /// The id of one of the runtime's own handlers (HandlerTable::id). Ends the job if that is new
  /// after start().
  uint16_t id(std::string_view name);
  /// Names it, if it is new, and says what it does: before any rank can send to it.
  uint16_t serve(std::string_view name, Purpose purpose, Handler handler);
  /// HandlerTable::land(). Ends the job where that fails.
  Landing land(std::string_view name, uint32_t values, Purpose purpose, LandingHandler handler);
  const HandlerTable& handlers() const { return handlers_; }

  /// Adds a handler of the program and returns its id: the same on every rank that registers the
  /// same handlers in the same order. The caller synchronises before the first use.
  uint32_t register_handler(Handler handler);

  /// Sends `head` followed by `body` as one payload. Outside of handlers it returns when the fabric
  /// has the message and makes progress while it waits for a credit or room; inside of handlers it
  /// returns at once. Ends the job if the payload is larger than max_payload_bytes() or the target
  /// or handler does not exist. `out`, if given, counts the message while it is kept here.
  void send(Rank target, uint32_t handler, std::span<const std::byte> head,
            std::span<const std::byte> body, fabric::Counter* out = nullptr);

  /// send() of a message whose handler sends nothing: `served` counts it until this rank learns
  /// that the handler has run, which without ask() is when the target next sends something here, or
  /// after some dozens of messages. Not inside of handlers.
  void send_noted(Rank target, uint32_t handler, std::span<const std::byte> head,
                  std::span<const std::byte> body, fabric::Counter& served);

  /// To be called before waiting for `served` to drain, as often as one likes: the targets of its
  /// messages are asked to say when they have served them. Never blocks.
  void ask(const fabric::Counter& served) {
    if (unasked_ > 0 && served.pending > 0) ask_for(&served);
  }
  /// The same for all noted messages.
  void ask() {
    if (unasked_ > 0) ask_for(nullptr);
  }

  /// The largest payload. Valid after start().
  size_t max_payload_bytes() const { return max_payload_bytes_; }

  /// True if a message to `target` outside of handlers would not wait for a credit.
  bool has_credit(Rank target) const { return peers_[target].credits[0] > 0; }

  /// Before progress is made. `work` stays as long as this object.
  void add_background(Background& work);

  /// Polls the fabric once, sends what is kept, and advances the background work.
  void progress();

  /// The same for a rank that goes on computing (Fabric::attend).
  void attend();

  /// Fabric::wait() that also sends what is kept. Not inside of handlers.
  bool wait(const std::function<bool()>& condition,
            double deadline_s = std::numeric_limits<double>::infinity());

  /// Sends what is kept, as far as credits and room allow, and advances the background work. Cheap
  /// when there is nothing. Call it after a wait that went to the fabric directly.
  void flush() {
    if (!work_.empty()) flush_work();
    advance_background();
  }

  /// Fabric::wait_for, and meanwhile and afterwards as flush(): what peers asked for goes on.
  void wait_for(const fabric::Counter& counter) {
    const auto done_or_ready = [this, &counter] { return counter.pending == 0 || ready(); };
    const fabric::Waiting waiting(fabric_.wait_count());
    while (true) {
      fabric_.wait(done_or_ready, std::numeric_limits<double>::infinity());
      flush();
      if (counter.pending == 0) return;
    }
  }

  /// True if work in the background can go on.
  bool ready() const {
    for (const Background* work : backgrounds_) {
      if (work->has_work_ && work->ready()) return true;
    }
    return false;
  }

  /// How long requests of this rank lately waited at `target` until it looked for them, smoothed,
  /// in seconds; 0 until it has reported any. An upper bound where the fabric knows no better
  /// (Fabric::waited_s).
  double service_delay_s(Rank target) const { return decode_delay(peers_[target].told_delay); }

  /// From now on counts what waited because this rank did not look for `least_s` or longer.
  void note_missed(double least_s) {
    least_absence_s_ = least_s;
    fabric_.note_missed(least_s);
  }

  /// Requests of peers that did, and their operations of which the fabric knows that they did.
  fabric::Missed missed() const {
    fabric::Missed all = missed_;
    return all += fabric_.missed();
  }

  /// True if `target` has reported delays since this was last asked.
  bool take_delay_news(Rank target) { return std::exchange(peers_[target].delay_news, false); }

  /// True if a handler is running; nothing that waits may be called then.
  bool in_handler() const { return in_handler_; }

  /// True if everything that handlers sent has gone out.
  bool idle() const { return held_messages_ == 0; }

  const Statistics& statistics() const { return statistics_; }

  /// Messages that run code of the program at their target: sent, those that are kept here among
  /// them, and the handlers of those that came, which have begun to run.
  uint64_t program_messages() const { return program_messages_; }
  uint64_t program_handlers() const { return program_handlers_; }

  /// Bytes of waiting messages a rank must be ready to hold: the budget per peer, times peers.
  size_t buffer_bytes_per_peer() const;

  void on_message(Rank source, std::span<const std::byte> message) override;
  void on_landed(Rank source, uint32_t tag) override;

 private:
  enum class Class : uint8_t { request = 0, reply = 1 };

  struct Header {
    uint16_t handler;
    uint16_t flags;  // bit 0: reply; bit 1: asks for credits; from bit 8: a delay code
    uint16_t request_credits;
    uint16_t reply_credits;
  };
  static_assert(sizeof(Header) == 8);
  static constexpr uint16_t kReplyFlag = 1;
  static constexpr uint16_t kAskFlag = 2;
  static constexpr unsigned kDelayShift = 8;
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // A message of a handler that could not go out yet.
  struct Deferred {
    uint16_t handler;
    uint32_t hold;
    fabric::Counter* out;
    std::vector<std::byte> payload;
  };

  // A served request whose credit is held back until `remaining` deferred messages are out, and
  // those of the requests behind it with it.
  struct Hold {
    Rank source = 0;
    uint32_t remaining = 0;
    uint32_t behind = 0;
    uint32_t next = kNone;  // of the same source
  };

  // A message that lowers `served` once it has been served.
  struct Noted {
    uint64_t number = 0;  // among the requests to its target
    fabric::Counter* served = nullptr;
    bool waited_for = false;
    uint32_t next = kNone;  // to the same target, or free
  };

  struct Peer {
    uint32_t credits[2] = {0, 0};  // by Class: what may be sent
    uint32_t owed[2] = {0, 0};     // by Class: what was served and not given back yet
    std::list<Deferred> deferred;
    bool has_work = false;  // listed in work_
    uint32_t first_hold = kNone;
    uint32_t last_hold = kNone;
    bool asks = false;  // it wants the credits that it is owed
    // Counts the requests to it.
    uint64_t requests = 0;
    uint64_t served = 0;  // as far as it has said
    uint32_t first_noted = kNone;
    uint32_t last_noted = kNone;
    uint64_t asked = 0;            // up to this one, it has been asked for all
    bool ask_unsent = false;       // for lack of room
    bool lists_noted = false;      // listed in noting_
    bool answers_at_once = false;  // because answers were waited for lately
    uint32_t not_waited_for = 0;   // in a row
    // How long its requests wait here, smoothed; negative: not known. And the code of that, until
    // it was sent.
    float wait_s = -1;
    uint8_t untold_delay = kNoDelayCode;
    // What it said of this rank's requests.
    uint8_t told_delay = kNoDelayCode;
    bool delay_news = false;
  };

  void advance_background() {
    for (Background* work : backgrounds_) {
      if (work->has_work_) work->advance();
    }
  }
  bool transmit(Rank target, uint16_t handler, Class kind, std::span<const std::byte> head,
                std::span<const std::byte> body, bool ask = false);
  void check_send(Rank target, uint32_t handler, size_t bytes) const;
  void send_request(Rank target, uint16_t handler, std::span<const std::byte> head,
                    std::span<const std::byte> body, bool ask);
  void send_from_handler(Rank target, uint16_t handler, std::span<const std::byte> head,
                         std::span<const std::byte> body, fabric::Counter* out);
  void run_for_program(const Handler& handler, Rank source,
                       std::span<const std::byte> payload) const;
  void note_wait(Peer& peer);
  void owe(Rank source, Class kind);
  void owe_request(Rank source);
  void release_hold(uint32_t hold);
  void give_back(Rank rank);
  void take_served(Peer& peer, uint32_t requests);
  void ask_for(const fabric::Counter* served);
  void ask_target(Rank target);
  bool credits_due(const Peer& peer) const;
  bool serve_peer(Rank rank);
  bool flush_work();
  void add_work(Rank rank);
  uint32_t new_hold(Rank source);

  fabric::Fabric& fabric_;
  Config config_;
  fabric::FailureHandler fail_;
  std::vector<Background*> backgrounds_;
  bool started_ = false;
  size_t max_payload_bytes_ = 0;
  std::vector<std::byte> staging_;
  HandlerTable handlers_;
  std::vector<Peer> peers_;
  std::vector<Rank> work_;  // peers with something to send that only lacks room
  std::vector<Hold> holds_;
  std::vector<uint32_t> free_holds_;
  std::vector<Noted> noted_;
  uint32_t free_noted_ = kNone;
  std::vector<Rank> noting_;  // targets that may have some
  uint64_t unasked_ = 0;      // of them: not waited for yet
  bool in_handler_ = false;
  Class handler_class_ = Class::request;
  Rank handler_source_ = 0;
  uint32_t handler_hold_ = kNone;
  uint64_t held_messages_ = 0;  // over all peers
  double least_absence_s_ = std::numeric_limits<double>::infinity();
  fabric::Missed missed_;
  uint64_t program_messages_ = 0;
  uint64_t program_handlers_ = 0;
  Statistics statistics_;
};

}  // namespace stripline::am
