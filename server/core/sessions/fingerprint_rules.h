// The fingerprint of a model from what the measured nodes said of themselves, and what a difference
// in each field means later (docs/model-versions.md lists the rules). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::server {

/// Hard for what decides whether a model describes the machine at all, ignore for what only says
/// where it was measured, soft for everything else, unknown fields included.
model::MatchRule fingerprint_rule(std::string_view field);

/// The field that is the same for two nodes on one host, and for no others.
inline constexpr std::string_view kHostFact = "host.boot";

/// The field with the switches above a node, from the uppermost down, joined by dots, where
/// somebody has said them (STRIPLINE_SWITCHES); it names a place, not a kind of machine.
inline constexpr std::string_view kSwitchesFact = "host.switches";
/// Empty: no one has.
std::string switches_of(const std::map<std::string, std::string>& facts);

/// How a machine that has a node's name now differs from the one that had it before, as what
/// follows the name: "is another machine than before: cpu.model was 'A' and is 'B'". Empty: it does
/// not.
std::string machine_change(const std::map<std::string, std::string>& before,
                           const std::map<std::string, std::string>& now);

/// The facts of each machine at each measurement; the key says which, for messages: "nodes/a in run
/// 1".
using MeasuredFacts = std::map<std::string, std::map<std::string, std::string>>;

struct JoinedFingerprint {
  model::Fingerprint fingerprint;
  std::vector<std::string> differing;  ///< Fields in which they differ, beside what names a host.
};

/// A field that all report alike keeps its value; one in which they differ, or that some do not
/// report, gets the value "*", which matches any machine. Fabric and clock as the campaign asked
/// for them are added, under the names that runtime/machine/fingerprint.h gives them. Errors:
/// failed_precondition when they differ in a hard field, which no model can hold.
Result<JoinedFingerprint> join_fingerprints(const MeasuredFacts& measured,
                                            const std::string& fabric, const std::string& clock);

}  // namespace stripline::server
