#include "base/pki/token.h"

#include <array>
#include <openssl/rand.h>

#include "base/pki/openssl.h"
#include "base/sha256.h"

namespace stripline::pki {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr size_t kSecretBytes = 32;
constexpr size_t kSecretCharacters = 43;
constexpr size_t kHashDigits = 64;

struct KindName {
  Token::Kind kind;
  std::string_view prefix;
};
constexpr std::array<KindName, 3> kKinds{{{Token::Kind::user, "stripline-user."},
                                          {Token::Kind::node, "stripline-node."},
                                          {Token::Kind::dev, "stripline-dev."}}};

bool consists_of(std::string_view text, std::string_view characters, size_t size) {
  return text.size() == size && text.find_first_not_of(characters) == std::string_view::npos;
}

// Without padding.
std::string base64url(const std::array<unsigned char, kSecretBytes>& bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const unsigned char byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 63];
  }
  text += kAlphabet[bits << (6 - count) & 63];
  return text;
}

}  // namespace

std::string Token::text() const {
  for (const auto& [named, prefix] : kKinds) {
    if (named != kind) continue;
    const std::string pin = kind == Kind::dev ? "" : authority_sha256 + ".";
    return std::string(prefix) + pin + secret;
  }
  return {};
}

Result<Token> make_token(Token::Kind kind, const std::string& authority_sha256) {
  std::array<unsigned char, kSecretBytes> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return openssl_error(ErrorCode::internal, "cannot get random numbers from the system");
  }
  return Token{kind, kind == Token::Kind::dev ? "" : authority_sha256, base64url(bytes)};
}

Result<Token> parse_token(std::string_view text) {
  for (const auto& [kind, prefix] : kKinds) {
    if (!text.starts_with(prefix)) continue;
    std::string_view rest = text.substr(prefix.size());
    Token token{kind, "", ""};
    if (kind != Token::Kind::dev) {
      token.authority_sha256 = rest.substr(0, rest.find('.'));
      rest.remove_prefix(std::min(rest.size(), token.authority_sha256.size() + 1));
      if (!consists_of(token.authority_sha256, kDigits, kHashDigits)) break;
    }
    if (!consists_of(rest, kAlphabet, kSecretCharacters)) break;
    token.secret = rest;
    return token;
  }
  return Error(ErrorCode::invalid_argument,
               "this is not a token of Stripline, or only a part of one: 'stripline-user.' or "
               "'stripline-node.', 64 hexadecimal digits, '.', 43 characters");
}

std::string secret_sha256(std::string_view secret) { return sha256_hex(secret); }

}  // namespace stripline::pki
