#include "runtime/fabric/network_place.h"

#include <algorithm>
#include <bit>

#include "base/host_name.h"
#include "base/settings.h"
#include "base/whole_file.h"

namespace stripline::fabric {
namespace {

// Takes the first name off.
std::string_view next(std::string_view& path) {
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  return name;
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

// Some editors begin a text in UTF-8 with it.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Takes the first word off; empty at the end, and at a remark.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  if (line.starts_with('#')) line = {};
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

// A path without empty names.
bool are_switches(std::string_view path) {
  return !path.empty() && path.front() != '.' && path.back() != '.' &&
         path.find("..") == std::string_view::npos;
}

struct Line {
  std::string_view host;
  std::string_view switches;
};

Result<std::string> switches_in_file(const std::string& path) {
  const auto text = read_whole_file(path);
  if (!text.ok()) {
    return Error(text.error().code(),
                 text.error().message() +
                     "; STRIPLINE_SWITCHES_FILE names it, with the switches above each host: let "
                     "stripline-switches write it, or unset the variable");
  }
  return switches_of_host(*text, host_name(), path);
}

}  // namespace

Result<std::string> switches_of_host(std::string_view text, std::string_view host,
                                     std::string_view what) {
  Line exact;  // with the very name
  Line loose;
  std::optional<Error> ambiguous;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view rest = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(rest.size() + 1, text.size()));
    const std::string_view name = next_word(rest);
    if (name.empty()) continue;
    const Line line{name, next_word(rest)};
    const auto error = [&](const std::string& why) {
      return Error(ErrorCode::failed_precondition,
                   std::string(what) + ", line " + std::to_string(number) + ": " + why);
    };
    if (!are_switches(line.switches) || !next_word(rest).empty()) {
      return error(
          "expected a host and the switches above it, from the uppermost down, joined by "
          "dots, as \"node17 core.row3.leaf12\"");
    }
    if (!is_same_host(name, host)) continue;
    Line& found = name == host ? exact : loose;
    if (found.host.empty()) {
      found = line;
    } else if (found.switches != line.switches) {
      const Error either = error("'" + std::string(name) + "' is at other switches than '" +
                                 std::string(found.host) + "' before, and either may be this host");
      if (name == host) return either;
      if (!ambiguous) ambiguous = either;
    }
  }
  if (exact.host.empty() && ambiguous) return *ambiguous;
  return std::string(exact.host.empty() ? loose.switches : exact.switches);
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
  std::string said = environment_value("STRIPLINE_SWITCHES");
  if (!said.empty() && !are_switches(said)) {
    return Error(ErrorCode::invalid_argument,
                 "STRIPLINE_SWITCHES: '" + said +
                     "' is not a path of switches; write those above this host, from the uppermost "
                     "down, joined by dots, as core.row3.leaf12");
  }
  if (!said.empty()) return said;
  const std::string file = environment_value("STRIPLINE_SWITCHES_FILE");
  if (!file.empty()) return switches_in_file(file);
  const std::string path = environment_value("SLURM_TOPOLOGY_ADDR");
  // "switch.switch.node": the names of nodes may have dots themselves.
  const std::string pattern = environment_value("SLURM_TOPOLOGY_ADDR_PATTERN");
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
