#include "server/core/page_token.h"

#include <algorithm>

#include "base/sha256.h"

namespace stripline::server {
namespace {

constexpr size_t kCheckLength = 8;
constexpr int32_t kDefaultPage = 100;
constexpr int32_t kMaxPage = 1000;

std::string check_of(std::string_view list, std::string_view last) {
  return sha256_hex(std::string(list) + "\n" + std::string(last)).substr(0, kCheckLength);
}

}  // namespace

std::string make_page_token(std::string_view list, std::string_view last) {
  return check_of(list, last) + std::string(last);
}

Answer<std::string> read_page_token(std::string_view list, std::string_view token) {
  if (token.empty()) return std::string();
  const std::string_view last = token.substr(std::min(kCheckLength, token.size()));
  if (token.substr(0, kCheckLength) != check_of(list, last)) {
    return Problem{ErrorCode::invalid_argument,
                   "BAD_PAGE_TOKEN",
                   "page_token is not one that this list returned; start again without one",
                   {{"field", "page_token"}}};
  }
  return std::string(last);
}

Answer<size_t> page_limit(int32_t page_size) {
  if (page_size < 0) return invalid_field("page_size", "a number from 0 to 1000 is accepted");
  return static_cast<size_t>(page_size == 0 ? kDefaultPage : std::min(page_size, kMaxPage));
}

}  // namespace stripline::server
