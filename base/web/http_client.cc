#include "base/web/http_client.h"

#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace stripline::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast::http;
using boost::system::error_code;
using Tcp = asio::ip::tcp;
using Steady = std::chrono::steady_clock;

constexpr size_t kMostHeadBytes = size_t{16} << 10;
// How soon it is noticed that the server stops.
constexpr std::chrono::milliseconds kLook{100};

class Exchange {
 public:
  Exchange(const HttpRequest& request, const HttpLimits& limits) : url_(request.url) {
    message_.method(request.form.empty() ? beast::verb::get : beast::verb::post);
    message_.target(url_.target);
    message_.version(11);
    message_.set(beast::field::host, url_.authority);
    message_.set(beast::field::user_agent, "stripline");
    message_.set(beast::field::accept, "application/json");
    message_.set(beast::field::connection, "close");
    if (!request.authorization.empty()) {
      message_.set(beast::field::authorization, request.authorization);
    }
    if (!request.form.empty()) {
      message_.set(beast::field::content_type, "application/x-www-form-urlencoded");
      message_.body() = request.form;
    }
    message_.prepare_payload();
    parser_.header_limit(kMostHeadBytes);
    parser_.body_limit(limits.body_bytes);
  }

  Status prepare(const HttpLimits& limits) {
    if (!url_.tls) {
      plain_.emplace(context_);
      return {};
    }
    error_code error;
    tls_.set_verify_mode(asio::ssl::verify_peer, error);
    if (!error && limits.authorities_file.empty()) tls_.set_default_verify_paths(error);
    if (!error && !limits.authorities_file.empty()) {
      tls_.load_verify_file(limits.authorities_file.string(), error);
    }
    if (error) return failed("cannot read the authorities that sign certificates", error);
    SSL_CTX_set_min_proto_version(tls_.native_handle(), TLS1_2_VERSION);
    encrypted_.emplace(context_, tls_);
    encrypted_->set_verify_callback(asio::ssl::host_name_verification(url_.host));
    // A name alone: an address is not one (RFC 6066).
    if (url_.host.find(':') == std::string::npos &&
        url_.host.find_first_not_of("0123456789.") != std::string::npos) {
      SSL_set_tlsext_host_name(encrypted_->native_handle(), url_.host.c_str());
    }
    return {};
  }

  Result<HttpAnswer> run(double limit_s, const std::stop_token& stop) {
    resolver_.async_resolve(url_.host, url_.port,
                            [this](error_code error, const Tcp::resolver::results_type& found) {
                              if (error) return end("cannot find the host", error);
                              connect(found);
                            });
    const auto end = Steady::now() + std::chrono::duration_cast<Steady::duration>(
                                         std::chrono::duration<double>(limit_s));
    while (!done_ && !stop.stop_requested() && Steady::now() < end) context_.run_for(kLook);
    if (failure_) return *failure_;
    if (done_) {
      return HttpAnswer{static_cast<int>(parser_.get().result_int()),
                        std::move(parser_.get().body())};
    }
    if (stop.stop_requested()) return Error(ErrorCode::unavailable, "this program is ending");
    return Error(ErrorCode::unavailable, url_.authority + ": no answer in time");
  }

 private:
  Error failed(const std::string& what, const error_code& error) const {
    return {ErrorCode::unavailable, url_.authority + ": " + what + ": " + error.message()};
  }

  void end(const std::string& what, const error_code& error) {
    failure_ = failed(what, error);
    done_ = true;
  }

  Tcp::socket& socket() { return encrypted_ ? encrypted_->next_layer() : *plain_; }

  void connect(const Tcp::resolver::results_type& found) {
    asio::async_connect(socket(), found, [this](error_code error, const Tcp::endpoint& /*to*/) {
      if (error) return end("cannot connect", error);
      if (!encrypted_) return talk(*plain_);
      encrypted_->async_handshake(asio::ssl::stream_base::client, [this](error_code failure) {
        if (failure) return end("no secure connection", failure);
        talk(*encrypted_);
      });
    });
  }

  template <typename Stream>
  void talk(Stream& stream) {
    beast::async_write(stream, message_, [this, &stream](error_code error, size_t /*bytes*/) {
      if (error) return end("cannot ask", error);
      beast::async_read(stream, buffer_, parser_, [this](error_code failure, size_t /*bytes*/) {
        if (failure) return end("cannot read the answer", failure);
        done_ = true;
      });
    });
  }

  const Url url_;
  asio::io_context context_{1};
  Tcp::resolver resolver_{context_};
  asio::ssl::context tls_{asio::ssl::context::tls_client};
  std::optional<Tcp::socket> plain_;
  std::optional<asio::ssl::stream<Tcp::socket>> encrypted_;
  beast::request<beast::string_body> message_;
  boost::beast::flat_buffer buffer_{kMostHeadBytes + (size_t{16} << 10)};
  beast::response_parser<beast::string_body> parser_;
  bool done_ = false;
  std::optional<Error> failure_;
};

}  // namespace

Result<HttpAnswer> fetch(const HttpRequest& request, const HttpLimits& limits,
                         const std::stop_token& stop) {
  Exchange exchange(request, limits);
  STRIPLINE_RETURN_IF_ERROR(exchange.prepare(limits));
  return exchange.run(limits.limit_s, stop);
}

}  // namespace stripline::web
