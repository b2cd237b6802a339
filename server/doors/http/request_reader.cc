#include "server/doors/http/request_reader.h"

#include <algorithm>
#include <utility>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "server/doors/http/target.h"

namespace stripline::server::http {
namespace {

namespace beast = boost::beast::http;

constexpr std::string_view kBearer = "Bearer ";

std::string text_of(boost::string_view text) { return {text.data(), text.size()}; }

std::string field(const beast::request<beast::string_body>& message, beast::field name) {
  return text_of(message[name]);
}

bool is_one_of(const boost::string_view& text, std::string_view wanted) {
  return std::ranges::equal(
      text, wanted, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

}  // namespace

struct RequestReader::Parser {
  explicit Parser(const Bounds& bounds) {
    parser.header_limit(static_cast<std::uint32_t>(bounds.head_bytes));
    parser.body_limit(bounds.body_bytes);
    // Head first: it is looked at before any of the body is kept.
    parser.eager(false);
  }
  beast::request_parser<beast::string_body> parser;
  Target target;
};

RequestReader::RequestReader(const Bounds& bounds)
    : bounds_(&bounds), parser_(std::make_unique<Parser>(bounds)) {}
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;
RequestReader::~RequestReader() = default;

size_t RequestReader::take(std::string_view bytes) {
  size_t taken = 0;
  while (state_ == State::partial) {
    // The parser wants what it could not take before together with what follows it.
    const size_t room = bounds_->head_bytes + 1 - std::min(pending_.size(), bounds_->head_bytes);
    const size_t more = std::min(room, bytes.size() - taken);
    pending_.append(bytes.substr(taken, more));
    taken += more;
    if (pending_.empty()) break;
    // Empty lines before a request are allowed.
    if (empty_) {
      const size_t begin = std::min(pending_.find_first_not_of("\r\n"), pending_.size());
      pending_.erase(0, begin);
      if (pending_.empty()) continue;
      empty_ = false;
    }
    if (!line_fits()) break;
    boost::system::error_code error;
    auto& parser = parser_->parser;
    const size_t used =
        parser.put(boost::asio::const_buffer(pending_.data(), pending_.size()), error);
    pending_.erase(0, used);
    if (error && error != beast::error::need_more) {
      refuse_for(error.value());
      break;
    }
    if (parser.is_header_done() && !head_read_) {
      head_read_ = true;
      look_at_head();
      if (state_ == State::refused) break;
    }
    if (parser.is_done()) {
      state_ = State::whole;
      break;
    }
    if (used > 0) continue;
    // A line of a chunk that has no end.
    if (pending_.size() > bounds_->head_bytes) {
      refuse(kHeadTooLarge, "a line of the request is longer than " +
                                std::to_string(bounds_->head_bytes) + " bytes");
      break;
    }
    if (taken == bytes.size()) break;
  }
  // What follows a request is not its own.
  if (state_ == State::whole) {
    taken -= std::min(taken, pending_.size());
    pending_.clear();
  }
  return taken;
}

// The first line, before the parser has seen its end.
bool RequestReader::line_fits() {
  if (line_read_) return true;
  const size_t end = pending_.find('\n');
  if (std::min(end, pending_.size()) > bounds_->line_bytes) {
    refuse(kLineTooLong,
           "the request line is longer than " + std::to_string(bounds_->line_bytes) + " bytes");
    return false;
  }
  line_read_ = end != std::string::npos;
  return true;
}

void RequestReader::look_at_head() {
  const auto& message = parser_->parser.get();
  const auto fields = static_cast<size_t>(std::distance(message.begin(), message.end()));
  if (fields > bounds_->fields) {
    return refuse(kHeadTooLarge,
                  "the request has more than " + std::to_string(bounds_->fields) + " header lines");
  }
  const auto method = message.method();
  if (method != beast::verb::get && method != beast::verb::head && method != beast::verb::post) {
    return refuse(kWrongMethod, "GET, HEAD and POST are answered here");
  }
  if (const auto encoding = message[beast::field::content_encoding];
      !encoding.empty() && !is_one_of(encoding, "identity")) {
    return refuse(kWrongType, "the body of a request may not be compressed");
  }
  if (const auto encoding = message[beast::field::transfer_encoding];
      !encoding.empty() && !is_one_of(encoding, "chunked")) {
    return refuse(kNotImplemented, "chunked is the only transfer encoding that is read here");
  }
  const size_t hosts = message.count(beast::field::host);
  if (hosts > 1 || (hosts == 0 && message.version() > 10)) {
    return refuse(kBadRequest, "the request must have one Host");
  }
  auto target = parse_target({message.target().data(), message.target().size()});
  if (!target) return refuse(kBadRequest, "the path or the query cannot be read");
  parser_->target = std::move(*target);
  asks_ = is_one_of(message[beast::field::expect], "100-continue");
}

void RequestReader::refuse(int status, std::string why) {
  state_ = State::refused;
  refusal_ = {status, std::move(why)};
  pending_.clear();
}

void RequestReader::refuse_for(int error) {
  switch (static_cast<beast::error>(error)) {
    case beast::error::header_limit:
    case beast::error::buffer_overflow:
      return refuse(kHeadTooLarge, "the head of the request is longer than " +
                                       std::to_string(bounds_->head_bytes) + " bytes");
    case beast::error::body_limit:
      return refuse(kTooLarge, "the body of the request is longer than " +
                                   std::to_string(bounds_->body_bytes) + " bytes");
    case beast::error::bad_version:
      return refuse(kBadRequest, "HTTP/1.1 is spoken here");
    default:
      return refuse(kBadRequest, "this is not a request of HTTP/1.1");
  }
}

size_t RequestReader::kept_bytes() const {
  return pending_.capacity() + parser_->parser.get().body().capacity();
}

Request RequestReader::request() {
  auto message = parser_->parser.release();
  Request request;
  request.post = message.method() == beast::verb::post;
  request.head = message.method() == beast::verb::head;
  request.path = std::move(parser_->target.path);
  request.query = std::move(parser_->target.query);
  request.host = parser_->target.authority.empty() ? field(message, beast::field::host)
                                                   : std::move(parser_->target.authority);
  request.origin = field(message, beast::field::origin);
  request.bearer = field(message, beast::field::authorization);
  if (request.bearer.starts_with(kBearer)) request.bearer.erase(0, kBearer.size());
  request.cookie = field(message, beast::field::cookie);
  request.if_none_match = field(message, beast::field::if_none_match);
  request.accept_encoding = field(message, beast::field::accept_encoding);
  request.type = field(message, beast::field::content_type);
  request.body = std::move(message.body());
  return request;
}

bool RequestReader::keep_alive() const { return parser_->parser.keep_alive(); }

bool RequestReader::is_old() const { return parser_->parser.get().version() < 11; }

bool RequestReader::wants_to_be_asked() {
  return std::exchange(asks_, false) && state_ == State::partial;
}

}  // namespace stripline::server::http
