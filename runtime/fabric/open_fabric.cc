#include "runtime/fabric/emulated/emulated_fabric.h"
#include "runtime/fabric/fabric.h"
#include "runtime/fabric/ofi/ofi_fabric.h"

namespace stripline::fabric {

Result<std::unique_ptr<Fabric>> open_fabric(const OpenOptions& options) {
  if (options.fabric.starts_with("emulated:")) return open_emulated_fabric(options);
  if (options.clock != "real") {
    return Error(ErrorCode::invalid_argument,
                 "fabric '" + options.fabric +
                     "' runs on the real clock only; --clock virtual needs --fabric "
                     "emulated:PROFILE");
  }
  return open_ofi_fabric(options);
}

}  // namespace stripline::fabric
