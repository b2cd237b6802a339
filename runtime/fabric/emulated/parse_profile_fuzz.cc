// Profiles come from users' files: whatever the bytes, parsing ends with a value or an error.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/fabric/emulated/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = stripline::fabric::parse_profile(text, "fuzz");
  // What is accepted must be usable: a lookup at any size ends.
  if (profile.ok()) {
    profile->put.at(0);
    profile->get.at(UINT64_MAX);
    profile->smallest_G();
  }
  return 0;
}
