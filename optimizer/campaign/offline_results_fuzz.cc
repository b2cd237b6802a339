// Plans and results of campaigns come from machines of others, as files: whatever the bytes,
// reading ends with a value or an error, and what was accepted is written and read again as it was.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "optimizer/campaign/offline_results.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// No mutation finds a hash: the last line gets the one of what stands before it.
std::string with_its_hash(std::string_view text) {
  const size_t end = text.rfind("{\"end\"");
  if (end == std::string_view::npos) return std::string(text);
  return std::string(text.substr(0, end)) +
         R"({"end":{"lost_runs":0,"reason":"CANCELLED","spent_s":1},"sha256":")" +
         stripline::sha256_hex(text.substr(0, end)) + "\"}\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace campaign = stripline::campaign;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto plan = campaign::read_bundle(text); plan.ok()) {
    const auto written = campaign::bundle_text(*plan);
    require(written.ok() && campaign::read_bundle(*written).ok());
  }
  for (const std::string& file : {std::string(text), with_its_hash(text)}) {
    const auto results = campaign::read_results(file);
    if (!results.ok()) continue;
    const auto written = campaign::results_text(*results);
    require(written.ok());
    const auto again = campaign::read_results(*written);
    require(again.ok() && *campaign::results_text(*again) == *written);
    (void)campaign::next_of(*results, campaign::table_of(*results));
  }
  return 0;
}
