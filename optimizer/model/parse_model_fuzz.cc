// Whatever the bytes, parse_model returns; what it accepts survives writing and reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/sha256.h"
#include "optimizer/model/model_json.h"

namespace {

void check(std::string_view text) {
  const auto model = stripline::model::parse_model(text);
  if (!model) return;
  const auto document = stripline::model::to_json(*model);
  if (!document) std::abort();
  const auto again = stripline::model::parse_model(document->dump());
  if (!again || *stripline::model::to_json(*again) != *document) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text);
  // A fuzzer cannot guess a hash: give it the right one, so that it reaches what lies behind.
  auto document = stripline::parse_json(text, "input");
  if (!document || !document->is_object()) return 0;
  document->erase("sha256");
  const auto canonical = stripline::canonical_json(*document);
  if (!canonical) return 0;
  (*document)["sha256"] = stripline::sha256_hex(*canonical);
  check(document->dump());
  return 0;
}
