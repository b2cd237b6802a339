// The emulated fabric behind the fabric interface: ranks of one host whose operations complete when
// a written profile says so, on a real or a virtual clock. docs/emulated-fabric.md.
#pragma once

#include <memory>

#include "base/result.h"
#include "runtime/fabric/fabric.h"

namespace stripline::fabric {

/// options.fabric is "emulated:PROFILE[,key=value...]"; PROFILE is a built-in name or a file.
Result<std::unique_ptr<Fabric>> open_emulated_fabric(const OpenOptions& options);

}  // namespace stripline::fabric
