// The networks that results are reported for.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

struct Network {
  std::string fabric;
  std::string clock;
  /// Computing takes time (on the emulated fabric it can be switched off, which makes a measurement
  /// of communication independent of the host, and reproducible to the bit).
  bool computes = true;
  /// Kernels say how long they compute (compute=declared).
  bool declared = false;
  /// How ranks of one node reach each other (bench::Target).
  std::string same_node = "network";

  /// What results name: "tcp", or "tcp,same_node=mapped".
  std::string path() const {
    return same_node == "network" ? fabric : fabric + ",same_node=" + same_node;
  }
  bool emulated() const { return clock == "virtual"; }
};

/// A profile where computing takes what kernels say that it does (compute=declared): the same times
/// whatever the host does, for more ranks than it has processors.
Network declared(const Network& emulated);

/// "emulated-opteron-vapi-compute-none": the fabric as part of a file name.
std::string file_name(const std::string& fabric);

/// tcp and every built-in profile on the virtual clock, as far as options.only selects them;
/// profiles with computation, or without. Quick: one profile, unless options.only is given.
/// `providers` are further ones beside tcp; options.only may be the whole name of one, which then
/// is the only one. Errors: invalid_argument if it selects none, with their names.
Result<std::vector<Network>> networks(const Options& options, bool emulated_computes,
                                      const std::vector<std::string>& providers = {});

/// Checks whether every model of options.models is for a network that decisions are judged on.
/// Errors: invalid_argument, with their names.
Status check_models(const Options& options);

}  // namespace stripline::suites::results
