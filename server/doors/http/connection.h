// One connection of a WebServer: requests one after the other, each with its answer. Includes Asio:
// for .cc files of this folder.
//
// Runs on the one thread that runs the io_context; handlers and pieces of answers are worked out on
// the workers' threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "server/doors/http/bounds.h"
#include "server/doors/http/known_hosts.h"
#include "server/doors/http/message.h"
#include "server/doors/http/request_reader.h"
#include "server/doors/http/response_head.h"
#include "server/doors/http/seats.h"
#include "server/doors/http/web_server.h"
#include "server/doors/http/wire.h"

namespace stripline::server::http {

/// By which other threads reach the thread of the connections, as long as there is one: who has
/// been given a Reply may keep it for longer than the server lives.
class Gate {
 public:
  explicit Gate(boost::asio::io_context& context) : context_(&context) {}

  /// Does `act` on the thread of the connections; not at all once close() has been called.
  template <typename Act>
  void post(Act act) {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) boost::asio::post(*context_, std::move(act));
  }
  void close() {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
  }

 private:
  std::mutex mutex_;
  boost::asio::io_context* context_;
};

/// What the connections of a server share. Outlives them.
struct Shared {
  const Bounds bounds;
  const KnownHosts hosts;
  const WebServer::Handler handler;
  boost::asio::io_context& context;
  const std::shared_ptr<Gate> gate = std::make_shared<Gate>(context);
  boost::asio::io_context& workers;  // runs on threads of its own
  Seats seats;
  size_t waiting = 0;  // connections without a seat
  size_t streams = 0;
  Shares streams_of = {};               // by address_key()
  size_t answers_bytes = 0;             // of answers that are not sent yet
  Shares answers_bytes_of = {};         // by payer
  bool ending = false;                  // no more requests are taken
  std::function<void(Seats::Id)> gone;  // a connection has ended
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Shared& shared, Seats::Id id, std::unique_ptr<Wire> wire);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void start();
  void close();
  /// No request is taken any more: closes, unless an answer is being sent.
  void finish();

 private:
  enum class Phase { greeting, idle, reading, answering, lingering, closed };

  void read();
  void take(std::string_view bytes);
  void dispatch();
  void respond(uint64_t request, Response response);
  void send(const std::shared_ptr<Response>& response, size_t sent);
  void refuse(int status, const std::string& why);
  void linger();
  void answered();

  void begin_pieces();
  void ask_for_piece();
  void wake();
  void got_piece(std::optional<std::string> piece);
  void end_pieces();
  void begin_stream();
  void end_stream();
  void charge(size_t bytes, const std::string& payer);
  void discharge();
  std::optional<Response> no_room_for(const Response& response, const std::string& payer) const;

  void write(std::string text, std::function<void()> then);
  void await_caller();
  void expect_within(double seconds);
  void look_again_in(double seconds, std::function<void()> then);

  Shared& shared_;
  const Seats::Id id_;
  std::unique_ptr<Wire> wire_;
  const std::string address_;  // address_key()
  boost::asio::steady_timer timer_;
  uint64_t timer_use_ = 0;
  Phase phase_ = Phase::greeting;

  RequestReader reader_;
  std::array<char, 4096> buffer_;
  std::string ahead_;  // bytes that came after a request
  std::string out_;    // what is being written

  uint64_t request_ = 0;  // the number of the present one
  bool replied_ = false;  // it has an answer
  bool keep_alive_ = false;
  bool old_ = false;   // HTTP/1.0
  bool head_ = false;  // HEAD
  size_t charged_bytes_ = 0;
  std::string charged_payer_;
  size_t lingered_bytes_ = 0;
  std::shared_ptr<std::atomic<bool>> hung_up_;

  std::shared_ptr<Pieces> pieces_;
  std::shared_ptr<const void> kept_;  // what they live in
  Framing framing_ = Framing::length;
  bool asking_ = false;   // a worker is at the next piece
  bool writing_ = false;  // a piece is being written
  bool news_ = false;     // woken meanwhile
  bool endless_ = false;
};

}  // namespace stripline::server::http
