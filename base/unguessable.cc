#include "base/unguessable.h"

#include <cstdint>
#include <cstdio>
#include <random>

namespace stripline {

// std::random_device of the standard library here reads the processor's source or getrandom(), and
// does not fail where either is there.
std::string unguessable_text() {
  std::random_device source;
  char text[17] = {};
  std::snprintf(text, sizeof text, "%08x%08x", static_cast<uint32_t>(source()),
                static_cast<uint32_t>(source()));
  return text;
}

}  // namespace stripline
