// Names, page tokens and filters in requests of users.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/core/page_token.h"
#include "server/store/names.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stripline::server;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // There is one form of each name, and no other.
  if (const auto campaign = parse_campaign_name(text)) require(campaign_name(*campaign) == text);
  if (const auto run = parse_run_name(text)) require(run_name(*run) == text);
  if (const auto node = parse_node_name(text)) require(node_name(*node) == text);
  if (const auto model = parse_model_name(text)) require(model_name(*model) == text);
  if (const auto version = parse_version_name(text)) {
    require((version->version == 0 ? model_name(version->model) : version_name(*version)) == text);
  }
  require(is_segment(to_segment(text)));
  // A token is good for the list that it was made for, and says what it was made of.
  const auto last = read_page_token("nodes", make_page_token("nodes", text));
  require(last && *last == text);
  require(!read_page_token("audit", make_page_token("nodes", text)));
  (void)read_page_token("nodes", text);
  return 0;
}
