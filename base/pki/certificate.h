// Private keys and X.509 certificates: made, written, read and judged. Values; copies share what is
// immutable. Thread-safe as values are. Times are seconds since 1970 in UTC, and always given: what
// is valid now is the caller's question.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct evp_pkey_st;
struct x509_st;

namespace stripline::pki {

/// An elliptic-curve key (P-256).
class PrivateKey {
 public:
  static Result<PrivateKey> generate();
  /// Errors: data_loss when the text holds no unencrypted private key.
  static Result<PrivateKey> from_pem(std::string_view pem);

  /// PKCS #8, unencrypted: a secret.
  Result<std::string> pem() const;
  evp_pkey_st* get() const { return key_.get(); }

 private:
  explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

class Certificate {
 public:
  /// The certificates in a text, in order. Errors: data_loss when there is none, or a broken one.
  static Result<std::vector<Certificate>> all_from_pem(std::string_view pem);
  /// The first of them.
  static Result<Certificate> from_pem(std::string_view pem);
  /// Takes a reference of its own.
  static Certificate of(x509_st* certificate);

  Result<std::string> pem() const;
  /// The hash of its DER form, in lower-case hexadecimal: what a token pins.
  std::string sha256() const;
  std::string common_name() const;
  /// The subject alternative names of these kinds.
  std::vector<std::string> uris() const;
  std::vector<std::string> hosts() const;  ///< DNS names and addresses
  double not_before_unix_s() const;
  double not_after_unix_s() const;

  bool belongs_to(const PrivateKey& key) const;
  /// True if `issuer` signed it; nothing about validity in time.
  bool is_signed_by(const Certificate& issuer) const;
  /// True if this is a client's certificate that `authority` issued: signature, chain and purpose,
  /// as TLS would verify them; nothing about validity in time.
  bool is_client_of(const Certificate& authority) const;
  x509_st* get() const { return certificate_.get(); }

 private:
  explicit Certificate(std::shared_ptr<x509_st> certificate)
      : certificate_(std::move(certificate)) {}
  std::shared_ptr<x509_st> certificate_;
};

/// From when until when.
struct Validity {
  double from_unix_s = 0;
  double until_unix_s = 0;
};

/// A certificate for both sides of a TLS connection is never issued: a node cannot pose as the
/// server.
enum class Use { server, client };

struct Subject {
  std::string common_name;
  std::vector<std::string> hosts;  ///< DNS names, IPv4 and IPv6 addresses
  std::vector<std::string> uris;
};

/// A self-signed certificate of an authority that issues leaves only.
Result<Certificate> make_authority(const PrivateKey& key, const std::string& common_name,
                                   const Validity& validity);

/// An authority that issues certificates.
struct Issuer {
  Certificate certificate;
  PrivateKey key;
};

/// A certificate over `key`'s public half. Errors: invalid_argument for a host that is neither a
/// name nor an address.
Result<Certificate> issue(const Issuer& issuer, const PrivateKey& key, const Subject& subject,
                          Use use, const Validity& validity);

/// The same for the key in a request (PKCS #10 in PEM), whose signature proves that the sender has
/// it. What the request says of names is not looked at. Errors: invalid_argument for what is no
/// request, a wrong signature, or a key that is not on P-256.
Result<Certificate> issue_for_request(const Issuer& issuer, std::string_view request_pem,
                                      const Subject& subject, Use use, const Validity& validity);

/// A request for a certificate over this key.
Result<std::string> make_request(const PrivateKey& key);

}  // namespace stripline::pki
