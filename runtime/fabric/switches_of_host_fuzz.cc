// Files of switches: whatever the text, reading it ends with a refusal or with a path of names.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "runtime/fabric/network_place.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stripline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto switches = fabric::switches_of_host(text, "node1.site", "the text");
  if (!switches.ok() || switches->empty()) return 0;
  if (switches->find_first_of(" \t\n") != std::string::npos || switches->front() == '.' ||
      switches->back() == '.') {
    std::abort();
  }
  // For each other host a distance is known.
  if (fabric::distance({0, *switches}, {1, *switches}, model::DistanceScale::switches) != 0) {
    std::abort();
  }
  return 0;
}
