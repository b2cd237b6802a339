#include "base/pki/tls_stream.h"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <utility>

#include "base/pki/certificate.h"
#include "base/pki/openssl.h"

namespace stripline::pki {
namespace {

using OwnedContext = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;

// One protocol, after its length.
constexpr std::array<unsigned char, 3> kProtocols{2, 'h', '2'};
constexpr std::string_view kHttp2 = "h2";

Error unusable(const std::string& what) {
  return openssl_error(ErrorCode::internal, "cannot use " + what + " for TLS");
}

// For SSL_CTX_set_cert_verify_callback(): trusts the authority of this hash if the server sends it;
// everything else is checked as ever.
int verify_pinned(X509_STORE_CTX* context, void* pinned) {
  const auto& sha256 = *static_cast<const std::string*>(pinned);
  STACK_OF(X509)* sent = X509_STORE_CTX_get0_untrusted(context);
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> trusted(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (int i = 0; trusted && i < sk_X509_num(sent); ++i) {
    X509* const certificate = sk_X509_value(sent, i);
    if (Certificate::of(certificate).sha256() == sha256) {
      sk_X509_push(trusted.get(), certificate);
    }
  }
  X509_STORE_CTX_set0_trusted_stack(context, trusted.get());
  const int verified = X509_verify_cert(context);
  X509_STORE_CTX_set0_trusted_stack(context, nullptr);
  return verified;
}

// The hash lives as long as the context that it is attached to.
void free_pinned(void* /*parent*/, void* pinned, CRYPTO_EX_DATA* /*data*/, int /*index*/,
                 long /*argument*/, void* /*pointer*/) {
  delete static_cast<std::string*>(pinned);  // NOLINT(cppcoreguidelines-owning-memory)
}

bool pin_authority(SSL_CTX* context, const std::string& sha256) {
  static const int kIndex = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_pinned);
  auto copy = std::make_unique<std::string>(sha256);
  if (kIndex < 0 || SSL_CTX_set_ex_data(context, kIndex, copy.get()) != 1) return false;
  SSL_CTX_set_cert_verify_callback(context, verify_pinned, copy.release());
  return true;
}

Status trust(SSL_CTX* context, const TlsSettings& settings) {
  if (settings.authority_pem.empty()) {
    if (settings.authority_sha256.empty() || !pin_authority(context, settings.authority_sha256)) {
      return unusable("a connection that trusts no authority");
    }
    return {};
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto authorities,
                             Certificate::all_from_pem(settings.authority_pem));
  for (const Certificate& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1) {
      return unusable("the authority's certificate");
    }
  }
  return {};
}

Status show(SSL_CTX* context, const TlsSettings& settings) {
  if (settings.certificate_pem.empty()) return {};
  STRIPLINE_ASSIGN_OR_RETURN(const Certificate certificate,
                             Certificate::from_pem(settings.certificate_pem));
  STRIPLINE_ASSIGN_OR_RETURN(const PrivateKey key, PrivateKey::from_pem(settings.key_pem));
  if (SSL_CTX_use_certificate(context, certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return unusable("this certificate with this key");
  }
  return {};
}

bool expect_host(SSL* ssl, const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  if (::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
      ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  }
  return SSL_set_tlsext_host_name(ssl, host.c_str()) == 1 && SSL_set1_host(ssl, host.c_str()) == 1;
}

}  // namespace

void TlsStream::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }
TlsStream::TlsStream(TlsStream&&) noexcept = default;
TlsStream& TlsStream::operator=(TlsStream&&) noexcept = default;
TlsStream::~TlsStream() = default;

Result<TlsStream> TlsStream::start(const TlsSettings& settings) {
  ERR_clear_error();
  const OwnedContext context(SSL_CTX_new(TLS_client_method()));
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return unusable("OpenSSL");
  }
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  STRIPLINE_RETURN_IF_ERROR(trust(context.get(), settings));
  STRIPLINE_RETURN_IF_ERROR(show(context.get(), settings));
  TlsStream stream(SSL_new(context.get()));
  SSL* const ssl = stream.ssl_.get();
  OwnedBio in(BIO_new(BIO_s_mem()));
  OwnedBio out(BIO_new(BIO_s_mem()));
  // This call alone answers 0 when it has succeeded.
  if (ssl == nullptr || !in || !out || !expect_host(ssl, settings.host) ||
      SSL_set_alpn_protos(ssl, kProtocols.data(), kProtocols.size()) != 0) {
    return unusable("'" + settings.host + "'");
  }
  SSL_set_bio(ssl, in.release(), out.release());
  SSL_set_connect_state(ssl);
  stream.advance();  // the greeting
  return stream;
}

void TlsStream::receive(std::span<const uint8_t> bytes) {
  if (failure_ || ended_) return;
  BIO_write(SSL_get_rbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
  advance();
}

// Does what the bytes at hand allow: the handshake, then reading.
void TlsStream::advance() {
  ERR_clear_error();
  if (!established_) {
    const int done = SSL_do_handshake(ssl_.get());
    if (done != 1) {
      if (SSL_get_error(ssl_.get(), done) != SSL_ERROR_WANT_READ) fail("TLS handshake failed");
      return;
    }
    check_established();
  }
  std::array<char, 16384> bytes{};
  while (!failure_) {
    ERR_clear_error();
    size_t count = 0;
    if (SSL_read_ex(ssl_.get(), bytes.data(), bytes.size(), &count) == 1) {
      plain_.append(bytes.data(), count);
      continue;
    }
    const int why = SSL_get_error(ssl_.get(), 0);
    if (why == SSL_ERROR_WANT_READ) return;
    if (why == SSL_ERROR_ZERO_RETURN) {
      ended_ = true;
      return;
    }
    fail("TLS connection failed");
  }
}

void TlsStream::check_established() {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  if (std::string_view(reinterpret_cast<const char*>(name), size) != kHttp2) {
    failure_ = Error(ErrorCode::unavailable,
                     "what answers there speaks TLS, but not the HTTP/2 of a gRPC server");
    return;
  }
  established_ = true;
}

// The reason of a certificate that is not accepted is in the verification's result.
void TlsStream::fail(const std::string& what) {
  if (failure_) return;
  const long verified = SSL_get_verify_result(ssl_.get());
  if (verified == X509_V_OK) {
    failure_ = openssl_error(ErrorCode::unavailable, what);
    return;
  }
  ERR_clear_error();
  const bool is_time =
      verified == X509_V_ERR_CERT_NOT_YET_VALID || verified == X509_V_ERR_CERT_HAS_EXPIRED;
  failure_ = Error(ErrorCode::unavailable, what + ": the server's certificate is not accepted: " +
                                               X509_verify_cert_error_string(verified) +
                                               (is_time ? "; compare the clocks of this machine "
                                                          "and the server"
                                                        : ""));
}

std::string TlsStream::take_plain() { return std::exchange(plain_, {}); }

size_t TlsStream::write(std::string_view plain) {
  if (!established_ || failure_ || plain.empty()) return 0;
  ERR_clear_error();
  size_t taken = 0;
  if (SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &taken) == 1) return taken;
  if (SSL_get_error(ssl_.get(), 0) != SSL_ERROR_WANT_READ) fail("TLS connection failed");
  return 0;
}

void TlsStream::finish() {
  if (established_ && !failure_) SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

std::string_view TlsStream::output() {
  if (output_offset_ == output_.size()) {
    output_ = text_in(SSL_get_wbio(ssl_.get()));
    output_offset_ = 0;
    (void)BIO_reset(SSL_get_wbio(ssl_.get()));
  }
  return std::string_view(output_).substr(output_offset_);
}

void TlsStream::consume_output(size_t bytes) { output_offset_ += bytes; }

std::string TlsStream::authority_pem() const {
  STACK_OF(X509)* chain = established_ ? SSL_get0_verified_chain(ssl_.get()) : nullptr;
  if (chain == nullptr || sk_X509_num(chain) == 0) return {};
  const auto pem = Certificate::of(sk_X509_value(chain, sk_X509_num(chain) - 1)).pem();
  return pem.ok() ? *pem : std::string();
}

}  // namespace stripline::pki
