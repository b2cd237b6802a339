#include "base/host_name.h"

#include <array>
#include <unistd.h>

namespace stripline {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown-host";
  return name.data();
}

}  // namespace stripline
