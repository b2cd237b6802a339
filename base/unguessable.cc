#include "base/unguessable.h"

#include <cstdint>
#include <random>

#include "base/formatted.h"

namespace stripline {

// std::random_device of the standard library here reads the processor's source or getrandom(), and
// does not fail where either is there.
std::string unguessable_text() {
  std::random_device source;
  return formatted("%08x%08x", static_cast<uint32_t>(source()), static_cast<uint32_t>(source()));
}

}  // namespace stripline
