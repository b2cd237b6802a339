// Tells whether a model fits a machine: the fingerprint in the model against the facts of the
// machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/model/tuned_model.h"

namespace stripline::model {

/// One field in which the model's machine and this one differ.
struct Difference {
  std::string field;
  std::string of_model;                   ///< empty: it does not say
  std::optional<std::string> of_machine;  ///< nullopt: this machine does not report the field
  MatchRule rule = MatchRule::soft;
};

/// The outcome of a match, in the order of the field names.
struct MatchReport {
  std::vector<Difference> hard;         ///< Any of these refuses the model.
  std::vector<Difference> soft;         ///< Worth a warning.
  std::vector<Difference> informative;  ///< Fields with the rule ignore.

  bool usable() const { return hard.empty(); }

  /// One line per difference, hard ones first, e.g.
  ///   "refused: provider is 'shm' here, the model was measured with 'tcp;ofi_rxm'"
  /// Empty when everything matches.
  std::string text() const;
};

/// Compares each field of the model with the machine's value of the same name. A field the machine
/// does not report is a difference. Facts of the machine that the model does not hold are not, but
/// for settings: a quota of processors and variables of libfabric, without which a model was
/// measured that holds none, are worth a warning; those of huge pages and of TCP, of which older
/// models say nothing, are notes. "*" on either side matches anything: that is how a model, or a
/// user who knows better, relaxes a field. Fabrics are compared as networks (base/network_name.h):
/// a model of "emulated:X" fits "emulated:X,compute=declared".
MatchReport match(const Fingerprint& of_model, const std::map<std::string, std::string>& machine);

std::string_view to_string(MatchRule rule);

}  // namespace stripline::model
