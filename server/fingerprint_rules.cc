#include "server/fingerprint_rules.h"

#include <algorithm>
#include <array>
#include <set>

namespace stripline::server {
namespace {

// What decides which network the figures describe, and which instructions the primitives used.
constexpr std::array<std::string_view, 4> kHard = {"cpu.architecture", "fabric", "fabric.profile",
                                                   "fabric.provider"};
// Where and under what it was measured; changes with every update and says little about speed.
constexpr std::array<std::string_view, 4> kIgnored = {"host", "hostname", "kernel", "os"};

bool in_family(std::string_view field, std::string_view family) {
  return field == family ||
         (field.starts_with(family) && field.substr(family.size()).starts_with('.'));
}

}  // namespace

model::MatchRule fingerprint_rule(std::string_view field) {
  if (std::ranges::find(kHard, field) != kHard.end()) return model::MatchRule::hard;
  const auto ignored = [&](std::string_view family) { return in_family(field, family); };
  return std::ranges::any_of(kIgnored, ignored) ? model::MatchRule::ignore : model::MatchRule::soft;
}

JoinedFingerprint join_fingerprints(
    const std::map<std::string, std::map<std::string, std::string>>& by_node,
    const std::string& fabric, const std::string& clock) {
  JoinedFingerprint joined;
  std::set<std::string> fields;
  for (const auto& [node, fingerprint] : by_node) {
    for (const auto& [field, value] : fingerprint) fields.insert(field);
  }
  for (const std::string& field : fields) {
    std::set<std::string> values;
    bool everywhere = true;
    for (const auto& [node, fingerprint] : by_node) {
      const auto found = fingerprint.find(field);
      everywhere = everywhere && found != fingerprint.end();
      if (found != fingerprint.end()) values.insert(found->second);
    }
    const bool alike = everywhere && values.size() == 1;
    if (!alike) joined.differing.push_back(field);
    joined.fingerprint[field] = {alike ? *values.begin() : "*", fingerprint_rule(field)};
  }
  joined.fingerprint["fabric"] = {fabric, fingerprint_rule("fabric")};
  joined.fingerprint["clock"] = {clock, fingerprint_rule("clock")};
  return joined;
}

}  // namespace stripline::server
