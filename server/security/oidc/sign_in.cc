#include "server/security/oidc/sign_in.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <utility>

#include "base/pki/openssl.h"
#include "base/web/base64url.h"
#include "base/web/url.h"

namespace stripline::server::oidc {
namespace {

constexpr size_t kSecretBytes = 32;

Result<std::string> random_bytes() {
  std::array<unsigned char, kSecretBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return pki::openssl_error(ErrorCode::internal, "cannot get random numbers from the system");
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string sha256(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data());
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

}  // namespace

Result<SignIn> SignIn::make() {
  STRIPLINE_ASSIGN_OR_RETURN(std::string key, random_bytes());
  return SignIn(std::move(key));
}

std::string SignIn::derived(std::string_view purpose, std::string_view from) const {
  const std::string text = std::string(purpose) + "." + std::string(from);
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  return web::to_base64url({reinterpret_cast<const char*>(mac.data()), size});
}

// "SECONDS.RANDOM.MAC".
Result<std::string> SignIn::begin(double now_unix_s) const {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string random, random_text());
  const std::string value =
      std::to_string(static_cast<int64_t>(std::floor(now_unix_s))) + "." + random;
  return value + "." + derived("cookie", value);
}

std::optional<SignInSecrets> SignIn::secrets_of(std::string_view cookie, double now_unix_s) const {
  const size_t dot = cookie.rfind('.');
  if (dot == std::string_view::npos || cookie.size() > 256) return std::nullopt;
  const std::string_view value = cookie.substr(0, dot);
  if (!same_secret(cookie.substr(dot + 1), derived("cookie", value))) return std::nullopt;
  int64_t begun_s = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), begun_s);
  if (error != std::errc()) return std::nullopt;
  const double age_s = now_unix_s - static_cast<double>(begun_s);
  if (age_s < -1 || age_s > kSignInLasts_s) return std::nullopt;
  SignInSecrets secrets{derived("state", value), derived("nonce", value),
                        derived("verifier", value), ""};
  secrets.challenge = web::to_base64url(sha256(secrets.verifier));
  return secrets;
}

std::string authorization_url(const AuthorizationRequest& request, const SignInSecrets& secrets) {
  const char joint = request.endpoint.find('?') == std::string::npos ? '?' : '&';
  return request.endpoint + joint +
         "response_type=code&client_id=" + web::percent_encoded(request.client_id) +
         "&redirect_uri=" + web::percent_encoded(request.redirect_uri) +
         "&scope=" + web::percent_encoded(request.scopes) + "&state=" + secrets.state +
         "&nonce=" + secrets.nonce + "&code_challenge=" + secrets.challenge +
         "&code_challenge_method=S256";
}

bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> random_text() {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string bytes, random_bytes());
  return web::to_base64url(bytes);
}

std::string cookie_in(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const size_t end = std::min(header.find(';'), header.size());
    std::string_view one = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (!one.starts_with(name) || one.substr(name.size(), 1) != "=") continue;
    one.remove_prefix(name.size() + 1);
    return std::string(one);
  }
  return {};
}

std::string set_cookie(std::string_view name, std::string_view value, double lasts_s,
                       std::string_view same_site) {
  return std::string(name) + "=" + std::string(value) +
         "; Path=/; Secure; HttpOnly; SameSite=" + std::string(same_site) +
         "; Max-Age=" + std::to_string(static_cast<int64_t>(std::floor(std::max(0.0, lasts_s))));
}

}  // namespace stripline::server::oidc
