#include "server/core/sessions/fingerprint_rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "server/core/sessions/run_load.h"

namespace stripline::server {
namespace {

// What decides which network the figures describe, and which instructions the primitives used.
constexpr std::array<std::string_view, 4> kHard = {"cpu.architecture", "fabric", "fabric.profile",
                                                   "fabric.provider"};
// What stays alike however a machine is set up, restarted and updated.
constexpr std::array<std::string_view, 2> kMachine = {"cpu.architecture", "cpu.model"};
// Where and under what it was measured; changes with every update and says little about speed.
// So do other runtimes that are installed there.
constexpr std::string_view kTargetFamily = "target";
constexpr std::array<std::string_view, 5> kIgnored = {"host", "hostname", "kernel", "os",
                                                      kTargetFamily};

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

std::string switches_of(const std::map<std::string, std::string>& facts) {
  const auto found = facts.find(std::string(kSwitchesFact));
  return found == facts.end() ? "" : found->second;
}

std::string machine_change(const std::map<std::string, std::string>& before,
                           const std::map<std::string, std::string>& now) {
  std::string changed;
  bool other_host = false;
  for (const auto& [field, value] : before) {
    const auto same = now.find(field);
    if (same == now.end() || same->second == value) continue;
    other_host = other_host || field == kHostFact;
    if (std::ranges::find(kMachine, field) == kMachine.end()) continue;
    changed += (changed.empty() ? "" : ", ") + field + " was '" + value + "' and is '" +
               same->second + "'";
  }
  if (!changed.empty()) return "is another machine than before: " + changed;
  return other_host ? "is on another host than before, or its host was restarted" : "";
}

Result<JoinedFingerprint> join_fingerprints(const MeasuredFacts& measured,
                                            const std::string& fabric, const std::string& clock) {
  JoinedFingerprint joined;
  std::set<std::string> fields;
  for (const auto& [where, facts] : measured) {
    for (const auto& [field, value] : facts) {
      if (!in_family(field, kLoadFamily) && !in_family(field, kTargetFamily)) fields.insert(field);
    }
  }
  for (const std::string& field : fields) {
    std::map<std::string, std::string> places;  // the first place of each value
    bool everywhere = true;
    for (const auto& [where, facts] : measured) {
      const auto found = facts.find(field);
      everywhere = everywhere && found != facts.end();
      if (found != facts.end()) places.emplace(found->second, where);
    }
    const model::MatchRule rule = fingerprint_rule(field);
    // The campaign's own fabric and clock are added below.
    if (places.size() > 1 && rule == model::MatchRule::hard && field != "fabric") {
      const auto& [value, where] = *places.begin();
      const auto& [other_value, elsewhere] = *std::next(places.begin());
      return Error(ErrorCode::failed_precondition,
                   field + " was '" + value + "' on " + where + " and '" + other_value + "' on " +
                       elsewhere +
                       ": what was measured is not one network; measure each with a "
                       "campaign of its own, on nodes that are alike");
    }
    const bool alike = everywhere && places.size() == 1;
    if (!alike && !in_family(field, "host")) joined.differing.push_back(field);
    joined.fingerprint[field] = {alike ? places.begin()->first : "*", rule};
  }
  joined.fingerprint["fabric"] = {fabric, fingerprint_rule("fabric")};
  joined.fingerprint["clock"] = {clock, fingerprint_rule("clock")};
  return joined;
}

}  // namespace stripline::server
