// What `stripline-worker --describe` prints (docs/worker-protocol.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace stripline::suites {

/// {"version", "fabrics": [..], "fingerprint": {..}, "experiments": [..]}. Opens libfabric to ask
/// for its providers, which takes up to half a second; without libfabric only the emulated fabrics
/// are named. `profiles` are files of further emulated networks. Errors: as
/// fabric::resolve_profile().
Result<Json> describe(const std::vector<std::string>& profiles);

/// This host, and where it is: "host", its name; "host.boot", the same for two nodes on one host
/// and for no others; "host.switches", where STRIPLINE_SWITCHES or STRIPLINE_SWITCHES_FILE says
/// them.
std::map<std::string, std::string> host_facts();

}  // namespace stripline::suites
