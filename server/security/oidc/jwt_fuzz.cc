// Whatever a stranger shows as a token: as it is, and as the header and the claims of one whose
// signature is right, so that what follows the signature is reached.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/security/oidc/verifier.h"
#include "server/testing/signer.h"

namespace {

using namespace stripline::server::oidc;  // NOLINT(google-build-using-namespace)

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const std::string& token, const KeySet& keys) {
  const Expected expected{"https://i", {"c"}};
  const auto person = verify(token, keys, expected, 1.8e9);
  if (!person.ok()) {
    require(person.error().message().size() < 2048);
    require(person.error().message().find('\n') == std::string::npos);
    return;
  }
  require(!person->name.empty() && person->name.size() <= 4 + 3 * 128);
  require(person->name.find_first_of(" :/\n") == std::string::npos);
  require(std::isfinite(person->until_unix_s) && person->until_unix_s >= 1.8e9 - 60);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Signer kSigner = Signer::elliptic();
  static const KeySet kKeys =
      *parse_key_set(stripline::Json{{"keys", stripline::Json::array({kSigner.jwk("e")})}}.dump());
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(std::string(text), kKeys);
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    check(kSigner.token_of("ES256", R"({"alg":"ES256","kid":"e"})", std::string(text)), kKeys);
  } else {
    check(kSigner.token_of("ES256", std::string(text.substr(0, end)),
                           std::string(text.substr(end + 1))),
          kKeys);
  }
  (void)parse_key_set(text);
  return 0;
}
