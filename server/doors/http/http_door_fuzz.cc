// Whatever comes on a connection of the HTTP doors: requests one after the other, in pieces whose
// sizes the input says, with the bounds of the dashboard's door and of the metrics'.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/doors/http/known_hosts.h"
#include "server/doors/http/request_reader.h"
#include "server/doors/http/target.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

using namespace stripline::server::http;  // NOLINT(google-build-using-namespace)

// Small, so that inputs of a few hundred bytes reach them.
Bounds bounds_from(uint8_t choice) {
  Bounds bounds;
  if ((choice & 1) != 0) bounds.body_bytes = 0;
  if ((choice & 2) != 0) {
    bounds.line_bytes = 64;
    bounds.head_bytes = 256;
    bounds.fields = 8;
    bounds.body_bytes = 128;
  }
  return bounds;
}

void check(const Request& request, const Bounds& bounds) {
  static const KnownHosts kHosts({"head"});
  require(request.body.size() <= bounds.body_bytes);
  require(request.path.starts_with('/'));
  require(request.path.size() <= bounds.line_bytes);
  require(request.path.find('\0') == std::string::npos);
  const auto refusal = kHosts.refusal(request);
  require(!refusal || refusal->why.size() < 256);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const Bounds bounds = bounds_from(data[0]);
  const size_t step = data[1] == 0 ? size : data[1];
  std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  RequestReader reader(bounds);
  while (!bytes.empty() && reader.state() == RequestReader::State::partial) {
    const std::string_view piece = bytes.substr(0, step);
    const size_t taken = reader.take(piece);
    require(taken <= piece.size());
    require(reader.kept_bytes() <= 4 * (bounds.head_bytes + bounds.body_bytes) + 64);
    bytes.remove_prefix(taken);
    (void)reader.wants_to_be_asked();
    if (reader.state() == RequestReader::State::partial) {
      require(taken == piece.size());
    } else if (reader.state() == RequestReader::State::whole) {
      const bool more = reader.keep_alive();
      check(reader.request(), bounds);
      reader = RequestReader(bounds);
      if (!more) break;
    } else {
      require(reader.refusal().status >= 400 && !reader.refusal().why.empty());
    }
  }
  (void)parse_target({reinterpret_cast<const char*>(data), size});
  return 0;
}
