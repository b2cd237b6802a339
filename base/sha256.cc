#include "base/sha256.h"

#include <array>
#include <openssl/sha.h>

#include "base/hex.h"

namespace stripline {

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return to_hex({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace stripline
