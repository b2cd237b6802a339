#include "server/testing/signer.h"

#include <cstdlib>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include "base/web/base64url.h"

namespace stripline::server::oidc {
namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

std::string bytes_of(const BIGNUM* number, size_t size) {
  std::string bytes(size, '\0');
  must(BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
                    static_cast<int>(size)) >= 0);
  return bytes;
}

std::string parameter(EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  must(EVP_PKEY_get_bn_param(key, name, &number) == 1);
  std::string bytes = bytes_of(number, static_cast<size_t>(BN_num_bytes(number)));
  BN_free(number);
  return bytes;
}

}  // namespace

Signer::Signer(evp_pkey_st* key) : key_(key, EVP_PKEY_free) { must(key != nullptr); }

Signer Signer::rsa(unsigned bits) {
  return Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", static_cast<size_t>(bits)));
}

Signer Signer::elliptic(const char* curve) {
  return Signer(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve));
}

Json Signer::jwk(const std::string& id) const {
  if (EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_RSA) {
    return {{"kty", "RSA"},
            {"kid", id},
            {"use", "sig"},
            {"n", web::to_base64url(parameter(key_.get(), OSSL_PKEY_PARAM_RSA_N))},
            {"e", web::to_base64url(parameter(key_.get(), OSSL_PKEY_PARAM_RSA_E))}};
  }
  const bool is_small = EVP_PKEY_get_bits(key_.get()) == 256;
  const size_t size = is_small ? 32 : 48;
  const auto coordinate = [&](const char* name) {
    const std::string bytes = parameter(key_.get(), name);
    return web::to_base64url(std::string(size - bytes.size(), '\0') + bytes);
  };
  return {{"kty", "EC"},
          {"kid", id},
          {"use", "sig"},
          {"crv", is_small ? "P-256" : "P-384"},
          {"x", coordinate(OSSL_PKEY_PARAM_EC_PUB_X)},
          {"y", coordinate(OSSL_PKEY_PARAM_EC_PUB_Y)}};
}

std::string Signer::sign(const std::string& algorithm, const std::string& text) const {
  EVP_MD_CTX* const digest = EVP_MD_CTX_new();
  EVP_PKEY_CTX* context = nullptr;
  must(EVP_DigestSignInit(digest, &context, EVP_sha256(), nullptr, key_.get()) == 1);
  if (algorithm == "PS256") {
    must(EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1);
    must(EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1);
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  must(EVP_DigestSign(digest, nullptr, &size, bytes, text.size()) == 1);
  std::string signature(size, '\0');
  must(EVP_DigestSign(digest, reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                      text.size()) == 1);
  signature.resize(size);
  EVP_MD_CTX_free(digest);
  if (EVP_PKEY_get_base_id(key_.get()) != EVP_PKEY_EC) return signature;
  const auto* der = reinterpret_cast<const unsigned char*>(signature.data());
  ECDSA_SIG* const pair = d2i_ECDSA_SIG(nullptr, &der, static_cast<long>(signature.size()));
  must(pair != nullptr);
  const auto half = static_cast<size_t>((EVP_PKEY_get_bits(key_.get()) + 7) / 8);
  std::string plain =
      bytes_of(ECDSA_SIG_get0_r(pair), half) + bytes_of(ECDSA_SIG_get0_s(pair), half);
  ECDSA_SIG_free(pair);
  return plain;
}

std::string Signer::token(const Json& header, const Json& claims) const {
  return token_of(header.value("alg", ""), header.dump(), claims.dump());
}

std::string Signer::token_of(const std::string& algorithm, const std::string& header,
                             const std::string& claims) const {
  const std::string text = web::to_base64url(header) + "." + web::to_base64url(claims);
  return text + "." + web::to_base64url(sign(algorithm, text));
}

}  // namespace stripline::server::oidc
