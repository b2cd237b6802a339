// What `stripline-worker --describe` prints (docs/worker-protocol.md).
#pragma once

#include "base/json.h"

namespace stripline::suites {

/// {"version", "fabrics": [..], "fingerprint": {..}, "experiments": [..]}. Opens libfabric to ask
/// for its providers, which takes up to half a second; without libfabric only the emulated fabrics
/// are named.
Json describe();

}  // namespace stripline::suites
