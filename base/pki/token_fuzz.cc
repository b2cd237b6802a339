// Tokens come from users and files, and their secrets into messages of errors if no one looks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/pki/token.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto token = stripline::pki::parse_token(text);
  if (token.ok() && token->text() != text) std::abort();  // one form, and no other
  return 0;
}
