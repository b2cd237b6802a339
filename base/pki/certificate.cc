#include "base/pki/certificate.h"

#include <arpa/inet.h>
#include <array>
#include <cmath>
#include <ctime>
#include <netinet/in.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <utility>

#include "base/pki/openssl.h"
#include "base/sha256.h"

namespace stripline::pki {
namespace {

constexpr int kSerialBits = 159;  // RFC 5280 allows 20 bytes that are positive
constexpr size_t kMaxHostName = 253;

Error cannot(const std::string& what) {
  return openssl_error(ErrorCode::internal, "cannot " + what);
}

Result<std::string> pem_text(const std::string& what, const auto& write) {
  const OwnedBio bio(BIO_new(BIO_s_mem()));
  if (!bio || write(bio.get()) != 1) return cannot("write a " + what);
  return text_in(bio.get());
}

double unix_seconds(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nan("");
  return static_cast<double>(::timegm(&parts));
}

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<size_t>(ASN1_STRING_length(text))};
}

std::string address_text(const ASN1_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ASN1_STRING_length(bytes) != 16) return {};
  ::inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

// Those alternative names of a certificate that `read` makes text of.
template <typename Read>
std::vector<std::string> alternative_names(X509* certificate, Read read) {
  const OwnedNames names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> found;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    std::string text = read(*sk_GENERAL_NAME_value(names.get(), i));
    if (!text.empty()) found.push_back(std::move(text));
  }
  return found;
}

bool is_host_name(const std::string& name) {
  constexpr std::string_view kCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
  return !name.empty() && name.size() <= kMaxHostName &&
         name.find_first_not_of(kCharacters) == std::string::npos;
}

bool add_name(GENERAL_NAMES* names, int type, std::string_view bytes) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_STRING* value =
      ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
  if (name == nullptr || value == nullptr ||
      ASN1_STRING_set(value, bytes.data(), static_cast<int>(bytes.size())) != 1) {
    GENERAL_NAME_free(name);
    ASN1_STRING_free(value);
    return false;
  }
  GENERAL_NAME_set0_value(name, type, value);
  if (sk_GENERAL_NAME_push(names, name) > 0) return true;
  GENERAL_NAME_free(name);
  return false;
}

Result<OwnedNames> names_of(const Subject& subject) {
  OwnedNames names(sk_GENERAL_NAME_new_null());
  bool added = names != nullptr;
  for (const std::string& host : subject.hosts) {
    std::array<char, sizeof(in6_addr)> address{};
    if (::inet_pton(AF_INET, host.c_str(), address.data()) == 1) {
      added = added && add_name(names.get(), GEN_IPADD, {address.data(), sizeof(in_addr)});
    } else if (::inet_pton(AF_INET6, host.c_str(), address.data()) == 1) {
      added = added && add_name(names.get(), GEN_IPADD, {address.data(), address.size()});
    } else if (is_host_name(host)) {
      added = added && add_name(names.get(), GEN_DNS, host);
    } else {
      return Error(ErrorCode::invalid_argument,
                   "'" + host + "' is neither the name of a host nor an address");
    }
  }
  for (const std::string& uri : subject.uris) added = added && add_name(names.get(), GEN_URI, uri);
  if (!added) return cannot("name the subject of a certificate");
  return names;
}

bool add_extension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const OwnedExtension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_random_serial(X509* certificate) {
  const std::unique_ptr<BIGNUM, Freed<BN_free>> number(BN_new());
  return number && BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

// What every certificate has, but for extensions and signature.
OwnedX509 blank(const std::string& common_name, EVP_PKEY* key, const Validity& validity) {
  OwnedX509 made(X509_new());
  if (!made || X509_set_version(made.get(), X509_VERSION_3) != 1 ||
      !set_random_serial(made.get()) ||
      ASN1_TIME_set(X509_getm_notBefore(made.get()),
                    static_cast<time_t>(std::floor(validity.from_unix_s))) == nullptr ||
      ASN1_TIME_set(X509_getm_notAfter(made.get()),
                    static_cast<time_t>(std::floor(validity.until_unix_s))) == nullptr ||
      X509_NAME_add_entry_by_NID(X509_get_subject_name(made.get()), NID_commonName, MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) != 1 ||
      X509_set_pubkey(made.get(), key) != 1) {
    return nullptr;
  }
  return made;
}

Result<Certificate> signed_leaf(const Issuer& issuer, EVP_PKEY* key, const Subject& subject,
                                Use use, const Validity& validity) {
  STRIPLINE_ASSIGN_OR_RETURN(const OwnedNames names, names_of(subject));
  const OwnedX509 leaf = blank(subject.common_name, key, validity);
  X509* authority = issuer.certificate.get();
  if (!leaf || X509_set_issuer_name(leaf.get(), X509_get_subject_name(authority)) != 1 ||
      !add_extension(leaf.get(), authority, NID_basic_constraints, "critical,CA:FALSE") ||
      !add_extension(leaf.get(), authority, NID_key_usage, "critical,digitalSignature") ||
      !add_extension(leaf.get(), authority, NID_ext_key_usage,
                     use == Use::server ? "serverAuth" : "clientAuth") ||
      !add_extension(leaf.get(), authority, NID_subject_key_identifier, "hash") ||
      !add_extension(leaf.get(), authority, NID_authority_key_identifier, "keyid:always") ||
      X509_add1_ext_i2d(leaf.get(), NID_subject_alt_name, names.get(), 0, X509V3_ADD_DEFAULT) !=
          1 ||
      X509_sign(leaf.get(), issuer.key.get(), EVP_sha256()) == 0) {
    return cannot("issue a certificate");
  }
  return Certificate::of(leaf.get());
}

bool is_on_p256(const EVP_PKEY* key) {
  std::array<char, 32> group{};
  size_t size = 0;
  return EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, group.data(), group.size(), &size) == 1 &&
         std::string_view(group.data(), size) == SN_X9_62_prime256v1;
}

}  // namespace

Result<PrivateKey> PrivateKey::generate() {
  EVP_PKEY* key = EVP_EC_gen(SN_X9_62_prime256v1);
  if (key == nullptr) return cannot("make a private key");
  return PrivateKey({key, EVP_PKEY_free});
}

Result<PrivateKey> PrivateKey::from_pem(std::string_view pem) {
  const OwnedBio bio = bio_with(pem);
  // An encrypted key would ask for its password on the terminal.
  const auto no_password = [](char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) {
    return -1;
  };
  EVP_PKEY* key = bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr) : nullptr;
  if (key == nullptr) {
    return openssl_error(ErrorCode::data_loss,
                         "this is not a private key in PEM without a password");
  }
  return PrivateKey({key, EVP_PKEY_free});
}

Result<std::string> PrivateKey::pem() const {
  return pem_text("private key", [&](BIO* bio) {
    return PEM_write_bio_PKCS8PrivateKey(bio, get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

Certificate Certificate::of(x509_st* certificate) {
  X509_up_ref(certificate);
  return Certificate({certificate, X509_free});
}

Result<std::vector<Certificate>> Certificate::all_from_pem(std::string_view pem) {
  const OwnedBio bio = bio_with(pem);
  std::vector<Certificate> found;
  ERR_clear_error();
  while (bio) {
    const OwnedX509 next(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (!next) break;
    found.push_back(of(next.get()));
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (found.empty() || !at_end) {
    return openssl_error(ErrorCode::data_loss, "this is not a certificate in PEM");
  }
  ERR_clear_error();
  return found;
}

Result<Certificate> Certificate::from_pem(std::string_view pem) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Certificate> all, all_from_pem(pem));
  return all.front();
}

Result<std::string> Certificate::pem() const {
  return pem_text("certificate", [&](BIO* bio) { return PEM_write_bio_X509(bio, get()); });
}

std::string Certificate::sha256() const {
  unsigned char* der = nullptr;
  const int size = i2d_X509(get(), &der);
  if (size <= 0) return {};
  std::string hash = sha256_hex({reinterpret_cast<const char*>(der), static_cast<size_t>(size)});
  OPENSSL_free(der);
  return hash;
}

std::string Certificate::common_name() const {
  X509_NAME* subject = X509_get_subject_name(get());
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  return at < 0 ? "" : text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
}

std::vector<std::string> Certificate::uris() const {
  return alternative_names(get(), [](const GENERAL_NAME& name) {
    return name.type == GEN_URI ? text_of(name.d.uniformResourceIdentifier) : "";
  });
}

std::vector<std::string> Certificate::hosts() const {
  return alternative_names(get(), [](const GENERAL_NAME& name) {
    if (name.type == GEN_DNS) return text_of(name.d.dNSName);
    return name.type == GEN_IPADD ? address_text(name.d.iPAddress) : "";
  });
}

double Certificate::not_before_unix_s() const { return unix_seconds(X509_get0_notBefore(get())); }
double Certificate::not_after_unix_s() const { return unix_seconds(X509_get0_notAfter(get())); }

bool Certificate::belongs_to(const PrivateKey& key) const {
  const bool belongs = X509_check_private_key(get(), key.get()) == 1;
  ERR_clear_error();
  return belongs;
}

bool Certificate::is_signed_by(const Certificate& issuer) const {
  const bool is_signed = X509_verify(get(), X509_get0_pubkey(issuer.get())) == 1;
  ERR_clear_error();
  return is_signed;
}

bool Certificate::is_client_of(const Certificate& authority) const {
  const std::unique_ptr<X509_STORE, Freed<X509_STORE_free>> trusted(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  bool is_client = false;
  if (trusted && context && X509_STORE_add_cert(trusted.get(), authority.get()) == 1 &&
      X509_STORE_CTX_init(context.get(), trusted.get(), get(), nullptr) == 1) {
    X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(context.get());
    is_client = X509_VERIFY_PARAM_set_purpose(rules, X509_PURPOSE_SSL_CLIENT) == 1 &&
                X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_NO_CHECK_TIME) == 1 &&
                X509_verify_cert(context.get()) == 1;
  }
  ERR_clear_error();
  return is_client;
}

Result<Certificate> make_authority(const PrivateKey& key, const std::string& common_name,
                                   const Validity& validity) {
  const OwnedX509 made = blank(common_name, key.get(), validity);
  if (!made || X509_set_issuer_name(made.get(), X509_get_subject_name(made.get())) != 1 ||
      !add_extension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !add_extension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !add_extension(made.get(), made.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(made.get(), key.get(), EVP_sha256()) == 0) {
    return cannot("make the certificate of an authority");
  }
  return Certificate::of(made.get());
}

Result<Certificate> issue(const Issuer& issuer, const PrivateKey& key, const Subject& subject,
                          Use use, const Validity& validity) {
  return signed_leaf(issuer, key.get(), subject, use, validity);
}

Result<Certificate> issue_for_request(const Issuer& issuer, std::string_view request_pem,
                                      const Subject& subject, Use use, const Validity& validity) {
  const OwnedBio bio = bio_with(request_pem);
  const OwnedRequest request(bio ? PEM_read_bio_X509_REQ(bio.get(), nullptr, nullptr, nullptr)
                                 : nullptr);
  EVP_PKEY* key = request ? X509_REQ_get0_pubkey(request.get()) : nullptr;
  if (key == nullptr) {
    return openssl_error(ErrorCode::invalid_argument, "this is not a certificate request in PEM");
  }
  if (X509_REQ_verify(request.get(), key) != 1) {
    return openssl_error(ErrorCode::invalid_argument,
                         "the certificate request is not signed by its own key");
  }
  if (!is_on_p256(key)) {
    return Error(ErrorCode::invalid_argument,
                 "the certificate request has a key of another kind than P-256");
  }
  return signed_leaf(issuer, key, subject, use, validity);
}

Result<std::string> make_request(const PrivateKey& key) {
  const OwnedRequest request(X509_REQ_new());
  if (!request || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_pubkey(request.get(), key.get()) != 1 ||
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) == 0) {
    return cannot("make a certificate request");
  }
  return pem_text("certificate request",
                  [&](BIO* bio) { return PEM_write_bio_X509_REQ(bio, request.get()); });
}

}  // namespace stripline::pki
