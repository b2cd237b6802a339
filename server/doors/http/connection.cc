#include "server/doors/http/connection.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "base/address_key.h"
#include "base/clock.h"

namespace stripline::server::http {
namespace {

namespace asio = boost::asio;

constexpr const char* kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
// How often it is looked whether a caller who waits is still there.
constexpr double kLook_s = 1;
// A caller that is refused may still be sending: closed at once, it would not see why.
constexpr double kLinger_s = 2;
constexpr size_t kMaxLingered = size_t{1} << 20;

// What an answer has in memory until it is sent; pages are part of the program.
size_t kept_bytes(const Response& response) {
  return response.body.size() + (response.keeps ? response.lasting.size() : 0);
}

}  // namespace

Connection::Connection(Shared& shared, Seats::Id id, std::unique_ptr<Wire> wire)
    : shared_(shared),
      id_(id),
      wire_(std::move(wire)),
      address_(address_key(wire_->peer())),
      timer_(shared.context),
      reader_(shared.bounds),
      buffer_{} {}

Connection::~Connection() = default;

void Connection::start() {
  expect_within(shared_.bounds.request_s);
  wire_->greet([self = shared_from_this()](bool ok) {
    if (self->phase_ == Phase::closed) return;
    if (!ok) return self->close();
    self->phase_ = Phase::reading;
    self->read();
  });
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  if (hung_up_) *hung_up_ = true;
  timer_.cancel();
  wire_->close();
  // A worker may be at the next piece: it has a share of it.
  pieces_.reset();
  kept_.reset();
  end_stream();
  discharge();
  shared_.gone(id_);
}

void Connection::finish() {
  if (phase_ != Phase::answering) close();
}

void Connection::read() {
  wire_->read(buffer_, [self = shared_from_this()](size_t bytes) {
    if (self->phase_ == Phase::closed) return;
    if (bytes == 0) return self->close();
    self->take({self->buffer_.data(), bytes});
  });
}

void Connection::take(std::string_view bytes) {
  if (phase_ == Phase::idle) {
    phase_ = Phase::reading;
    expect_within(shared_.bounds.request_s);
  }
  const size_t taken = reader_.take(bytes);
  switch (reader_.state()) {
    case RequestReader::State::partial:
      if (!reader_.wants_to_be_asked()) return read();
      return write(kContinue, [this] {
        shared_.seats.waits(id_);
        expect_within(shared_.bounds.request_s);
        read();
      });
    case RequestReader::State::refused:
      return refuse(reader_.refusal().status, reader_.refusal().why);
    case RequestReader::State::whole:
      ahead_.assign(bytes.substr(taken));
      return dispatch();
  }
}

void Connection::dispatch() {
  ++request_;
  replied_ = false;
  keep_alive_ = reader_.keep_alive() && !shared_.ending;
  old_ = reader_.is_old();
  Request request = reader_.request();
  head_ = request.head;
  request.peer = wire_->peer();
  reader_ = RequestReader(shared_.bounds);
  phase_ = Phase::answering;
  shared_.seats.works(id_);
  if (const auto refusal = shared_.hosts.refusal(request)) {
    return respond(request_, plain_refusal(refusal->status, refusal->why));
  }
  hung_up_ = std::make_shared<std::atomic<bool>>(false);
  request.hung_up = hung_up_;
  look_again_in(kLook_s, [] {});
  auto reply = [weak = weak_from_this(), gate = shared_.gate,
                number = request_](Response response) {
    gate->post([weak, number, response = std::move(response)]() mutable {
      if (const auto self = weak.lock()) self->respond(number, std::move(response));
    });
  };
  asio::post(shared_.workers, [&handler = shared_.handler, request = std::move(request),
                               reply = std::move(reply)]() mutable {
    try {
      handler(std::move(request), reply);
    } catch (const std::exception& failure) {
      reply(plain_refusal(kInternalError, std::string("the server failed: ") + failure.what()));
    }
  });
}

void Connection::respond(uint64_t request, Response response) {
  if (phase_ != Phase::answering || request != request_ || std::exchange(replied_, true)) return;
  const std::string payer = response.payer.empty() ? address_ : response.payer;
  if (auto refusal = no_room_for(response, payer)) response = std::move(*refusal);
  const auto owned = std::make_shared<Response>(std::move(response));
  charge(kept_bytes(*owned), payer);
  framing_ = !owned->pieces ? Framing::length : old_ ? Framing::close : Framing::chunked;
  if (framing_ == Framing::close) keep_alive_ = false;
  const std::string head =
      head_of(*owned, {framing_, owned->content().size(), keep_alive_, unix_seconds()});
  if (owned->pieces && !head_) {
    pieces_ = std::move(owned->pieces);
    kept_ = std::move(owned->keeps);
    return write(head, [this] { begin_pieces(); });
  }
  if (head_ || owned->status == kNotModified) return write(head, [this] { answered(); });
  // A small answer is written at once.
  if (owned->content().size() <= kPieceBytes) {
    return write(head + std::string(owned->content()), [this] { answered(); });
  }
  write(head, [this, owned] { send(owned, 0); });
}

// In place of an answer that may not be sent now.
std::optional<Response> Connection::no_room_for(const Response& response,
                                                const std::string& payer) const {
  const Bounds& bounds = shared_.bounds;
  const size_t bytes = kept_bytes(response);
  const size_t own_bytes = shared_.answers_bytes_of.of(payer);
  if (own_bytes > 0 && own_bytes + bytes > bounds.answers_bytes_of_payer) {
    return plain_refusal(
        kTooManyRequests,
        "as many answers are being sent to this caller as may be; read them first");
  }
  if (shared_.answers_bytes + bytes > bounds.answers_bytes) {
    return plain_refusal(kUnavailable, "too many answers are being sent; try again");
  }
  const bool stream = response.pieces && response.pieces->endless();
  if (stream && (shared_.streams >= bounds.streams ||
                 (!shared_.seats.is_proxy(address_) &&
                  shared_.streams_of.of(address_) >= bounds.streams_of_address))) {
    return plain_refusal(kTooManyRequests,
                         "too many streams are open; ask for the state from time to time instead");
  }
  return std::nullopt;
}

void Connection::charge(size_t bytes, const std::string& payer) {
  charged_bytes_ = bytes;
  charged_payer_ = payer;
  shared_.answers_bytes += bytes;
  shared_.answers_bytes_of.add(payer, bytes);
}

void Connection::discharge() {
  shared_.answers_bytes -= charged_bytes_;
  shared_.answers_bytes_of.remove(charged_payer_, charged_bytes_);
  charged_bytes_ = 0;
}

void Connection::send(const std::shared_ptr<Response>& response, size_t sent) {
  const std::string_view rest = response->content().substr(sent);
  if (rest.empty()) return answered();
  const std::string_view piece = rest.substr(0, kPieceBytes);
  await_caller();
  wire_->write(piece, [self = shared_from_this(), response, end = sent + piece.size()](bool ok) {
    if (self->phase_ == Phase::closed) return;
    if (!ok) return self->close();
    self->shared_.seats.works(self->id_);
    self->send(response, end);
  });
}

void Connection::refuse(int status, const std::string& why) {
  phase_ = Phase::answering;
  shared_.seats.works(id_);
  const Response response = plain_refusal(status, why);
  write(head_of(response, {Framing::length, response.body.size(), false, unix_seconds()}) +
            response.body,
        [this] { linger(); });
}

void Connection::linger() {
  if (phase_ != Phase::lingering) {
    phase_ = Phase::lingering;
    shared_.seats.waits(id_);
    wire_->end_writing();
    expect_within(kLinger_s);
  }
  wire_->read(buffer_, [self = shared_from_this()](size_t bytes) {
    if (self->phase_ == Phase::closed) return;
    self->lingered_bytes_ += bytes;
    if (bytes == 0 || self->lingered_bytes_ > kMaxLingered) return self->close();
    self->linger();
  });
}

void Connection::answered() {
  discharge();
  hung_up_.reset();
  if (shared_.ending) return close();
  // What he may still send is not read: he would lose the answer, were it closed at once. While
  // others wait for a seat, a connection has one request.
  if (!keep_alive_ || shared_.waiting > 0) return linger();
  phase_ = Phase::idle;
  shared_.seats.waits(id_);
  expect_within(shared_.bounds.idle_s);
  if (ahead_.empty()) return read();
  const std::string ahead = std::exchange(ahead_, {});
  take(ahead);
}

void Connection::begin_pieces() {
  if (pieces_->endless()) begin_stream();
  pieces_->on_news([weak = weak_from_this(), gate = shared_.gate] {
    gate->post([weak] {
      if (const auto self = weak.lock()) self->wake();
    });
  });
  ask_for_piece();
}

void Connection::begin_stream() {
  endless_ = true;
  ++shared_.streams;
  shared_.streams_of.add(address_, 1);
}

void Connection::end_stream() {
  if (!std::exchange(endless_, false)) return;
  --shared_.streams;
  shared_.streams_of.remove(address_, 1);
}

void Connection::ask_for_piece() {
  asking_ = true;
  news_ = false;
  look_again_in(kLook_s, [] {});
  asio::post(shared_.workers, [self = shared_from_this(), pieces = pieces_]() mutable {
    std::optional<std::string> piece;
    try {
      piece = pieces->next();
    } catch (const std::exception&) {
      piece.reset();  // what is cut is seen by its missing end
    }
    pieces.reset();
    asio::post(self->shared_.context,
               [self, piece = std::move(piece)]() mutable { self->got_piece(std::move(piece)); });
  });
}

void Connection::wake() {
  if (phase_ != Phase::answering || !pieces_) return;
  news_ = true;
  if (!asking_ && !writing_) ask_for_piece();
}

void Connection::got_piece(std::optional<std::string> piece) {
  asking_ = false;
  if (phase_ != Phase::answering) return;
  if (!piece) return end_pieces();
  if (piece->empty()) {
    if (news_) return ask_for_piece();
    return look_again_in(kLook_s, [this] {
      if (pieces_ && !asking_ && !writing_) ask_for_piece();
    });
  }
  writing_ = true;
  write(framing_ == Framing::chunked ? chunk_of(*piece) : std::move(*piece), [this] {
    writing_ = false;
    ask_for_piece();
  });
}

void Connection::end_pieces() {
  pieces_.reset();
  kept_.reset();
  end_stream();
  if (framing_ == Framing::close) return answered();
  write(kLastChunk, [this] { answered(); });
}

void Connection::write(std::string text, std::function<void()> then) {
  out_ = std::move(text);
  await_caller();
  wire_->write(out_, [self = shared_from_this(), then = std::move(then)](bool ok) {
    if (self->phase_ == Phase::closed) return;
    if (!ok) return self->close();
    self->out_.clear();
    self->shared_.seats.works(self->id_);
    then();
  });
}

// What is written waits for its caller, who may not read: it makes room for others, too.
void Connection::await_caller() {
  shared_.seats.waits(id_);
  expect_within(shared_.bounds.write_s);
}

// Closes, unless something else is expected before.
void Connection::expect_within(double seconds) {
  const uint64_t use = ++timer_use_;
  timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds)));
  timer_.async_wait([self = shared_from_this(), use](boost::system::error_code error) {
    if (!error && use == self->timer_use_) self->close();
  });
}

// Looks whether the caller who waits for an answer is still there, and then does `then`.
void Connection::look_again_in(double seconds, std::function<void()> then) {
  const uint64_t use = ++timer_use_;
  timer_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds)));
  timer_.async_wait([self = shared_from_this(), use, seconds,
                     then = std::move(then)](boost::system::error_code error) {
    if (error || use != self->timer_use_ || self->phase_ == Phase::closed) return;
    if (self->wire_->hung_up()) return self->close();
    self->look_again_in(seconds, then);
    then();
  });
}

}  // namespace stripline::server::http
