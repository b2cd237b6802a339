// The client against OpenSSL's own server side, over buffers.
#include "base/pki/tls_stream.h"

#include <openssl/ssl.h>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/pki/certificate.h"
#include "base/pki/openssl.h"

namespace stripline::pki {
namespace {

Validity around_now() { return {unix_seconds() - 60, unix_seconds() + 3600}; }

Issuer make_issuer() {
  const PrivateKey key = *PrivateKey::generate();
  return {*make_authority(key, "Stripline test", around_now()), key};
}

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Answers every byte with itself.
class EchoServer {
 public:
  struct Options {
    std::string host = "head";
    Validity validity = around_now();
    bool alpn = true;
    bool demands_certificate = false;
  };

  EchoServer(const Issuer& issuer, const Options& options)
      : context_(SSL_CTX_new(TLS_server_method())) {
    const PrivateKey key = *PrivateKey::generate();
    const Certificate own =
        *issue(issuer, key, {"s", {options.host}, {}}, Use::server, options.validity);
    SSL_CTX_use_certificate(context_.get(), own.get());
    SSL_CTX_use_PrivateKey(context_.get(), key.get());
    SSL_CTX_add1_chain_cert(context_.get(), issuer.certificate.get());
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), issuer.certificate.get());
    if (options.demands_certificate) {
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                         nullptr);
    }
    if (options.alpn) {
      SSL_CTX_set_alpn_select_cb(
          context_.get(),
          [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
             unsigned, void*) {
            *out = in + 1;
            *size = 2;
            return SSL_TLSEXT_ERR_OK;
          },
          nullptr);
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_.get());
  }

  std::string answer(std::string_view cipher) {
    BIO_write(SSL_get_rbio(ssl_.get()), cipher.data(), static_cast<int>(cipher.size()));
    char byte = 0;
    while (SSL_read(ssl_.get(), &byte, 1) == 1) SSL_write(ssl_.get(), &byte, 1);
    return out();
  }
  std::string goodbye() {
    SSL_shutdown(ssl_.get());
    return out();
  }

 private:
  std::string out() {
    std::string text = text_in(SSL_get_wbio(ssl_.get()));
    (void)BIO_reset(SSL_get_wbio(ssl_.get()));
    return text;
  }
  std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>> context_;
  std::unique_ptr<SSL, Freed<SSL_free>> ssl_;
};

class TlsStreamTest : public testing::Test {
 protected:
  TlsSettings settings() const {
    return {.host = "head", .authority_pem = *issuer_.certificate.pem()};
  }

  // Carries bytes in both directions until neither side has any, `piece` bytes at a time.
  static void exchange(TlsStream& stream, EchoServer& server, size_t piece = 4096) {
    while (!stream.output().empty()) {
      const std::string sent(stream.output().substr(0, piece));
      stream.consume_output(sent.size());
      const std::string answer = server.answer(sent);
      for (size_t at = 0; at < answer.size(); at += piece) {
        stream.receive(bytes_of(std::string_view(answer).substr(at, piece)));
      }
    }
  }

  std::string failure_with(const TlsSettings& settings, const EchoServer::Options& options) {
    EchoServer server(issuer_, options);
    auto stream = TlsStream::start(settings);
    if (!stream.ok()) return stream.error().message();
    exchange(*stream, server);
    return stream->failure() ? stream->failure()->message() : "";
  }

  const Issuer issuer_ = make_issuer();
};

TEST_F(TlsStreamTest, CarriesBytesInBothDirections) {
  for (const size_t piece : {size_t{1}, size_t{4096}}) {
    EchoServer server(issuer_, {});
    TlsStream stream = *TlsStream::start(settings());
    EXPECT_EQ(stream.write("too early"), 0U);
    exchange(stream, server, piece);
    ASSERT_TRUE(stream.established()) << stream.failure()->message();
    EXPECT_EQ(stream.write("hello"), 5U);
    exchange(stream, server, piece);
    EXPECT_EQ(stream.take_plain(), "hello");
    EXPECT_EQ(stream.take_plain(), "");
    EXPECT_FALSE(stream.ended());
    stream.receive(bytes_of(server.goodbye()));
    EXPECT_TRUE(stream.ended());
    EXPECT_FALSE(stream.failure());
  }
}

TEST_F(TlsStreamTest, LargeDataComesWhole) {
  EchoServer server(issuer_, {});
  TlsStream stream = *TlsStream::start(settings());
  exchange(stream, server);
  const std::string data(300'000, 'x');
  for (size_t at = 0; at < data.size();) {
    const size_t taken = stream.write(std::string_view(data).substr(at));
    ASSERT_GT(taken, 0U);
    at += taken;
  }
  exchange(stream, server);
  EXPECT_EQ(stream.take_plain(), data);
}

TEST_F(TlsStreamTest, AServerThatIsNotTheOneMeantIsRefused) {
  EXPECT_EQ(failure_with(settings(), {}), "");
  TlsSettings foreign = settings();
  foreign.authority_pem = *make_issuer().certificate.pem();
  EXPECT_NE(failure_with(foreign, {}).find("not accepted"), std::string::npos);
  EXPECT_NE(failure_with(settings(), {.host = "other"}).find("ostname mismatch"),
            std::string::npos);
  const Validity past{unix_seconds() - 7200, unix_seconds() - 3600};
  EXPECT_NE(failure_with(settings(), {.validity = past}).find("expired"), std::string::npos);
  EXPECT_NE(failure_with(settings(), {.alpn = false}).find("HTTP/2"), std::string::npos);
}

TEST_F(TlsStreamTest, AddressesAreComparedAsAddresses) {
  TlsSettings by_address = settings();
  by_address.host = "10.1.2.3";
  EXPECT_EQ(failure_with(by_address, {.host = "10.1.2.3"}), "");
  EXPECT_NE(failure_with(by_address, {.host = "10.1.2.4"}), "");
}

TEST_F(TlsStreamTest, AnAuthorityCanBePinnedByItsHash) {
  const TlsSettings pinned{.host = "head", .authority_sha256 = issuer_.certificate.sha256()};
  EchoServer server(issuer_, {});
  TlsStream stream = *TlsStream::start(pinned);
  exchange(stream, server);
  ASSERT_TRUE(stream.established());
  EXPECT_EQ(stream.authority_pem(), *issuer_.certificate.pem());

  EXPECT_NE(failure_with({.host = "head", .authority_sha256 = std::string(64, '0')}, {}), "");
  EXPECT_NE(failure_with({.host = "head", .authority_sha256 = pinned.authority_sha256},
                         {.host = "other"}),
            "");
  EXPECT_NE(failure_with({.host = "head"}, {}), "");
}

TEST_F(TlsStreamTest, ShowsWhoItIs) {
  const PrivateKey key = *PrivateKey::generate();
  const auto with = [&](Use use, const Validity& validity) {
    TlsSettings own = settings();
    own.certificate_pem = *issue(issuer_, key, {"a", {}, {}}, use, validity)->pem();
    own.key_pem = *key.pem();
    return own;
  };
  const EchoServer::Options demanding{.demands_certificate = true};
  EXPECT_EQ(failure_with(with(Use::client, around_now()), demanding), "");
  EXPECT_NE(failure_with(settings(), demanding), "");
  EXPECT_NE(failure_with(with(Use::server, around_now()), demanding), "");
  EXPECT_NE(failure_with(with(Use::client, {unix_seconds() - 60, unix_seconds() - 30}), demanding),
            "");
  TlsSettings mixed = with(Use::client, around_now());
  mixed.key_pem = *PrivateKey::generate()->pem();
  EXPECT_NE(failure_with(mixed, demanding).find("with this key"), std::string::npos);
}

TEST_F(TlsStreamTest, GarbageEndsIt) {
  TlsStream stream = *TlsStream::start(settings());
  stream.receive(bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n"));
  ASSERT_TRUE(stream.failure());
  EXPECT_EQ(stream.failure()->code(), ErrorCode::unavailable);
  stream.receive(bytes_of("more"));
  EXPECT_EQ(stream.write("x"), 0U);
}

}  // namespace
}  // namespace stripline::pki
