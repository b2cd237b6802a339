#include "agent/node_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "base/host_name.h"

namespace stripline::agent {
namespace {

constexpr size_t kMaxNodeName = 63;

bool is_segment_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

bool is_node_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNodeName &&
         std::all_of(name.begin(), name.end(), is_segment_character) &&
         std::isalnum(static_cast<unsigned char>(name.front())) != 0;
}

std::string default_node_name() {
  std::string name;
  for (const char c : host_name()) {
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    name += is_segment_character(lower) ? lower : '-';
  }
  while (!name.empty() && std::isalnum(static_cast<unsigned char>(name.front())) == 0) {
    name.erase(0, 1);
  }
  name.resize(std::min(name.size(), kMaxNodeName));
  return name.empty() ? "node" : name;
}

}  // namespace stripline::agent
