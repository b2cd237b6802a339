// The file of contexts is edited by hand; what it holds ends up in certificates' and tokens'
// parsers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cli/contexts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stripline::cli;  // NOLINT(google-build-using-namespace)
  const auto read = parse_contexts({reinterpret_cast<const char*>(data), size});
  if (!read.ok()) return 0;
  const auto again = parse_contexts(to_toml(*read));
  if (!again.ok() || again->servers.size() != read->servers.size()) std::abort();
  return 0;
}
