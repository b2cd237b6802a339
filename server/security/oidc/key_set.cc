#include "server/security/oidc/key_set.h"

#include <algorithm>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/pki/openssl.h"
#include "base/web/base64url.h"

namespace stripline::server::oidc {
namespace {

using pki::Freed;
using OwnedKey = std::shared_ptr<EVP_PKEY>;
using OwnedNumber = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using OwnedContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using OwnedBuilder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using OwnedParameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using OwnedDigest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using OwnedSignature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;

constexpr size_t kMaxKeys = 100;
constexpr int kLeastBits = 2048;
constexpr int kMaxBits = 8192;        // what a verification takes grows with them
constexpr int kMaxExponentBits = 32;  // likewise
constexpr size_t kCoordinateBytes = 32;

std::string text_in(const Json& key, const char* name) {
  const auto found = key.find(name);
  return found != key.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::string> bytes_in(const Json& key, const char* name) {
  const std::string text = text_in(key, name);
  if (text.empty()) return std::nullopt;
  return web::from_base64url(text);
}

OwnedNumber number(const std::string& bytes) {
  return OwnedNumber(BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                               static_cast<int>(bytes.size()), nullptr));
}

OwnedKey key_from(const char* kind, OSSL_PARAM_BLD* builder) {
  const OwnedParameters parameters(OSSL_PARAM_BLD_to_param(builder));
  const OwnedContext context(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr));
  EVP_PKEY* key = nullptr;
  const bool made =
      parameters && context && EVP_PKEY_fromdata_init(context.get()) == 1 &&
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) == 1;
  ERR_clear_error();
  return made ? OwnedKey(key, EVP_PKEY_free) : OwnedKey();
}

OwnedKey rsa_key(const Json& json) {
  const auto modulus = bytes_in(json, "n");
  const auto exponent = bytes_in(json, "e");
  if (!modulus || !exponent || modulus->size() > kMaxBits / 8 + 1) return {};
  const OwnedNumber n = number(*modulus);
  const OwnedNumber e = number(*exponent);
  if (!n || !e || BN_num_bits(n.get()) < kLeastBits || BN_num_bits(n.get()) > kMaxBits ||
      BN_is_odd(n.get()) == 0 || BN_num_bits(e.get()) < 2 ||
      BN_num_bits(e.get()) > kMaxExponentBits || BN_is_odd(e.get()) == 0) {
    return {};
  }
  const OwnedBuilder builder(OSSL_PARAM_BLD_new());
  if (!builder || OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1) {
    return {};
  }
  return key_from("RSA", builder.get());
}

OwnedKey p256_key(const Json& json) {
  const auto x = bytes_in(json, "x");
  const auto y = bytes_in(json, "y");
  if (text_in(json, "crv") != "P-256" || !x || !y || x->size() != kCoordinateBytes ||
      y->size() != kCoordinateBytes) {
    return {};
  }
  const std::string point = '\x04' + *x + *y;  // not compressed
  const OwnedBuilder builder(OSSL_PARAM_BLD_new());
  if (!builder ||
      OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1) {
    return {};
  }
  OwnedKey key = key_from("EC", builder.get());
  if (!key) return {};
  // A point that is off the curve is refused.
  const OwnedContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  const bool sound = context && EVP_PKEY_public_check(context.get()) == 1;
  ERR_clear_error();
  return sound ? key : OwnedKey();
}

bool is_for_signing(const Json& json) {
  if (const auto use = json.find("use"); use != json.end() && *use != "sig") return false;
  const auto operations = json.find("key_ops");
  if (operations == json.end()) return true;
  return operations->is_array() && std::ranges::find(*operations, "verify") != operations->end();
}

std::optional<SigningKey> key_in(const Json& json) {
  if (!json.is_object() || !is_for_signing(json)) return std::nullopt;
  SigningKey key;
  key.id = text_in(json, "kid");
  key.algorithm = text_in(json, "alg");
  const std::string kind = text_in(json, "kty");
  if (kind == "RSA") {
    key.key = rsa_key(json);
  } else if (kind == "EC") {
    key.kind = SigningKey::Kind::p256;
    key.key = p256_key(json);
  }
  if (!key.key) return std::nullopt;
  return key;
}

const char* name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::rs256:
      return "RS256";
    case Algorithm::ps256:
      return "PS256";
    case Algorithm::es256:
      return "ES256";
  }
  return "";
}

// A token holds the two numbers one after the other, of fixed size; OpenSSL takes them as DER.
std::optional<std::string> der_of(const std::string& signature) {
  if (signature.size() != 2 * kCoordinateBytes) return std::nullopt;
  const OwnedSignature pair(ECDSA_SIG_new());
  OwnedNumber r = number(signature.substr(0, kCoordinateBytes));
  OwnedNumber s = number(signature.substr(kCoordinateBytes));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return std::nullopt;
  (void)r.release();
  (void)s.release();
  unsigned char* bytes = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &bytes);
  if (size <= 0) return std::nullopt;
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

bool set_padding(EVP_PKEY_CTX* context, Algorithm algorithm) {
  if (algorithm == Algorithm::es256) return true;
  if (algorithm == Algorithm::rs256) {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1;
  }
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1 &&
         EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha256()) == 1;
}

}  // namespace

bool SigningKey::is_for(Algorithm wanted) const {
  return (kind == Kind::p256) == (wanted == Algorithm::es256) &&
         (algorithm.empty() || algorithm == name_of(wanted));
}

bool SigningKey::verifies(const Jwt& jwt) const {
  if (!is_for(jwt.algorithm)) return false;
  std::string signature = jwt.signature;
  if (jwt.algorithm == Algorithm::es256) {
    auto der = der_of(signature);
    if (!der) return false;
    signature = std::move(*der);
  }
  const OwnedDigest digest(EVP_MD_CTX_new());
  EVP_PKEY_CTX* context = nullptr;
  const bool verified =
      digest &&
      EVP_DigestVerifyInit(digest.get(), &context, EVP_sha256(), nullptr, key.get()) == 1 &&
      set_padding(context, jwt.algorithm) &&
      EVP_DigestVerify(digest.get(), reinterpret_cast<const unsigned char*>(signature.data()),
                       signature.size(),
                       reinterpret_cast<const unsigned char*>(jwt.signed_text.data()),
                       jwt.signed_text.size()) == 1;
  ERR_clear_error();
  return verified;
}

Result<KeySet> parse_key_set(std::string_view json) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto parsed, parse_json(json, "the issuer's keys"));
  const auto list = parsed.is_object() ? parsed.find("keys") : parsed.end();
  if (!parsed.is_object() || list == parsed.end() || !list->is_array()) {
    return Error(ErrorCode::data_loss, "what the issuer publishes as its keys has no list 'keys'");
  }
  KeySet keys;
  for (const Json& one : *list) {
    if (keys.size() == kMaxKeys) break;
    if (auto key = key_in(one)) keys.push_back(std::move(*key));
  }
  if (keys.empty()) {
    return Error(ErrorCode::not_found,
                 "the issuer publishes no key for signatures by RS256, PS256 or ES256");
  }
  return keys;
}

}  // namespace stripline::server::oidc
