#include "server/http/web_server.h"

#include <atomic>
#include <openssl/ssl.h>
#include <string_view>
#include <utility>

#include "server/http/listening.h"

namespace stripline::server::http {
namespace {

constexpr std::string_view kBearer = "Bearer ";
// Pages come from here alone, run no other code, and are not shown within those of others.
constexpr const char* kPolicy =
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

Request request_from(const httplib::Request& from) {
  Request request;
  request.post = from.method == "POST";
  request.path = from.path;
  for (const auto& [name, value] : from.params) request.query[name] = value;
  request.bearer = from.get_header_value("Authorization");
  if (request.bearer.starts_with(kBearer)) request.bearer.erase(0, kBearer.size());
  request.if_none_match = from.get_header_value("If-None-Match");
  request.peer = from.remote_addr;
  request.type = from.get_header_value("Content-Type");
  request.body = from.body;
  return request;
}

// The files as they are at the time of each handshake.
struct CertificateFiles {
  std::string certificate;
  std::string key;
};

int use_files(SSL* connection, void* argument) {
  const auto& files = *static_cast<const CertificateFiles*>(argument);
  return SSL_use_certificate_chain_file(connection, files.certificate.c_str()) == 1 &&
                 SSL_use_PrivateKey_file(connection, files.key.c_str(), SSL_FILETYPE_PEM) == 1
             ? 1
             : 0;
}

}  // namespace

class WebServer::Impl {
 public:
  Impl(const WebServerOptions& options, Handler handler)
      : options_(options),
        handler_(std::move(handler)),
        files_{options.certificate_file.string(), options.key_file.string()},
        library_(files_.key.empty() ? std::make_unique<httplib::Server>() : with_tls()),
        listening_(*library_) {
    const auto handle = [this](const httplib::Request& from, httplib::Response& to) {
      answer(from, to);
    };
    library_->Get(".*", handle);
    library_->Post(".*", handle);
    library_->set_error_handler([](const httplib::Request&, httplib::Response& to) {
      if (to.body.empty()) {
        to.set_content("GET and POST are answered here, of paths that docs/http.md names\n",
                       "text/plain; charset=utf-8");
      }
    });
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { ending_ = true; }

  Status start() {
    if (!library_->is_valid()) {
      return Error(ErrorCode::data_loss, "cannot serve HTTP by TLS with '" + files_.certificate +
                                             "': it or its key cannot be read");
    }
    STRIPLINE_ASSIGN_OR_RETURN(port_, listening_.start(options_.host, options_.port,
                                                       options_.threads, kMostBodyBytes, "HTTP"));
    return {};
  }

  uint16_t port() const { return port_; }

 private:
  std::unique_ptr<httplib::Server> with_tls() {
    return std::make_unique<httplib::SSLServer>([this](SSL_CTX& context) {
      SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
      SSL_CTX_set_cert_cb(&context, use_files, &files_);
      // Files that cannot be read are found at once, not at the first handshake.
      return SSL_CTX_use_certificate_chain_file(&context, files_.certificate.c_str()) == 1 &&
             SSL_CTX_use_PrivateKey_file(&context, files_.key.c_str(), SSL_FILETYPE_PEM) == 1;
    });
  }

  void answer(const httplib::Request& from, httplib::Response& to) {
    Response response = handler_(request_from(from));
    to.set_header("Content-Security-Policy", kPolicy);
    to.set_header("X-Content-Type-Options", "nosniff");
    to.set_header("Referrer-Policy", "no-referrer");
    to.set_header("Cache-Control", response.etag.empty() ? "no-store" : "no-cache");
    if (!response.etag.empty()) to.set_header("ETag", response.etag);
    if (response.status == kUnauthorised) to.set_header("WWW-Authenticate", "Bearer");
    to.status = response.status;
    if (!response.next_piece) {
      to.set_content(response.body, response.type);
    } else if (++streams_ > options_.most_streams) {
      --streams_;
      to.status = kTooManyRequests;
      to.set_content("too many streams are open; ask for the state from time to time instead\n",
                     "text/plain; charset=utf-8");
    } else {
      stream(std::move(response), to);
    }
  }

  void stream(Response response, httplib::Response& to) {
    to.set_chunked_content_provider(
        response.type,
        [this, next = std::move(response.next_piece)](size_t, httplib::DataSink& sink) {
          const auto piece = ending_ ? std::nullopt : next();
          if (!piece) {
            sink.done();
          } else if (!piece->empty()) {
            return sink.write(piece->data(), piece->size());
          }
          return true;
        },
        [this](bool) { --streams_; });
  }

  const WebServerOptions options_;
  const Handler handler_;
  CertificateFiles files_;
  std::unique_ptr<httplib::Server> library_;
  std::atomic<size_t> streams_ = 0;
  std::atomic<bool> ending_ = false;
  uint16_t port_ = 0;
  Listening listening_;  // ends before all that its threads use
};

Result<WebServer> WebServer::start(const WebServerOptions& options, Handler handler) {
  auto impl = std::make_unique<Impl>(options, std::move(handler));
  STRIPLINE_RETURN_IF_ERROR(impl->start());
  return WebServer(std::move(impl));
}

WebServer::WebServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebServer::WebServer(WebServer&&) noexcept = default;
WebServer::~WebServer() = default;

uint16_t WebServer::port() const { return impl_->port(); }

}  // namespace stripline::server::http
