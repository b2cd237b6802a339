#include "runtime/fabric/network_place.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/host_name.h"

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

bool is_same_host(std::string_view one, std::string_view other) {
  if (one == other) return true;
  const size_t dot = one.find('.');
  const size_t other_dot = other.find('.');
  if ((dot == std::string_view::npos) == (other_dot == std::string_view::npos)) return false;
  return one.substr(0, dot) == other.substr(0, other_dot);
}

constexpr std::string_view kBlanks = " \t\r";

// Takes the first word off; empty at the end.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

// A path without empty names.
bool are_switches(std::string_view path) {
  return !path.empty() && path.front() != '.' && path.back() != '.' &&
         path.find("..") == std::string_view::npos;
}

Result<std::string> switches_in_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    return Error(ErrorCode::not_found, "cannot read " + path +
                                           " (STRIPLINE_SWITCHES_FILE), with the switches above "
                                           "each host");
  }
  return switches_of_host(text.str(), host_name(), path);
}

}  // namespace

Result<std::string> switches_of_host(std::string_view text, std::string_view host,
                                     std::string_view what) {
  std::string found;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view name = next_word(line);
    if (name.empty() || name.front() == '#') continue;
    const std::string_view switches = next_word(line);
    if (!are_switches(switches) || !next_word(line).empty()) {
      return Error(ErrorCode::failed_precondition,
                   std::string(what) + ", line " + std::to_string(number) +
                       ": expected a host and the switches above it, from the uppermost down, "
                       "joined by dots, as \"node17 core.row3.leaf12\"");
    }
    if (found.empty() && is_same_host(name, host)) found = switches;
  }
  return found;
}

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

Result<std::string> switches_of_environment() {
  std::string said = variable("STRIPLINE_SWITCHES");
  if (!said.empty()) return said;
  const std::string file = variable("STRIPLINE_SWITCHES_FILE");
  if (!file.empty()) return switches_in_file(file);
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
