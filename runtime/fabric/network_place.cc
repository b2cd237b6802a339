#include "runtime/fabric/network_place.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace stripline::fabric {
namespace {

// Takes the first name off.
std::string_view next(std::string_view& path) {
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  return name;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr ? value : "";
}

uint32_t levels(std::string_view path) {
  return path.empty() ? 0 : 1 + static_cast<uint32_t>(std::ranges::count(path, '.'));
}

}  // namespace

std::optional<uint32_t> distance(const NetworkPlace& one, const NetworkPlace& other,
                                 model::DistanceScale scale) {
  uint32_t distance = 0;
  if (scale == model::DistanceScale::numbers) {
    const uint32_t differ = one.node ^ other.node;
    distance = differ == 0 ? 0 : static_cast<uint32_t>(std::bit_width(differ)) - 1;
  } else {
    if (one.switches.empty() || other.switches.empty()) return std::nullopt;
    std::string_view a = one.switches;
    std::string_view b = other.switches;
    distance = std::max(levels(a), levels(b));
    while (!a.empty() && !b.empty() && next(a) == next(b)) --distance;
  }
  return std::min(distance, model::kDistances - 1);
}

std::string switches_of_environment() {
  std::string said = variable("STRIPLINE_SWITCHES");
  if (!said.empty()) return said;
  const std::string path = variable("SLURM_TOPOLOGY_ADDR");
  // "switch.switch.node": the names of nodes may have dots themselves.
  const std::string pattern = variable("SLURM_TOPOLOGY_ADDR_PATTERN");
  size_t node = path.rfind('.');
  if (!pattern.empty()) {
    node = 0;
    for (auto left = std::ranges::count(pattern, '.'); left > 0 && node < path.size(); --left) {
      node = std::min(path.find('.', node + 1), path.size());
    }
  }
  return node == std::string::npos ? std::string() : path.substr(0, node);
}

}  // namespace stripline::fabric
